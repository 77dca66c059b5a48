// SPDX-License-Identifier: BSD-3-Clause
/*
 * Requests that wait in a queue. One thread makes them and works between two of them, so its pace
 * slows down with the machine and with delays. Others serve them. Gaps and sizes come in a fixed
 * cycle, so arithmetic tells the waiting times. With one worker, the n-th request waits for max(0,
 * wait of the previous one + its service - gap) (Lindley's recursion). A request's latency is the
 * time from enqueue(request), in the one thread, to done(request), in another. --line-pct of its
 * service are LINE_A, the rest LINE_C. With --lose-every N one request in N is served and never
 * done, so fewer leave than come on any machine. The end prints the latencies by the program's own
 * clock, and those by arithmetic.
 */
#include "workload.h"
#include <math.h>

/* the longest of 48 latencies are the upper 2 %: p99 is one of them, far from a step */
#define CYCLE 48
#define REQUESTS 65536 /* more than ever wait at a time */
#define KEPT (1 << 20) /* latencies */

static long service_us = 2000, gap_us = 2600, line_pct = 70, workers = 1, skip_ms = 300, lose_every,
	    each;

struct request {
	uint64_t begun_ns;
	unsigned nth;
	struct request *next;
};

static uint64_t a_iters[CYCLE], c_iters[CYCLE], gap_iters[CYCLE];
static double gaps[CYCLE], sizes[CYCLE];
static struct request requests[REQUESTS], *queue, **tail = &queue;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static double *kept_us;
static uint64_t kept;

/* A request comes. The probe is placed here, as in progress(). */
__attribute__((noinline, patchable_function_entry(1))) void enqueue(struct request *r);
void enqueue(struct request *r)
{
	r->begun_ns = work_now_ns();
	pthread_mutex_lock(&mutex);
	r->next = NULL;
	*tail = r;
	tail = &r->next;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&mutex);
}

/* A request has been served. */
__attribute__((noinline, patchable_function_entry(1))) void done(struct request *r);
void done(struct request *r)
{
	uint64_t now = work_now_ns(), nth;

	if (now - work.start_ns > skip_ms * 1000000ull) {
		nth = __atomic_fetch_add(&kept, 1, __ATOMIC_RELAXED);
		if (nth < KEPT)
			kept_us[nth] = (now - r->begun_ns) / 1e3;
	}
	progress();
}

static void *produce(void *argument)
{
	for (unsigned i = 0;; i++) {
		struct request *r = &requests[i % REQUESTS];

		SPIN(gap_iters[i % CYCLE]); /* LINE_B */
		r->nth = i % CYCLE;
		enqueue(r);
	}
	return NULL;
}

static void *serve(void *argument)
{
	for (;;) {
		struct request *r;

		pthread_mutex_lock(&mutex);
		while (!queue)
			pthread_cond_wait(&not_empty, &mutex);
		r = queue;
		queue = r->next;
		if (!queue)
			tail = &queue;
		pthread_mutex_unlock(&mutex);
		SPIN_LINE(a_iters[r->nth]); /* LINE_A */
		SPIN(c_iters[r->nth]);      /* LINE_C */
		if (!lose_every || r->nth % lose_every)
			done(r);
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *what, double *us, uint64_t n)
{
	double sum = 0;

	qsort(us, n, sizeof(*us), compare);
	for (uint64_t i = 0; i < n; i++)
		sum += us[i];
	if (n)
		dprintf(1, "%s requests %llu mean_us %.2f p50_us %.2f p90_us %.2f p99_us %.2f\n",
		    what, (unsigned long long)n, sum / n, us[n / 2], us[n * 9 / 10],
		    us[n * 99 / 100]);
}

/* By arithmetic, in the steady state. */
static void expect(void)
{
	static double us[CYCLE * 100];
	double wait = 0, service = 0;

	for (int i = 0; i < 20 * CYCLE + CYCLE * 100; i++) {
		int n = i % CYCLE;

		wait = fmax(0, wait + service - gaps[n]);
		service = sizes[n] * (1 - line_pct / 100.0 * work.line_speedup_pct / 100);
		if (i >= 20 * CYCLE)
			us[i - 20 * CYCLE] = wait + service;
	}
	print("expected", us, CYCLE * 100);
}

static void report(void)
{
	uint64_t n = kept < KEPT ? kept : KEPT;

	print("latency", kept_us, n);
	for (uint64_t i = 0; each && i < n; i++)
		dprintf(1, "each %.2f\n", kept_us[i]);
	if (workers == 1)
		expect();
}

/* Gaps between 0.1 and 1.9 of the mean; one request in eight is three times as large as the others.
 * A fixed generator has shuffled the order. */
static void fill_cycle(void)
{
	uint32_t state = 12345;

	for (int i = 0; i < CYCLE; i++) {
		gaps[i] = gap_us * (0.1 + 1.8 * i / (CYCLE - 1));
		sizes[i] = service_us * (i % 8 ? 0.8 : 2.4);
	}
	for (int i = CYCLE - 1; i > 0; i--) {
		int a, b;
		double t;

		state = state * 1664525 + 1013904223;
		a = (state >> 8) % (i + 1);
		state = state * 1664525 + 1013904223;
		b = (state >> 8) % (i + 1);
		t = gaps[i], gaps[i] = gaps[a], gaps[a] = t;
		t = sizes[i], sizes[i] = sizes[b], sizes[b] = t;
	}
	for (int i = 0; i < CYCLE; i++) {
		a_iters[i] = work_iters(line_pct / 100.0 * sizes[i]);
		c_iters[i] = work_iters((1 - line_pct / 100.0) * sizes[i]);
		gap_iters[i] = work_iters(gaps[i]);
	}
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"service-us", &service_us}, {"gap-us", &gap_us},
	    {"line-pct", &line_pct}, {"workers", &workers}, {"skip-ms", &skip_ms},
	    {"lose-every", &lose_every}, {"each", &each}, {NULL}};

	work_init(argc, argv, 0, options);
	kept_us = calloc(KEPT, sizeof(*kept_us));
	if (!kept_us)
		work_fail("calloc");
	fill_cycle();
	work.report = report;
	for (long i = 0; i < workers; i++)
		work_thread(serve, NULL);
	work_thread(produce, NULL);
	work_wait();
}
