// SPDX-License-Identifier: BSD-3-Clause
/* Where the time goes, on CPUs and off them, and who ends waits; what reports say about that. */
#include "check.h"

#include "core/places/waits.h"
#include "report/html.h"
#include "report/report.h"
#include "report/words.h"

/* Two runs, which call their lines differently. 100 samples executed, of which 20 are in no line;
 * 300 waited. */
static const char two_runs[] =
    "startup\ttime=1\n"
    "samples\tlocation=/s/a.c:1\tcount=60\tid=1\n"
    "samples\tlocation=/s/a.c:2\tcount=0\tid=2\n"
    "samples\tlocation=/s/a.c:1 [lock]\tcount=100\tid=8\twakers=60:2,10:timer,5:77\n"
    "samples\tlocation=/s/a.c:1 [sched]\tcount=20\tid=9\n"
    "samples\tlocation=(no line) [io]\tcount=30\tid=7\twakers=30:kernel\n"
    "runtime\ttime=9\tsamples=220\tin-scope=210\twaits=150\n"
    "startup\ttime=2\n"
    "samples\tlocation=/s/a.c:2\tcount=20\tid=1\n"
    "samples\tlocation=/s/a.c:1\tcount=0\tid=2\n"
    "samples\tlocation=/s/a.c:1 [lock]\tcount=145\tid=5\twakers=20:1,5:0\n"
    "samples\tlocation=/s/b.c:9 [sleep]\tcount=5\tid=6\twakers=5:timer\n"
    "runtime\ttime=9\tsamples=180\tin-scope=170\twaits=150\n";

static void read_text(struct profile *p, const char *text)
{
	FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
	struct error e;

	profile_init(p);
	CHECK_EQ(profile_read(p, in, "test", &e), 0);
	CHECK_EQ(p->n_skipped, 0);
	fclose(in);
}

static void check_waker(const struct waiting_waker *w, const char *line, uint32_t who, uint64_t n)
{
	if (line)
		CHECK_STR(w->line, line);
	else
		CHECK_EQ(w->waker, who);
	CHECK_EQ(!w->line, !line);
	CHECK_EQ(w->count, n);
}

TEST(two_runs_add_up)
{
	const struct waiting_unit *leading[WAITING_UNITS];
	struct waiting w;
	struct profile p;

	read_text(&p, two_runs);
	CHECK_EQ(waiting_init(&w, &p), 0);
	profile_deinit(&p); /* names are its own */
	CHECK_EQ(w.on, 100);
	CHECK_EQ(w.off, 300);
	CHECK_EQ(w.classes[COZBPF_WAIT_LOCK], 245);
	CHECK_EQ(w.n, 4);
	CHECK_STR(w.lines[0].line, "/s/a.c:1");
	CHECK_EQ(w.lines[0].on, 60);
	CHECK_EQ(w.lines[0].off, 265);
	CHECK_EQ(w.lines[0].classes[COZBPF_WAIT_SCHED], 20);
	CHECK_NEAR(w.lines[0].on_share, 0.6, 1e-9);
	CHECK_NEAR(w.lines[0].off_share, 265.0 / 300, 1e-9);
	CHECK_STR(w.lines[1].line, "/s/a.c:2"); /* by its larger share, which is on CPU */
	CHECK_STR(w.lines[2].line, "(no line)");
	CHECK_STR(w.lines[3].line, "/s/b.c:9");
	CHECK_EQ(waiting_lines(&w), 4);
	CHECK_EQ(waiting_leading(&w, leading), 3); /* nobody ends waits for a CPU */
	CHECK_STR(leading[0]->unit, "/s/a.c:1 [lock]");
	CHECK_EQ(leading[0]->woken, 100);
	CHECK_EQ(leading[0]->n, 3);
	check_waker(&leading[0]->wakers[0], "/s/a.c:2", 0, 80);
	/* a thread in no line, and one whose line the profile does not name */
	check_waker(&leading[0]->wakers[1], NULL, COZBPF_WAKER_NO_LINE, 10);
	check_waker(&leading[0]->wakers[2], NULL, COZBPF_WAKER_TIMER, 10);
	CHECK_STR(leading[1]->unit, "(no line) [io]");
	CHECK_STR(leading[2]->unit, "/s/b.c:9 [sleep]");
	waiting_deinit(&w);
}

/* Of a killed run lines are known, and not how many samples there were. */
TEST(without_totals)
{
	struct waiting w;
	struct profile p;

	read_text(&p, "startup\ttime=1\nsamples\tlocation=a.c:1\tcount=6\n"
		      "samples\tlocation=a.c:1 [io]\tcount=2\n");
	CHECK_EQ(waiting_init(&w, &p), 0);
	CHECK_EQ(w.on, 6);
	CHECK_EQ(w.off, 2);
	waiting_deinit(&w);
	profile_deinit(&p);
}

TEST(no_waits)
{
	struct waiting w;
	struct profile p;

	read_text(&p, "startup\ttime=1\nsamples\tlocation=a.c:1\tcount=6\n");
	CHECK_EQ(waiting_init(&w, &p), 0);
	CHECK(!w.off && !w.n && !w.lines);
	waiting_deinit(&w);
	profile_deinit(&p);
}

