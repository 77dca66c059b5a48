// SPDX-License-Identifier: BSD-3-Clause
/* The thin part of the live view that knows ncurses; see screen.h. It does not decide what is shown
 * and handles no signal. */
#include "report/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

/* wait for the rest of a key's bytes after an ESC; nothing else is done meanwhile */
#define ESCAPE_MS 25

enum colour { COLOUR_GAIN = 1, COLOUR_LOSS, COLOUR_WARN };

struct screen {
	int fd;
	FILE *in, *out;
	SCREEN *curses;
	bool has_keys, has_colours, is_suspended;
	struct termios before;
};

/* ncurses keeps the terminal's description in a variable of its own. During the check that variable
 * is ours. */
int screen_check(int fd, struct error *e)
{
	const char *name = getenv("TERM"), *place;
	int err = 0;

	if (!name || !*name || setupterm(name, fd, &err) != OK) {
		error_set(e, EXIT_USAGE, "the terminal '%s' is not known here", name ? name : "");
		return error_hint(e, "set TERM to a kind of terminal that is, or install "
				     "ncurses-term, or leave out --tui");
	}
	place = tigetstr("cup");
	del_curterm(cur_term);
	if (place && place != (char *)-1)
		return 0;
	error_set(e, EXIT_USAGE, "the terminal '%s' has no screen to draw on", name);
	return error_hint(e, "set TERM to the kind of terminal that it is, or leave out --tui");
}

bool screen_is_ours(int fd)
{
	pid_t group = tcgetpgrp(fd);

	return group < 0 || group == getpgrp();
}

/* newterm() installs handlers for signals that are the caller's. */
static SCREEN *new_terminal(FILE *out, FILE *in)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
	struct sigaction before[sizeof(taken) / sizeof(taken[0])];
	SCREEN *ret;

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaction(taken[i], NULL, &before[i]);
	ret = newterm(NULL, out, in);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaction(taken[i], &before[i], NULL);
	return ret;
}

/* The modes while the screen is shown. Ctrl-S would stop us in the middle of an experiment, so it
 * is an ordinary key. Without keys the input keeps the modes of the command that reads it. */
static void set_modes(const struct screen *s)
{
	struct termios modes = s->before;

	if (s->has_keys && !tcgetattr(s->fd, &modes))
		modes.c_iflag &= ~(tcflag_t)IXON;
	modes.c_oflag &= ~(tcflag_t)ONLCR; /* as ncurses expects */
	tcsetattr(s->fd, TCSANOW, &modes);
	def_prog_mode();
}

static void set_keys(const struct screen *s)
{
	if (!s->has_keys)
		return;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
}

static void set_colours(struct screen *s)
{
	if (!s->has_colours || !has_colors() || start_color() == ERR ||
	    use_default_colors() == ERR) {
		s->has_colours = false;
		return;
	}
	init_pair(COLOUR_GAIN, COLOR_GREEN, -1);
	init_pair(COLOUR_LOSS, COLOR_RED, -1);
	init_pair(COLOUR_WARN, COLOR_YELLOW, -1);
}

static FILE *open_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *ret = copy < 0 ? NULL : fdopen(copy, mode);

	if (!ret && copy >= 0)
		close(copy);
	return ret;
}

static void free_screen(struct screen *s)
{
	if (s->curses)
		delscreen(s->curses);
	if (s->in)
		fclose(s->in);
	if (s->out)
		fclose(s->out);
	free(s);
}

struct screen *screen_open(int fd, bool has_keys, bool has_colours)
{
	struct screen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->fd = fd;
	s->has_keys = has_keys;
	s->has_colours = has_colours;
	s->in = open_stream(fd, "r");
	s->out = open_stream(fd, "w");
	if (s->in && s->out && !tcgetattr(fd, &s->before))
		s->curses = new_terminal(s->out, s->in);
	if (!s->curses) {
		free_screen(s);
		return NULL;
	}
	set_keys(s);
	set_modes(s);
	set_colours(s);
	leaveok(stdscr, TRUE);
	curs_set(0);
	return s;
}

