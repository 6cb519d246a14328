#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# syscall.*: the published form, plans on other machines, and one small measurement.

load helpers

@test "syscall: the published improvements come out" {
	pagetoll compare kernel-text-replication-2006 --by replication=none,all
	exits 0
	for row in "null            0.894    0.812           9.17" \
		"forkexit      521.518  416.467          20.14" \
		"openclose     106.683   75.000          29.70" \
		"pid             2.577    2.356           8.58" \
		"time           17.882   11.693          34.61" \
		"gettimeofday   17.523   11.695          33.26"; do
		prints "$row"
	done
	[[ ${output%%hot: us per call*} == *"cold: us per call"* ]]
	while IFS= read -r line; do [[ ${#line} -le 80 ]]; done <<<"$output"
}

@test "syscall: JSON has the improvements" {
	pagetoll compare kernel-text-replication-2006 --by replication=none,all --format json
	exits 0
	jq -e '[.points[] | select(.where.cache == "cold") | .improvement_percent
		| . * 100 | round] == [917, 2014, 2970, 858, 3461, 3326]' <<<"$output"
}

@test "syscall: show has a cold and a hot block" {
	pagetoll show kernel-text-replication-2006
	exits 0
	prints "cold, replication=none: us per call"
	prints "hot, replication=all: us per call"
}

@test "syscall: node=each is a setting for every node with CPUs" {
	pagetoll run --sysroot "$(machine two-sockets)" --dry-run --format json syscall.null \
		cache=cold node=each
	exits 0
	jq -e '[.settings[].parameters.node] | length >= 2 and (unique | length) == length' \
		<<<"$output"
}

@test "syscall: nodes that are not there, and CPUs of another node" {
	pagetoll run --sysroot "$(machine two-sockets)" --dry-run syscall.null node=77
	exits 129
	says "node=77: no CPU there"
	pagetoll run --sysroot "$(machine two-sockets)" --dry-run syscall.null node=each cpu=0
	exits 129
	says "CPU 0 is not of that node"
	pagetoll run --sysroot "$(machine two-sockets)" --dry-run tlb.chase data=each
	exits 129
	says "data=each is not known"
	pagetoll run --dry-run syscall.null evict=l3
	exits 129
	says "accepted: both, data, code, tlb"
	pagetoll run --dry-run syscall.pid via=vdso
	exits 129
	says 'no parameter "via"'
}

@test "syscall: the home node is a name: no difference of it, and no test" {
	for _ in 1 2; do
		pagetoll run --quiet --invocations 1 syscall.pid cache=hot
		exits 0
	done
	pagetoll compare last~1 last --format json
	exits 0
	json '[.facts[] | select(.id == "syscall.home_node")] == []'
}

@test "syscall: load and eviction on the same CPUs are refused" {
	pagetoll run --sysroot "$(machine two-sockets)" --dry-run syscall.null cache=cold load=0 \
		evict-node=0
	exits 129
	says "the same CPUs cannot do both"
}

@test "syscall: eviction fits into 256 MiB here; where it does not, it says what it needs" {
	local tree
	tree=$(machine cgroup-v2) # 16 MiB of last-level cache
	echo 0 >"$tree/sys/fs/cgroup/pods/pod1/memory.current"
	echo 268435456 >"$tree/sys/fs/cgroup/pods/pod1/memory.max"
	pagetoll run --sysroot "$tree" --dry-run syscall.null cache=cold
	exits 0
	echo 33554432 >"$tree/sys/fs/cgroup/pods/pod1/memory.max"
	pagetoll run --sysroot "$tree" --dry-run syscall.null cache=cold
	exits 125
	says "needs 40.2 MiB of memory"
	says "the budget is 25.6 MiB"
	pagetoll run --sysroot "$tree" --dry-run syscall.null cache=cold evict=code,tlb
	exits 0
}

@test "syscall: hot and cold, small, with evidence" {
	pagetoll "${quick[@]}" syscall.null evict=tlb --format json
	exits 0
	jq -e '[.points[] | .setting.cache] | sort == ["cold", "hot"]' <<<"$output"
	jq -e '[.points[].measures[].verdict] == ["ok", "ok"]' <<<"$output"
	jq -e 'all(.points[].measures[]; .proof.kernel_entries_per_call == 1 or
		(.unproven | contains("traced")))' <<<"$output"
	pagetoll show last
	exits 0
	prints "cold: us per call"
	prints "hot: us per call"
	prints "syscall.home_node"
}

@test "syscall: where no child can be traced, entries are unproven and said so" {
	run --separate-stderr env ASAN_OPTIONS=detect_leaks=0 "$DENY" ptrace:EPERM -- "$PAGETOLL" "${quick[@]}" syscall.pid \
		cache=hot --format json
	exits 0
	jq -e '[.points[].measures[] | .verdict == "ok" and (.unproven | contains("traced"))] == [true]' \
		<<<"$output"
}

@test "syscall: fault and forkexit beside a load of their own kind" {
	pagetoll "${quick[@]}" load=0 evict=tlb syscall.fault syscall.forkexit --format json
	if [[ $status -eq 0 ]]; then # two CPUs on node 0
		jq -e 'all(.points[].measures[]; (.verdict == "ok" and .proof.load_calls > 0) or
			(.reason | contains("no call meanwhile")))' <<<"$output"
	else
		exits 125
	fi
}
