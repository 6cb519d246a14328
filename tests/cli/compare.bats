#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# compare: verdicts, refusals, exit codes, and what the report holds. Runs whose numbers decide a
# verdict are invented here, so that nothing depends on how fast this machine is.

load helpers

# made ID NS [FILTER]: a run of 10 invocations with 1 % spread around NS; FILTER changes its lines.
# Prints its file, in the library.
made() {
	local file="$PAGETOLL_DATA/runs/$1.pagetoll.jsonl"
	mkdir -p "${file%/*}"
	jq -nc --arg id "$1" --argjson ns "$2" '
		def header: {type: "header", schema_version: 1, id: $id, source: "measured here",
			label: null, origin: "measured", version: "0.1.0", command: "pagetoll run",
			boot_id: "11111111-0000-0000-0000-000000000000",
			start_unix_ns: 1767225600000000000,
			fingerprint: {cpu: "Invented 1", arch: "x86_64", kernel: "6.12.1", cpus: 2,
				nodes: 1, hypervisor: "none", memory_bytes: 17179869184,
				page_bytes: 4096},
			context: {}, findings: [],
			benches: [{name: "tlb.chase", summary: "pointer chase", revision: 1,
				params: [
					{name: "pointers", summary: "number", type: "count", role: "inner",
						default: "auto", min: 1},
					{name: "page", summary: "page size", type: "page", role: "outer",
						default: "base"}],
				metrics: [{name: "ref_ns", summary: "time", unit: "ns", better: "lower",
					estimator: "min", form: "samples"}]}]};
		def measure($pointers; $invocation): {type: "measure", bench: "tlb.chase",
			invocation: $invocation, setting: {page: "4k", pointers: $pointers},
			verdict: "ok", proof: {}, taints: {},
			series: [{metric: "ref_ns", form: "samples", origin: "measured",
				values: [($ns * $pointers * (1 + 0.001 * $invocation)) | . , . * 1.5]}],
			start_unix_ns: 1767225600000000000, duration_ns: 1000};
		header, (range(10) as $i | (1, 2, 3) as $p | measure($p; $i)),
		{type: "footer", complete: true, stop_reason: "interval target met",
			end_unix_ns: 1767225660000000000}' | jq -c "${3:-.}" >"$file"
	echo "$file"
}

old=01m00000000000000000000001
new=01m00000000000000000000002
third=01m00000000000000000000003

@test "by a parameter of a published run: both values and the difference alone" {
	pagetoll compare altix-2005 --by page-tables=local,remote
	exits 0
	[[ -z $stderr ]]
	narrow
	prints "altix-2005"
	prints "306.3"
	prints "747.6"
	prints "+441.3"
	prints "How these numbers were obtained"

	pagetoll compare altix-2005 --by page-tables=local,remote --format json
	exits 0
	json '.format == "pagetoll-comparison" and .factor == "page-tables"'
	json '.between_runs == false'
	json '[.points[] | select(.where.pointers == 900)][0] | .a == 306.296 and .b == 747.635
		and (.percent - 144.089 | fabs) < 0.001 and .outcome == "difference" and .p == null'
	json '[.points[], .facts[] | .outcome] | all(. == "difference" or . == "missing")'
	json '.how | length >= 2'
}

@test "by a parameter, the other way round" {
	pagetoll compare altix-2005 --by page-tables=remote,local --format json
	exits 0
	json '[.points[] | select(.where.pointers == 900)][0] | (.percent + 59.03 | fabs) < 0.01'
}

@test "nothing has a verdict: --fail-on says so, and cannot tell" {
	pagetoll compare altix-2005 --by page-tables=local,remote --fail-on worse
	exits 0
	says "nothing here has a verdict"
	pagetoll compare altix-2005 --by page-tables=local,remote --fail-on inconclusive
	exits 125
	prints "+441.3"
}

@test "a change for the worse and for the better" {
	made $old 10 >/dev/null
	made $new 15 >/dev/null
	pagetoll compare last~1 last
	exits 0
	prints "! worse"
	prints "+50.0"
	narrow
	pagetoll compare last~1 last --fail-on worse
	exits 1
	prints "! worse"
	pagetoll compare last last~1 --fail-on inconclusive
	exits 0
	prints "+ better"
	pagetoll compare last~1 last --format json
	exits 0
	json '.overall == "worse" and .n_points.worse == 3'
	json '[.points[] | .percent_low > 45 and .percent_high < 55 and .n_a == 10] | all'
	json '[.points[] | .p_adjusted < 0.01] | all'
	json ".a.runs[0].id == \"$old\" and .b.runs[0].id == \"$new\""
	pagetoll compare last~1 last --format json --fail-on worse
	exits 1
	is_json
}

@test "a run against itself: no difference in anything" {
	made $old 10 >/dev/null
	pagetoll compare last last --format json
	exits 0
	json '[.points[] | .percent == 0 and .a == .b] | all'
	json '.n_points.worse == 0 and .n_points.better == 0'
	json '.environment == []'
	pagetoll compare last last --fail-on worse
	exits 0
}

@test "a measured run against itself" {
	pagetoll "${quick[@]}" "${small[@]}"
	exits 0
	pagetoll compare last last
	exits 0
	narrow
	prints "tlb.chase: ref_ns"
	pagetoll compare last last --format json
	exits 0
	json '[.points[] | .a == .b] | all'
	json '[.points[], .facts[] | .outcome] | all(. != "better" and . != "worse")'
	json '[.points[], .facts[] | select(.outcome == "inconclusive") | .reason | length > 0] | all'
}

