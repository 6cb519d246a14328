#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What users see on machines that nobody here has: list, doctor and plan on every recorded or invented machine of
# tests/data/sysroots, against tests/data/golden/machines. PAGETOLL_UPDATE_GOLDEN=1 writes them anew; read the
# difference. The list's benchmarks are left out: they are the same on all machines.

load helpers

golden="$BATS_TEST_DIRNAME/../data/golden/machines"

# see NAME: all that the program says about that machine.
see() {
	local tree words
	tree=$(machine "$1") || return 1
	echo "\$ pagetoll list"
	"$PAGETOLL" list --sysroot "$tree" | sed -n '/^Page sizes/,$p'
	for words in doctor "run --dry-run"; do
		printf '\n$ pagetoll %s\n' "$words"
		# shellcheck disable=SC2086
		"$PAGETOLL" $words --sysroot "$tree" 2>&1
		echo "status $?"
	done
}

@test "every machine looks as it did" {
	mkdir -p "$golden"
	for name in $(machines); do
		see "$name" >"$BATS_TEST_TMPDIR/$name.txt"
		if [[ -n ${PAGETOLL_UPDATE_GOLDEN-} ]]; then
			cp "$BATS_TEST_TMPDIR/$name.txt" "$golden/$name.txt"
		fi
		diff -u "$golden/$name.txt" "$BATS_TEST_TMPDIR/$name.txt"
		! grep -Eq '.{81}' "$golden/$name.txt" || return 1
	done
}

@test "no golden without its machine" {
	for file in "$golden"/*.txt; do
		[[ -e $BATS_TEST_DIRNAME/../data/sysroots/$(basename "$file" .txt).tree ]] || { echo "$file"; return 1; }
	done
}

# words NAME CPU LOCAL REMOTE: what "auto", "local" and "remote" mean there.
words() {
	pagetoll list --format json --sysroot "$(machine "$1")"
	exits 0
	json ".words == {cpu: $2, local: $3, remote: $4}" || { echo "$1"; return 1; }
}

@test "local and remote: another socket, not the other half of one's own, nor memory without CPUs" {
	words sub-numa 1 0 2
	words four-sockets 1 1 3
	words epyc-nps4 1 0 4
	words cxl-movable 1 0 1
	words cpuless-node 5 1 0
	words cxl-one-socket 1 0 1
	words memoryless-node 1 0 2
	words sparse-nodes 2 5 6
	words nodes-36 1 0 1
	words plain 1 0 null
}

@test "movable memory takes data by its id, but no page tables" {
	pagetoll run --dry-run --format json --sysroot "$(machine nodes-36)" tlb.chase pointers=1 \
		data=12 page-tables=0,12
	exits 0
	json '[.settings[] | [.parameters["page-tables"], .skip_reason == null]] == [["0", true], ["12", false]]'
	json '.settings[1].skip_reason | contains("movable")'
	for node in 29 36; do
		pagetoll run --dry-run --sysroot "$(machine nodes-36)" tlb.chase pointers=1 data=$node
		exits 129
	done
	says "nodes here: 0-35"
}

@test "sizes larger than memory are refused with both numbers" {
	tree=$(machine larger-than-memory)
	pagetoll run --dry-run --sysroot "$tree" cache.chase working-set=1g
	exits 125
	says "1 GiB"
	says "320 MiB"
	pagetoll run --dry-run --sysroot "$tree" tlb.chase page=thp pointers=1
	prints "one page is larger than what benchmarks may map"
	pagetoll run --dry-run --format json --sysroot "$tree" cache.chase
	exits 0
	json '[.settings[] | .skip_reason == null] | all'
}
