#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf merge`, and reports over several files: what is added, what is refused, what is said.
# Needs no root.
# shellcheck source-path=SCRIPTDIR source=fixtures/expect.sh
. "$(dirname "$0")/fixtures/expect.sh"

# profile START BUILD DIRECTORY [NODE] [SLOWER]: a run with a line of slope 0.4, six experiments at
# each of six speedups. SLOWER is in %.
profile() {
	printf 'startup\ttime=%s%s\tnode=%s\n' "$1" "${2:+$'\t'build-id=$2}" "${4:-n1}"
	for cell in 0 1 2 3 4 5; do
		for i in 0 1 2 3 4 5; do
			printf 'experiment\tselected=%s/a.c:7\tspeedup=%s' "$3" \
				"0.$((cell * 16 / 10))$((cell * 16 % 10))"
			printf '\tduration=%d\tselected-samples=50\n' \
				$(((10000 - 640 * cell) * (99 + (i + $1) % 3) * (100 + ${5:-0})))
			printf 'throughput-point\tname=done\tdelta=100\tbursts=100\n'
		done
	done
	printf 'samples\tlocation=%s/a.c:7\tcount=4000\tfree=2000\tid=1\n' "$3"
	printf 'runtime\ttime=3000000000\tfree=2000000000\tsamples=4100\tin-scope=4000\n'
}
a=1111111111111111111111111111111111111111 b=2222222222222222222222222222222222222222
for i in 1 2 3; do profile $i $a /src >$i.coz; done
profile 4 $b /src >other.coz
profile 5 $b /home/me/src >moved.coz
profile 6 '' /src >unknown.coz
cat 1.coz other.coz >both.coz

# What merge writes is what the files say together, and reads as the files do.
expect 0 '^3 runs, 108 experiments from 3 files: all.coz$' '' merge -o all.coz 1.coz 2.coz 3.coz
check 'as text the files one after the other' cmp all.coz <(cat 1.coz 2.coz 3.coz)
"$tool" report --json 1.coz 2.coz 3.coz >files.json
"$tool" report --json all.coz >merged.json
check 'the merged report is that of the files' cmp files.json merged.json
expect 0 '108 experiments, 12300 samples, 9.0 s, 3 runs' '' report all.coz
expect 0 'startup' '' merge -o - 1.coz 2.coz
check 'on standard output the same' cmp out <(cat 1.coz 2.coz)
cp out two.coz
expect 0 '"runs":.*2' '' report --json two.coz
cp 1.coz in.coz
expect 0 '2 runs' '' merge -o in.coz in.coz 2.coz
check 'the output may be an input' cmp in.coz <(cat 1.coz 2.coz)
cp 1.coz linked.coz
chmod 640 linked.coz
ln -s linked.coz link.coz
expect 0 '2 runs' '' merge -o link.coz 1.coz 2.coz
check 'a link is followed, and the mode kept' \
	[ "$(readlink link.coz) $(stat -c %a linked.coz)" = 'linked.coz 640' ]
check 'with the runs in the file' cmp linked.coz <(cat 1.coz 2.coz)
ln -s coming.coz dangling.coz
expect 0 '2 runs' '' merge -o dangling.coz 1.coz 2.coz
check 'what a link leads to is made' cmp coming.coz <(cat 1.coz 2.coz)
check 'and the link stays' [ "$(readlink dangling.coz)" = coming.coz ]
# A file without a name: what leads there is no place to put another file.
exec 8>gone.coz
rm gone.coz
"$tool" merge -o /dev/fd/8 1.coz 2.coz >out 2>err
check 'a file without a name is written' cmp /dev/fd/8 <(cat 1.coz 2.coz)
exec 8>&-
check 'and nothing else in its place' [ ! -e gone.coz ]
python3 "$root/tests/e2e/fixtures/blocks_log.py" 2 4 >log.coz
expect 2 '' "'log.coz' is a log of blocks, not a profile" merge -o log.coz 1.coz
mkfifo pipe
cat pipe >piped.coz &
expect 0 '2 runs' '' merge -o pipe 1.coz 2.coz
wait $!
check 'a pipe stays one' [ -p pipe ]
check 'with the runs written to it' cmp piped.coz <(cat 1.coz 2.coz)
twice='2 runs are there twice and counted once, such as one of .2.coz. that is in .in.coz. as well'
expect 0 '3 runs' "$twice" merge --output again.coz in.coz 1.coz 2.coz 3.coz
head -c 2000 3.coz >copied.coz
expect 0 '3 runs' 'counted once, such as one of .copied.coz. that is in .3.coz. as well' \
	merge -o again.coz copied.coz 1.coz 2.coz 3.coz
