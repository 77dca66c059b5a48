#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The live view in a terminal (tmux): it comes where it disturbs nobody, shows the forming ranking,
# takes keys, survives resizing, stopping and the target's death, and leaves the terminal as it was.
# The script waits for text on the screen. One line and two speedups make a ranking in a second or
# so. Its figures are not checked. The target has no priority: the kernel threads that end probes
# need the CPUs too.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null || skip "no tmux"
fixture running
export LANG=C.UTF-8 LC_ALL=C.UTF-8
unset NO_COLOR TMUX TMUX_PANE
tm=(tmux -u -S "$dir/tmux" -f /dev/null)
# shellcheck disable=SC2317 # the trap calls it
end_all() {
	"${tm[@]}" kill-server 2>/dev/null
	cleanup
}
trap end_all EXIT
patience=${LIVE_PATIENCE:-60}
pace=0.1 # a look at the screen starts processes
server= # of the terminal
begin_work() {
	begin "$dir/running" plain 1
}
screen() {
	"${tm[@]}" capture-pane -p
}
# shellcheck disable=SC2317 # wait_for calls these
shows_now() {
	screen | grep -qE -e "$1"
}
# shellcheck disable=SC2317
shows_not_now() {
	! shows_now "$1"
}
shows() { # WHAT PATTERN: the screen, within a minute
	if wait_for "$patience" shows_now "$2"; then
		ok "$1"
	else
		bad "$1" "no '$2' on the screen:"
		screen
	fi
}
keys() {
	"${tm[@]}" send-keys "$@"
}
of_pane() { # FORMAT
	"${tm[@]}" display-message -p "#{$1}"
}
# shellcheck disable=SC2317
is_of_pane() {
	[ "$(of_pane "$1")" = "$2" ]
}
# terminal: a shell with job control in a terminal of 80 x 24, with its modes noted; all its output
# goes to $dir/raw.
terminal() {
	# The socket outlives its server, so the script waits for the process: a new server must not
	# meet the end of the last one.
	[ -z "$server" ] || [ ! -d "/proc/$server" ] || "${tm[@]}" kill-server 2>/dev/null
	[ -z "$server" ] || wait_for 20 gone "$server" || bad "the terminal before ends"
	rm -f "$dir/tmux" "$dir/before"
	"${tm[@]}" new-session -d -x 80 -y 24 \
		"cd '$dir' && PS1='shell> ' exec bash --norc --noprofile -i"
	server=$(of_pane pid)
	wait_for 20 shows_now '^shell>' || bad "the shell starts"
	: >"$dir/raw"
	"${tm[@]}" pipe-pane "cat >>'$dir/raw'"
	keys "stty -g >before" Enter
	wait_for 20 test -s "$dir/before" || bad "the terminal has modes"
}
# restored WHAT: the shell has the terminal again, unchanged.
restored() {
	wait_for "$patience" is_of_pane alternate_on 0 || bad "$1" "the screen is still the view's"
	rm -f "$dir/after"
	keys "" Enter
	keys "stty -g >after" Enter
	wait_for "$patience" test -s "$dir/after" || bad "$1" "the shell takes no command"
	check "$1: the terminal's modes are what they were" same "$dir/before" "$dir/after"
	check "$1: it has its cursor" [ "$(of_pane cursor_flag)" = 1 ]
}
# clear_screen: removes everything that was there.
clear_screen() {
	"${tm[@]}" send-keys -R
	keys "" Enter
	wait_for 20 shows_not_now 'experiments|status' || bad "the screen can be cleared"
}
experiments() {
	screen | sed -nE 's/^ ([0-9]+) experiments?.*/\1/p'
}
# shellcheck disable=SC2317
more_experiments() {
	is "$(experiments)" '>' "$1"
}
# shellcheck disable=SC2317
seconds_shown() {
	screen | head -n 1 | sed -nE 's/.* ([0-9]+):([0-9]+)$/\1 \2/p' |
		awk '{ print $1 * 60 + $2 }'
}
# shellcheck disable=SC2317
later_than() {
	is "$(seconds_shown)" '>' "$1"
}
options="-P progress --fixed-line $(line_of running LINE_A) --fixed-speedup 0,50"
options+=" --experiment-length 50ms"
attach="nice -n -15 $tool $options -o p.coz -p"

