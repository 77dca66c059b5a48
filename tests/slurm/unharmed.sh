#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A job of Slurm under cozbpf ends as it does alone: exit status, signals, time limit, requeue,
# control groups. And what a user without root gets, as docs/fleet.md says. Each case runs alone and
# under cozbpf, and what Slurm and the job say is compared. Counts are exact. A time limit is a
# minute, and Slurm looks at limits every half minute: such jobs have two minutes.
# shellcheck source-path=SCRIPTDIR/../e2e source=../e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. tests/slurm/cluster.sh
fixture signaled
fixture mirror
user=nobody group=$(id -gn nobody)
mkdir -p "$dir/shared/bin" "$dir/shared/lib/cozbpf" "$dir/work"
cp "$tool" "$dir/shared/bin"
cp "${tool%/*}/libcozbpf-shim.so" "$dir/shared/bin"
cp "${tool%/*}/libcozbpf-shim.so" "$dir/shared/lib/cozbpf"
chmod -R a+rX "$dir/shared"
PATH=$dir/shared/bin:$PATH
chmod a+w "$dir/work"
cd "$dir/work" || exit 1
start_cluster || {
	tail -n 5 "$cluster"/*.log
	bad "the cluster starts"
	finish
}

brief=(--fixed-speedup 50 --experiment-length 20ms)
# with HOW: what goes before the job, in $before.
with() {
	before=()
	[ "$1" != alone ] || return 0
	before=(cozbpf -q -P progress "${brief[@]}" -o "$1-%j-%N.coz" --)
}

# job_id NAME: of the job of that name that runs.
job_id() {
	squeue -h -t R -n "$1" -o %i
}

# profile_of HOW JOB: it has experiments and can be read. Those of so short a run need not rank.
profile_of() {
	local rc=0
	[ "$1" != alone ] || return 0
	check "the profile has experiments" has "$(echo "$1-$2"-n?.coz)" '^experiment'
	cozbpf report "$1-$2"-n?.coz >"$dir/out" 2>"$dir/err" || rc=$?
	check "it can be read: status $rc" grep -qx '[04]' <<<"$rc"
}

export MIRROR_MS=1500
echo "-- exit statuses of a step"
for end in 0 7 -11 -9; do
	for how in alone cozbpf; do
		with $how
		rm -f ./*.coz
		MIRROR_END=$end srun -N1 "${before[@]}" "$dir/mirror" >$how.out 2>$how.err \
			</dev/null
		echo $? >$how.status
	done
	check "end $end: status $(cat alone.status), $(cat cozbpf.status) under cozbpf" \
		same alone.status cozbpf.status
	check "end $end: the job's output" same alone.out cozbpf.out
done

echo "-- signals to a step"
for signal in USR1 INT HUP; do
	for how in alone cozbpf; do
		with $how
		start srun -N1 -J "$how" "${before[@]}" "$dir/signaled" $((20000 * slowness))
		wait_for 20 has "$dir/out" '^ready' || bad "the job starts"
		id=$(job_id "$how")
		[ "$how" = alone ] || wait_for 20 has "$(echo "$how-$id"-n?.coz)" '^experiment' ||
			bad "an experiment is done"
		scancel -s $signal "$id.0"
		check "SIG$signal, $how" wait_for 10 has "$dir/out" "^${signal,,} 1"
		scancel -s TERM "$id.0"
		ended 20 0 "SIG$signal, $how: it ends well"
		cp "$dir/out" $how.out
		profile_of $how "$id"
	done
	check "each signal came once: $(tail -n 1 cozbpf.out)" \
		same <(grep ^end alone.out) <(grep ^end cozbpf.out)
done

echo "-- a job's control groups"
with cozbpf
srun -N1 --mem=200 "${before[@]}" "$dir/mirror" >"$dir/out" 2>"$dir/err" </dev/null &
wait_for 20 pgrep -f "^$dir/mirror" >"$dir/pid" || bad "the job starts"
cp "/proc/$(tail -n 1 "$dir/pid")/cgroup" "$dir/out"
prints 'freezer:/slurm_n[123]/uid_0/job_[0-9]+/step_0' \
	'memory:/slurm_n[123]/uid_0/job_[0-9]+/step_0/task_0' 'cpuset:/slurm_n[123]/uid_0/job_'
limit=/sys/fs/cgroup/memory$(sed -n 's|.*:memory:\(.*/job_[0-9]*\)/.*|\1|p' "$dir/out")
echo "     memory of the job and cozbpf: $(cat "$limit/memory.max_usage_in_bytes") bytes"
wait

