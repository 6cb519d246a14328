#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# history: the list of runs, filters, labels and baselines.

load helpers

# made ID LABEL START_SECONDS KERNEL [COMPLETE]: a run file in the library.
made() {
	local dir=$PAGETOLL_DATA/runs label=null
	mkdir -p "$dir"
	[[ -z $2 ]] || label=$(jq -n --arg text "$2" '$text')
	# Not by jq alone: its numbers end at 2^53.
	cat >"$dir/$1.pagetoll.jsonl" <<-END
		{"type":"header","schema_version":1,"id":"$1","source":"measured here","origin":"measured","label":$label,"command":"pagetoll run tlb.chase","preset":"quick","start_unix_ns":${3}000000000,"fingerprint":{"cpu":"Invented CPU","cpus":4,"kernel":$(jq -n --arg text "$4" '$text')},"benches":[{"name":"tlb.chase","revision":1,"metrics":[{"name":"ref_ns","unit":"ns","better":"lower","estimator":"min","form":"samples"}]}]}
	END
	cat >>"$dir/$1.pagetoll.jsonl" <<-'END'
		{"type":"measure","bench":"tlb.chase","invocation":0,"verdict":"ok","series":[{"metric":"ref_ns","form":"samples","values":[1.5]}]}
	END
	[[ ${5-complete} == complete ]] || return 0
	echo '{"type":"footer","complete":true}' >>"$dir/$1.pagetoll.jsonl"
}

three() {
	made 01hzz0000000000000000000aa before 1700000000 6.1.0-a
	made 01j000000000000000000000bb "" 1710000000 6.6.0-b
	made 01j000000000000000000000cc after 1720000000 6.6.0-b torn
}

ids() {
	jq -r '[.runs[].id[-2:]] | join(" ")' <<<"$output"
}

