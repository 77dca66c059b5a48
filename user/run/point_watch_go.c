// SPDX-License-Identifier: BSD-3-Clause
/* What is known of servers in Go: which functions the standard library, and what many use beside
 * it, call once for each request. A handler is called through an interface, so no stack or symbol
 * tells that a function is one, unless it is a method ServeHTTP. */
#include "run/point_watch_private.h"

#include <string.h>

#define MAX_HANDLERS 8
#define HANDLER ".ServeHTTP"
#define HANDLER_WEIGHT 0.6

/* The end of a request is a better unit of work than its begin. */
static const struct {
	const char *function, *what;
	double weight;
} requests[] = {
    {"net/http.(*response).finishRequest", "ends a request of net/http", 1},
    {"net/http.(*http2responseWriter).handlerDone", "ends a request by HTTP/2", 1},
    {"net/http/internal/http2.(*responseWriter).handlerDone", "ends a request by HTTP/2", 1},
    {"net/http.serverHandler.ServeHTTP", "begins a request of net/http", 0.8},
    {"google.golang.org/grpc.(*Server).handleStream", "begins a call of gRPC", 0.8},
};

bool watch_is_go_runtime(const char *symbol)
{
	return !strncmp(symbol, "runtime.", 8) || !strncmp(symbol, "runtime/", 8) ||
	       !strncmp(symbol, "internal/runtime/", 17);
}

/* The library's own handlers serve all paths, or files; one that is asked for is the program's. */
static bool is_handler(const char *name)
{
	size_t length = strlen(name), tail = strlen(HANDLER);

	return length > tail && !strcmp(name + length - tail, HANDLER) &&
	       strncmp(name, "net/http", 8) != 0 && strncmp(name, "go:", 3) != 0;
}

static void add_handlers(
    const struct points *p, struct watch *w, struct watch_group *g, struct object *o)
{
	char **names = NULL;
	struct error e;
	unsigned added = 0;
	size_t n = 0;

	if (object_functions(o, &names, &n, &e))
		return;
	for (size_t i = 0; i < n && added < MAX_HANDLERS; i++) {
		const struct watch_function f = {.name = names[i],
		    .symbol = names[i],
		    .what = "handler of net/http",
		    .weight = HANDLER_WEIGHT};

		if (is_handler(names[i]))
			added += watch_add_function(p, w, g, o, &f);
	}
	functions_free(names, n);
}

void watch_add_requests(
    const struct points *p, struct watch *w, struct watch_group *g, struct object *o)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		const struct watch_function f = {.name = requests[i].function,
		    .symbol = requests[i].function,
		    .what = requests[i].what,
		    .weight = requests[i].weight};

		watch_add_function(p, w, g, o, &f);
	}
	add_handlers(p, w, g, o);
}
