#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# plot: charts in the terminal, scripts and pictures by gnuplot.

load helpers

# A gnuplot that fails, in front of the real one.
broken_gnuplot() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\necho "the sky is falling" >&2\nexit 3\n' >"$BATS_TEST_TMPDIR/bin/gnuplot"
	chmod +x "$BATS_TEST_TMPDIR/bin/gnuplot"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

@test "plot: text, ASCII and braille, 80 columns" {
	pagetoll plot altix-2005
	exits 0
	narrow
	prints "o page-tables=local"
	prints "x page-tables=remote"
	prints "pointers (both axes logarithmic)"
	prints "bends at 32 pointers, 128 pointers"
	! grep -q $'[\x80-\xff]' <<<"$output" || return 1
	LC_ALL=C.UTF-8 pagetoll plot altix-2005
	prints "⣀"
	prints "┤"
}

@test "plot: every published run is drawn, or the reason is said" {
	for run in "$BATS_TEST_DIRNAME"/../../published/*.jsonl; do
		pagetoll plot "$run"
		if [[ $run == *prefault-profile* ]]; then
			exits 125
			silent
			says "a table"
		else
			exits 0
			narrow
			[[ -n $output ]]
		fi
	done
}

@test "plot: runs share a chart, rows without an inner parameter are bars" {
	pagetoll plot altix-2005 altix-2005
	exits 0
	prints "altix-2005 page-tables=remote"
	narrow
	pagetoll plot prefault-times-2002 --metric elapsed_ns
	exits 0
	prints "script=poppatch fill=demand"
	prints "12.5"
	prints "in s, from 0"
	pagetoll plot altix-2005 prefault-times-2002 --bench exec.patches
	exits 0
	[[ $output != *tlb.chase* ]]
}

@test "plot: refusals" {
	pagetoll plot
	exits 129
	says "RUN is missing"
	pagetoll plot altix-2005 -o x.jpg
	exits 129
	says ".svg, .png or .pdf"
	pagetoll plot altix-2005 -o ""
	exits 129
	pagetoll plot altix-2005 --bench tlb.chsae
	exits 129
	says "there are tlb.chase"
	pagetoll plot altix-2005 --metric ref_cycle
	exits 129
	says "there are ref_ns"
	pagetoll plot altix-2005 no-such-run
	exits 128
	says "no-such-run"
	silent
	pagetoll plot altix-2005 --gnuplot /no/such/folder/x.gp
	exits 128
	says "/no/such/folder/x.gp"
}

@test "plot: a script without gnuplot" {
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR" "$PAGETOLL" plot altix-2005 --gnuplot x.gp
	exits 0
	silent
	grep -q '^80 11.3' x.gp
	grep -q "^set xlabel 'pointers'" x.gp
	grep -q '^set logscale y$' x.gp
	[[ ! -e x.gp.part ]]
}

@test "plot: without gnuplot 125 and the package, with a broken one its words; an old file stays" {
	cd "$BATS_TEST_TMPDIR"
	echo old >x.svg
	run --separate-stderr env PATH=/no/such/folder "$PAGETOLL" plot altix-2005 -o x.svg
	exits 125
	silent
	says "gnuplot-nox"
	says "--gnuplot FILE"
	[[ $(<x.svg) == old && ! -e x.svg.part ]]
	broken_gnuplot
	pagetoll plot altix-2005 -o x.svg
	exits 128
	says "the sky is falling"
	[[ $(<x.svg) == old && ! -e x.svg.part ]]
}

@test "plot: pictures" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_TEST_TMPDIR"
	for file in x.svg x.png x.pdf "|touch broken.svg"; do
		pagetoll plot altix-2005 prefault-times-2002 -o "$file"
		exits 0
		silent
		[[ -s $file ]]
	done
	[[ ! -e broken.svg ]]
	grep -q 'page-tables=remote' x.svg
	grep -q '128 pointers' x.svg
	[[ $(head -c 4 x.png | tail -c 3) == PNG ]]
	[[ $(head -c 4 x.pdf) == %PDF ]]
	[[ $(ls *.part 2>/dev/null) == "" ]]
}

@test "plot: foreign labels stay text in a script and a picture" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	cd "$BATS_TEST_TMPDIR"
	bad="it's \`touch hit1\` \$(touch hit2) \\\\n x_{1} %d \"q\" <b> @x"
	jq -c --arg bad "$bad" 'if .setting.script? == "poppatch" then .setting.script = $bad else . end' "$BATS_TEST_DIRNAME/../../published/prefault-times-2002.pagetoll.jsonl" \
		>evil.jsonl
	grep -q hit1 evil.jsonl
	pagetoll plot evil.jsonl -o x.svg --gnuplot x.gp
	exits 0
	grep -q "it''s" x.gp
	grep -q "touch hit1" x.svg
	grep -q 'x_{1}' x.svg
	[[ ! -e hit1 && ! -e hit2 ]]
	pagetoll plot evil.jsonl
	exits 0
	narrow
}
