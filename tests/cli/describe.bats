#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# list, info, doctor, completion: what they print about benchmarks and machines.

load helpers

@test "list: every benchmark, whether it runs here, pages and nodes" {
	pagetoll list
	exits 0
	prints "tlb.chase"
	prints "cache.chase"
	prints "runs here"
	prints "Page sizes"
	prints "Page tables"
	[[ -z $stderr ]]
	narrow
	# Names and summaries are columns: what runs here stands below the summaries.
	[[ $(sed '/^$/,$d' <<<"$output" | grep -o '^ *runs here' | sort -u | wc -l) -eq 1 ]]
	[[ $(grep -c '^  [a-z]*\.[a-z]*  ' <<<"$output") -eq $(benchmarks | wc -l) ]]
	pagetoll list --format json
	exits 0
	[[ $(jq -r '.benchmarks[].name' <<<"$output") == "$(benchmarks)" ]]
	json '[.benchmarks[].smoke | strings] | length == ('"$(benchmarks | wc -l)"')'
	json '.page_sizes | length >= 1'
	json '[.page_sizes[] | select(.usable | not) | .reason | length > 0] | all'
	json '[.nodes[].id] | length >= 1'
	json '.page_tables | (.levels == null) == (.reason != null) and .boot != ""'
	pagetoll list --format csv
	exits 0
	[[ ${lines[0]} == "benchmark,summary,revision,runs_here,reason" ]]
	[[ ${#lines[@]} -eq $(($(benchmarks | wc -l) + 1)) ]]
}

@test "info: description, every parameter, metrics and examples" {
	for bench in $(benchmarks); do
		pagetoll info "$bench" --format json
		exits 0
		json '.parameters | length > 3'
		json '[.parameters[] | .accepted | length > 0] | all'
		json '.metrics[0].name | length > 0'
		json '.examples | length >= 1'
		names=$(jq -r '.parameters[].name' <<<"$output")
		pagetoll info "$bench"
		exits 0
		for name in $names; do prints "  $name "; done
		prints "Examples:"
		narrow
		pagetoll info "$bench" --format csv
		exits 0
		((${#lines[@]} == $(wc -l <<<"$names") + 1))
	done
}

@test "info: the examples are commands that can be planned" {
	for bench in tlb.chase tlb.walk cache.chase; do
		while IFS= read -r example; do
			read -ra words <<<"${example%%#*}"
			[[ ${words[0]} == pagetoll && ${words[1]} == run ]] || continue
			run --separate-stderr "$PAGETOLL" run --dry-run "${words[@]:2}"
			[[ $status -eq 0 || $status -eq 125 ]] || { echo "$example"; show; return 1; }
		done < <("$PAGETOLL" info "$bench" --format json | jq -r '.examples[]')
	done
}

@test "info: an unknown benchmark" {
	pagetoll info tlb.chsae
	exits 129
	says "did you mean 'tlb.chase'"
	says "cache.chase"
}

@test "doctor: findings with effect and remedy" {
	pagetoll doctor
	exits 0
	[[ -z $stderr ]]
	pagetoll doctor --format json
	exits 0
	json '.findings | type == "array"'
	json '[.findings[] | (.id | length > 0) and (.effect | length > 0) and (.remedy | length > 0)] | all'
	json '.fingerprint | type == "object"'
	pagetoll doctor --format csv
	exits 0
	[[ ${lines[0]} == "id,severity,what,effect,remedy" ]]
}

@test "invented machines: list, doctor and the plan give an answer or a reason" {
	for name in $(machines); do
		tree=$(machine "$name")
		for words in "list" "doctor" "list --format json" "doctor --format json" \
			"run --dry-run --format json" \
			"run --dry-run --format json tlb.chase page-tables=local,remote" \
			"run --dry-run --format json tlb.chase page=base,thp"; do
			# shellcheck disable=SC2086
			run --separate-stderr "$PAGETOLL" $words --sysroot "$tree"
			[[ $status -eq 0 || $status -eq 125 ]] || { echo "$name: $words"; show; return 1; }
			[[ -n $output ]]
			if [[ $words == *json* ]]; then is_json; else narrow; fi
			! grep -q $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$output" || return 1
		done
	done
}

# remote NAME FILTER: holds for the setting with remote page tables on that machine.
remote() {
	pagetoll run --dry-run --format json --sysroot "$(machine "$1")" tlb.chase \
		page-tables=local,remote pointers=1
	json ".settings[] | select(.parameters[\"page-tables\"] == \"remote\") | $2" || { echo "$1"; return 1; }
}

@test "invented machines: remote page tables where there are two memory nodes, else the reason" {
	for name in two-sockets sparse-nodes memoryless-node; do
		remote "$name" '.skip_reason == null'
		exits 0
	done
	for name in plain no-numa; do
		remote "$name" '.skip_reason | contains("one memory node")'
		exits 0
	done
}

@test "invented machines: what a page is follows the machine" {
	pagetoll run --dry-run --format json --sysroot "$(machine arm64-64k)" tlb.chase pointers=1 \
		stride=page,leaf-table
	exits 0
	json '[.settings[].parameters.page] | unique == ["64k"]'
	json '[.settings[].resolved["stride.bytes"]] | sort == [65536, 536870912]'
	pagetoll run --dry-run --format json --sysroot "$(machine plain)" tlb.chase pointers=1 \
		stride=page,leaf-table
	exits 0
	json '[.settings[].parameters.page] | unique == ["4k"]'
	json '[.settings[].resolved["stride.bytes"]] | sort == [4096, 2097152]'
}

@test "colours: only when asked for or on a terminal" {
	esc=$'\033['
	pagetoll doctor
	[[ $output != *"$esc"* ]]
	pagetoll doctor --color=never
	[[ $output != *"$esc"* ]]
	pagetoll show altix-2005
	[[ $output != *"$esc"* ]]
}

@test "completion: bash loads it and completes" {
	pagetoll completion bash
	exits 0
	script=$BATS_TEST_TMPDIR/completion
	"$PAGETOLL" completion bash >"$script"
	complete_line() {
		bash --norc -c '
			source "$1" || exit 1
			COMP_LINE=$2 COMP_POINT=${#2}
			compopt() { :; }
			_pagetoll
			printf "%s\n" "${COMPREPLY[@]}"' _ "$script" "$1"
	}
	[[ $(complete_line "pagetoll ru") == run ]]
	[[ $(complete_line "pagetoll run --pres") == --preset ]]
	[[ $(complete_line "pagetoll run --preset qu") == quick ]]
	[[ $(complete_line "pagetoll run --format=j") == json ]]
	[[ $(complete_line "pagetoll run tlb.c") == tlb.chase ]]
	[[ $(complete_line "pagetoll run tlb.chase backi") == backing= ]]
	[[ $(complete_line "pagetoll run tlb.chase backing=ze") == zero ]]
	[[ $(complete_line "pagetoll run tlb.chase page=base,th") == base,thp ]]
	[[ $(complete_line "pagetoll info cache") == cache.chase ]]
	[[ $(complete_line "pagetoll completion z") == zsh ]]
	[[ $(complete_line "pagetoll show altix") == altix-2005 ]]
	[[ -z $(complete_line "pagetoll run --budget 1") ]]
	[[ $(complete_line "pagetoll run syscall.null node=ea") == each ]]
	[[ $(complete_line "pagetoll run migration.cost pairs=al") == all ]]
	[[ $(complete_line "pagetoll run migration.cost fro") == from= ]]
	[[ -z $(complete_line "pagetoll run tlb.chase fro") ]]
	[[ $(complete_line "pagetoll plot altix-2005 --bench tlb.c") == tlb.chase ]]
	[[ $(complete_line "pagetoll history --bench fork.co") == fork.cow ]]
	[[ $(complete_line "pagetoll predict --machine zen3") == zen3-epyc ]]
	[[ -z $(complete_line "pagetoll doctor x") ]]
}

@test "completion: the runs that were kept" {
	run "$PAGETOLL" __runs
	exits 0
	silent
	[[ ! -e $PAGETOLL_DATA ]]
	"$PAGETOLL" "${quick[@]}" "${small[@]}" >/dev/null
	id=$("$PAGETOLL" history --format json | jq -r '.runs[0].id')
	"$PAGETOLL" history --set-label "$id=before-it" >/dev/null
	run "$PAGETOLL" __runs
	exits 0
	[[ $output == "before-it"$'\n'"$id" ]]
	"$PAGETOLL" completion bash >"$BATS_TEST_TMPDIR/completion"
	line="$PAGETOLL show before"
	run bash --norc -c '
		source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; compopt() { :; }; _pagetoll
		printf "%s\n" "${COMPREPLY[@]}"' _ "$BATS_TEST_TMPDIR/completion" "$line"
	[[ $output == before-it ]]
	"$PAGETOLL" history --set-label "$id=it's \`x\` \$(y)" >/dev/null || true
	run "$PAGETOLL" __runs
	[[ $output == "$id" || $output == "before-it"$'\n'"$id" ]]
	if command -v fish >/dev/null; then
		"$PAGETOLL" completion fish >"$BATS_TEST_TMPDIR/pagetoll.fish"
		PATH=${PAGETOLL%/*}:$PATH run fish --no-config -c \
			"source $BATS_TEST_TMPDIR/pagetoll.fish; complete -C 'pagetoll plot 01'"
		[[ $id != 01* ]] || prints "$id"
		run fish --no-config -c \
			"source $BATS_TEST_TMPDIR/pagetoll.fish; complete -C 'pagetoll predict --machine zen3'"
		prints zen3-epyc
	fi
}

@test "completion: what asks for the kept runs survives a library that is none" {
	mkdir -p "$PAGETOLL_DATA"
	echo garbage >"$PAGETOLL_DATA/index.db"
	run --separate-stderr "$PAGETOLL" __runs
	exits 0
	[[ -z $stderr ]]
	PAGETOLL_DATA=/dev/null run --separate-stderr "$PAGETOLL" __runs
	exits 0
	silent
	[[ -z $stderr ]]
	run --separate-stderr "$PAGETOLL" __runs extra
	exits 129
}

@test "completion: every verb and option is in every script" {
	for shell in bash zsh fish; do
		pagetoll completion "$shell"
		exits 0
		for verb in "${verbs[@]}"; do
			prints "$verb"
			while read -r option; do
				case $shell in
				fish) prints "-l ${option#--}" ;;
				*) prints "$option" ;;
				esac
			done < <("$PAGETOLL" help "$verb" | grep -oE '^ {2,6}(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
		done
		for word in tlb.chase cache.chase page-tables working-set leaf-table; do prints "$word"; done
	done
}

@test "completion: zsh and fish can read their scripts" {
	command -v zsh >/dev/null || skip "no zsh"
	command -v fish >/dev/null || skip "no fish"
	"$PAGETOLL" completion zsh >"$BATS_TEST_TMPDIR/_pagetoll"
	zsh -n "$BATS_TEST_TMPDIR/_pagetoll"
	run zsh -fc 'fpath=("$1" $fpath); autoload -Uz compinit; compinit -D -u; whence -w _pagetoll' \
		_ "$BATS_TEST_TMPDIR"
	exits 0
	"$PAGETOLL" completion fish >"$BATS_TEST_TMPDIR/pagetoll.fish"
	fish --no-execute "$BATS_TEST_TMPDIR/pagetoll.fish"
	run fish --no-config -c "source $BATS_TEST_TMPDIR/pagetoll.fish; complete -C 'pagetoll run --preset qu'"
	exits 0
	prints quick
}