echo "-- attached on a terminal"
begin_work
terminal
keys "$attach $target_pid; echo status \$?" Enter
shows "the view comes" "^ cozbpf  running \(process $target_pid\) .* 0:[0-9]+$"
check "it has a screen of its own" [ "$(of_pane alternate_on)" = 1 ]
shows "rates of the progress point" '^ progress [0-9]+ /s'
shows "experiments" '^ [0-9]+ experiments  .*[0-9]+ samples  '
shows "one of them under way" '^ now running.c:[0-9]+, (50 % faster|baseline)'
ranked='^  1  running.c:[0-9]+ +\+0\.[0-9]+ +\+0\.[0-9]+ \.\. +\+[01]\.[0-9]+'
shows "a ranked line, with slope, interval, gain, curve and verdict" \
	"$ranked"' +[0-9.]+ %  █ +optimize'
check "it has colours" grep -qP '\x1b\[3[0-9]m' "$dir/raw"

echo "-- keys"
keys Enter
shows "a line's curve" '^  50 % +\+[0-9.]+ % .*├'
shows "its source" '^> *[0-9]+ .*TURNS.*LINE_'
shows "how its interval has narrowed" '^ interval so far:  ±'
keys q
shows "back to the list" '^  #  line'
keys '?'
shows "help" '^ Ctrl-L +paint'
keys q
shows "and back" '^  #  line'
keys o
shows "the overview" '^ gain ↑  share of the samples'
shows "with the line in it" '^[ +0-9%-]*[│┤].*(1|○)'
shows "and its figures" '^  [1○]  running.c:[0-9]+  [0-9.]+ %  gain '
keys Enter
shows "a line's curve from there" '^ interval so far:  ±'
keys q
shows "back to the overview" '^ q:back .*j k:choose'
keys o
shows "and to the list" '^  #  line'
keys / xyz
shows "a filter" '^ filter: xyz'
keys Enter
shows "leaves lines out" "no line has 'xyz'"
keys Escape
shows "and brings them back" '^  1  running.c'
keys s
shows "another order" 's:by max  '
keys p
shows "a pause" '^ cozbpf .* PAUSED  [0-9:]+$'
before=$(experiments) since=$(seconds_shown)
wait_for "$patience" later_than $((since + 1)) || bad "the clock goes on"
check "has no experiments" [ "$(experiments)" = "$before" ]
keys p
check "and ends" wait_for "$patience" more_experiments "$before"

sizes() {
	echo "-- sizes"
	"${tm[@]}" resize-window -x 60 -y 15
	shows "the view fits 60 columns and 15 rows" '^ q:end'
	shows "with its list" '^  1  running.c:[0-9]+ +\+0\.[0-9]+'
	check "it ends in the last row" [ "$(screen | wc -l)" -eq 15 ]
	"${tm[@]}" resize-window -x 20 -y 4
	shows "20 x 4" '^  1  running.c:[0-9]+$'
	"${tm[@]}" resize-window -x 100 -y 44
	shows "with rows to spare there is the overview" '^ gain ↑  share of the samples'
	shows "above the list" '^  [1 ]  running.c:[0-9]+ '
	"${tm[@]}" resize-window -x 80 -y 24
	shows "and back" '^  1  running.c:[0-9]+ .*optimize'
}
brief || sizes

echo "-- stopped and continued"
keys C-z
shows "the shell has the terminal" '^\[1\]\+  Stopped'
restored "stopped"
keys "fg" Enter
shows "the view comes again" '^ cozbpf  running '
before=$(experiments)
check "experiments go on" wait_for "$patience" more_experiments "${before:-0}"

echo "-- quit"
keys q
shows "the report stays on the terminal" '^progress point progress'
keys "echo status \$?" Enter # that of fg is the job's
shows "the status is 0" '^status 0'
restored "quit"
check "there is a profile" eval "'$tool' report --json '$dir/p.coz' >/dev/null"
check "the target goes on" is_state "$target_pid" [RS]

echo "-- Ctrl-C, SIGTERM, the target's end"
clear_screen
keys "$attach $target_pid; echo status \$?" Enter
shows "the view comes" '^ [1-9][0-9]* experiments'
keys C-c
shows "Ctrl-C ends it" '^status 0'
restored "Ctrl-C"
clear_screen
keys "$attach $target_pid; echo status \$?" Enter
shows "the view comes" '^ [1-9][0-9]* experiments'
# Readers of files, its children, have the same command line.
pid=$(pgrep -o -f "^$tool -P progress .* -p $target_pid\$")
kill -TERM "$pid"
shows "SIGTERM ends it" '^status 0'
restored "SIGTERM"
clear_screen
keys "$attach $target_pid; echo status \$?" Enter
shows "the view comes" '^  1  running.c'
kill -KILL "$target_pid"
shows "the target's death ends it" '^status 0'
restored "target killed"

