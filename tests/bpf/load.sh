#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# All BPF programs load and verify as the tool loads them, each within a budget of instructions.
# Budgets are a tenth or more above what was measured when they were written: more growth should be
# noticed, not forbidden. "size" is the program after the kernel's rewrites and with its
# subprograms. "verified" is the work of the verifier, whose own limit is one million; a preloaded
# library asks for it, since /proc tells it from 5.16 on only. Kernels
# before 6.13 rewrite and verify in other ways: there one limit holds for the work, and none for the
# size. In some modes of pausing other programs take the place of the first two (docs/design.md),
# and before 6.6 there are no probes of calls.
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
fixture speed
verify=$(realpath -e "${BUILD:-build}/tests/bpf/verified.so") || exit 1 # make check-bpf builds it
export COZBPF_VERIFIED=$dir/verified

# program size verified
old_verified=300000
budgets='
on_sample 3640 30000
on_deliver 190 220
on_switch 1570 10400
on_waking 850 5500
on_wakeup_new 500 5400
on_timer_entry 60 60
on_timer_exit 40 40
on_irq_entry 40 40
on_irq_exit 40 40
on_softirq_entry 60 80
on_softirq_exit 40 40
on_fork 1000 7700
on_adopt 710 5900
on_exec 180 250
on_exit 370 950
on_visit 1930 9560
on_visits 1930 9560
on_tracepoint 900 3600
on_counter 80 100
on_call 1060 6450
on_return 700 5950
on_spin 1150 6750
on_yield 1090 6700
on_syscall 60 70
on_candidate 40 40
on_watch 340 8500
'
waiting='
on_switch_waiter 3310 26800
on_waking_waiter 1780 18200
'
goroutines='
on_go 3110 13600
on_sample 5300 39900
on_switch 3030 24900
on_waking 1030 8000
'
blocks='
on_block 440 4700
on_sample 3890 30000
on_switch 1660 10460
'
peers='
on_socket 1100 1300
on_send 1000 2500
on_readable 200 200
on_receive 640 5300
on_waking 1150 6500
'
verified_pct=100
program=("$dir/speed")
point=progress
# A step up the stack has more to tell apart there: pairs of registers, links, signed addresses.
if [ "$(uname -m)" = aarch64 ]; then
	budgets=${budgets/on_sample 3640 30000/on_sample 4040 34700}
	budgets=${budgets/on_deliver 190/on_deliver 230}
	budgets=${budgets/on_watch 340 8500/on_watch 390 8500}
	waiting=${waiting/3310 26800/3450 67000}
	waiting=${waiting/1780 18200/1940 26100}
	blocks=${blocks/on_sample 3890 30000/on_sample 4150 37800}
	verified_pct=142
fi
# There samples walk the tree of memory areas themselves (compat_find_area()).
walk_size=0 walk_verified=0
[[ "$(uname -v)" != *PREEMPT_RT* ]] || walk_size=100 walk_verified=1000

# shellcheck disable=SC2317 # called by wait_for
ready_or_gone() { has "$dir/out" '^ready' || gone "$tool_pid"; }

# those BUDGETS: of the programs that look() found, these, and all that the plain command does not
# have.
those() {
	awk 'NR == FNR { judged[$1] = $2; next }
		judged[$1] == "" || judged[$1] == "these"' \
		<(sed -nE 's/^(on_[a-z_]*).*/\1 plain/p' <<<"$budgets"
			sed -nE 's/^(on_[a-z_]*).*/\1 these/p' <<<"$1") \
		"$dir/out.programs" >"$dir/out.those"
	mv "$dir/out.those" "$dir/out.programs"
}

begin_command() { # OPTIONS...
	rm -f "$COZBPF_VERIFIED"
	start env LD_PRELOAD="$verify" "$tool" run -q "$@" -o "$dir/profile.coz" \
		-P "$point" -- "${program[@]}"
	wait_for 30 ready_or_gone
	has "$dir/out" '^ready'
}

# look: all programs of the tool, which ends: name, size, verified, type, compiled.
look() {
	command_pid=$(sed -n 's/^ready //p' "$dir/out")
	started+=("$command_pid")
	# Stopped, both leave the CPUs to what follows, and their programs stay loaded.
	kill -STOP "$command_pid" "$tool_pid"
	bpftool -j prog show >"$dir/programs"
	python3 - "$tool_pid" "$dir/programs" "$COZBPF_VERIFIED" <<'END' >"$dir/out.programs"
import glob, json, re, sys
held = set()
for path in glob.glob(f"/proc/{sys.argv[1]}/fdinfo/*"):
    with open(path) as f:
        facts = dict(re.findall(r"(?m)^(prog_id|prog_type):\s*(\d+)$", f.read()))
    # Links name the program as well, but not its type.
    if "prog_type" in facts:
        held.add(int(facts["prog_id"]))
LENGTH = 15  # of a name in the kernel
with open(sys.argv[3]) as f:
    verified = dict(line.split() for line in f)
with open(sys.argv[2]) as f:
    programs = [p for p in json.load(f) if p["id"] in held and p["name"][:LENGTH] in verified]
for p in sorted(programs, key=lambda p: p["name"]):
    size, jited = p["bytes_xlated"] // 8, bool(p.get("bytes_jited"))
    print(p["name"], size, verified[p["name"][:LENGTH]], p["type"], jited)
END
	# First the command: a tool that is killed cannot take its probes out of a living process,
	# and the kernel warns of that.
	kill -KILL "$command_pid"
	wait_for 20 gone "$command_pid" || bad "the command ends"
	kill -KILL "$tool_pid" 2>/dev/null
	wait 2>/dev/null
}

