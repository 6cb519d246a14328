#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `predict --trace`: what it says of traces of real programs, good and bad ones.

load helpers

# lackey N: N loads, one a page of 4 KiB from 16 GiB on, as text of Valgrind's lackey.
lackey() {
	local i
	echo "==7== Lackey, an example Valgrind tool"
	for ((i = 0; i < $1; i++)); do printf 'I  00401000,4\n L %x,8\n' $((0x400000000 + i * 4096 + i % 64 * 64)); done
	echo "==7== Exit code:       0"
}

# drmemtrace THREAD FIRST N: a thread's file of N loads, one a region of 2 MiB from number FIRST on.
drmemtrace() {
	python3 - "$@" <<-'END'
		import struct, sys
		thread, first, n = map(int, sys.argv[1:])
		rows = [(25, 0, 7), (28, 12, 7), (22, 0, thread), (24, 0, 9), (28, 2, 1000 + first)]
		rows += [(0, 8, 0x100000000 + (i << 21) + 64 * i) for i in range(first, first + n)]
		rows += [(23, 0, thread), (26, 0, 0)]
		sys.stdout.buffer.write(b"".join(struct.pack("<HHQ", *row) for row in rows))
	END
}

# columns: no line of $output is wider than 80.
columns() {
	! grep -nE '.{81,}' <<<"$output" || return 1
}

@test "a real program under Valgrind: the loads and stores are those that lackey counts" {
	command -v valgrind >/dev/null || skip "valgrind is not installed"
	local file=$BATS_TEST_TMPDIR/true.lk loads stores
	valgrind --tool=lackey --trace-mem=yes --detailed-counts=yes --log-file="$file" /bin/true
	grep -q 'guest instrs' "$file" || skip "valgrind does not work here"
	# helpers for large registers are in the trace, not in the counts by type
	read -r loads stores < <(sed -n 's/,//g; s/^==[0-9]*== *[IVFD][0-9]* *\([0-9]*\) *\([0-9]*\) .*/\1 \2/p' \
		"$file" | awk '{ l += $1; s += $2 } END { print l, s }')
	pagetoll predict --trace "$file" --machine zen3-epyc --label real
	exits 0
	columns
	prints "lackey, told by its first bytes"
	pagetoll show real --format json
	jq -e --argjson l "$loads" --argjson s "$stores" '.points[0].measures[0].proof |
		.loads + .modifies >= $l and .loads + .modifies <= $l * 1.01 and
		.stores + .modifies >= $s and .stores + .modifies <= $s * 1.01' <<<"$output"
	# the same through a pipe, and the same pages as a naive count of lines
	local pages
	pages=$(sed -nE 's/^ [LSM] ([0-9a-f]+),([0-9]+)$/\1 \2/p' "$file" | python3 -c '
import sys
seen = set()
for line in sys.stdin:
    at, n = line.split()
    seen.update({int(at, 16) >> 12, (int(at, 16) + int(n) - 1) >> 12})
print(len(seen))')
	run --separate-stderr "$PAGETOLL" predict --trace - --machine zen3-epyc --no-save <"$file"
	exits 0
	grep -qE "^  4k +$pages " <<<"$output"
}

@test "a chase written as a trace: the prediction of the benchmark" {
	local file=$BATS_TEST_TMPDIR/chase.lk
	# pointers lie a page and a line apart from 1 TiB on; seven rounds warm, 34 count
	python3 - >"$file" <<-'END'
		for k in range(21000 + 102000):
		    print(" L %x,8" % ((1 << 40) + k % 3000 * (4096 + 64)))
	END
	local ours theirs
	pagetoll predict tlb.chase pointers=3000 stride=page+64 order=sequential backing=distinct \
		--machine zen3-epyc --no-save --format json
	exits 0
	theirs=$(jq -c '[.points[0].measures[0].series[] | select(.metric == "ref_ns") | {part, values}] | sort' \
		<<<"$output")
	pagetoll predict --trace "$file" --warm 21000 --machine zen3-epyc --no-save --format json
	exits 0
	ours=$(jq -c '[.points[0].measures[0].series[] | select(.metric == "ref_ns") | {part, values}] | sort' \
		<<<"$output")
	[[ $(jq length <<<"$ours") -gt 5 ]]
	[[ $ours == "$theirs" ]] || { diff <(jq . <<<"$ours") <(jq . <<<"$theirs"); return 1; }
}

@test "what huge pages, replication and another level would give" {
	lackey 4000 >"$BATS_TEST_TMPDIR/t"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --machine plan-16-nodes page-tables=3 --no-save
	exits 0
	columns
	prints "4k                             4000"
	prints "2m                                8"
	grep -qE '^  page=2m .* -[0-9.]+ %$' <<<"$output"
	grep -qE '^  page-tables=replicated .* -[0-9.]+ %$' <<<"$output"
	grep -qE '^  levels=5 .* \+[0-9.]+ %$' <<<"$output"
	prints "from memory of node 3"
	prints "fully backed"
	# parts add up
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --machine plan-16-nodes --format json --no-save \
		--what-if nested=yes
	exits 0
	jq -e '.points | length == 5 and all(.[].measures[]; ([.series[] | select(.metric == "ref_ns" and .part == null)
		| .values[0]][0]) as $all | ([.series[] | select(.metric == "ref_ns" and .part != null) | .values[0]]
		| add) as $sum | ($sum - $all) * ($sum - $all) < 1e-12)' <<<"$output"
	# where nothing can change, the reason
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --machine altix-itanium2-900 page-tables=replicated --no-save
	exits 0
	prints "page tables are replicated already"
	prints "TLBs do not hold such pages"
}

