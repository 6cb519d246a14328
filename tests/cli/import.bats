#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# import and export: run files, published tables, figures of merit; values survive the way.

load helpers

table() {
	cat >"$BATS_TEST_TMPDIR/t.csv"
}

# imports NAME [OPTION...]: the table with its usual mapping.
imports() {
	local name=$1
	shift
	pagetoll import "$BATS_TEST_TMPDIR/t.csv" --name "$name" --bench some.bench --inner n \
		--metric v=v_ns:ns:lower --source "nobody, nowhere" "$@"
}

@test "import: run files, again and again" {
	pagetoll "${quick[@]}" "${small[@]}"
	exits 0
	file=$(echo "$PAGETOLL_DATA"/runs/*.jsonl)
	cp "$file" "$BATS_TEST_TMPDIR/taken.pagetoll.jsonl"
	export PAGETOLL_DATA="$BATS_TEST_TMPDIR/other"
	pagetoll import "$BATS_TEST_TMPDIR/taken.pagetoll.jsonl"
	exits 0
	prints "imported, 3 measures"
	cmp "$BATS_TEST_TMPDIR/taken.pagetoll.jsonl" "$PAGETOLL_DATA/runs/${file##*/}"
	pagetoll import "$BATS_TEST_TMPDIR/taken.pagetoll.jsonl"
	exits 0
	prints "already there"
	pagetoll import "$PAGETOLL_DATA/runs/${file##*/}" --format json
	exits 0
	json '.imported[0].outcome == "already-there" and .imported[0].measures == 3'
	pagetoll show last
	exits 0
	[[ $(ls "$PAGETOLL_DATA/runs") == "${file##*/}" ]]
}

@test "import: a longer file of the same run extends it, another run of its id does not" {
	pagetoll "${quick[@]}" "${small[@]}"
	file=$(echo "$PAGETOLL_DATA"/runs/*.jsonl)
	head -n 2 "$file" >"$BATS_TEST_TMPDIR/short.jsonl"
	sed 's/"measured here"/"measured there"/' "$file" >"$BATS_TEST_TMPDIR/other.jsonl"
	cp "$file" "$BATS_TEST_TMPDIR/long.jsonl"
	export PAGETOLL_DATA="$BATS_TEST_TMPDIR/other"
	pagetoll import "$BATS_TEST_TMPDIR/short.jsonl" "$BATS_TEST_TMPDIR/long.jsonl"
	exits 0
	prints "imported, 1 measure"
	prints "extended, 3 measures"
	pagetoll import "$BATS_TEST_TMPDIR/short.jsonl"
	exits 0
	prints "already there"
	pagetoll import "$BATS_TEST_TMPDIR/other.jsonl"
	exits 128
	says "another run"
	cmp "$BATS_TEST_TMPDIR/long.jsonl" "$PAGETOLL_DATA/runs/${file##*/}"
}