# judge BUDGETS: of the programs that look() found.
judge() {
	local name size verified jited
	local -A size_of=() verified_of=() jited_of=()
	cat "$dir/out.programs"
	while read -r name size verified _ jited; do
		size_of[$name]=$size verified_of[$name]=$verified jited_of[$name]=$jited
	done <"$dir/out.programs"
	check "as many programs as budgets" [ "${#size_of[@]}" -eq "$(grep -c '^on' <<<"$1")" ]
	while read -r name size verified; do
		[ -n "$name" ] || continue
		[ -n "${size_of[$name]:-}" ] || bad "$name is loaded"
		[[ "$name" != on_sample* ]] ||
			size=$((size + walk_size)) verified=$((verified + walk_verified))
		if [ -n "$new" ]; then
			check "$name: ${size_of[$name]:-none} instructions of $size" \
				[ "${size_of[$name]:-none}" -le "$size" ]
		else
			verified=$old_verified
		fi
		check "$name: ${verified_of[$name]:-none} verified of $verified" \
			[ "${verified_of[$name]:-none}" -le "$verified" ]
		check "$name: compiled" [ "${jited_of[$name]:-}" = True ]
	done <<<"$1"
}

# load.sh go GO: those of a Go program, whose goroutines have accounts, and no others (go.sh).
if [ "${1:-}" = go ]; then
	CGO_ENABLED=0 "$2" build -o "$dir/goroutines" tests/e2e/fixtures/goroutines.go || exit 1
	program=("$dir/goroutines" channel)
	point=main.progress
	new=1
	begin_command || bad "the command starts"
	look
	those "$goroutines"
	judge "$goroutines"
	finish
fi

if ! begin_command --sync=uprobe && has "$dir/err" 'probes many calls at once'; then
	budgets=$(grep -v -e '^on_call ' -e '^on_return ' <<<"$budgets")
	begin_command
fi
has "$dir/out" '^ready' || bad "the command starts"
setup=on_setup
# Functions cannot be traced otherwise there (bpf/pause.bpf.c).
[[ ! "$(uname -mr)" =~ ^(5|6\.[0-3])\..*aarch64$ ]] || setup=on_setup_probe
case $(sed -nE 's/^startup\t.*\<pause=([a-z]+).*/\1/p' "$dir/profile.coz") in
write) budgets=${budgets/on_sample /on_sample_plain } budgets=${budgets/on_deliver /$setup } ;;
quanta) budgets=${budgets/on_sample /on_sample_plain } budgets=${budgets/on_deliver /on_quantum } ;;
esac
new=1
[[ "$budgets" == *on_sample\ * ]] || new=
look
judge "$budgets"

# Nodes that share their delays: what tells L, hears it, and joins.
if LC_ALL=C grep -qaF btf_trace_tcp_sendmsg_locked /sys/kernel/btf/vmlinux; then
	export COZBPF_PEERS_KEY=0123456789abcdef
	begin_command --peers 127.0.0.1:7465,127.0.0.1:7466
	unset COZBPF_PEERS_KEY
	look
	those "$peers"
	judge "$peers"
fi

# Those that take the place of on_switch and on_waking, with waits as units.
begin_command --off-cpu
look
those "$waiting"
judge "$waiting"

# The kernel's functions as units, with what they call: most is verified there. Other units.
sample=$(grep -o '^on_sample[a-z_]*' <<<"$budgets")
kinds=('KERNEL 3830 39200 --inclusive')
brief || kinds+=('SYSCALLS 3680 30000' 'MAIN 3760 34900 --fixed-line kernel:vfs_write')
for units in "${kinds[@]}"; do
	read -ra units <<<"$units"
	begin_command -b MAIN -b "${units[0]}" "${units[@]:3}"
	look
	budget="$sample ${units[1]} $((units[2] * verified_pct / 100))"
	those "$budget"
	judge "$budget"
done

# Blocks, with perturbation. Before 6.6 they are refused, in words.
start env LD_PRELOAD="$verify" "${BUILD:-build}/tests/bpf/blocks" hold
wait_for 30 ready_or_gone
if has "$dir/out" '^ready'; then
	look
	blocks=${blocks/on_sample /$sample }
	those "$blocks"
	judge "$blocks"
else
	check "blocks are refused" has "$dir/out" '^ok +refused'
fi
finish
