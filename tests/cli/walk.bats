#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tlb.walk and the levels of page tables: runs, refusals, two boots, the published pair.

load helpers

levels() { "$PAGETOLL" list --format json | jq '.page_tables.levels'; }

@test "walk: small runs are proven, warm and wiped, dependent and independent" {
	pagetoll run -q --no-save --format json --invocations 1 tlb.walk stride=leaf-table pointers=256 \
		regions=16,32 caches=warm loads=dependent,independent backing=zero,distinct
	exits 0
	json '[.points[].estimates[] | select(.metric == "ref_ns") | .value > 0] | length == 8 and all'
	json '[.points[].estimates[] | select(.metric == "group_ns") | .value == null and (.reason | length > 0)] | all'
	pagetoll run -q --no-save --format json --preset quick --invocations 1 tlb.walk stride=leaf-table \
		regions=32 caches=wiped
	exits 0
	json '[.points[].estimates[] | select(.metric == "group_ns") | .value > 0] == [true]'
	json '[.facts[] | select(.id == "walk.cold_ns") | .value > 0 and (.note | length > 0)] == [true]'
}

@test "walk: page tables in the proof are those planned; levels are probed" {
	pagetoll run -q --invocations 1 -o "$BATS_TEST_TMPDIR/r.jsonl" tlb.walk stride=leaf-table pointers=512 \
		regions=16,64 caches=warm
	exits 0
	run jq -e -s --argjson levels "$(levels)" '[.[] | select(.type == "measure") | .proof |
		.paging_levels == $levels and
		.page_table_bytes <= .page_tables_planned_bytes + 16384 and
		.page_table_bytes >= .page_tables_expected_bytes] | length == 2 and all' "$BATS_TEST_TMPDIR/r.jsonl"
	[[ $status -eq 0 ]] || { cat "$BATS_TEST_TMPDIR/r.jsonl"; return 1; }
	# walks by level are no rows of the toll card
	pagetoll show "$BATS_TEST_TMPDIR/r.jsonl" --card
	exits 129
	says "has no toll card"
}

@test "walk: what cannot be has its reason" {
	pagetoll run --no-save tlb.walk stride=pdm-table
	exits 129
	says "did you mean"
	pagetoll run --no-save tlb.walk stride=leaf-table pointers=16 regions=32
	exits 129
	says "each region needs one"
	pagetoll run --no-save tlb.walk stride=32m+128 caches=warm
	exits 129
	says "index=fixed"
	pagetoll run --no-save tlb.walk regions=8 caches=wiped
	exits 129
	says "at least 16"
	[[ $(levels) == 4 ]] || skip "the rest is for four levels"
	pagetoll run --dry-run --format json tlb.walk stride=p4d-table caches=warm
	json '.settings[0].skip_reason | test("256t") and test("4 levels")'
	pagetoll run --no-save tlb.walk stride=p4d-table caches=warm
	exits 125
	pagetoll run --dry-run --format json tlb.walk stride=leaf-table caches=warm levels=5
	json '.settings[0].skip_reason | test("no5lvl")'
}

@test "walk: a table that does not fit the memory is refused with its size" {
	local tree
	tree=$(machine cgroup-v2)
	pagetoll run --dry-run --sysroot "$tree" tlb.walk stride=leaf-table caches=warm backing=distinct \
		index=fixed regions=1048576
	exits 125
	says "8.03 GiB of memory (4 GiB data, 4.03 GiB page tables)"
	says "2.4 GiB"
	pagetoll run --dry-run --sysroot "$tree" tlb.walk stride=leaf-table caches=warm backing=zero \
		index=fixed regions=65536
	exits 0
}

@test "walk: two boots of one machine differ by the levels, and all else is listed" {
	local a=$BATS_TEST_TMPDIR/a.pagetoll.jsonl b=$BATS_TEST_TMPDIR/b.pagetoll.jsonl
	pagetoll run -q --invocations 1 -o "$a" tlb.walk stride=leaf-table pointers=256 regions=16,32 caches=warm
	exits 0
	jq -c 'if .type == "header" then .id = "00000000000000000000000005" | .boot_id = "another" |
		.fingerprint.paging_levels = 5 | .fingerprint.address_bits = 56 |
		.fingerprint["paging_levels.boot"] = "none" | .context.kernel_cmdline = "quiet" |
		.fingerprint.thp = "other" else . end' "$a" >"$b"
	jq -c 'if .type == "header" then .fingerprint.paging_levels = 4 | .fingerprint.address_bits = 47 |
		.fingerprint["paging_levels.boot"] = "no5lvl" else . end' "$a" >"$a.4" && mv "$a.4" "$a"
	pagetoll compare "$a" "$b"
	exits 0
	prints "* paging_levels"
	prints "the factor of this comparison; what else differs is listed with it"
	prints "paging_levels.boot"
	prints "! thp"
	narrow
	pagetoll compare "$a" "$b" --format json
	json '.factor == "paging_levels" and .environment[0].name == "paging_levels"'
	json '[.environment[].name] | index("thp") and index("address_bits")'
	pagetoll compare "$a" "$a" --format json
	json '.factor == null'
}

@test "walk: the published pair of 2005" {
	pagetoll compare page-table-levels-2005 --by levels=3,4
	exits 0
	prints "+63.17"
	pagetoll compare page-table-levels-2005 --by levels=3,4 --format json
	json '[.points[] | select(.metric == "ref_ticks") | .percent * 10 | round] == [632]'
}
