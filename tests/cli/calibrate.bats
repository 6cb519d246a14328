#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Calibration as users see it; what it finds is tested in tests/unit/calibrate/.

load helpers

# Times of a machine that is known: those that the model gives for it.
made_run() {
	run=$BATS_TEST_TMPDIR/made.jsonl
	"$PAGETOLL" predict tlb.chase stride=page,leaf-table+base-page,16m backing=zero \
		pointers=16,48,80,128,512,3000 --machine zen2-epyc -o "$run" --quiet >/dev/null
}

@test "calibrate: costs of another machine are found, written, and predict" {
	made_run
	cd "$BATS_TEST_TMPDIR"
	pagetoll calibrate "$run" --machine zen3-epyc --time-budget 0s -o m.json
	exits 0
	prints "12 fitted, 6 held out"
	prints "memory.local_ns"
	prints "never exercised"
	prints "held out"
	narrow
	jq -e '.caches[1].hit_cycles' "$BATS_TEST_TMPDIR/m.json" >/dev/null
	grep -q '"hit_cycles": "calibrated"' "$BATS_TEST_TMPDIR/m.json"
	pagetoll predict tlb.chase pointers=512 --machine "$BATS_TEST_TMPDIR/m.json" --no-save
	exits 0
	prints "calibrated from run"
	pagetoll calibrate "$run" --machine zen3-epyc --time-budget 0s --no-save --format json
	exits 0
	json '.held_out.mean < 0.01 and .prior_error.held_out.mean > 0.05 and .file == null'
	json '[.costs[] | select(.path == "memory.local_ns") | .fate] == ["never-exercised"]'
}

@test "calibrate: the same run and seed give the same machine" {
	made_run
	for i in 1 2; do
		pagetoll calibrate "$run" --machine zen3-epyc --time-budget 0s -q \
			-o "$BATS_TEST_TMPDIR/$i.json"
		exits 0
	done
	cmp "$BATS_TEST_TMPDIR/1.json" "$BATS_TEST_TMPDIR/2.json"
}

@test "calibrate: what cannot be fitted is refused with what to measure" {
	pagetoll calibrate
	exits 129
	says "RUN is missing"
	pagetoll calibrate kernel-text-replication-2006
	exits 125
	says "pagetoll run tlb.chase"
	made_run
	pagetoll calibrate "$run"
	exits 129
	says "name the nearest with --machine"
	pagetoll calibrate "$run" --machine zen3-epyc --hold-out mem.gups
	exits 129
	says "no curve has mem.gups"
	pagetoll calibrate "$run" --machine none
	exits 129
	says zen3-epyc
	pagetoll calibrate "$run" --format csv
	exits 129
}
