#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Help, usage errors, versions: exit codes and streams.

load helpers

@test "without a verb: questions and the commands that answer them" {
	pagetoll
	exits 0
	prints "pagetoll run"
	prints "pagetoll run --preset quick"
	prints "pagetoll doctor"
	[[ -z $stderr ]]
	narrow
}

@test "every command named without a verb has a verb" {
	pagetoll
	while read -r command; do
		read -r _ verb _ <<<"$command"
		run "$PAGETOLL" "$verb" --help
		exits 0
	done < <(grep -o 'pagetoll [a-z]\+' <<<"$output")
}

@test "help: stdout, status 0, at most 80 columns, for every verb in all its spellings" {
	for verb in "${verbs[@]}"; do
		for words in "$verb --help" "$verb -h" "help $verb"; do
			# shellcheck disable=SC2086
			pagetoll $words
			exits 0
			prints "Usage: pagetoll $verb"
			[[ -z $stderr ]]
			narrow
		done
	done
}

@test "help lists every verb and the exit codes" {
	pagetoll help
	exits 0
	for verb in "${verbs[@]}"; do prints "  $verb "; done
	prints 125
	prints 128
	prints 129
	first=$output
	pagetoll --help
	[[ $output == "$first" ]]
}

@test "help names no verb that does not exist" {
	pagetoll help
	while read -r verb _; do
		run "$PAGETOLL" "$verb" --help
		exits 0
	done < <(grep -E '^  [a-z]' <<<"$output")
}

@test "help of a verb that does not exist: 129 and what was meant" {
	pagetoll help shwo
	exits 129
	says "did you mean 'show'"
}

@test "version: with the facts of the build" {
	pagetoll --version
	exits 0
	[[ $output =~ ^pagetoll\ [0-9]+\.[0-9]+\.[0-9]+ ]]
	prints "compiler:"
	prints "sanitizers:"
	prints "hwloc"
	narrow
}

@test "every preset is in the help of run" {
	pagetoll run --preset=no-such
	exits 129
	list=${stderr#*is not one of }
	list=${list%%$'\n'*}
	pagetoll run --help
	IFS=', ' read -ra presets <<<"$list"
	((${#presets[@]} >= 3))
	for preset in "${presets[@]}"; do prints "$preset"; done
}

@test "usage errors: 129, nothing on stdout, where help is" {
	for words in "run --no-such" "list --no-such" "info" "show" "export" "completion" \
		"show a b" "list word" "doctor word" "info tlb.chase word" "completion tcsh" \
		"run --format" "run --format xml" "run --color=maybe" "run --quiet=yes" "run -x" \
		"run -o" "plot" "plot altix-2005 -o x.gif" "--format json list" "show --card --format csv altix-2005" \
		"run --output a --no-save" "export --format text altix-2005"; do
		# shellcheck disable=SC2086
		pagetoll $words
		exits 129
		silent
		says "--help'"
	done
}

@test "an unknown verb: what was meant" {
	pagetoll rnu
	exits 129
	says "did you mean 'run'"
	pagetoll tlb.chase
	exits 129
	says "pagetoll run tlb.chase"
	pagetoll frobnicate
	exits 129
	[[ $stderr != *"did you mean"* ]]
	says "there are run, ab, profile, predict, calibrate, list, info, show, plot"
	pagetoll version
	exits 129
	says "did you mean 'pagetoll --version'"
	pagetoll help version
	exits 129
	says "did you mean 'pagetoll --version'"
}

@test "abbreviated options are refused, with the whole word" {
	pagetoll run --pres quick --dry-run
	exits 129
	says "did you mean '--preset'"
	pagetoll list --form=json
	exits 129
	says "--format"
	pagetoll list --fromat json
	exits 129
	says "did you mean '--format'"
}

@test "words after -- are no options" {
	pagetoll info -- --help
	exits 129
	says "unknown benchmark '--help'"
	pagetoll info -- tlb.chase
	exits 0
}

@test "options may stand behind the words" {
	pagetoll info tlb.chase --format json
	exits 0
	is_json
	pagetoll info tlb.chase --format=json
	is_json
}

@test "--sysroot only where another machine can be looked at" {
	pagetoll run --sysroot / tlb.chase
	exits 129
	says "--dry-run"
	pagetoll show --sysroot / altix-2005
	exits 129
	says "unknown option"
	pagetoll list --sysroot /no/such/folder
	exits 128
	says "/no/such/folder"
}

@test "a usage error with --format json has a JSON document on stdout" {
	pagetoll run --format json tlb.chsae
	exits 129
	json '.error.exit_code == 129 and (.error.message | contains("tlb.chase"))'
}

@test "values of run's options are checked" {
	for words in "--budget 0s" "--budget 10" "--budget -1s" "--budget x" "--invocations 0" \
		"--invocations 1001" "--invocations -1" "--invocations 0x10" "--invocations 1e3" \
		"--seed -1" "--seed 18446744073709551616" "--label last" "--label last~1" \
		"--label a/b" "--preset Quick"; do
		# shellcheck disable=SC2086
		pagetoll run --dry-run $words tlb.chase
		exits 129
		silent
		says "${words%% *}"
	done
	pagetoll run --dry-run --label "" tlb.chase
	exits 129
	pagetoll run --dry-run --label $'a\nb' tlb.chase
	exits 129
	for words in "--budget 90s" "--budget 1.5m" "--invocations 6" \
		"--seed 18446744073709551615" "--label before-the-change"; do
		# shellcheck disable=SC2086
		pagetoll run --dry-run $words tlb.chase
		exits 0
	done
}
