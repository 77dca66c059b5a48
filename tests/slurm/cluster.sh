# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# A Slurm cluster on this machine, for the scripts here; sourced, after tests/e2e/lib.sh: munge, one
# slurmctld and three slurmd, n1 to n3, which have this machine's CPUs in common. Everything is in
# $dir/slurm and goes with the script. Debian's slurmd takes several on one host (-N).
# shellcheck disable=SC2154 # of lib.sh
scripts/install-deps.sh slurm >"$dir/out" 2>&1 || skip "Slurm's packages cannot be installed"
cluster=$dir/slurm
nodes=(n1 n2 n3)
export SLURM_CONF=$cluster/slurm.conf

# free PORT: nobody listens there.
free() {
	! (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

ports() { # COUNT: the first of so many free ones in a row
	local first i
	for first in {16817..19817..10}; do
		for ((i = 0; i < $1; i++)); do free $((first + i)) || continue 2; done
		echo "$first"
		return
	done
}

# Credentials of munge serve for as long as a job that was requeued has to wait.
write_configuration() {
	local port host
	port=$(ports $((1 + ${#nodes[@]})))
	host=$(hostname)
	cat >"$SLURM_CONF" <<-END
		ClusterName=cozbpf
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$port
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$cluster/munge.socket,cred_expire=5
		CredType=cred/munge
		StateSaveLocation=$cluster/state
		SlurmdSpoolDir=$cluster/spool-%n
		SlurmctldPidFile=$cluster/slurmctld.pid
		SlurmdPidFile=$cluster/%n.pid
		SlurmctldLogFile=$cluster/slurmctld.log
		SlurmdLogFile=$cluster/%n.log
		Prolog=$cluster/prolog
		ProctrackType=proctrack/cgroup
		TaskPlugin=task/cgroup
		JobAcctGatherType=jobacct_gather/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		SlurmdParameters=config_overrides
		SchedulerParameters=sched_interval=1,sched_min_interval=100000
		DefMemPerNode=500
		KillWait=3
		MpiDefault=none
		SwitchType=switch/none
		NodeName=${nodes[0]},${nodes[1]},${nodes[2]} NodeHostname=$host NodeAddr=127.0.0.1 \
		Port=[$((port + 1))-$((port + 3))] CPUs=$(nproc) RealMemory=1000
		PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP OverSubscribe=NO
	END
	cat >"$cluster/cgroup.conf" <<-END
		CgroupAutomount=no
		ConstrainCores=yes
		ConstrainRAMSpace=yes
	END
	printf '#!/bin/sh\n' >"$cluster/prolog"
	chmod 755 "$cluster/prolog"
}

# The groups that slurmd makes for each node stay when it ends.
remove_groups() {
	local node
	for node in "${nodes[@]}"; do
		find /sys/fs/cgroup -depth -type d -path "*/slurm_$node*" -exec rmdir {} + \
			2>/dev/null
	done
}

stop_one() { # PID-FILE
	local pid
	pid=$(cat "$1" 2>/dev/null) || return 0
	grep -qs "$cluster" "/proc/$pid/cmdline" "/proc/$pid/environ" || return 0
	kill -TERM "$pid"
	wait_for 20 gone "$pid" || kill -KILL "$pid"
}

stop_cluster() {
	local node
	timeout 20 scancel --me --full -s KILL 2>/dev/null
	wait_for 20 idle || echo "     jobs are left over"
	for node in "${nodes[@]}"; do stop_one "$cluster/$node.pid"; done
	stop_one "$cluster/slurmctld.pid"
	stop_one "$cluster/munge.pid"
	remove_groups
	cleanup
}

idle() {
	[ -z "$(squeue -h)" ]
}

all_nodes_up() {
	[ "$(sinfo -h -N -t idle -o %N | sort | tr '\n' ' ')" = "${nodes[*]} " ]
}

start_cluster() {
	local node
	mkdir -p "$cluster/state"
	for node in "${nodes[@]}"; do
		[ ! -d "/sys/fs/cgroup/freezer/slurm_$node" ] || skip "a cluster of such nodes runs"
	done
	trap stop_cluster EXIT
	write_configuration
	(umask 077 && head -c 1024 /dev/urandom >"$cluster/munge.key")
	munged --force --socket="$cluster/munge.socket" --key-file="$cluster/munge.key" \
		--pid-file="$cluster/munge.pid" --log-file="$cluster/munge.log" \
		--seed-file="$cluster/munge.seed" || return 1
	wait_for 10 test -S "$cluster/munge.socket" || return 1
	slurmctld || return 1
	for node in "${nodes[@]}"; do slurmd -N "$node" || return 1; done
	wait_for 30 all_nodes_up
}

# state_of JOB FIELD: what Slurm knows of a job, such as JobState.
state_of() {
	scontrol show job -o "$1" | grep -oE " $2=[^ ]*" | cut -d= -f2
}

has_state() { # JOB STATE
	[ "$(state_of "$1" JobState)" = "$2" ]
}
