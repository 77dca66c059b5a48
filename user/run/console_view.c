// SPDX-License-Identifier: BSD-3-Clause
/* The live view in a run: opened and closed, its keys, and when it is drawn. It is drawn in the
 * loader's loop, between two steps. */
#include "run/console_private.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/say.h"
#include "symbols/elf/privileges.h"

/* Least time between two pictures, when keys are pressed. */
#define DRAW_LEAST_NS 100000000ULL
/* Nothing is drawn so shortly before an experiment's close. A picture takes a millisecond at most.
 */
#define DUE_NS 5000000ULL
/* Most time between two pictures, whatever is due. */
#define DRAW_MAX_NS 1000000000ULL
/* Messages that are kept until the view closes; further ones are lost. */
#define MESSAGES_MAX 1000

bool console_has_view(const struct console *c)
{
	return c->view != NULL;
}

bool console_is_open(const struct console *c)
{
	return c->view && c->view->screen;
}

void console_open(struct console *c, const struct console_target *t)
{
	struct view *v = c->view;
	int writer;

	if (!v || v->screen || v->is_lost)
		return;
	writer = c->o.tui ? 0 : view_writer(v, t);
	if (writer) {
		console_say(c,
		    "no live view: process %d writes to this terminal (--tui shows it all the "
		    "same)",
		    writer);
		v->is_lost = true;
		return;
	}
	setlocale(LC_CTYPE, "");
	console_clear_progress(c);
	fflush(stderr);
	view_name_target(v, t);
	v->pid = t->n_pids ? t->pids[0] : 0;
	privileges_lower(); /* ncurses reads the terminal's description */
	v->screen = screen_open(v->fd, v->has_keys, v->has_colours);
	privileges_raise();
	v->n_readings = 0;
	v->next_ns = 0;
	if (!v->screen)
		console_say(c, "warning: the terminal cannot be had: no live view");
}

void console_close(struct console *c)
{
	struct view *v = c->view;

	if (!console_is_open(c))
		return;
	screen_close(v->screen);
	v->screen = NULL;
	for (; v->n_printed < v->n_messages; v->n_printed++)
		if (v->shares_stderr)
			say("%s", v->messages[v->n_printed]);
}

void view_destroy(struct view *v)
{
	if (!v)
		return;
	if (v->has_estimate)
		estimate_deinit(&v->estimate);
	terminal_view_deinit(&v->look);
	terminal_screen_deinit(&v->cells);
	for (unsigned i = 0; i < v->n_messages; i++)
		free(v->messages[i]);
	free(v->messages);
	excerpt_deinit(&v->source);
	close(v->fd);
	free(v);
}

bool view_keep(struct view *v, const char *text)
{
	char **bigger = v->n_messages < MESSAGES_MAX
			    ? realloc(v->messages, (v->n_messages + 1) * sizeof(*bigger))
			    : NULL;

	if (bigger) {
		v->messages = bigger;
		bigger[v->n_messages] = strdup(text);
		v->n_messages += bigger[v->n_messages] != NULL;
		v->is_dirty = true;
	}
	return v->shares_stderr;
}

FILE *view_terminal(const struct view *v, int *ret_width)
{
	struct winsize size = {0};
	int copy;

	if (v->shares_stderr || v->is_lost || !screen_is_ours(v->fd))
		return NULL;
	*ret_width = ioctl(v->fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
	copy = fcntl(v->fd, F_DUPFD_CLOEXEC, 0);
	return copy < 0 ? NULL : fdopen(copy, "w");
}

void console_take(struct console *c, struct estimate *e, uint64_t lost)
{
	struct view *v = c->view;

	if (!console_is_open(c)) {
		estimate_deinit(e);
		return;
	}
	if (v->has_estimate)
		estimate_deinit(&v->estimate);
	v->estimate = *e;
	v->has_estimate = true;
	v->sorted = console_sort(c);
	v->is_dirty = true;
	v->lost = lost;
	terminal_note(&v->look, &v->estimate);
}

enum sort_key console_sort(const struct console *c)
{
	return console_is_open(c) ? c->view->look.sort : SORT_SLOPE;
}

int console_fd(const struct console *c)
{
	return console_is_open(c) && c->view->has_keys && screen_is_ours(c->view->fd) ? c->view->fd
										      : -1;
}

uint64_t console_next(const struct console *c)
{
	return console_is_open(c) ? c->view->wake_ns : UINT64_MAX;
}

void console_lost(struct console *c)
{
	if (c->view)
		c->view->is_lost = true;
	console_close(c);
}

void console_changed(struct console *c)
{
	if (!console_is_open(c))
		return;
	screen_resume(c->view->screen);
	c->view->is_dirty = true;
	c->view->next_ns = 0;
}

/* Programs that hold the terminal stop this way: they let the signal act as if they had not caught
 * it. SIGTSTP has no effect where no shell could continue us. */
void console_stop(struct console *c, int sig)
{
	sigset_t set, before;

	if (console_is_open(c))
		screen_suspend(c->view->screen);
	raise(sig);
	sigemptyset(&set);
	sigaddset(&set, sig);
	if (sig != SIGSTOP && !sigprocmask(SIG_UNBLOCK, &set, &before))
		sigprocmask(SIG_SETMASK, &before, NULL);
	console_changed(c);
}

enum run_action console_keys(struct console *c, bool is_paused)
{
	struct view *v = c->view;
	uint32_t key;

	while (console_is_open(c) && screen_key(v->screen, &key)) {
		v->is_dirty = true;
		switch (terminal_press(&v->look, v->has_estimate ? &v->estimate : NULL, key)) {
		case ACTION_PAUSE:
			return is_paused ? RUN_ACTION_RESUME : RUN_ACTION_PAUSE;
		case ACTION_QUIT:
			return RUN_ACTION_QUIT;
		case ACTION_REPAINT:
			screen_repaint(v->screen);
			break;
		case ACTION_SORT: /* console_sort() tells the next answer */
		case ACTION_NONE:
			break;
		}
	}
	return RUN_ACTION_NONE;
}

void console_draw(struct console *c, const struct console_status *s, uint64_t now, uint64_t due)
{
	struct view *v = c->view;

	if (!console_is_open(c))
		return;
	v->wake_ns = UINT64_MAX;
	if (now < v->next_ns && !v->is_dirty)
		return;
	/* A picture tells more while an experiment is open, and there is time right after an
	 * opening. */
	if (!v->is_dirty && !s->file && !s->is_paused && now < v->drawn_ns + DRAW_MAX_NS)
		return;
	if (now < v->next_ns && now < v->drawn_ns + DRAW_LEAST_NS) {
		v->wake_ns = v->drawn_ns + DRAW_LEAST_NS;
	} else if (s->file && due < now + DUE_NS && now < v->drawn_ns + DRAW_MAX_NS) {
		v->wake_ns = due + 1;
	} else {
		view_draw(v, s, now);
	}
}