check 'the longer copy is taken' cmp again.coz all.coz

# Nodes that differ are told, summed or not; a run that names none has its file's name.
for i in 11 12; do profile $i $a /src n7 12 >$i.coz; done
cat <(profile 13 $a /src n8) <(profile 14 $a /src n8) | sed 's/\tnode=n8//' >unnamed.coz
nodes=(1.coz 2.coz 11.coz 12.coz unnamed.coz)
slow='^node n7 is 12 % slower than the median node \([0-9]+ to [0-9]+ %\)$'
expect 0 "$slow" '' report "${nodes[@]}"
check 'their number stands in the first line' grep -q '6 runs on 3 nodes' out
check 'no other one is told' [ "$(grep -c '^node ' out)" -eq 1 ]
expect 0 '^6 runs' '' merge -o fleet.coz "${nodes[@]}"
expect 0 "$slow" '' report fleet.coz
check 'merged, a file is a node, too' \
	[ "$(grep -c "^startup.*"$'\t'"node=unnamed.coz$" fleet.coz)" -eq 2 ]
expect 0 'added up' '' merge --sum -o sum.coz "${nodes[@]}"
expect 0 "$slow" '' report sum.coz
expect 0 '"node":.*"unnamed.coz"' '' report --json sum.coz
expect 0 '2 runs' '' report 1.coz 2.coz
check 'of one node nothing is said' [ "$(grep -c node out)" -eq 0 ]

# Builds are not mixed unless asked for, and then it shows.
expect 2 '' "'1.coz' and 'other.coz' are of different builds: 111111111111 and 222222222222" \
	merge -o no.coz 1.coz 2.coz other.coz
expect 2 '' 'hint: .* --build 222222222222,' report 1.coz other.coz
expect 2 '' "'both.coz' holds runs of different builds" report both.coz
check 'no output' [ ! -e no.coz ]
expect 0 '^1 run, 36 experiments' '' merge -o one.coz --build 2222 1.coz other.coz
expect 0 '36 experiments' '' report --build 1111 both.coz
expect 2 '' "no run is of the build 'abc'" report --build abc both.coz
expect 0 '^2 runs' 'warning: runs of 2 builds are added' merge -o mixed.coz \
	--mixed-builds 1.coz other.coz
expect 2 '' 'different builds' report mixed.coz
expect 0 'warning: these are runs of 2 builds' 'runs of 2 builds are added' \
	report --mixed-builds mixed.coz
expect 0 '"builds":.*2' 'runs of 2 builds' report --json --mixed-builds mixed.coz
expect 0 '72 experiments' '1 of 2 runs do not say their build' report 1.coz unknown.coz
expect 0 '36 experiments' '' report unknown.coz

# Sources that lie elsewhere.
expect 0 '^/home/me/src/a.c:7,0.16,' \
	"'moved.coz' has no line in common with '1.coz'.* /home/me/src/a.c:7 and /src/a.c:7" \
	report --csv --mixed-builds 1.coz moved.coz
expect 0 '^a.c;a.c:7 8000$' 'runs of 2 builds' report --folded --mixed-builds \
	--source-prefix /src= --source-prefix /home/me/src/= 1.coz moved.coz
expect 0 '^/src/a.c;/src/a.c:7 8000$' '^cozbpf: warning: runs of 2 builds' report --folded \
	--mixed-builds --source-prefix /home/me=/ 1.coz moved.coz
