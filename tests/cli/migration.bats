#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# migration.cost: pairs of CPUs in plans, refusals, and a small run.

load helpers

plan() {
	pagetoll run --dry-run --format json --sysroot "$(machine "$1")" migration.cost "${@:2}"
	exits 0
}

@test "migration.cost: one pair for each distance, both ways; all pairs when asked" {
	plan two-sockets
	json '[.settings[].parameters | "\(.from)>\(.to)"] == ["2>3","3>2","1>2","2>1","1>8","8>1"]'
	json '[.settings[].parameters | has("pairs")] | any | not'
	plan two-sockets pairs=all working-set=64k
	json '.settings | length == 16 * 15'
	plan two-sockets from=8 to=0,8,9
	json '[.settings[].parameters | "\(.from)>\(.to)"] == ["8>0","8>9"]'
	plan two-sockets from=0 pairs=all working-set=64k
	json '.settings | length == 15'
	# the historical search measures both directions at once
	plan two-sockets search=historical pattern=kernel-2.6.18
	json '[.settings[].parameters | "\(.from)>\(.to)"] == ["2>3","1>2","1>8"]'
	# cores of two kinds: each combination for itself
	plan hybrid
	json '[.settings[].parameters | "\(.from)>\(.to)"] | contains(["1>4","4>1","4>5","2>3"])'
	# working sets from 16 KiB to four times the caches
	plan plain
	json '.settings[0].values | first == 16384 and last == 4 * 32 * 1048576'
}

@test "migration.cost: one CPU is a refusal with its reason" {
	pagetoll run --dry-run --format json --sysroot "$(machine cpuless-node)" migration.cost
	exits 125
	json '.settings[0].skip_reason | contains("needs two CPUs") and contains("1 allowed")'
}

@test "migration.cost: what makes no pair is refused by name" {
	local tree
	tree=$(machine offline-cpus)
	for words in "from=0 to=0" "from=99" "to=99" "from=x" "pairs=some" "pattern=seven" \
		"search=historical working-set=16k" "page=thp backing=contiguous"; do
		# shellcheck disable=SC2086
		pagetoll run --dry-run --sysroot "$tree" migration.cost $words
		exits 129
		[[ -z $output ]]
	done
	pagetoll run --dry-run --sysroot "$tree" migration.cost from=3 to=3
	says "two different"
	pagetoll run --dry-run --sysroot "$(machine cpus-1536)" migration.cost pairs=all
	exits 129
	says "from="
}

@test "migration.cost: a small run has proof, the kernel's forms and the constant" {
	[[ $(nproc) -ge 2 ]] || skip "one CPU"
	pagetoll run --preset quick --invocations 1 --quiet --no-save migration.cost \
		working-set=16k,64k
	exits 0
	prints "migration_cost="
	prints "sched_migration_cost"
	prints "distances: 0 "
	narrow
	pagetoll run --preset quick --invocations 1 --quiet --format json migration.cost \
		working-set=16k,64k
	json '[.points[].measures[].proof | .lines == .lines_touched] | all'
	json '[.points[].measures[].proof | .from != .to] | all'
	json '.run.context | has("sched_migration_cost_ns")'
	json '[.run.benches[0].params[].role] | contains(["from", "to", "inner"])'
	# one interval is none: no advice
	prints '"migration.knob_too_large_to_bytes"'
	json '[.facts[] | select(.id | startswith("migration.knob")) | .value == null] | all'
}

@test "migration.cost: confined to one CPU it says so; interrupted it leaves the affinity alone" {
	[[ $(nproc) -ge 2 ]] || skip "one CPU"
	run --separate-stderr taskset -c 0 "$PAGETOLL" run --quiet --no-save migration.cost
	exits 125
	says "needs two CPUs"
	# the others are online: what is in the way is the affinity
	says "taskset -c"
	[[ $stderr != *"/online"* ]]
	local before after
	before=$(taskset -p $$)
	run -130 timeout --preserve-status --foreground -s INT 1 "$PAGETOLL" run --quiet --no-save migration.cost \
		working-set=16k..1m:x2
	after=$(taskset -p $$)
	[[ $before == "$after" ]]
}

@test "doctor: the scheduler's constant, where it lies and when it cannot be read" {
	local tree
	tree=$(machine plain)
	pagetoll doctor --sysroot "$tree"
	prints "migration-cost"
	prints "the scheduler's migration cost cannot be read"
	mkdir -p "$tree/proc/sys/kernel"
	echo 5000000 >"$tree/proc/sys/kernel/sched_migration_cost_ns"
	pagetoll doctor --sysroot "$tree"
	prints "5000000 ns instead of 500000"
	echo 500000 >"$tree/proc/sys/kernel/sched_migration_cost_ns"
	pagetoll doctor --sysroot "$tree"
	[[ $output != *migration-cost* ]]
}
