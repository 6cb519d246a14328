#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every command that a manual page or a benchmark's description shows is run:
#   run, ab          with --dry-run: the plan must be possible, or not measurable here (125)
#   profile          with a job that does nothing
#   all others       as they stand, on a library of three small runs
# Each page begins with the library as it was.

load helpers

setup_file() {
	export LIBRARY="$BATS_FILE_TMPDIR/library" EXAMPLES="$BATS_FILE_TMPDIR/examples"
	local page make="$BATS_TEST_DIRNAME/../../tools/make-manual"
	local docs="$BATS_TEST_DIRNAME/../../docs/man"
	export PAGETOLL_DATA=$LIBRARY PAGETOLL_RUN="$BATS_FILE_TMPDIR/run"
	mkdir -p "$EXAMPLES"
	for page in $("$PAGETOLL" __manual); do
		python3 "$make" --source "$PAGETOLL" "$docs" "$page" | commands >"$EXAMPLES/$page"
	done
	for label in old good baseline-of-all; do
		"$PAGETOLL" run --preset quick --invocations 1 --quiet --label "$label" tlb.chase \
			page=4k,thp pointers=1,8,16 >/dev/null 2>&1 || [[ $? -eq 125 ]]
	done
	"$PAGETOLL" run --preset quick --invocations 1 --quiet tlb.chase page=4k,thp pointers=1,8,16 \
		>/dev/null
	"$PAGETOLL" history --baseline baseline-of-all >/dev/null
}

# The commands in the literal blocks of a page's source, a line each, without what explains them.
commands() {
	awk '/^```/ { inside = !inside; next }
		inside {
			line = line $0
			if (sub(/\\$/, "", line))
				next
			sub(/^ *(sudo )?/, "", line)
			sub(/   +[(#].*$/, "", line)
			sub(/ +then, after the change:$/, "", line)
			if (line ~ /^pagetoll /)
				print line
			line = ""
		}'
}

# run_example COMMAND: by the ways above.
run_example() {
	local words way=()
	eval "words=(${1#pagetoll })"
	case ${words[0]} in
	run | ab) way=(--dry-run) ;;
	profile) [[ $1 == *" -- "* ]] && eval "words=(${1%% -- *} -- ./job)" && words=("${words[@]:1}") ;;
	esac
	run --separate-stderr "$PAGETOLL" "${words[0]}" "${way[@]}" "${words[@]:1}"
	[[ $status -eq 0 || ($status -eq 125 && -n $stderr) ]] || { echo "$1"; show; return 1; }
}

run_page() {
	cp -a "$LIBRARY" "$BATS_TEST_TMPDIR/data"
	cd "$BATS_TEST_TMPDIR"
	printf '#!/bin/sh\n' >job
	chmod +x job
	printf ' L 1000,8\n S 2000,8\n' >prog.lk
	printf 'pointers,local,remote\n1,3.5,3.6\n64,11,12\n' >chase.csv
	local line n=0
	while IFS= read -r line; do
		run_example "$line"
		n=$((n + 1))
	done <"$EXAMPLES/$1"
	((n >= $2))
}

@test "manual: the source of every page has commands where it should, of the verb that it is of" {
	((${#verbs[@]} == $(ls "$EXAMPLES" | wc -l) - 2))
	for verb in "${verbs[@]}"; do
		[[ $verb == help ]] && continue
		grep -q "^pagetoll $verb" "$EXAMPLES/pagetoll-$verb.1" ||
			{ echo "pagetoll-$verb(1) has no example"; return 1; }
	done
}

@test "manual: the examples of the verbs" {
	for page in "$EXAMPLES"/*.1; do
		rm -rf "$BATS_TEST_TMPDIR/data"
		run_page "${page##*/}" 0
	done
}

@test "manual: the examples of the benchmarks, which info prints, too" {
	run_page pagetoll-benchmarks.7 40
	local bench example
	for bench in $(benchmarks); do
		while IFS= read -r example; do
			example=$(sed 's/^sudo //; s/ *#.*$//' <<<"$example")
			grep -qxF "$example" "$EXAMPLES/pagetoll-benchmarks.7" ||
				{ echo "not run: $example"; return 1; }
		done < <("$PAGETOLL" info "$bench" --format json | jq -r '.examples[]')
	done
}

@test "manual: pages that there are not" {
	for words in pagetoll-nothing pagetoll- run "" "pagetoll pagetoll"; do
		# shellcheck disable=SC2086
		pagetoll __manual $words extra
		exits 129
		silent
		says "no manual page"
	done
	pagetoll __manual ""
	exits 129
	pagetoll __manul
	exits 129
	says "unknown verb"
	[[ $stderr != *__manual* ]]
}

@test "manual: the script that makes pages says what is wrong" {
	local make="$BATS_TEST_DIRNAME/../../tools/make-manual"
	run python3 "$make"
	exits 2
	run python3 "$make" --source "$PAGETOLL" "$BATS_TEST_DIRNAME/../../docs/man" pagetoll-no.1
	((status != 0))
	run python3 "$make" --source /no/such/program "$BATS_TEST_DIRNAME/../../docs/man" pagetoll.1
	((status != 0))
}