@test "import: lines that cannot be read are kept and told" {
	pagetoll "${quick[@]}" "${small[@]}"
	file=$(echo "$PAGETOLL_DATA"/runs/*.jsonl)
	sed '2s/.*/{"type":"measure"/' "$file" >"$BATS_TEST_TMPDIR/bad.jsonl"
	export PAGETOLL_DATA="$BATS_TEST_TMPDIR/other"
	pagetoll import "$BATS_TEST_TMPDIR/bad.jsonl"
	exits 0
	says "1 line cannot be read"
	prints "imported, 2 measures"
	cmp "$BATS_TEST_TMPDIR/bad.jsonl" "$PAGETOLL_DATA/runs/${file##*/}"
}

@test "import: what is no run file" {
	echo nonsense >"$BATS_TEST_TMPDIR/x.jsonl"
	: >"$BATS_TEST_TMPDIR/empty.jsonl"
	for file in x.jsonl empty.jsonl absent.jsonl .; do
		pagetoll import "$BATS_TEST_TMPDIR/$file"
		exits 128
		silent
		says "$BATS_TEST_TMPDIR/$file"
	done
	[[ ! -e $PAGETOLL_DATA/runs ]] || [[ -z $(ls "$PAGETOLL_DATA/runs") ]]
	jq -c 'if .type == "header" then .id = "last" else . end' \
		"$BATS_TEST_DIRNAME/../../published/altix-2005.pagetoll.jsonl" >"$BATS_TEST_TMPDIR/x.jsonl"
	pagetoll import "$BATS_TEST_TMPDIR/x.jsonl"
	exits 128
	says "cannot be called 'last'"
	jq -c 'if .type == "header" then .source = "me" else . end' \
		"$BATS_TEST_DIRNAME/../../published/altix-2005.pagetoll.jsonl" >"$BATS_TEST_TMPDIR/x.jsonl"
	pagetoll import "$BATS_TEST_TMPDIR/x.jsonl"
	exits 128
	says "comes with pagetoll"
	pagetoll import "$BATS_TEST_DIRNAME/../../published/altix-2005.pagetoll.jsonl"
	exits 0
	prints "already there"
}

@test "import: the published Altix table, from its csv, gives the same facts" {
	pagetoll import "$BATS_TEST_DIRNAME/../data/altix-page-table-placement.csv" --name mine \
		--bench tlb.chase --inner pointers --setting page=16k --setting stride=32m+128 \
		--metric page_tables_local_ns=ref_ns:ns:lower,page-tables=local \
		--metric page_tables_remote_ns=ref_ns:ns:lower,page-tables=remote \
		--source "J. Steiner" --machine "an Altix"
	exits 0
	prints "mine: imported, 54 measures"
	facts='[.facts[] | [.id, .where, .value]]'
	theirs=$("$PAGETOLL" export altix-2005 --facts | jq -c "$facts")
	[[ $("$PAGETOLL" export mine --facts | jq -c "$facts") == "$theirs" ]]
	values='[.points[] | [.setting.pointers, .setting["page-tables"], .estimates[0].value]] | sort'
	theirs=$("$PAGETOLL" export altix-2005 | jq -c "$values")
	[[ $("$PAGETOLL" export mine | jq -c "$values") == "$theirs" ]]
	pagetoll history --format json
	json '.runs[0] | .id == "mine" and .machine == "an Altix" and .origin == "published"'
}

@test "import, export: numbers survive JSON and CSV" {
	table <<-'END'
		n,v
		1,1.23456e-7
		2,0.3
		3,5e11
		9007199254740993,9007199254740992
	END
	imports numbers
	exits 0
	pagetoll export numbers
	exits 0
	# As Python reads them: jq's integers end at 2^53.
	python3 - "$output" <<-'END'
		import json, sys
		points = json.loads(sys.argv[1])["points"]
		got = {p["setting"]["n"]: p["measures"][0]["series"][0]["values"][0] for p in points}
		assert got == {1: 1.23456e-7, 2: 0.3, 3: 5e11, 2**53 + 1: 2.0**53}, got
	END
	"$PAGETOLL" export numbers --format csv >"$BATS_TEST_TMPDIR/t.csv"
	# What export writes can be imported again.
	pagetoll import "$BATS_TEST_TMPDIR/t.csv" --name again --bench some.bench --inner n \
		--metric value=v_ns:ns:lower --source "the same"
	exits 0
	cut='[.points[] | [.setting.n, .estimates[0].value]]'
	first=$("$PAGETOLL" export numbers | jq -c "$cut")
	[[ $("$PAGETOLL" export again | jq -c "$cut") == "$first" ]]
	grep -q '9007199254740993,' "$BATS_TEST_TMPDIR/t.csv"
	"$PAGETOLL" export again --format csv | grep -q ',9007199254740993,'
	for value in 1.23456e-07 0.3 500000000000 9007199254740992; do
		"$PAGETOLL" export again --format csv | grep -q ",$value," || { echo "$value"; return 1; }
	done
}

@test "import, export: integers beyond 2^53 stay exact" {
	printf 'n,v\n1,9007199254740993\n2,7\n' | table
	imports exact
	exits 0
	"$PAGETOLL" export exact --format csv | grep -q ',exact,0,9007199254740993,'
	python3 - "$("$PAGETOLL" export exact)" <<-'END'
		import json, sys
		points = json.loads(sys.argv[1])["points"]
		assert points[0]["measures"][0]["series"][0]["values"] == [2**53 + 1]
	END
}

@test "import, export, compare: 2^53 + 1 beside reals, end to end" {
	printf 'n,v\n1,1.23456e-7\n2,0.3\n3,5e11\n4,9007199254740993\n' | table
	imports one
	exits 0
	printf 'n,v\n1,1.23456e-7\n2,0.3\n3,5e11\n4,9007199254740992\n' | table
	imports two
	exits 0
	python3 - "$("$PAGETOLL" export one)" <<-'END'
		import json, sys
		points = json.loads(sys.argv[1])["points"]
		for key in "value", "min", "q25", "q75":
		    got = [p["estimates"][0][key] for p in points]
		    assert got == [1.23456e-7, 0.3, 5e11, 2**53 + 1], (key, got)
	END
	"$PAGETOLL" export one --format fom | grep -q '/n=4 v_ns 9007199254740993 - - ns 1$'
	"$PAGETOLL" export one --format fom | grep -q '/n=1 v_ns 1.23456e-07 - - ns 1$'
	python3 - "$("$PAGETOLL" compare --format json one two)" <<-'END'
		import json, sys
		points = json.loads(sys.argv[1])["points"]
		got = [(p["a"], p["b"], p["percent"]) for p in points]
		assert got[:3] == [(v, v, 0) for v in (1.23456e-7, 0.3, 5e11)], got
		assert got[3][:2] == (2**53 + 1, 2**53), got
		assert -1.2e-14 < got[3][2] < -1.1e-14, got
	END
}

@test "import: rows that repeat parameters are told" {
	printf 'n,v\n1,2\n1,3\n2,4\n' | table
	imports twice
	exits 0
	says "1 value is at parameters that stand in an earlier row"
}

@test "import: under a locale with decimal commas" {
	printf 'n,v\n1,0.25\n' | table
	LC_ALL=de_DE.UTF-8 imports comma
	exits 0
	LC_ALL=de_DE.UTF-8 pagetoll export comma --format csv
	prints ",0.25,"
}

@test "import: a table with mistakes is refused whole, each with line and column" {
	table <<-'END'
		# a comment
		n,v
		1,2
		x,3
		2,"1,5"
		3
		4,5
	END
	imports bad
	exits 128
	silent
	says "t.csv:4: column 1 'n': 'x'"
	says "t.csv:5: column 2 'v': '1,5'"
	says "t.csv:6: 1 fields"
	says "nothing was imported"
	[[ $(grep -c 't\.csv:' <<<"$stderr") -eq 3 ]]
	pagetoll show bad
	exits 128
	imports bad --format json
	exits 128
	is_json
	json '.error.message | contains("t.csv:4") and contains("t.csv:6")'
}

@test "import: the same table again, and another of its name" {
	printf 'n,v\n1,2\n' | table
	imports twice
	exits 0
	imports twice
	exits 0
	prints "already there"
	printf 'n,v\n1,3\n' | table
	imports twice
	exits 128
	says "another run 'twice'"
	"$PAGETOLL" export twice --format csv | grep -q ',2,$'
}

@test "import: mappings that are refused" {
	printf 'n,v\n1,2\n' | table
	file=$BATS_TEST_TMPDIR/t.csv
	for words in "" "--bench b" "--bench b --name x" "--bench b --name x --source s" \
		"--bench b/c --name x --source s --metric v=v:ns" \
		"--bench b --name .x --source s --metric v=v:ns" \
		"--bench b --name x --source s --metric v" \
		"--bench b --name x --source s --metric v=v" \
		"--bench b --name x --source s --metric v=v:" \
		"--bench b --name x --source s --metric =v:ns" \
		"--bench b --name x --source s --metric v=v:ns:best" \
		"--bench b --name x --source s --metric v=v:ns:lower,page" \
		"--bench b --name x --source s --metric v=v:ns --setting page" \
		"--bench b --name x --source s --metric v=v:ns --setting page=" \
		"--bench b --name x --source s --metric v=v:ns --revision -1" \
		"--bench b --name x --source s --metric v=v:ns --format csv" \
		"--bench b --name x --source= --metric v=v:ns" \
		"--bench b --name 01hzz0000000000000000000aa --source s --metric v=v:ns"; do
		read -ra list <<<"$words"
		pagetoll import "$file" "${list[@]}"
		exits 129 || { echo "$words"; return 1; }
		silent
	done
	pagetoll import
	exits 129
	pagetoll import "$file" "$file" --bench b --name x --source s --metric v=v:ns
	exits 129
	pagetoll import x.jsonl --bench b
	exits 129
	says "FILE.csv"
	imports x --column-setting nothing
	exits 128
	says "there is no column 'nothing'; there are 'n', 'v'"
	imports altix-2005
	exits 128
	says "comes with pagetoll"
	imports last
	exits 128
	[[ ! -e $PAGETOLL_DATA/runs ]] || [[ -z $(ls "$PAGETOLL_DATA/runs") ]]
}

@test "published: every run that comes with pagetoll can be shown and exported" {
	for file in "$BATS_TEST_DIRNAME"/../../published/*.pagetoll.jsonl; do
		name=$(basename "$file" .pagetoll.jsonl)
		pagetoll show "$name"
		exits 0
		prints "origin       published"
		[[ $output != *" cut here"* ]] || { show; return 1; }
		narrow
		pagetoll export "$name" --format csv
		exits 0
		pagetoll export "$name" --format fom
		exits 0
		[[ ${lines[-1]} == "PAGETOLL-RESULT: PASS" ]] || { show; return 1; }
	done
	pagetoll show page-table-levels-2005
	prints "320.4"
	prints "522.8"
	pagetoll show prefault-profile-2002
	prints "c012ff54  do_wp_page            1245  1.9095"
}

@test "export: figures of merit" {
	pagetoll "${quick[@]}" "${small[@]}"
	exits 0
	pagetoll export last --format fom
	exits 0
	[[ -z $stderr ]]
	for n in 1 8 16; do
		grep -qE "^FOM tlb\.chase/pointers=$n/stride=[^ ]+/load=none ref_ns [0-9.]+ - - ns 1$" \
			<<<"$output" || { show; return 1; }
	done
	# Eight fields a line and nothing else.
	grep -vE '^FOM( [^ ]+){7}$' <<<"$output" | grep -vx 'PAGETOLL-RESULT: PASS' && { show; return 1; }
	pagetoll export altix-2005 --format fom
	prints "FOM tlb.chase/pointers=900/stride=32m+128/page=16k/page-tables=remote ref_ns 747.635 - - ns 1"
	prints "FOM facts/page-tables=local/level=1 curve.knee 3"
	pagetoll export migration-cost-2005 --format fom
	prints "FOM migration.cost/machine=Xeon%203.0%20GHz/cache=8388608/pattern=six-region/backing=paged cost_ns 6230000 - - ns 1"
	pagetoll export altix-2005 --format fom --facts
	exits 129
}

@test "export: figures of merit of a run that is incomplete, and of one that could not be" {
	pagetoll "${quick[@]}" "${small[@]}"
	file=$(echo "$PAGETOLL_DATA"/runs/*.jsonl)
	sed -i '$d' "$file"
	pagetoll export last --format fom
	exits 0
	[[ ${lines[-1]} == "PAGETOLL-RESULT: FAIL" ]] || { show; return 1; }
	jq -c 'if .type == "measure" then .verdict = "skipped" | .reason = "cannot" | .series = []
		else . end' "$file" >"$BATS_TEST_TMPDIR/skipped.jsonl"
	echo '{"type":"footer","complete":true}' >>"$BATS_TEST_TMPDIR/skipped.jsonl"
	pagetoll export "$BATS_TEST_TMPDIR/skipped.jsonl" --format fom
	exits 0
	prints " ref_ns - - - ns 0"
	[[ ${lines[-1]} == "PAGETOLL-RESULT: SKIP" ]] || { show; return 1; }
}