expect 0 'optimize' "no source lies below '/nowhere'" report --source-prefix /nowhere=/src 1.coz
expect 2 '' "takes OLD=NEW, not '/src'" report --source-prefix /src 1.coz

# Runs added up: a small file, the same answers, and no run counts twice.
expect 0 '^3 runs, 108 experiments from 3 files, added up: sum.coz' '' \
	merge --sum -o sum.coz 1.coz 2.coz 3.coz
expect 0 '108 experiments, 12300 samples, 9.0 s, 3 runs' '' report sum.coz
"$tool" report --json sum.coz | grep '"slope":' >sum.slope
check 'slopes are the same' [ "$(sed 's/\(.*\.....\).*/\1/' sum.slope)" = \
	"$(grep '"slope":' files.json | sed 's/\(.*\.....\).*/\1/')" ]
expect 0 '^3 runs' '1 run is there twice and counted once, such as one of .2.coz.' \
	merge -o again.coz sum.coz 2.coz
check 'a sum that gets nothing new stays as it is' cmp again.coz sum.coz
expect 0 '^3 runs' '3 runs are there twice' merge -o again.coz sum.coz sum.coz
profile 7 $a /src >7.coz
"$tool" merge --sum -o sum2.coz 3.coz 7.coz >out 2>err
expect 2 '' "'sum2.coz' has runs added up, some of which are in another" report sum.coz sum2.coz
expect 2 '' 'different builds' report sum.coz other.coz

# A directory stands for its files; what is no profile there is named and passed over.
mkdir fleet empty foreign
cp 1.coz 2.coz 3.coz fleet
expect 0 '^3 runs' '' merge -o again.coz fleet
check 'as the files by name' cmp again.coz all.coz
echo 'notes' >fleet/README
: >fleet/4.coz
mkdir fleet/more
cp 1.coz fleet/all.coz.17.part # of a merge that was killed
expect 0 '^3 runs' "'fleet/README' is not a profile.*; skipped" merge -o again.coz fleet
expect 0 '^3 runs' "the profile 'fleet/4.coz' is empty; skipped" merge -o again.coz fleet
expect 0 '^3 runs' 'warning: 2 of 5 files are no profiles and were skipped' merge -o again.coz fleet
check 'the others are there' cmp again.coz all.coz
expect 0 'from 3 files: ' '2 of 5 files are no profiles' merge -o again.coz fleet
cp fleet/README foreign
expect 4 '' 'none of the 1 files found is a profile' report foreign
expect 4 '' "no file is in the directory 'empty'" report empty
expect 1 '' "'fleet/README' is not a profile" merge -o again.coz 1.coz fleet/README

expect 0 '^2 runs' '' merge 1.coz -o again.coz 2.coz
check 'options may follow files' cmp again.coz two.coz
expect 2 '' 'merge needs -o FILE' merge 1.coz
expect 2 '' 'merge needs the profiles' merge -o x.coz
expect 1 '' "cannot open 'missing.coz'" merge -o x.coz 1.coz missing.coz
expect 1 '' "cannot write .*/nowhere/x.coz" merge -o "$dir/nowhere/x.coz" 1.coz
expect 0 '^usage: cozbpf merge' '' merge --help
"$tool" merge -o - 1.coz >/dev/full 2>err
check 'a full device is noticed' grep -q 'cannot write' err
(
	ulimit -f 1
	exec "$tool" merge -o limited.coz 1.coz 2.coz >out 2>err
)
rc=$?
check "a file that may not grow is an error: $rc, $(cat err)" [ $rc -eq 1 ]
check 'which is told' grep -q 'cannot write .limited.coz.: File too large' err
check 'nothing is left over' [ -z "$(find . -name '*.part' ! -path './fleet/*')" ]

# Reading many takes a while, which shows on a terminal.
mkdir many
for ((i = 0; i < 500; i++)); do ln 1.coz "many/$i.coz"; done
TERM=xterm script -qec "'$tool' merge -o again.coz many" /dev/null </dev/null >out 2>&1
check 'how far it is shows' grep -q 'cozbpf: 400 of 500 files read' out
finish
