// SPDX-License-Identifier: BSD-3-Clause
/* What is known of servers in Go: which functions the standard library, and what many use beside
 * it, call once for each request. A handler is called through an interface, so no stack or symbol
 * tells that a function is one, unless it is a method ServeHTTP. */
#include "run/point_watch_private.h"

#include <string.h>

#define MAX_HANDLERS 4
#define HANDLER ".ServeHTTP"
#define HANDLER_WEIGHT 0.6
#define BEGIN_WEIGHT 0.8
#define END_WEIGHT 1.0

/* Once for each request of a server. The end is a better unit of work; where there is none, or it
 * is inlined, the begin. */
static const struct {
	const char *end, *begin, *what_end, *what_begin;
} servers[] = {
    {"net/http.(*response).finishRequest", "net/http.serverHandler.ServeHTTP",
	"ends a request of net/http", "begins a request of net/http"},
    {"net/http.(*http2responseWriter).handlerDone", NULL, "ends a request by HTTP/2", NULL},
    {"net/http/internal/http2.(*responseWriter).handlerDone", NULL, "ends a request by HTTP/2",
	NULL},
    {NULL, "google.golang.org/grpc.(*Server).handleStream", NULL, "begins a call of gRPC"},
};

/* Folders of the standard library. Modules need no dot in their names. */
static const char *const standard[] = {"archive", "bufio", "bytes", "cmp", "compress", "container",
    "context", "crypto", "database", "debug", "embed", "encoding", "errors", "expvar", "flag",
    "fmt", "go", "hash", "html", "image", "index", "internal", "io", "iter", "log", "maps", "math",
    "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort",
    "strconv", "strings", "structs", "sync", "syscall", "testing", "text", "time", "type",
    "unicode", "unique", "unsafe", "vendor", "weak"};

bool watch_is_go_library(const char *symbol)
{
	size_t length = strcspn(symbol, "./:");

	for (size_t i = 0; i < sizeof(standard) / sizeof(*standard); i++)
		if (strlen(standard[i]) == length && !strncmp(symbol, standard[i], length))
			return true;
	return false;
}

/* Handlers of the library serve all paths, or files. */
static bool is_handler(const char *name)
{
	size_t length = strlen(name), tail = strlen(HANDLER);

	return length > tail && !strcmp(name + length - tail, HANDLER) &&
	       !watch_is_go_library(name);
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

static bool add_request(const struct points *p, struct watch *w, struct watch_group *g,
    struct object *o, const char *function, const char *what, double weight)
{
	const struct watch_function f = {
	    .name = function, .symbol = function, .what = what, .weight = weight};

	return function && watch_add_function(p, w, g, o, &f);
}

void watch_add_requests(
    const struct points *p, struct watch *w, struct watch_group *g, struct object *o)
{
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++)
		if (!add_request(p, w, g, o, servers[i].end, servers[i].what_end, END_WEIGHT))
			add_request(
			    p, w, g, o, servers[i].begin, servers[i].what_begin, BEGIN_WEIGHT);
	add_handlers(p, w, g, o);
}
