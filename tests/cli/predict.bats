#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What `predict` says, saves and refuses.

load helpers

@test "page tables of a shared segment: geometry alone, no machine" {
	pagetoll predict tables.shared processes=500 segment=8000m --no-save
	exits 0
	[[ $output == *"7.63 GiB"* ]]
	[[ $output == *"geometry alone"* ]]
	[[ $output == *"segment=8000m"* ]]
	grep -qE '^  part +bytes +share' <<<"$output"
}

@test "every machine that comes along can be predicted on" {
	pagetoll predict --machines
	exits 0
	[[ $output == *altix-itanium2-900* && $output == *neoverse-v2* && $output == *plan-16-nodes* ]]
	narrow
	[[ $output == *"1.5 MB L3"* ]]
	local name
	for name in $(awk 'NR > 1 && /^[a-z]/ { print $1 }' <<<"$output"); do
		pagetoll predict tlb.chase pointers=16 --machine "$name" --no-save
		exits 0
		[[ $output == *"machine $name"* ]]
	done
}

@test "a run of origin predicted: saved, shown, parts that add up" {
	pagetoll predict tlb.chase pointers=100,3000 stride=page --machine zen3-epyc --label mine
	exits 0
	pagetoll show mine --format json
	exits 0
	[[ $(jq -r .run.origin <<<"$output") == predicted ]]
	local file
	file=$(echo "$PAGETOLL_DATA"/runs/*.jsonl)
	[[ -s $file ]]
	jq -se '[.[] | select(.type == "measure")] | length == 2 and all(.[];
		([.series[] | select(.metric == "ref_ns" and .part == null) | .values[0]][0]) as $all |
		([.series[] | select(.metric == "ref_ns" and .part != null) | .values[0]] | add) as $sum |
		($sum - $all) * ($sum - $all) < 1e-12)' "$file"
	pagetoll show last
	exits 0
	[[ $output == *predicted* ]]
}

@test "the same seed, the same bytes" {
	local words=(predict tlb.chase pointers=200,4000 --machine altix-itanium2-900 --no-save)
	pagetoll "${words[@]}" --seed 3
	local first=$output
	pagetoll "${words[@]}" --seed 3
	[[ $output == "$first" ]]
	pagetoll "${words[@]}" --seed 4
	[[ $output != "$first" ]]
}

@test "what if: before, after, difference" {
	pagetoll predict tlb.chase pointers=3000 stride=leaf-table+base-page backing=zero \
		--machine plan-16-nodes page-tables=remote levels=4 \
		--what-if levels=5 --what-if page-tables=replicated --no-save
	exits 0
	[[ $output == *"after:"* && $output == *difference* ]]
	[[ $output == *"page-tables=replicated"* && $output == *"levels=5"* ]]
	pagetoll predict syscall.openclose cache=cold node=3 --machine altix-itanium2-900 \
		--what-if kernel-text=replicated --no-save
	exits 0
	[[ $output == *code.memory.remote* && $output == *code.memory.local* ]]
}

@test "the published loop of four levels: the prediction fails, and is printed" {
	pagetoll predict tlb.walk stride=32m index=fixed order=sequential caches=warm regions=512 \
		backing=distinct table-align=256k --machine altix-itanium2-900 --what-if levels=4 \
		--no-save
	exits 0
	[[ $output == *"walk.p4d.l2"* ]]
	[[ $output == *"+1."*"%"* ]]
}

@test "the entry that replicated text pins" {
	local words=(predict tlb.chase stride=32m+128 order=sequential table-align=256k
		pointers=119 --machine altix-itanium2-900 --no-save --format csv)
	pagetoll "${words[@]}"
	exits 0
	local before=$output
	pagetoll "${words[@]}" dtlb-entries=-1
	exits 0
	[[ $output != "$before" ]]
	pagetoll "${words[@]}" dtlb-entries=-200
	exits 129
	says "of which"
}

@test "lines of at most 80 columns" {
	pagetoll predict tlb.chase pointers=16,4096 --machine icelake-sp nested=yes page-tables=remote \
		--what-if nested=no --no-save
	exits 0
	[[ $(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<<"$output") -le 80 ]]
	pagetoll predict --machines
	[[ $(awk '{ if (length($0) > n) n = length($0) } END { print n }' <<<"$output") -le 80 ]]
}

@test "what is refused, and what is accepted instead" {
	local row
	while IFS='|' read -r words told; do
		# shellcheck disable=SC2086
		pagetoll predict $words --no-save
		exits 129
		[[ -z $output ]] || { echo "stdout: $output"; return 1; }
		says "$told"
	done <<-'ROWS'
		|the first word is the benchmark
		tlb.chase|needs --machine
		fault.anon --machine zen3-epyc|cannot be predicted
		tlb.chase --machine zen9|there are altix-itanium2-900
		tlb.chase --machine zen3-epic|did you mean 'zen3-epyc'
		tlb.chase strde=page --machine zen3-epyc|did you mean
		tlb.chase levels=6 --machine zen3-epyc|accepted: 2, 3, 4, 5
		tlb.chase nested=maybe --machine zen3-epyc|accepted: no, yes
		tlb.chase host-page=3k --machine zen3-epyc|power of two
		tlb.chase host-page=2m --machine zen3-epyc|host-page= needs nested=yes
		tlb.chase pointers=8 --what-if hot-ns=3 --machine zen3-epyc|hot-ns= is of system calls, not of tlb.chase
		tlb.chase kernel-text=replicated --machine zen3-epyc|is of system calls
		tlb.chase dtlb-entries=-9999 --machine zen3-epyc|of at most 4096
		tlb.chase far-side=gone --machine zen3-epyc|accepted: off, on
		tlb.chase dtlb-entries=1 --machine zen3-epyc|-N or +N
		tlb.chase pointers=8 page-tables=7 --machine zen3-epyc|no such node
		tlb.chase pointers=8 nested=yes --machine altix-itanium2-900|radix walker
		tlb.chase pointers=8 tlb.walk --machine zen3-epyc|one benchmark at a time
		tables.shared levels=4|needs a described machine
		syscall.pid cache=hot --machine zen3-epyc|cache=cold
		tlb.chase pointers=1,2 --machine zen3-epyc --what-if pointers=3|2 points before and 1 after
	ROWS
}

@test "a machine from a file, and what is wrong with one" {
	local file="$BATS_TEST_TMPDIR/my.json"
	sed 's/"name": "zen3-epyc"/"name": "mine"/' "$BATS_TEST_DIRNAME/../../machines/zen3-epyc.json" >"$file"
	pagetoll predict tlb.chase pointers=16 --machine "$file" --no-save
	exits 0
	[[ $output == *"machine mine"* ]]
	sed -i "s/\"summary\": \"/&$(printf 'a long summary, %.0s' {1..6})/" "$file"
	pagetoll predict tlb.chase pointers=16 --machine "$file" --no-save
	exits 0
	prints "a long summary"
	narrow
	sed -i 's/"entries": 2048/"entries": 2040/' "$file"
	pagetoll predict tlb.chase pointers=16 --machine "$file" --no-save
	exits 129
	says "tlbs[1]"
	pagetoll predict tlb.chase pointers=16 --machine "$BATS_TEST_TMPDIR/none.json" --no-save
	exits 129
	says "No such file"
}

@test "predict: tlb.walk with its own grid on machines of every number of levels" {
	for machine in altix-itanium2-900 zen3-epyc zen4-epyc; do # 3, 4 and 5 levels
		pagetoll predict tlb.walk caches=warm --machine "$machine" --no-save --quiet
		exits 0
		prints stride=leaf-table
	done
	pagetoll predict tlb.walk caches=warm --machine altix-itanium2-900 --no-save --quiet
	says "left out: stride=128t"
	pagetoll predict tlb.walk stride=pud-table caches=warm --machine altix-itanium2-900 --no-save
	exits 129
	says "do not hold two such regions"
}

@test "predict: what cannot be saved is printed all the same" {
	pagetoll predict tlb.chase pointers=64 --machine zen3-epyc --quiet \
		-o "$BATS_TEST_TMPDIR/no/run.jsonl"
	exits 128
	prints ref_ns
	says "cannot save to $BATS_TEST_TMPDIR/no/run.jsonl"
	echo " L 7f0000001000,8" >"$BATS_TEST_TMPDIR/t"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --machine zen3-epyc --quiet \
		-o "$BATS_TEST_TMPDIR/no/run.jsonl"
	exits 128
	prints "references"
	says "cannot save to"
	[[ $output != *"(predicted)"* ]]
}