/* What a report prints of a profile; the caller's to free. */
enum format { TEXT, JSON, PAGE };

static char *report(const char *profile, enum format format, bool waiting)
{
	const struct estimate_options options = {.seed = 1, .waiting = waiting};
	struct html_options html = {.sort = SORT_SLOPE};
	struct text_options text = {0};
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);
	struct estimate e;
	struct profile p;

	read_text(&p, profile);
	CHECK_EQ(estimate_profile(&p, &options, &e), 0);
	if (format == TEXT)
		CHECK_EQ(report_text(out, &e, &text), 0);
	else if (format == JSON)
		CHECK_EQ(report_json(out, &e), 0);
	else
		CHECK_EQ(report_html(out, &p, &e, &html), 0);
	fclose(out);
	estimate_deinit(&e);
	profile_deinit(&p);
	return ret;
}

static void check_report(const char *profile, enum format format, const char *part)
{
	char *text = report(profile, format, true);

	if (!strstr(text, part))
		fprintf(stderr, "%s\nis not in\n%.4000s\n", part, text);
	CHECK(strstr(text, part));
	free(text);
}

TEST(text)
{
	char *without = report(two_runs, TEXT, false);

	CHECK(!strstr(without, "where the time"));
	free(without);
	check_report(two_runs, TEXT,
	    "\nwhere the time of all threads goes: 25 % on CPU, 75 % off CPU: lock 61 %, io 8 %, "
	    "sched 5 %, sleep 1 %\n"
	    "   on CPU  off CPU  line\n"
	    "   60.0 %   88.3 %  /s/a.c:1: lock 81.7 %, sched 6.7 %\n"
	    "   20.0 %    0.0 %  /s/a.c:2\n"
	    "    0.0 %   10.0 %  (no line): io 10.0 %\n"
	    "    0.0 %    1.7 %  /s/b.c:9: sleep 1.7 %\n"
	    "who ends the leading waits\n"
	    "            81.7 %  /s/a.c:1 [lock]: woken by /s/a.c:2 (80 %), code out of scope (10 "
	    "%), a timer (10 %)\n"
	    "            10.0 %  (no line) [io]: woken by the kernel (100 %)\n"
	    "             1.7 %  /s/b.c:9 [sleep]: woken by a timer (100 %)\n");
}

TEST(json)
{
	check_report(two_runs, JSON,
	    "\"waiting\":\t{\n\t\t\"on_cpu\":\t0.25,\n\t\t\"off_cpu\":\t"
	    "0.75,\n\t\t\"waits\":\t{\n\t\t\t\"io\":\t0.1,\n");
	check_report(two_runs, JSON,
	    "\"line\":\t\"/s/a.c:2\",\n\t\t\t\t\"on_cpu\":\t0.2,\n"
	    "\t\t\t\t\"off_cpu\":\t0\n\t\t\t}");
	check_report(two_runs, JSON, "\"line\":\t\"/s/a.c:2\",\n\t\t\t\t\t\t\"share\":\t0.8\n");
	check_report(two_runs, JSON, "\"waker\":\t\"thread\",\n\t\t\t\t\t\t\"share\":\t0.1\n");
	check_report(two_runs, JSON, "\"waker\":\t\"timer\",\n\t\t\t\t\t\t\"share\":\t0.1\n");
}

TEST(page)
{
	check_report(two_runs, PAGE,
	    "\"lines\":[[\"/s/a.c:1\",0.6,0.883333,\"lock 81.7 %, sched "
	    "6.7 %\"],[\"/s/a.c:2\",0.2,0,\"\"]");
	check_report(two_runs, PAGE, "[\"(no line) [io]\",0.1,\"the kernel (100 %)\"]");
}

/* More wakers than have room: one that is alone would take as much as "1 other". */
TEST(many_wakers)
{
	const char *of = "startup\ttime=1\nsamples\tlocation=a [io]\tcount=9\twakers=";
	char text[256];

	snprintf(text, sizeof(text), "%s%s\n", of, "4:timer,3:kernel,2:process,1:end");
	check_report(text, TEXT,
	    "a [io]: woken by a timer (40 %), the kernel (30 %), another process (20 %), the end "
	    "of a thread (10 %)\n");
	snprintf(text, sizeof(text), "%s%s\n", of, "5:timer,4:kernel,3:process,2:end,1:0");
	check_report(text, TEXT,
	    "a [io]: woken by a timer (33 %), the kernel (27 %), another process (20 %), 2 others "
	    "(20 %)\n");
}

/* Files of others: sums end at the largest number. */
TEST(hostile_counts)
{
	struct waiting w;
	struct profile p;
	char text[65536];
	size_t n = (size_t)snprintf(text, sizeof(text), "startup\ttime=1\n");

	for (int i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
		    "samples\tlocation=%d [io]\tcount=9007199254740992\twakers=9007199254740992:"
		    "timer,9007199254740992:timer\n",
		    i);
	read_text(&p, text);
	CHECK_EQ(waiting_init(&w, &p), 0);
	CHECK(w.off > 9007199254740992U);
	CHECK_EQ(w.units[0].n, 1);
	CHECK_EQ(w.units[0].woken, 2 * 9007199254740992U);
	waiting_deinit(&w);
	profile_deinit(&p);
}