/* The command may have changed the modes of its input meanwhile; those stay. */
static void give_back(struct screen *s)
{
	struct termios now;
	bool keep = !s->has_keys && !tcgetattr(s->fd, &now);

	endwin();
	if (keep) {
		now.c_oflag = s->before.c_oflag;
		tcsetattr(s->fd, TCSANOW, &now);
	}
}

void screen_suspend(struct screen *s)
{
	if (!s->is_suspended && screen_is_ours(s->fd))
		give_back(s);
	s->is_suspended = true;
}

bool screen_resume(struct screen *s)
{
	if (!screen_is_ours(s->fd))
		return false;
	if (s->is_suspended || !s->has_keys)
		tcgetattr(s->fd, &s->before);
	s->is_suspended = false;
	reset_prog_mode(); /* whoever stopped us silently has left his own modes */
	clearok(curscr, TRUE);
	return true;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (!s->is_suspended && screen_is_ours(s->fd))
		give_back(s);
	free_screen(s);
}

void screen_repaint(struct screen *s)
{
	clearok(curscr, TRUE);
}

void screen_size(struct screen *s, int *ret_width, int *ret_height)
{
	struct winsize size = {0};

	if (!ioctl(s->fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row &&
	    (size.ws_col != COLS || size.ws_row != LINES))
		resizeterm(size.ws_row, size.ws_col);
	*ret_width = COLS;
	*ret_height = LINES;
}

static attr_t attributes(const struct screen *s, unsigned look)
{
	attr_t ret = A_NORMAL;

	if (look & LOOK_BOLD)
		ret |= A_BOLD;
	if (look & LOOK_DIM)
		ret |= A_DIM;
	if (look & LOOK_REVERSE)
		ret |= A_REVERSE;
	if (s->has_colours && look & LOOK_GAIN)
		ret |= COLOR_PAIR(COLOUR_GAIN);
	if (s->has_colours && look & LOOK_LOSS)
		ret |= COLOR_PAIR(COLOUR_LOSS);
	if (s->has_colours && look & LOOK_WARN)
		ret |= COLOR_PAIR(COLOUR_WARN);
	return ret;
}

#define RUN 256 /* characters of one look that are written at once */

static void show_row(const struct screen *s, const struct terminal_cell *row, int y, int width)
{
	wchar_t text[RUN];

	for (int x = 0, start; x < width;) {
		unsigned look = row[x].look;
		int n = 0;

		for (start = x; x < width && row[x].look == look && n < RUN; x++)
			if (row[x].character)
				text[n++] = (wchar_t)row[x].character;
		attrset(attributes(s, look));
		mvaddnwstr(y, start, text, n);
	}
}

void screen_show(struct screen *s, const struct terminal_screen *cells)
{
	struct pollfd fd = {.fd = s->fd, .events = POLLOUT};

	/* A terminal that takes nothing at the moment, such as a hanging connection, would block
	 * us. */
	if (s->is_suspended || !screen_is_ours(s->fd) || poll(&fd, 1, 0) != 1 ||
	    !(fd.revents & POLLOUT) || fd.revents & (POLLERR | POLLHUP))
		return;
	erase();
	for (int y = 0; y < cells->height && y < LINES; y++)
		show_row(s, &cells->cells[(size_t)y * (size_t)cells->width], y,
		    cells->width < COLS ? cells->width : COLS);
	refresh();
}

bool screen_key(struct screen *s, uint32_t *ret)
{
	static const struct {
		wint_t curses;
		uint32_t ours;
	} keys[] = {{KEY_UP, KEY_IS_UP}, {KEY_DOWN, KEY_IS_DOWN}, {KEY_PPAGE, KEY_IS_PAGE_UP},
	    {KEY_NPAGE, KEY_IS_PAGE_DOWN}, {KEY_HOME, KEY_IS_HOME}, {KEY_END, KEY_IS_END},
	    {KEY_BACKSPACE, KEY_IS_BACKSPACE}, {KEY_ENTER, '\n'}};
	wint_t key = 0;
	int sort = s->has_keys && !s->is_suspended && screen_is_ours(s->fd) ? get_wch(&key) : ERR;

	*ret = 0;
	if (sort == ERR)
		return false;
	if (sort == OK)
		*ret = key;
	for (size_t i = 0; sort == KEY_CODE_YES && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == key)
			*ret = keys[i].ours;
	return true;
}