@test "threads in files: on one node after the other, pages with the first that touches them" {
	drmemtrace 71 0 300 >"$BATS_TEST_TMPDIR/a"
	drmemtrace 72 200 300 >"$BATS_TEST_TMPDIR/b"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/a" --machine plan-16-nodes --no-save "$BATS_TEST_TMPDIR/b"
	exits 0
	columns
	prints "threads                     2  on 2 CPUs, on one node after the other"
	# b begins later, by its time stamp: what both touch is a's
	prints "first touched on node 0: 300 1: 200"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/b" --trace "$BATS_TEST_TMPDIR/a" --threads compact \
		--machine plan-16-nodes --no-save
	exits 0
	prints "first touched on node 0: 500"
}

@test "a trace that is cut off, or bad: told with its place, kept until there, status 128" {
	lackey 500 >"$BATS_TEST_TMPDIR/t"
	local size
	size=$(stat -c %s "$BATS_TEST_TMPDIR/t")
	head -c $((size / 2)) "$BATS_TEST_TMPDIR/t" >"$BATS_TEST_TMPDIR/half"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/half" --machine zen3-epyc --label half
	exits 128
	says "half: offset"
	says "line"
	prints "INCOMPLETE"
	columns
	pagetoll show half --format json
	exits 0
	jq -e '.complete == false and (.points | length > 0)' <<<"$output"
	# JSON stays one document
	pagetoll predict --trace "$BATS_TEST_TMPDIR/half" --machine zen3-epyc --no-save --format json
	exits 128
	[[ $(jq -s length <<<"$output") -eq 1 ]]
	# one bad file of two: the other one goes on
	drmemtrace 71 0 30 >"$BATS_TEST_TMPDIR/a"
	drmemtrace 72 20 30 | head -c 200 >"$BATS_TEST_TMPDIR/b"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b" --machine zen3-epyc --no-save
	exits 128
	says "b: offset 192: the trace ends within a record, whose 8 bytes are left out"
	prints "references                 41"
	# nothing before the bad place
	echo "I am no trace" >"$BATS_TEST_TMPDIR/no"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/no" --trace-format lackey --machine zen3-epyc --no-save
	exits 125
	says "offset 0, line 1"
}

@test "a trace as it grows is read to its limit only" {
	run --separate-stderr bash -c 'yes " L 7f0000001000,8" | "$PAGETOLL" predict --trace - --references 5000 \
		--warm 10 --machine zen3-epyc --no-save'
	exits 0
	prints "stopped by --references"
	prints "references               5000"
}