@test "history: an empty library is said and nothing is created" {
	pagetoll history
	exits 0
	prints "The library is empty: $PAGETOLL_DATA/runs"
	[[ ! -e $PAGETOLL_DATA ]]
	pagetoll history --format json
	exits 0
	json '.runs == []'
	pagetoll history --format csv
	exits 0
	[[ ${#lines[@]} -eq 1 ]]
	pagetoll history --set-label last=x
	exits 128
	says "the library is empty"
}

@test "history: newest first, below their machines, in 80 columns" {
	three
	pagetoll history
	exits 0
	[[ -z $stderr ]]
	narrow
	prints "Invented CPU, 4 CPUs, Linux 6.6.0-b"
	prints "Invented CPU, 4 CPUs, Linux 6.1.0-a"
	prints "2024-07-03 09:46  incomplete"
	prints "run tlb.chase"
	[[ ${lines[1]} == *"0c  2024"* && ${lines[2]} == *"0b  2024"* && ${lines[4]} == *before* ]] || { show; return 1; }
	# The shortened ids are ones that other verbs take.
	id=$(awk 'NR == 2 { print $1 }' <<<"$output")
	pagetoll show "$id"
	exits 0
	prints "01j000000000000000000000cc"
}

@test "history: json and csv have everything" {
	three
	pagetoll history --format json
	exits 0
	[[ $(ids) == "cc bb aa" ]]
	json '.runs[2] | .label == "before" and .kernel == "6.1.0-a" and .measures == 1 and
		.complete and (.baseline | not) and .preset == "quick" and
		.start_unix_ns == 1700000000000000000 and .unreadable == null'
	json '.runs[1].label == null'
	pagetoll history --format csv
	exits 0
	[[ ${#lines[@]} -eq 4 ]]
	[[ ${lines[0]} == id,start,label,baseline,state,measures,* ]]
	[[ ${lines[3]} == 01hzz0000000000000000000aa,2023-11-14T22:13:20Z,before,no,complete,1,* ]]
}

@test "history: filters" {
	three
	while IFS='|' read -r options expected; do
		read -ra words <<<"$options"
		pagetoll history --format json "${words[@]}"
		exits 0
		[[ $(ids) == "$expected" ]] || { echo "$options: $(ids)"; return 1; }
	done <<-'END'
		--label before|aa
		--label befor|
		--bench tlb|cc bb aa
		--bench tlb.chase|cc bb aa
		--bench cache.chase|
		--kernel 6.6|cc bb
		--machine invented|cc bb aa
		--machine nothing|
		--since 2024-03-01|cc bb
		--since 2024-07-03|cc
		--since 2024-07-04|
		--since 1h|
		--limit 1|cc
		--limit 2 --kernel 6.1|aa
		--baselines|
	END
	pagetoll history --label nobody
	exits 0
	prints "No run is like that"
}

@test "history: options that are refused" {
	three
	for words in "--since yesterday" "--since 2024-02-30" "--since 2024-13-01" "--since 2024" \
		"--since -1h" "--since 2024-01-01x" "--limit 0" "--limit -1" "--limit x" \
		"--label=" "--bench=" "--set-label last" "--set-label =x" "--baseline=" \
		"--set-label last=x --label y" "extra" "--set-label last=last" "--set-label last=last~3" \
		"--set-label last=baseline" "--set-label last=altix-2005" "--set-label last=a,b" \
		"--set-label last=a/b"; do
		read -ra list <<<"$words"
		pagetoll history "${list[@]}"
		exits 129 || { echo "$words"; return 1; }
		silent
	done
	pagetoll history --set-label last=$'two\nlines'
	exits 129
	pagetoll history --baseline last --format json
	exits 129
	json '.error.exit_code == 129'
}

@test "history: labels are set, replaced, taken away, and name runs" {
	three
	pagetoll history --set-label last=mine
	exits 0
	prints "01j000000000000000000000cc: label 'mine'"
	pagetoll show mine
	exits 0
	prints "01j000000000000000000000cc"
	pagetoll show after
	exits 128
	pagetoll history --set-label "before=a = b with blanks"
	exits 0
	pagetoll history --label "a = b with blanks" --format json
	[[ $(ids) == "aa" ]]
	pagetoll show "a = b with blanks"
	exits 0
	pagetoll history --set-label mine=
	exits 0
	prints "no label"
	pagetoll show mine
	exits 128
	# The run files are as they were.
	jq -se '.[0].label == "after"' "$PAGETOLL_DATA/runs/01j000000000000000000000cc.pagetoll.jsonl"
	pagetoll history --set-label nobody=x
	exits 128
	says "nobody"
	pagetoll history --set-label altix-2005=x
	exits 128
	says "comes with pagetoll"
}

@test "history: baselines" {
	three
	pagetoll history --baseline before --baseline last
	exits 0
	pagetoll history --no-baseline last
	exits 0
	pagetoll history --baselines --format json
	[[ $(ids) == "aa" ]]
	pagetoll history
	prints "* 01hzz00000"
	prints "* a baseline"
	# a name of a run like any other
	pagetoll show baseline
	exits 0
	prints 01hzz0000000000000000000aa
	pagetoll export baseline
	exits 0
	pagetoll compare --format json baseline last
	exits 0
	json '.a.runs[0].id == "01hzz0000000000000000000aa"'
	pagetoll history --baseline nobody
	exits 128
}

@test "history: files that went, changed, or cannot be read" {
	three
	pagetoll history
	rm "$PAGETOLL_DATA/runs/01hzz0000000000000000000aa.pagetoll.jsonl"
	echo nonsense >"$PAGETOLL_DATA/runs/01j000000000000000000000dd.pagetoll.jsonl"
	echo '{"type":"footer","complete":true}' \
		>>"$PAGETOLL_DATA/runs/01j000000000000000000000cc.pagetoll.jsonl"
	pagetoll history --format json
	exits 0
	json '[.runs[] | select(.file_is_gone) | .id[-2:]] == ["aa"]'
	json '[.runs[] | select(.unreadable) | .id[-2:]] == ["dd"]'
	json '[.runs[] | select(.complete) | .id[-2:]] == ["cc", "bb", "aa"]'
	pagetoll history
	exits 0
	prints gone
	prints unreadable
	narrow
	# One whose file is gone can still be labelled by its id.
	pagetoll history --set-label 01hzz0000000000000000000aa=old
	exits 0
	pagetoll history --label old --format json
	[[ $(ids) == "aa" ]]
}

@test "history: a damaged index is made anew, and so is one on request" {
	three
	pagetoll history --set-label last=kept --baseline before
	head -c 8192 /dev/urandom >"$PAGETOLL_DATA/runs/index.db"
	pagetoll history --format json
	exits 0
	says "made anew"
	[[ $(ids) == "cc bb aa" ]]
	json '.runs[0].label == "kept" and .runs[2].baseline'
	rm "$PAGETOLL_DATA/runs/01j000000000000000000000bb.pagetoll.jsonl"
	pagetoll history --rebuild --format json
	exits 0
	[[ -z $stderr ]]
	[[ $(ids) == "cc aa" ]]
	json '.runs[0].label == "kept" and .runs[1].baseline'
}

@test "history: what was measured is there, and hostile texts are harmless" {
	pagetoll "${quick[@]}" "${small[@]}"
	exits 0
	made 01hzz0000000000000000000aa $'\e[31mred\nlabel' 1700000000 $'6.1\tx'
	pagetoll history
	exits 0
	narrow
	[[ $output != *$'\e'* ]]
	[[ ${#lines[@]} -eq 4 ]] || { show; return 1; }
	pagetoll history --bench tlb.chase --limit 1 --format json
	json '.runs[0].complete and .runs[0].measures == 3'
}
