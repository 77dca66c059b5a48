/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been written by others is parsed without capabilities: ELF files, debug information,
 * profiles, terminfo. They stay permitted where they are needed again, and are effective again as
 * soon as the parsing has ended. All of this is for the calling thread alone, as the kernel has it.
 */
#ifndef COZBPF_PRIVILEGES_H
#define COZBPF_PRIVILEGES_H

/* No capability is effective any more until privileges_raise(). Pairs may stand within each other.
 */
void privileges_lower(void);
void privileges_raise(void);

/* Between a lower and its raise, for a moment in which a file is opened: what was effective before
 * is so again. Nothing happens where nothing was lowered. */
void privileges_borrow(void);
void privileges_return(void);

/*
 * For commands that only read and write files: gives all capabilities up for good, and the right to
 * get any by an exec. Under sudo those over files stay, permitted and effective: CAP_DAC_OVERRIDE,
 * CAP_CHOWN and CAP_FOWNER. Root has to read and write the files of the user. To be called before
 * there are threads.
 */
void privileges_drop(void);

/* To the end of the block, whatever way it is left. */
#define WITHOUT_PRIVILEGES                           \
	__attribute__((cleanup(privileges_cleanup))) \
	__attribute__((unused)) int privileges_lowered = privileges_now()

static inline int privileges_now(void)
{
	privileges_lower();
	return 0;
}

static inline void privileges_cleanup(const int *unused)
{
	(void)unused;
	privileges_raise();
}

#endif
