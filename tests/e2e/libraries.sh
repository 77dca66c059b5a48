#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Libraries beyond the room that there is: the one that matters is in scope all the same. Half of
# the samples are its own at least, of a program that calls nothing else in a loop.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
point=tracepoint:syscalls:sys_exit_write

# The loader places libbig.so, which has more functions than the line table, below libnear.so. What
# libbig.so needs lies below both.
echo "-- more functions than there is room for"
export LD_RUN_PATH=$dir
printf 'void far(void) {}\n' >"$dir/far.c"
printf '%s\n' '.rept 70000' .cfi_startproc ret .cfi_endproc .endr \
	'.section .note.GNU-stack,"",@progbits' >"$dir/big.s"
printf '%s\n' 'void near(void) { for (volatile long i = 0; i < 1000000; i++) ; }' >"$dir/near.c"
cat >"$dir/near_main.c" <<-'END'
	#include <time.h>
	#include <unistd.h>
	void near(void);
	int main(void)
	{
		while (clock() < 4 * CLOCKS_PER_SEC) {
			near();
			write(-1, "", 0);
		}
	}
END
(cd "$dir" && cc -shared -fPIC -o libfar.so far.c &&
	cc -shared -fPIC -Wl,--no-as-needed -L. -o libbig.so big.s -lfar &&
	cc -shared -fPIC -O1 -o libnear.so near.c &&
	cc -w -O1 -Wl,--no-as-needed -L. -o near near_main.c -lnear -lbig) || bad "it is built"
rm -f "$dir/p.coz"
run 0 "$tool" --no-tui -P "$point" --experiment-length 100ms -o "$dir/p.coz" -- "$dir/near"
says "warning: '.*/libbig.so' in process [0-9]+ stays out of scope: no room .* with -b$"
check "that is said once" [ "$(grep -c 'stays out of scope' "$dir/err")" -eq 1 ]
most='import re, sys
found = dict(re.findall(r"(?m)^samples\tlocation=(\S+)\tcount=(\d+)", open(sys.argv[1]).read()))
sys.exit(2 * int(found["libnear.so:near"]) < sum(map(int, found.values())))'
near_is_in_scope() {
	check "near() is in scope" grep -q "selected=libnear.so:near	" "$dir/p.coz"
	check "and counts for the most" python3 -c "$most" "$dir/p.coz"
}
near_is_in_scope

# near() comes last: behind more functions than the line table has room for, and behind more
# libraries than a process's table of mappings has.
echo "-- the hot library comes last"
printf '%s\n' 'void idle(void) {}' >"$dir/idle.c"
cat >"$dir/late_main.c" <<-'END'
	#include <stdio.h>
	#include <unistd.h>
	void near(void);
	int main(void)
	{
		puts("ready");
		fflush(stdout);
		for (;;) {
			near();
			write(-1, "", 0);
		}
	}
END
(cd "$dir" && cc -shared -fPIC -o libidle.so idle.c &&
	cc -w -O1 -Wl,--no-as-needed -L. -o late late_main.c -lbig -lnear &&
	for i in {1..45}; do cp libidle.so "libidle$i.so"; done &&
	cc -w -O1 -Wl,--no-as-needed -o many late_main.c libidle[0-9]*.so libnear.so) ||
	bad "they are built"
programs=(late many)
! brief || programs=(many)
for program in "${programs[@]}"; do
	begin "$dir/$program"
	rm -f "$dir/p.coz"
	run 0 "$tool" -v --no-tui -P "$point" --experiment-length 100ms -d 5s -o "$dir/p.coz" \
		-p "$target_pid"
	says "'.*/libnear.so': [1-9][0-9]* samples of a first look"
	near_is_in_scope
	# The look itself, and the time in which files are read, had half of 200 samples.
	check "samples of the time before do not count" python3 -c 'import re, sys
found = dict(re.findall(r"\t(samples|in-scope)=(\d+)", re.search(r"(?m)^runtime.*", open(
    sys.argv[1]).read())[0]))
sys.exit(10 * int(found["in-scope"]) < 9 * int(found["samples"]))' "$dir/p.coz"
	check "a look has met no library that does nothing" \
		[ "$(grep -c "/libidle.*samples of a first look" "$dir/err")" -eq 0 ]
	kill "$target_pid"
done
finish
