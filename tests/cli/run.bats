#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run, show, export: the way of a measurement from the command to the file and back.

load helpers

@test "dry run: settings, values, memory and time; nothing is measured or saved" {
	pagetoll run --dry-run
	exits 0
	prints "Plan: preset default"
	prints "Memory:"
	prints "Time:"
	prints "Nothing was measured"
	[[ -z $stderr ]]
	narrow
	[[ ! -e $PAGETOLL_DATA ]]
	pagetoll run --dry-run --format json
	exits 0
	json '.settings | length >= 5'
	json '.peak_bytes <= .memory_budget_bytes'
	json '.estimated_seconds > 0'
	json '[.settings[] | (.values | length >= 1) or (.skip_reason | type == "string")] | all'
	pagetoll run --dry-run --format csv
	exits 0
	[[ ${lines[0]} == setting,benchmark,* ]]
}

@test "a dry run of a whole preset keeps its promise of time" {
	pagetoll run --dry-run --preset quick --format json
	exits 0
	json '.estimated_seconds <= 30'
	pagetoll run --dry-run --format json
	json '.estimated_seconds <= 150'
}

@test "run: the result on stdout, the run in the library" {
	pagetoll "${quick[@]}" --label first "${small[@]}"
	exits 0
	prints "tlb.chase"
	[[ -z $stderr ]]
	file=("$PAGETOLL_DATA"/runs/*.pagetoll.jsonl)
	[[ ${#file[@]} -eq 1 ]]
	is_run_file "${file[0]}"
	[[ $(stat -c %a "$PAGETOLL_DATA/runs") == 700 ]]
	id=$(basename "${file[0]}" .pagetoll.jsonl)
	for name in last "$id" "${id:0:20}" "${id,,}" first "${file[0]}"; do
		pagetoll show "$name"
		exits 0
		prints "tlb.chase"
	done
	pagetoll export --format json last
	exits 0
	is_json
}

@test "run: JSON holds the measurement with its proof" {
	pagetoll "${quick[@]}" --format json --seed 7 --label x "${small[@]}"
	exits 0
	is_json
	prints '"label": "x"'
	! grep -qiE '\b(nan|inf|infinity)\b' <<<"$output" || return 1
	prints '"seed": "7"'
	prints timer_cost_ns
}

@test "run: CSV has one row a value and a header" {
	pagetoll "${quick[@]}" --format csv "${small[@]}"
	exits 0
	((${#lines[@]} > 3))
	columns=$(tr -cd , <<<"${lines[0]}" | wc -c)
	((columns >= 3))
}

@test "run: progress is plain lines without a terminal, none with --quiet" {
	run --separate-stderr "$PAGETOLL" run --preset quick --invocations 1 "${small[@]}"
	exits 0
	says "[1/1] tlb.chase"
	[[ $stderr != *$'\r'* ]]
	run --separate-stderr "$PAGETOLL" run --preset quick --invocations 1 tlb.chase pointers=8 \
		order=random,sequential
	exits 0
	says "order=sequential " # what tells two settings apart
	pagetoll "${quick[@]}" "${small[@]}"
	[[ -z $stderr ]]
}

@test "run: progress is one rewritten line on a terminal, and stdout stays clean" {
	command -v script >/dev/null || skip "no script(1)"
	TERM=xterm script -qec "'$PAGETOLL' run --preset quick --invocations 1 ${small[*]} \
		2>&1 >'$BATS_TEST_TMPDIR/out'" /dev/null >"$BATS_TEST_TMPDIR/err"
	grep -q $'\r' "$BATS_TEST_TMPDIR/err"
	! grep -q $'\r' "$BATS_TEST_TMPDIR/out" || return 1
	grep -q tlb.chase "$BATS_TEST_TMPDIR/out"
}

@test "run: --output saves there and not in the library; show takes the file" {
	out=$BATS_TEST_TMPDIR/mine.pagetoll.jsonl
	pagetoll "${quick[@]}" --output "$out" "${small[@]}"
	exits 0
	is_run_file "$out"
	[[ ! -e $PAGETOLL_DATA ]]
	pagetoll show "$out"
	exits 0
	# A file that is there already is never overwritten.
	before=$(cksum "$out")
	pagetoll "${quick[@]}" -o "$out" "${small[@]}"
	exits 128
	says "$out"
	[[ $(cksum "$out") == "$before" ]]
}

@test "run: --no-save prints only" {
	pagetoll "${quick[@]}" --no-save "${small[@]}"
	[[ ${lines[-1]} == "not saved: --no-save" ]]
	exits 0
	prints tlb.chase
	[[ ! -e $PAGETOLL_DATA ]]
}

@test "run: a library that cannot be written costs a warning, not the measurement" {
	echo "a file, no folder" >"$PAGETOLL_DATA"
	pagetoll "${quick[@]}" "${small[@]}"
	exits 0
	prints tlb.chase
	says "--output"
}

@test "run: the same numbers and words under a locale with decimal commas" {
	locales=
	if [[ -e /usr/share/i18n/locales/de_DE ]]; then
		locales=$BATS_TEST_TMPDIR/locales
		mkdir "$locales"
		localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8"
	fi
	# in the same characters: sparklines are drawn with others
	LC_ALL=C.UTF-8 pagetoll show altix-2005
	plain=$output
	export LOCPATH=$locales LC_ALL=de_DE.UTF-8
	pagetoll show altix-2005
	exits 0
	[[ $(tr -cd '0-9.,\n' <<<"$output") == "$(tr -cd '0-9.,\n' <<<"$plain")" ]]
	pagetoll "${quick[@]}" --format json tlb.chase pointers=1,8
	exits 0
	is_json
	pagetoll run --dry-run --format json cache.chase working-set=3.5m
	exits 0
	json '.settings[0].values == [3670016]'
	pagetoll run --dry-run cache.chase working-set=3,5m
	exits 129
}

@test "run: the header says what was typed, quoted for a shell" {
	pagetoll "${quick[@]}" --label "it's here" "${small[@]}"
	exits 0
	run jq -rs '.[0] | .. | .command? // empty' "$PAGETOLL_DATA"/runs/*.jsonl
	[[ $output == "pagetoll run --preset quick --invocations 1 --quiet --label 'it'\\''s here' ${small[*]}" ]] ||
		{ show; return 1; }
}

@test "run: page=4k is really small pages under whatever THP is set to" {
	pagetoll "${quick[@]}" --format json tlb.chase page=base pointers=8 stride=page
	exits 0
	! grep -q '"verdict": "invalid"' <<<"$output" || return 1
}

@test "show: last~1, ambiguous beginnings and names that do not exist" {
	pagetoll show last
	exits 128
	says "the library is empty"
	"$PAGETOLL" "${quick[@]}" --label twice tlb.chase pointers=1 >/dev/null
	"$PAGETOLL" "${quick[@]}" --label twice tlb.chase pointers=1 >/dev/null
	pagetoll show last~1
	exits 0
	pagetoll show last~2
	exits 128
	pagetoll show last~x
	exits 128
	pagetoll show twice
	exits 128
	says "names 2 runs"
	pagetoll show 0
	exits 128
	says "ids of 2 runs"
	says " UTC pagetoll run --preset quick"
	pagetoll show twcie
	exits 128
	says "did you mean 'twice'"
	pagetoll show --format json nothing
	exits 128
	json '.error.exit_code == 128'
	pagetoll show ""
	exits 128
}

@test "show: what is no run is refused with its name" {
	echo 'not a run' >"$BATS_TEST_TMPDIR/x.jsonl"
	pagetoll show "$BATS_TEST_TMPDIR/x.jsonl"
	exits 128
	silent
	says "x.jsonl"
	: >"$BATS_TEST_TMPDIR/empty.jsonl"
	pagetoll show "$BATS_TEST_TMPDIR/empty.jsonl"
	exits 128
	pagetoll show "$BATS_TEST_TMPDIR"/
	exits 128
}

@test "show: a torn last line costs that line only" {
	"$PAGETOLL" "${quick[@]}" "${small[@]}" >/dev/null
	file=("$PAGETOLL_DATA"/runs/*.jsonl)
	head -c -20 "${file[0]}" >"$BATS_TEST_TMPDIR/torn.jsonl"
	pagetoll show "$BATS_TEST_TMPDIR/torn.jsonl"
	exits 0
	prints tlb.chase
}

@test "published: the Altix table of 2005 is there, with source and both columns" {
	pagetoll show altix-2005
	exits 0
	prints local
	prints remote
	narrow
	pagetoll show --card altix-2005
	exits 129
	silent
	says "has no toll card: pagetoll show altix-2005"
	pagetoll export altix-2005 --format json
	exits 0
	is_json
	pagetoll export altix-2005 --format csv
	exits 0
	grep -q 525 <<<"$output"
}

@test "export: facts, files, and a file that cannot be written" {
	pagetoll export --facts --format csv altix-2005
	exits 0
	grep -q curve.knee <<<"$output"
	pagetoll export --facts altix-2005
	exits 0
	json '.facts | length >= 2'
	json '[.facts[] | select(.id == "curve.knee")] | length >= 2'
	out=$BATS_TEST_TMPDIR/out.json
	echo old >"$out"
	pagetoll export -o "$out" altix-2005
	exits 0
	silent
	jq -e . "$out" >/dev/null
	[[ $(ls "$BATS_TEST_TMPDIR") != *part* ]]
	# the ending says the form, --format has the last word
	out=$BATS_TEST_TMPDIR/out.csv
	pagetoll export -o "$out" --facts altix-2005
	exits 0
	[[ $(head -1 "$out") == run,fact,* ]]
	pagetoll export -o "$out" --format json altix-2005
	exits 0
	jq -e . "$out" >/dev/null
	pagetoll export -o "$BATS_TEST_TMPDIR/no/such/out.json" altix-2005
	exits 128
	says "no/such"
}

@test "every format of every verb that has one is valid JSON where it says so" {
	for words in "list" "info tlb.chase" "show altix-2005" "export altix-2005" "doctor" \
		"run --dry-run"; do
		# shellcheck disable=SC2086
		pagetoll $words --format json
		exits 0
		is_json
		! grep -qiE ':\s*-?(nan|inf)' <<<"$output" || return 1
	done
}

@test "show: settings that were cut alike are told once" {
	pagetoll "${quick[@]}" --output "$BATS_TEST_TMPDIR/run.jsonl" "${small[@]}"
	exits 0
	jq -c 'if .type == "header" then .context += {"capped.0": "one", "capped.1": "other",
		"capped.2": "one"} else . end' "$BATS_TEST_TMPDIR/run.jsonl" >"$BATS_TEST_TMPDIR/cut.jsonl"
	pagetoll show "$BATS_TEST_TMPDIR/cut.jsonl"
	exits 0
	[[ $(grep -c '^capped  *one$' <<<"$output") -eq 1 ]]
	[[ $(grep -c '^capped  *other$' <<<"$output") -eq 1 ]]
}