@test "interrupted: what was read is the result" {
	run --separate-stderr bash -c 'yes " L 7f0000001000,8" | timeout --foreground \
		--preserve-status -s TERM 1 "$PAGETOLL" predict --trace - --machine zen3-epyc --no-save'
	exits 143
	says "interrupted; the result is of the"
	prints "INCOMPLETE: interrupted"
}

@test "files that are no traces" {
	pagetoll predict --trace "$BATS_TEST_TMPDIR/none" --machine zen3-epyc
	exits 128
	says "none: No such file"
	: >"$BATS_TEST_TMPDIR/empty"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/empty" --machine zen3-epyc
	exits 128
	says "empty"
	printf '\x1f\x8b\x08 and more' >"$BATS_TEST_TMPDIR/t.gz"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t.gz" --machine zen3-epyc
	exits 128
	says "gzip -dc $BATS_TEST_TMPDIR/t.gz | pagetoll predict --trace -"
	echo "just text" >"$BATS_TEST_TMPDIR/text"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/text" --machine zen3-epyc
	exits 128
	says "no trace that is known; accepted: text of valgrind --tool=lackey"
	pagetoll predict --trace "$BATS_TEST_TMPDIR" --machine zen3-epyc
	exits 128
	says "cannot be read"
	[[ ! -e $PAGETOLL_DATA/runs ]] || [[ -z $(ls "$PAGETOLL_DATA/runs") ]]
}

@test "words and options that make no sense with a trace are refused" {
	lackey 3 >"$BATS_TEST_TMPDIR/t"
	local t=(predict --trace "$BATS_TEST_TMPDIR/t")
	local row words
	for row in "pointers=3|sets nothing of a trace" "page=3k|page=3k" "page=64k|tables of 4 levels" \
		"data=replicated|data=replicated; accepted: local" "page-tables=2|page-tables=2; zen3-epyc has nodes 0 to 1" \
		"page-tables=remote|accepted: local" "loads=some|dependent, independent" "text-lines=3|of system calls" \
		"levels=9|levels=9" \
		"host-page=2m|host-page= needs nested=yes" "--warm 2000000000000000000|up to 1152921504606846976" \
		"--trace - --trace -|standard input can be read once" "--threads wide|'wide'" "--references 0|--references: 0" "--warm x|--warm" \
		"--trace-format elf|'elf'" "--what-if page=1|page=1"; do
		eval "words=(${row%%|*})"
		pagetoll "${t[@]}" --machine zen3-epyc --no-save "${words[@]}"
		exits 129
		says "${row#*|}"
	done
	pagetoll "${t[@]}"
	exits 129
	says "--trace needs --machine"
	pagetoll predict tlb.chase --machine zen3-epyc --threads compact
	exits 129
	says "--threads needs --trace"
	pagetoll "${t[@]}" --machine zen3-epyc --warm 3 --no-save
	exits 125
	says "no data reference counts (3 were warm)"
}

@test "lines that end as those of DOS do are lines" {
	lackey 3 >"$BATS_TEST_TMPDIR/unix"
	sed 's/$/\r/' "$BATS_TEST_TMPDIR/unix" >"$BATS_TEST_TMPDIR/dos"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/unix" --machine zen3-epyc --no-save --format csv
	exits 0
	local -r unix=$(cut -d, -f 2- <<<"$output")
	pagetoll predict --trace "$BATS_TEST_TMPDIR/dos" --machine zen3-epyc --no-save --format csv
	exits 0
	[[ $(cut -d, -f 2- <<<"$output") == "$unix" ]]
}

@test "nothing but a bad record: its message comes first, without a hint at fetches" {
	echo "hello, world" >"$BATS_TEST_TMPDIR/t"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --trace-format lackey --machine zen3-epyc --no-save
	exits 125
	says "predict: $BATS_TEST_TMPDIR/t: offset 0, line 1: 'hello, world' is no reference"
	says "no data reference counts"
	[[ $stderr != *--instructions* ]]
	printf 'I  1000,4\n' >"$BATS_TEST_TMPDIR/t"
	pagetoll predict --trace "$BATS_TEST_TMPDIR/t" --machine zen3-epyc --no-save
	exits 125
	says "--instructions takes fetches as well"
}
