#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# calibrate: what is refused before the search begins, and what is not lost after it.

load helpers

# Costs of a published curve, within a second.
fit=(calibrate altix-2005 --quiet --time-budget 0s)

@test "calibrate: a run that is named twice, words that are none, a file that is stdout" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll "${fit[@]}" altix-2005 --no-save
	exits 129
	says "name each run once"
	pagetoll "${fit[@]}" levels=9 --no-save
	exits 129
	says "levels=9; accepted: 2, 3, 4, 5"
	pagetoll "${fit[@]}" -o -
	exits 129
	says "'-' is standard output"
	[[ ! -e - ]]
}

@test "calibrate: a file that cannot be written does not lose the result" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll "${fit[@]}" -o no/such/folder/x.json
	exits 128
	says "cannot write no/such/folder/x.json"
	prints "calibrated from run altix-2005"
	[[ $output != *no/such/folder* ]]
	pagetoll "${fit[@]}" -o x.json
	exits 0
	prints "x.json"
	[[ -s x.json ]]
}
