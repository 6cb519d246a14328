# SPDX-License-Identifier: MIT
# Loaded by every file. PAGETOLL is the program, DENY the launcher that forbids system calls, UNPACK
# the program that makes a folder of an invented machine.

bats_require_minimum_version 1.5.0

setup() {
	: "${PAGETOLL:?set it to the program}"
	export PAGETOLL_DATA="$BATS_TEST_TMPDIR/data"
	export PAGETOLL_RUN="$BATS_TEST_TMPDIR/run"
	unset NO_COLOR XDG_DATA_HOME LC_ALL LC_CTYPE
	export LANG=C
}

# machine NAME: unpacks tests/data/sysroots/NAME.tree and prints the folder.
machine() {
	local tree="$BATS_TEST_TMPDIR/machines/$1"
	mkdir -p "${tree%/*}"
	[[ -d $tree ]] || "$UNPACK" "$BATS_TEST_DIRNAME/../data/sysroots/$1.tree" "$tree" || return 1
	echo "$tree"
}

# The benchmarks that the source lists, as names.
benchmarks() {
	sed -n 's/^[[:space:]]*X(\([a-z]*\)_\([a-z_]*\)).*/\1.\2/p' \
		"$BATS_TEST_DIRNAME/../../src/bench/bench_list.h"
}

machines() {
	local file
	for file in "$BATS_TEST_DIRNAME"/../data/sysroots/*.tree; do basename "$file" .tree; done
}

# `run` with stdout in $output and stderr in $stderr.
pagetoll() {
	run --separate-stderr "$PAGETOLL" "$@"
}

# Shown when a test fails.
show() {
	printf 'status %s\nstdout: %s\nstderr: %s\n' "$status" "$output" "${stderr-}"
}

# A measurement of about a second.
quick=(run --preset quick --invocations 1 --quiet)
small=(tlb.chase pointers=1,8,16)

verbs=(run ab profile predict calibrate list info show plot compare report history import export doctor completion help)

exits() {
	[[ $status -eq $1 ]] || { show; return 1; }
}

# says WORDS: they stand on stderr.
says() {
	[[ $stderr == *"$1"* ]] || { show; return 1; }
}

prints() {
	[[ $output == *"$1"* ]] || { show; return 1; }
}

silent() {
	[[ -z $output ]] || { show; return 1; }
}

is_json() {
	jq -e . <<<"$output" >/dev/null || { show; return 1; }
}

# json FILTER: holds for the output.
json() {
	jq -e "$1" <<<"$output" >/dev/null || { echo "not so: $1"; show; return 1; }
}

# No line of the output is wider than 80 columns.
narrow() {
	local line
	while IFS= read -r line; do
		((${#line} <= 80)) || { echo "${#line} columns: $line"; return 1; }
	done <<<"$output"
}

# Lines of a run file that are JSON objects, all of them.
is_run_file() {
	[[ -s $1 ]] || { echo "no run file $1"; return 1; }
	jq -e 'type == "object"' "$1" >/dev/null || { cat "$1"; return 1; }
}
