# shellcheck shell=bash disable=SC2154 # $dir is of lib.sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's nginx and PostgreSQL with work of our own in them; sourced after tests/e2e/lib.sh. A
# loadable module of each has two loops, LINE_A with 80 and LINE_B with 20 % of a request's work.
# What they need is below $dir.

# loops TURNS: the two loops.
loops() {
	local body='__asm__ volatile("" : "+r"(n));'
	echo "	for (unsigned long n = $(($1 * 4 / 5)); n; n--) $body /* LINE_A */"
	echo "	for (unsigned long n = $(($1 / 5)); n; n--) $body /* LINE_B */"
}

# download PACKAGE: its content in $dir/PACKAGE, since installing it would bring a compiler.
download() {
	local get=(apt-get -q -o APT::Sandbox::User=root)
	mkdir "$dir/$1"
	(cd "$dir/$1" && { "${get[@]}" download "$1" ||
		{ "${get[@]}" update && "${get[@]}" download "$1"; }; } &&
		dpkg -x "$1"_*.deb .) >"$dir/out" 2>&1
}

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --init-groups env -C / "$@"
}

# pg_build TURNS: the function cozwork() in $dir/cozwork.so; $pg is where the server's programs are.
# Fails when something cannot be had.
pg_build() {
	local version
	pg=$(find /usr/lib/postgresql -path '*/bin/postgres' -printf '%h\n' 2>/dev/null |
		sort -V | tail -n 1)
	version=$(basename "${pg%/bin}")
	download "postgresql-server-dev-$version" || return 1
	{
		printf '#include "postgres.h"\n#include "fmgr.h"\nPG_MODULE_MAGIC;\n'
		printf 'PG_FUNCTION_INFO_V1(cozwork);\nDatum cozwork(PG_FUNCTION_ARGS)\n{\n'
		loops "$1"
		printf '	PG_RETURN_INT32(1);\n}\n'
	} >"$dir/cozwork.c"
	echo 'SELECT cozwork();' >"$dir/work.sql"
	gcc -O1 -g -shared -fPIC -I/usr/include/postgresql -o "$dir/cozwork.so" "$dir/cozwork.c" \
		-I"$dir/postgresql-server-dev-$version/usr/include/postgresql/$version/server"
}

# pg_start NAME PORT: a database in $dir/NAME, which has cozwork(). $dir/NAME is its socket, too.
pg_start() {
	mkdir "$dir/$1" && chown postgres "$dir/$1" &&
		as_postgres "$pg/initdb" -D "$dir/$1" -A trust --no-sync &&
		as_postgres "$pg/pg_ctl" -D "$dir/$1" -w -l "$dir/$1/log" \
			-o "-p $2 -k $dir/$1 -h '' -c autovacuum=off -c fsync=off" start &&
		as_postgres psql -q -h "$dir/$1" -p "$2" -d postgres -c \
			"CREATE FUNCTION cozwork() RETURNS int AS '$dir/cozwork.so' LANGUAGE C"
} >"$dir/out" 2>"$dir/err"

pg_stop() { # NAME
	as_postgres "$pg/pg_ctl" -D "$dir/$1" -m immediate stop >/dev/null 2>&1
}

# nginx_build TURNS: the module $dir/cozweb.so. Fails when something cannot be had.
nginx_build() {
	local src=$dir/nginx-dev/usr/share/nginx/src
	download nginx-dev && download libpcre2-dev || return 1
	{
		printf '#include <ngx_config.h>\n#include <ngx_core.h>\n#include <ngx_http.h>\n'
		printf 'static ngx_int_t cozwork(ngx_http_request_t *r)\n{\n'
		printf '	ngx_buf_t *b = ngx_calloc_buf(r->pool);\n'
		printf '	ngx_chain_t out = {b, NULL};\n'
		loops "$1"
		cat <<'C'
	if (!b || ngx_http_discard_request_body(r) != NGX_OK)
		return NGX_HTTP_INTERNAL_SERVER_ERROR;
	b->pos = (u_char *)"done\n";
	b->last = b->pos + 5;
	b->memory = b->last_buf = 1;
	r->headers_out.status = NGX_HTTP_OK;
	r->headers_out.content_length_n = 5;
	ngx_http_send_header(r);
	return ngx_http_output_filter(r, &out);
}
static char *set(ngx_conf_t *c, ngx_command_t *command, void *conf)
{
	ngx_http_core_loc_conf_t *l = ngx_http_conf_get_module_loc_conf(c, ngx_http_core_module);
	l->handler = cozwork;
	return NGX_CONF_OK;
}
static ngx_command_t commands[] = {
    {ngx_string("cozwork"), NGX_HTTP_LOC_CONF | NGX_CONF_NOARGS, set, 0, 0, NULL},
    ngx_null_command};
static ngx_http_module_t context;
ngx_module_t cozweb = {NGX_MODULE_V1, &context, commands, NGX_HTTP_MODULE,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NGX_MODULE_V1_PADDING};
ngx_module_t *ngx_modules[] = {&cozweb, NULL};
char *ngx_module_names[] = {"cozweb", NULL};
char *ngx_module_order[] = {NULL};
C
	} >"$dir/cozweb.c"
	(cd "$src" && ./configure --with-compat --with-threads --with-debug --without-pcre \
		--without-http_rewrite_module --without-http_gzip_module) >"$dir/out" 2>&1 &&
		gcc -O1 -g -shared -fPIC -DNGX_PCRE -DNGX_PCRE2 -I"$dir/libpcre2-dev/usr/include" \
			-I"$src/objs" -I"$src/src/core" -I"$src/src/event" \
			-I"$src/src/event/modules" -I"$src/src/os/unix" -I"$src/src/http" \
			-I"$src/src/http/modules" -o "$dir/cozweb.so" "$dir/cozweb.c" 2>"$dir/err"
}

# nginx_start NAME PORT: a server on the loopback with /work and /status, two workers.
nginx_start() {
	mkdir "$dir/$1"
	cat >"$dir/$1/nginx.conf" <<END
load_module $dir/cozweb.so;
worker_processes 2;
pid $dir/$1/pid;
error_log $dir/$1/log info;
events { worker_connections 64; }
http {
	access_log off;
	keepalive_requests 1000000000;
	client_body_temp_path $dir/$1/body;
	proxy_temp_path $dir/$1/proxy;
	fastcgi_temp_path $dir/$1/fastcgi;
	uwsgi_temp_path $dir/$1/uwsgi;
	scgi_temp_path $dir/$1/scgi;
	server {
		listen 127.0.0.1:$2 reuseport;
		location /work { cozwork; }
		location /status { stub_status; }
	}
}
END
	nginx -e "$dir/$1/log" -c "$dir/$1/nginx.conf" >"$dir/out" 2>"$dir/err"
}

nginx_stop() { # NAME
	kill -TERM "$(cat "$dir/$1/pid" 2>/dev/null)" 2>/dev/null
}
