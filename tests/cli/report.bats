#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# report: what the page has, what it never has, refusals. tests/page opens it in a browser.

load helpers

# The page without its script, style and data: what a reader sees.
body() {
	sed -e 's/<script type="application\/json".*//' -e '/^<script>/,/<\/script>/d' "$1" |
		sed -n '/^<body>/,$p'
}

data() {
	sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>.*/\1/p' "$1"
}

@test "report: a published table as a page" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll report altix-2005 -o page.html
	exits 0
	silent
	body page.html >body
	grep -q "The curve bends a second time at 117 pointers \[110, 119\]" body
	grep -q 'id="chart-0"' body
	grep -q "<h3>How it was measured" body
	data page.html | jq -e '.charts["chart-0"].curves | length == 2 and
		all(.[]; .x[0] == 1 and (.metrics.ref_ns | length) > 20)'
	(($(stat -c %s page.html) < 120000))
}

@test "report: nothing is fetched, and only its own script runs" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll report altix-2005 prefault-profile-2002 migration-cost-2005 -o page.html
	exits 0
	grep -q "Content-Security-Policy\" content=\"default-src &#39;none&#39;; script-src &#39;sha256-" page.html
	! grep -q "unsafe-inline" page.html || return 1
	! body page.html | grep -Eiq "(src|href)=\"?(https?:|//)|style=|<iframe|<img| on[a-z]+=" || return 1
	grep -o "<script[^>]*>" page.html | sort | uniq -c | awk '{ n += $1 } END { exit n != 2 }'
}

@test "report: policy has the hashes of what stands there" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll report altix-2005 -o page.html
	exits 0
	python3 - page.html <<-'END'
		import base64, hashlib, re, sys
		page = open(sys.argv[1], "rb").read()
		policy = re.search(rb'Policy" content="([^"]*)"', page).group(1).replace(b"&#39;", b"'").decode()
		for element, words in (("script", rb"<script>(.*?)</script>"), ("style", rb"<style>(.*?)</style>")):
		    inside = re.search(words, page, re.S).group(1)
		    digest = base64.b64encode(hashlib.sha256(inside).digest()).decode()
		    assert "%s-src 'sha256-%s'" % (element, digest) in policy, element
	END
}

@test "report: matrices, profiles, and runs without facts" {
	cd "$BATS_TEST_TMPDIR"
	for name in migration-cost-2005 prefault-profile-2002 prefault-times-2002 \
		kernel-text-replication-2006 page-table-levels-2005; do
		pagetoll report "$name" -o "$name.html"
		exits 0
		body "$name.html" >body
		grep -q '<section class="bench"' body
		grep -q "<h2>Behind the numbers" body
	done
	body prefault-profile-2002.html | grep -q 'do_wp_page.*1245'
	body prefault-profile-2002.html | grep -q 'class="bar"'
}

@test "report: a run, and two of them with verdicts first" {
	cd "$BATS_TEST_TMPDIR"
	"$PAGETOLL" "${quick[@]}" -o a.jsonl --label first "${small[@]}" >/dev/null
	"$PAGETOLL" "${quick[@]}" -o b.jsonl --label second "${small[@]}" >/dev/null
	pagetoll report a.jsonl -o a.html
	exits 0
	body a.html | grep -q "first"
	pagetoll report ./a.jsonl ./b.jsonl -o both.html
	exits 0
	body both.html >body
	grep -q "A is a.jsonl, B is b.jsonl" body
	[[ $(grep -n "B against A" body | head -1 | cut -d: -f1) -lt \
		$(grep -n 'id="facts"' body | cut -d: -f1) ]]
	data both.html | jq -e '[.charts[].curves[] | select(.overlay | not) | .run] == [0, 1]'
	! body both.html | grep -q "$BATS_TEST_TMPDIR/a.jsonl" || return 1
}

@test "report: stdout by default, and not on a terminal" {
	pagetoll report altix-2005
	exits 0
	[[ $output == "<!DOCTYPE html>"* && $output == *"</html>" ]]
	run script -qec "'$PAGETOLL' report altix-2005" /dev/null
	[[ $status -eq 129 ]]
	prints "give it a file: -o FILE.html"
}

@test "report: refusals" {
	pagetoll report
	exits 129
	says "0 runs; a page has 1 to 16"
	pagetoll report altix-2005 -o ""
	exits 129
	says "the file's name is empty"
	pagetoll report no-such-run -o x.html
	exits 128
	says "no-such-run"
	pagetoll report altix-2005 -o "$BATS_TEST_TMPDIR/no/such/folder/x.html"
	exits 128
	says "no/such/folder/x.html"
	pagetoll report altix-2005 --across boats
	exits 129
	says "machine"
}

@test "report: an old page stays when the new one cannot be written" {
	cd "$BATS_TEST_TMPDIR"
	echo old >page.html
	pagetoll report no-such-run -o page.html
	exits 128
	[[ $(<page.html) == old ]]
}

@test "report: an experiment has its verdicts, and its arms on one chart" {
	cd "$BATS_TEST_TMPDIR"
	"$PAGETOLL" ab --quiet -o ab.jsonl -A page=4k -B page=auto --invocations 2 --preset quick \
		tlb.chase pointers=1,8,16 >/dev/null
	pagetoll report ab.jsonl -o ab.html
	exits 0
	body ab.html | grep -q "A is arm A of ab.jsonl, B is arm B of ab.jsonl"
	data ab.html | jq -e '[.charts[]] | length == 1 and
		([.[0].curves[] | select(.overlay | not) | .label[-5:]] == ["arm A", "arm B"])'
}

@test "report: a link is written through, what others have stays, an old file's mode too" {
	cd "$BATS_TEST_TMPDIR"
	echo old >target
	ln -s target link
	echo mine >page.html.part
	echo old >page.html
	chmod 600 page.html
	pagetoll report altix-2005 -o link
	exits 0
	[[ -L link && $(head -c 15 target) == "<!DOCTYPE html>" ]]
	pagetoll report altix-2005 -o page.html
	exits 0
	[[ $(<page.html.part) == mine && $(stat -c %a page.html) == 600 ]]
	[[ $(head -c 15 page.html) == "<!DOCTYPE html>" ]]
	ln -s /proc/self/fd/1 out
	"$PAGETOLL" report altix-2005 -o out >caught.html
	[[ -L out && $(head -c 15 caught.html) == "<!DOCTYPE html>" ]]
	pagetoll report altix-2005 -o no/x.html
	exits 128
	says "cannot write no/x.html: "
	[[ $(echo ./*.part*) == ./page.html.part ]]
}

@test "report: -o - is stdout, as of export and of plot's script" {
	cd "$BATS_TEST_TMPDIR"
	pagetoll report altix-2005 -o -
	exits 0
	[[ $output == "<!DOCTYPE html>"* ]]
	pagetoll export altix-2005 -o -
	exits 0
	is_json
	pagetoll plot altix-2005 --gnuplot -
	exits 0
	prints "set title"
	[[ ! -e - ]]
}
