// SPDX-License-Identifier: BSD-3-Clause
/*
 * A pipeline like PARSEC's ferret (paper section 4.3): load, segment, extract, index, rank, output,
 * with queues between the stages and pools of threads for the middle ones. Indexing and ranking use
 * one database behind one lock. So an image takes the time of both together, 1 + 1.5 ms, with any
 * number of threads. Making the ranking faster by s gains 0.6 s, the indexing 0.4 s. Extraction,
 * hot as well, runs on another CPU in the meantime and gains 0. All stages together need 1.4 CPUs.
 */
#include "workload.h"

#define QUEUE_SLOTS 20

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int filled;
};

static long segment_us = 100, extract_us = 750, index_us = 1000, rank_us = 1500, segmenters = 1,
	    extractors = 2, indexers = 2, rankers = 2;
static uint64_t load_iters, segment_iters, extract_iters, index_iters, rank_iters, output_iters;
static pthread_mutex_t database = PTHREAD_MUTEX_INITIALIZER;
static struct queue loaded = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct queue segmented = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct queue extracted = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct queue indexed = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static struct queue ranked = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void put(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->filled == QUEUE_SLOTS)
		pthread_cond_wait(&q->changed, &q->lock);
	q->filled++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void take(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (!q->filled)
		pthread_cond_wait(&q->changed, &q->lock);
	q->filled--;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void *load(void *argument)
{
	for (;;) {
		SPIN(load_iters); /* LINE_LOAD */
		put(&loaded);
	}
	return NULL;
}

static void *segment(void *argument)
{
	for (;;) {
		take(&loaded);
		SPIN(segment_iters); /* LINE_SEGMENT */
		put(&segmented);
	}
	return NULL;
}

static void *extract(void *argument)
{
	for (;;) {
		take(&segmented);
		SPIN(extract_iters); /* LINE_EXTRACT */
		put(&extracted);
	}
	return NULL;
}

static void *look_up_index(void *argument)
{
	for (;;) {
		take(&extracted);
		pthread_mutex_lock(&database);
		SPIN(index_iters); /* LINE_INDEX */
		pthread_mutex_unlock(&database);
		put(&indexed);
	}
	return NULL;
}

static void *rank(void *argument)
{
	for (;;) {
		take(&indexed);
		pthread_mutex_lock(&database);
		SPIN_LINE(rank_iters); /* LINE_RANK */
		pthread_mutex_unlock(&database);
		put(&ranked);
	}
	return NULL;
}

static void *output(void *argument)
{
	for (;;) {
		take(&ranked);
		SPIN(output_iters); /* LINE_OUTPUT */
		progress();
	}
	return NULL;
}

static void start(void *(*stage)(void *), long threads)
{
	for (long i = 0; i < threads; i++)
		work_thread(stage, NULL);
}

int main(int argc, char **argv)
{
	const struct work_option options[] = {{"segment-us", &segment_us},
	    {"extract-us", &extract_us}, {"index-us", &index_us}, {"rank-us", &rank_us},
	    {"segmenters", &segmenters}, {"extractors", &extractors}, {"indexers", &indexers},
	    {"rankers", &rankers}, {NULL}};

	work_init(argc, argv, 8, options);
	load_iters = work_iters(50);
	segment_iters = work_iters((double)segment_us);
	extract_iters = work_iters((double)extract_us);
	index_iters = work_iters((double)index_us);
	rank_iters = work_iters((double)rank_us);
	output_iters = work_iters(50);
	start(load, 1);
	start(segment, segmenters);
	start(extract, extractors);
	start(look_up_index, indexers);
	start(rank, rankers);
	start(output, 1);
	work_wait();
}
