#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mem.gups from the command line: what it measures, says of itself, and refuses.

load helpers

gups=("${quick[@]}" mem.gups)

@test "gups: every form and kernel verifies; counts with their exposure" {
	pagetoll "${gups[@]}" table=1m form=single,star kernel=literal,tuned,dependent limit=1
	exits 0
	prints "GUP/s"
	# six settings of 2^17 words; one table for each CPU with form=star
	[[ $output =~ errors:\ 0\ of\ ([0-9]+)\ in\ all ]] || { show; false; }
	((BASH_REMATCH[1] >= 6 * 131072 && BASH_REMATCH[1] % 131072 == 0))
	[[ $output =~ updates:\ ([0-9]+)\ of\ ([0-9]+)\ in\ all ]] || { show; false; }
	pagetoll show last --format json
	json '[.points[].measures[] | .verdict == "ok" and .proof.verification == "passed"] | length == 6 and all'
	json '[.points[].estimates[] | select(.metric == "errors") | .events == 0 and .exposure >= 131072] | all'
	json '[.points[] | select(.setting.form == "star") | .estimates[0:4] | map(.value) | .[2] <= .[0] and .[0] <= .[3]] | all'
	json '[.points[] | select(.setting.form == "single") | .estimates[2] | .value == null and (.reason | test("star"))] | all'
}

@test "gups: one table that all CPUs share" {
	pagetoll "${gups[@]}" table=8m form=shared limit=1 --format json
	exits 0
	json '.points[0].measures[0].proof.threads >= 1'
	json '.points[0].estimates[] | select(.metric == "errors") | .events <= .exposure / 100'
}

@test "gups: counts go through export and compare" {
	pagetoll "${gups[@]}" table=64k limit=1 --label a
	exits 0
	pagetoll "${gups[@]}" table=64k limit=1 --label b
	exits 0
	pagetoll export --format csv a
	exits 0
	[[ $(grep -c ',errors,.*,count,count,0,0,' <<<"$output") -eq 1 ]] || { show; false; }
	[[ $(grep -c ',errors,.*,count,exposure,0,8192,' <<<"$output") -eq 1 ]] || { show; false; }
	pagetoll compare a b --format json
	[[ $status -eq 0 || $status -eq 125 ]]
	is_json
	prints '"errors"'
}

@test "gups: a table that does not fit is refused with its size and the budget" {
	pagetoll "${gups[@]}" table=32t
	exits 125
	silent
	says "table=32t needs 32.1 TiB"
	says "the budget is"
}

@test "gups: what the rules do not have is refused" {
	pagetoll "${gups[@]}" table=3m
	exits 129
	says "a power of two, such as 2097152"
	pagetoll "${gups[@]}" table=1k
	exits 129
	says "4k"
	pagetoll "${gups[@]}" table=1m threads=2
	exits 129
	says "form=single has one"
	pagetoll "${gups[@]}" table=1m form=star threads=65000
	exits 129
	says "CPUs may be used here"
	pagetoll "${gups[@]}" table=1m kernel=fast
	exits 129
	says "literal"
}

@test "gups: the plan says what a default table would be" {
	pagetoll run --dry-run mem.gups
	exits 0
	narrow
	pagetoll run --dry-run mem.gups --format json
	json '.settings[0].values | length == 1 and (.[0] as $v | ($v | log2 | floor | exp2) == $v)'
}