# submit NAME OPTIONS... -- COMMAND...: a batch job with one step, that command; its number in $id.
submit() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016 # expanded by the job
	id=$(sbatch --parsable -J "$name" -o "$name.out" "${options[@]}" --wrap \
		'echo "start ${SLURM_RESTART_COUNT:-0}"; exec srun '"$(printf '%q ' "$@")")
}

echo "-- scancel"
for how in alone cozbpf; do
	with $how
	submit $how-scancel -- "${before[@]}" "$dir/signaled"
	wait_for 20 has $how-scancel.out '^ready' || bad "the job starts"
	[ $how = alone ] || wait_for 20 has "$(echo "$how-$id"-n?.coz)" '^experiment'
	scancel "$id"
	check "scancel, $how: state CANCELLED" wait_for 20 has_state "$id" CANCELLED
	check "the job has got SIGTERM" wait_for 5 has $how-scancel.out '^end .* term 1'
	wait_for 20 idle
	profile_of $how "$id"
done

echo "-- a requeue"
for how in alone cozbpf; do
	with $how
	submit $how-requeue --requeue --open-mode=append -- "${before[@]}" "$dir/signaled" 3000
	wait_for 20 has $how-requeue.out '^ready' || bad "the job starts"
	scontrol requeue "$id"
	check "requeue, $how: it starts again" wait_for 60 has $how-requeue.out '^start 1'
	check "and completes" wait_for 30 has_state "$id" COMPLETED
done
check "both its runs are in the profile" \
	[ "$(cat cozbpf-"$id"-n?.coz | grep -c ^startup)" -eq 2 ]

echo "-- a time limit, with a signal before it"
ids=()
export MIRROR_MS=200000
for how in alone cozbpf; do
	with $how
	submit $how-limit --time=1 --signal=USR1@30 -- "${before[@]}" "$dir/signaled"
	ids+=("$id")
done
# What neither the job nor cozbpf can know of: SIGKILL, to all processes of the step.
with stubborn
submit stubborn --time=1 -- env --ignore-signal=TERM "${before[@]}" "$dir/mirror"
stubborn=$id
for how in alone cozbpf; do
	id=${ids[0]}
	[ $how = alone ] || id=${ids[1]}
	check "a time limit, $how" wait_for 120 has_state "$id" TIMEOUT
	wait_for 10 has $how-limit.out '^end'
	profile_of $how "$id"
done
check "USR1, then TERM, each once: $(grep ^end cozbpf-limit.out)" \
	same <(grep ^end alone-limit.out) <(grep ^end cozbpf-limit.out)
check "one that ignores SIGTERM is killed" wait_for 60 has_state "$stubborn" TIMEOUT
wait_for 30 idle || bad "a job is left over"
profile_of stubborn "$stubborn"
export MIRROR_MS=1500

echo "-- a user without root"
as_user=(setpriv "--reuid=$user" "--regid=$group" --clear-groups env "HOME=$dir/work")
"${as_user[@]}" srun -N1 cozbpf -q -P progress -o user.coz -- "$dir/mirror" >"$dir/out" 2>"$dir/err"
check "is refused with status 3" [ $? -eq 3 ]
says 'the kernel does not let this process load BPF programs' 'hint: .*docs/security.md'
check "and leaves no profile" [ ! -e user.coz ]
# The document's prolog, with the test's directories and the user's group for those named there.
sed -n '/^    #!\/bin\/sh/,/^    exit 0/s/^    //p' "$root/docs/fleet.md" |
	sed -e "s|^from=.*|from=$dir/shared|" -e "s|^to=.*|to=$dir/local|" \
		-e "s|-g cozbpf|-g $group|" >"$cluster/prolog"
check "the document has a prolog" has "$cluster/prolog" 'setcap'
run 0 srun -N1 true
check "the copy is for the group alone" [ "$(stat -c '%a %U:%G' "$dir/local/cozbpf")" = \
	"750 root:$group" ]
"${as_user[@]}" srun -N1 "$dir/local/cozbpf" -q -P progress "${brief[@]}" \
	-o 'user-%t.coz' -- "$dir/mirror" >"$dir/out" 2>"$dir/err"
check "is served by the copy" has user-0.coz '^experiment'
check "the profile is the user's" [ "$(stat -c %U user-0.coz)" = $user ]
finish
