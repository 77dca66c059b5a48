#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# cozbpf in jobs of Slurm: the files of docs/fleet.md, names of profiles, what a user without root
# gets, and that exit status, signals, time limits and requeues are those of the job without us.
# The nodes are one machine, and the job of the document is one thread on it, whose slopes do not
# depend on how much CPU time others leave. Three times 20 s gave a half-width of 0.18; the
# tolerance is 0.3, and the lines are 0.6 apart.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. tests/slurm/cluster.sh
fixture signaled
fixture mirror
gcc -O1 -g -fno-omit-frame-pointer -Iinclude -Itests/workloads -o "$dir/job" tests/slurm/job.c \
	-lpthread -lm || exit 1
mkdir -p "$dir/bin" "$dir/work"
cp "$tool" "${tool%/*}/libcozbpf-shim.so" "$dir/bin"
PATH=$dir/bin:$PATH
cd "$dir/work" || exit 1
document=$root/docs/fleet.md

# block FIRST LAST: the lines of the document from one that has the first pattern to one with the
# last, which are indented there.
block() {
	sed -n "/^    $1/,/^    $2/s/^    //p" "$document"
}

start_cluster || {
	tail -n 5 "$cluster"/*.log
	bad "the cluster starts"
	finish
}

echo "-- the document's batch file, on three nodes"
# shellcheck disable=SC2016 # a pattern
block '#!\/bin\/bash' 'exit \$status' >job.sbatch
check "the document has it" has job.sbatch '^srun cozbpf .*%N-%t'
cp "$dir/job" job
run 0 sbatch --wait job.sbatch
cat cozbpf.out
for node in "${nodes[@]}"; do
	check "a profile of $node" has "$(echo profile-"$node"-[0-2].coz)" '^experiment'
	check "its share" has cozbpf.out "^profile-$node-[0-2].coz: [1-9][0-9]* experiments"
done
check "three runs are merged" has cozbpf.out '3 runs'
read -r line slope < <(cozbpf report --json all.coz 2>/dev/null | python3 -c '
import json, sys
print(*next((u["line"], u["slope"]) for u in json.load(sys.stdin)["lines"]))')
check "line A leads: ${line##*/}" [ "${line##*/}" = "$(basename "$(cd "$root" &&
	grep -n 'LINE_A \*/' tests/workloads/abab.c | sed 's/^\([0-9]*\):.*/abab.c:\1/')")" ]
check "its slope is 0.8: $slope" is "${slope:-none}" '>' 0.5
check "not more: $slope" is "${slope:-none}" '<' 1.1

echo "-- the document's array"
array=$(sed -n 's/^    \(sbatch --array=.*\)/\1/p' "$document")
check "the document has it" [ -n "$array" ]
run 0 bash -c "${array/sbatch/sbatch --wait}"
for task in 1 2 3; do
	check "a profile of task $task" has "$(echo array-*-"$task".coz)" '^experiment'
done
run 0 cozbpf merge -o array.coz array-*-[123].coz
prints '^3 runs|added up'

echo "-- names"
run 2 cozbpf -o '%t.coz' -P progress -- "$dir/signaled" 100
says "'%t' in the name '%t.coz' needs SLURM_PROCID" 'hint: start cozbpf by srun or mpirun'
export MIRROR_MS=1000
run 0 srun -N2 -n4 --overcommit cozbpf -q -P progress --fixed-speedup 50 \
	--experiment-length 20ms -o 'p-%N-%n-%t-%j-%s.coz' -- "$dir/mirror"
for task in 0 1 2 3; do
	check "task $task has its profile" test -s "$(echo p-n[12]-[01]-$task-*-0.coz)"
done
finish
