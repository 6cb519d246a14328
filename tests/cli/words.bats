#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The words of `run`: targets, parameters and values, what is accepted and what is refused.

load helpers

plan() {
	pagetoll run --dry-run --format json "$@"
}

# refused WORDS -- MESSAGE
refused() {
	local words=()
	while [[ $1 != -- ]]; do words+=("$1"); shift; done
	pagetoll run --dry-run "${words[@]}"
	exits 129
	silent
	says "$2"
}

@test "targets: none, a benchmark, a family, all" {
	plan
	exits 0
	json '[.settings[].benchmark] | unique == ["cache.chase", "tlb.chase"]'
	plan tlb.chase
	exits 0
	json '[.settings[].benchmark] | unique == ["tlb.chase"]'
	plan tlb
	exits 0
	json '[.settings[].benchmark] | unique == ["tlb.chase", "tlb.walk"]'
	plan all
	exits 0
	[[ $(jq -r '[.settings[].benchmark] | unique[]' <<<"$output") == "$(benchmarks)" ]]
}

@test "near misses are named" {
	refused tlb.chsae -- "did you mean"
	refused tlb.chase stirde=4k -- "did you mean"
	refused tlb.chase order=randm -- "random"
	refused tlb.chase page=tph -- "thp"
	refused no.such.thing -- "no.such.thing"
	refused tlb.chase backing=nothing -- "zero"
}

@test "a parameter belongs to the target on its left, or to every target" {
	plan tlb.chase order=sequential cache.chase
	exits 0
	json '[.settings[] | select(.benchmark == "tlb.chase") | .parameters.order] | unique == ["sequential"]'
	json '[.settings[] | select(.benchmark == "cache.chase") | .parameters.order] | unique == ["random"]'
	plan order=sequential tlb.chase cache.chase
	exits 0
	json '[.settings[].parameters.order] | unique == ["sequential"]'
	refused working-set=1m tlb.chase cache.chase -- "working-set"
	refused tlb.chase working-set=1m -- "working-set"
}

@test "lists and ranges" {
	plan tlb.chase pointers=1,10..50:10,64..512:x2
	exits 0
	json '.settings[0].values == [1,10,20,30,40,50,64,128,256,512]'
	plan tlb.chase order=random,sequential pointers=1
	exits 0
	json '[.settings[].parameters.order] | sort == ["random","sequential"]'
	plan tlb.chase stride=32m+128 pointers=1,10..200:10,300..900:100
	exits 0
	json '.settings[0].values | length == 28'
}

@test "malformed words are refused" {
	refused tlb.chase pointers= -- "pointers"
	refused tlb.chase pointers=1, -- "pointers"
	refused tlb.chase pointers=,1 -- "pointers"
	refused tlb.chase pointers=5..1 -- "5..1"
	refused tlb.chase pointers=1..10:0 -- "1..10:0"
	refused tlb.chase pointers=1..10:x1 -- "1..10:x1"
	refused tlb.chase =5 -- "="
	refused tlb.chase pointers=0 -- "pointers"
	refused tlb.chase pointers=1 pointers=2 -- "pointers"
	refused "" -- '""'
}

@test "sizes: what each spelling gives" {
	local spelled bytes
	while read -r spelled bytes; do
		plan cache.chase "working-set=$spelled"
		exits 0
		json ".settings[0].values == [$bytes]"
	done <<-END
		100 100
		4096 4096
		4096B 4096
		4k 4096
		4K 4096
		4KiB 4096
		3.5m 3670016
		1g 1073741824
		3.5g 3758096384
	END
}

@test "sizes: what is refused, and the text is named" {
	local spelled
	for spelled in 0x10 1e9 -1 +4k 4kB 4kb 4x "4 k" 4k5 k .5k 1,5.m 0.3 \
		18446744073709551616 16777216t 99999999999999999999999; do
		pagetoll run --dry-run cache.chase "working-set=$spelled"
		exits 129
		silent
	done
	refused cache.chase working-set=0x10 -- "0x10"
	refused cache.chase working-set=1e9 -- "1e9"
	refused cache.chase working-set=-1 -- "-1"
	# The largest number of all is a number, but no working set.
	refused cache.chase working-set=18446744073709551615 -- "18446744073709551615"
}

@test "over the memory budget: refused with the budget, nothing allocated" {
	pagetoll run cache.chase working-set=4t
	exits 125
	silent
	says "budget"
	[[ ! -e $PAGETOLL_DATA ]]
	pagetoll run --format json cache.chase working-set=4t
	exits 125
	json '.error.exit_code == 125'
}

@test "huge page sizes without a pool say which command makes one" {
	pagetoll run --dry-run --format json tlb.chase page=hugetlb
	reason=$(jq -r '.settings[0].skip_reason // ""' <<<"$output")
	if [[ -z $reason ]]; then
		skip "this machine has a pool of huge pages"
	fi
	exits 125
	[[ $reason == *hugepages* ]]
}

@test "only what cannot be measured: 125 with the reason" {
	nodes=$("$PAGETOLL" list --format json | jq '[.nodes[] | select(.has_memory and .allowed)] | length')
	((nodes == 1)) || skip "this machine has $nodes memory nodes"
	pagetoll run tlb.chase page-tables=remote pointers=1
	exits 125
	says "not measurable: one memory node"
	prints "not measurable: one memory node"
	[[ ! -e $PAGETOLL_DATA/runs ]] || [[ -z $(ls "$PAGETOLL_DATA/runs") ]]
	pagetoll run --format json tlb.chase page-tables=remote pointers=1
	exits 125
	is_json
	pagetoll run --format csv tlb.chase page-tables=remote pointers=1
	exits 125
}