echo "-- the target writes to the terminal"
terminal
keys "nice -n -15 ./running plain 1 30 &" Enter
shows "it is ready" 'ready [0-9]+$'
keys "$attach \$! -d 1; echo status \$?" Enter
shows "there is no view" 'no live view: process [0-9]+ writes to this terminal'
shows "but a report" '^status 0'
check "there was no screen" [ "$(grep -cP '\x1b\[\?1049h' "$dir/raw")" -eq 0 ]
keys "kill \$!" Enter
shows "its output is where it was" 'end plain'

no_screen() {
	echo "-- no colour, no screen, no terminal"
	begin_work
	clear_screen
	: >"$dir/raw"
	keys "NO_COLOR=1 $attach $target_pid; echo status \$?" Enter
	shows "the view comes with NO_COLOR" '^  1  running.c'
	keys q
	shows "and ends" '^status 0'
	check "it has no colours" [ "$(
		grep -cP '\x1b\[([0-9]+;)*(3[0-9]|4[0-9]|9[0-7]|10[0-7])[;m]' "$dir/raw"
	)" -eq 0 ]
	check "it had escapes" grep -qP '\x1b\[' "$dir/raw"
	clear_screen
	keys "TERM=dumb $attach $target_pid -d 1 2>&1 | cat -v; echo status \$?" Enter
	shows "a pipe ends" '^status 0'
	keys "export TERM=dumb; bind 'set enable-bracketed-paste off'" Enter
	clear_screen
	: >"$dir/raw"
	keys "$attach $target_pid -d 1; echo status \$?" Enter
	shows "a terminal without a screen does" '^status 0'
	check "it is sent no escapes" [ "$(grep -c $'\x1b' "$dir/raw")" -eq 0 ]
	keys "$attach $target_pid -d 1 --tui; echo status \$?" Enter
	shows "--tui is refused there" "has no screen to draw on"
	shows "with status 2" '^status 2'
	run 0 setsid "$tool" -P progress --experiment-length 50ms -d 1 -o "$dir/p.coz" \
		-p "$target_pid"
	check "standard error that is no terminal has no escapes" \
		[ "$(grep -c $'\x1b' "$dir/err")" -eq 0 ]
	run 2 setsid "$tool" --tui -P progress -d 1 -o "$dir/p.coz" -p "$target_pid"
	says 'there is no terminal for the live view'
	run 2 "$tool" --tui -q -P progress -p "$target_pid"
	says "'--tui' and '--quiet' exclude each other"
	kill -TERM "$target_pid"
}
brief || no_screen

echo "-- a launched command"
terminal
launch="nice -n -15 $tool --tui $options -o q.coz --"
keys "$launch ./running plain 1 2; echo status \$?" Enter
shows "--tui is refused where the command writes to the terminal" \
	"the command's standard output is the terminal"
shows "with status 2" '^status 2'
clear_screen
keys "${launch/--tui /} ./running plain 1 2; echo status \$?" Enter
shows "without it a command with the terminal goes to its end" '^status 0'
# On the screen the words may be wrapped, for the line of progress is before them.
check "its output is there" wait_for 20 has "$dir/raw" 'end plain visits'
check "there was no screen" [ "$(grep -cP '\x1b\[\?1049h' "$dir/raw")" -eq 0 ]
clear_screen
keys "$launch ./running plain 1 $patience >out.txt 2>err.txt </dev/null; echo status \$?" Enter
shows "with its output elsewhere there is a view" '^ cozbpf  ./running plain'
shows "with a ranking" '^  1  running.c'
check "the command's output is where it should be" has "$dir/out.txt" '^ready'
keys q
check "q ends the view" wait_for "$patience" is_of_pane alternate_on 0
pid=$(pgrep -f "^./running plain 1 $patience\$")
check "the command goes on" is_state "${pid:-0}" [RS]
kill -TERM "$pid"
shows "to its end" '^status 0'
check "which is its own" has "$dir/out.txt" '^end '
check "the report is on the terminal" shows_now '^progress point progress'
check "and on standard error" has "$dir/err.txt" '^progress point progress'
restored "launched"
clear_screen
keys "$launch ./running plain 1 2 >out.txt 2>err.txt; echo status \$?" Enter
shows "with its standard input on the terminal the keys are its own" "the keys are the command's"
shows "and it ends" '^status 0'
restored "launched without keys"

echo "-- the terminal goes"
begin_work
terminal
rm -f "$dir/p.coz"
keys "$attach $target_pid" Enter
shows "the view comes" '^ [1-9][0-9]* experiments'
pid=$(pgrep -o -f "^$tool -P progress .* -p $target_pid\$")
"${tm[@]}" kill-server
check "profiling ends" wait_for "$patience" gone "$pid"
check "there is a profile" eval "'$tool' report --json '$dir/p.coz' >/dev/null"
check "the target goes on" is_state "$target_pid" [RS]
finish