@test "a difference within the margin, and a margin for it" {
	made $old 10 >/dev/null
	made $new 15 >/dev/null
	pagetoll compare last~1 last --fail-on worse --threshold 80%
	exits 0
	pagetoll compare last~1 last --format json --threshold 80%
	json '.threshold_ratio == 0.8 and .n_points.worse == 0'
}

@test "a small difference between two runs: run-to-run variation is not known" {
	made $old 10 >/dev/null
	made $new 10.5 >/dev/null
	pagetoll compare last~1 last --fail-on inconclusive
	exits 125
	prints "~ inconclusive"
	prints "run-to-run variation unknown"
	pagetoll compare last~1 last --fail-on worse
	exits 0
}

@test "several boots of a side: a list, and a label" {
	made $old 10 '(select(.type == "header") | .label) |= "before"' >/dev/null
	made $new 10.1 '(select(.type == "header") | .label, .boot_id) |= "before"' >/dev/null
	made $third 15 >/dev/null
	pagetoll compare before $third --format json
	exits 0
	json '.a.name == "before" and (.a.runs | length == 2) and (.b.runs | length == 1)'
	json '.a.one_boot == false and .b.one_boot == true'
	pagetoll compare "$old,$new" $third --format json
	exits 0
	json '.a.runs | length == 2'
	pagetoll compare "$old,$new" $third
	exits 0
	prints "2 runs"
	narrow
	pagetoll compare "$old,$old" $third
	exits 128
	says "already"
	pagetoll compare "$old," $third
	exits 128
	says "empty"
	pagetoll compare before --by page=4k,thp
	exits 129
	says "inside one run"
}

@test "environment differences come first" {
	made $old 10 >/dev/null
	made $new 15 '(select(.type == "header") | .fingerprint.kernel) |= "6.13.0-rc1"' >/dev/null
	pagetoll compare last~1 last
	exits 0
	prints "! kernel"
	prints "6.13.0-rc1"
	[[ ${output%%tlb.chase: ref_ns*} == *Environment* ]]
	pagetoll compare last~1 last --format json
	json '[.environment[] | select(.name == "kernel")][0] | .a == "6.12.1" and .is_fingerprint'
}

@test "unlike machines are refused, unless that is the question" {
	made $old 10 >/dev/null
	made $new 15 '(select(.type == "header") | .fingerprint.cpu) |= "Invented 2"' >/dev/null
	pagetoll compare last~1 last
	exits 125
	silent
	says "--across machine"
	pagetoll compare last~1 last --fail-on worse --format json
	exits 125
	json '.error.exit_code == 125 and (.error.message | length > 10)'
	pagetoll compare last~1 last --across machine
	exits 0
	prints "Invented 2"
	narrow
	pagetoll compare last~1 last --across machine --format json
	json '.factor == "machine"'
}

@test "unlike revisions, and runs with nothing in common, are refused" {
	made $old 10 >/dev/null
	made $new 15 '(select(.type == "header") | .benches[0].revision) |= 2' >/dev/null
	pagetoll compare last~1 last
	exits 125
	silent
	says "revision"
	made $new 15 '(.benches[0].name? // empty) |= "other.bench" |
		(select(.type == "measure") | .bench) |= "other.bench"' >/dev/null
	pagetoll compare last~1 last
	exits 125
	silent
}

@test "values and parameters that the run has not are refused" {
	for by in page-tables=local,nowhere page-tables=nowhere,local no-such=1,2; do
		pagetoll compare altix-2005 --by "$by"
		exits 125
		silent
		[[ $stderr == *nowhere* || $stderr == *no-such* ]] || { show; return 1; }
	done
}

@test "runs that do not exist: 128 and the name" {
	pagetoll compare no-such-run altix-2005
	exits 128
	silent
	says "no-such-run"
	pagetoll compare altix-2005 "$BATS_TEST_TMPDIR/missing.jsonl"
	exits 128
	says "missing.jsonl"
	pagetoll compare altix-205 altix-2005
	exits 128
	says "did you mean 'altix-2005'"
	[[ ! -e $PAGETOLL_DATA ]]
}

@test "usage errors" {
	for words in "" "a" "a b c" "a b --by x=1,2" "a --by x" "a --by x=1" "a --by x=1,2,3" \
		"a --by =1,2" "a --by x=,2" "a --by x=1," "a --by x=1,1" "a b --threshold 0%" \
		"a b --threshold 2" "a b --threshold 100%" "a b --threshold -1%" \
		"a b --across kernel" "a b --fail-on better" "a b --format csv" \
		"a --by x=1,2 --across machine" "a b --fail"; do
		# shellcheck disable=SC2086
		pagetoll compare $words
		exits 129
		silent
		says "--help'"
	done
}

@test "more points than a mail should have are counted, --all shows them" {
	grow='if .type == "measure" then . as $m | range(1; 30) | . as $k |
		$m | .setting.pointers += 3 * $k else . end'
	made $old 10 "$grow" >/dev/null
	made $new 15 "$grow" >/dev/null
	pagetoll compare last~1 last
	exits 0
	prints "the 40 that tell most"
	prints "47 more points"
	narrow
	short=${#lines[@]}
	pagetoll compare last~1 last --all
	exits 0
	[[ $output != *"more points"* ]]
	((${#lines[@]} >= short + 40))
	narrow
}

@test "a file that is damaged or hostile" {
	made $old 10 >/dev/null
	file=$(made $new 15 '(select(.type == "header") | .label) |= "\u001b[31mred"')
	printf '{"type":"measure","bench":' >>"$file"
	pagetoll compare last~1 last
	exits 0
	[[ $output != *$'\033'* ]]
	narrow
	: >"$file"
	pagetoll compare last~1 last
	exits 128
	silent
}
