#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Faults, forks, programs and shared segments from the command line.

load helpers

@test "faults: first accesses differ as their resident sizes do" {
	pagetoll "${quick[@]}" fault.anon size=2m access=read,write,read-write --format json
	exits 0
	json '[.points[] | {key: .setting.access, value: (.estimates[] | select(.metric == "rss_bytes").value)}]
		| from_entries == {"read": 0, "write": 2097152, "read-write": 2097152}'
}

@test "faults: a break-even is a fact, with its reason where there is none" {
	pagetoll "${quick[@]}" fault.anon size=1m access=write used=0,50,100 fill=demand,populate-write --format json
	exits 0
	json '[.facts[] | select(.id == "fault.break_even")] | length == 1 and
		(.[0].value != null or (.[0].reason | test("none")))'
	pagetoll show last
	prints "fault.break_even of=anon"
}

@test "faults: the parts of the time are tables of their own when asked for" {
	pagetoll run --quiet --preset quick fault.anon size=1m access=write
	exits 0
	pagetoll show last --metric map_ns,unmap_ns
	exits 0
	output=${output/"$BATS_TEST_TMPDIR"/} # a path is as long as it is
	narrow
	prints "fault.anon: mmap, with what it fills"
	prints "fault.anon: munmap"
	[[ $output != *"mapping, filling, touching"* ]]
	pagetoll show last --metric nothing_ns
	exits 129
	says "no metric 'nothing_ns'" page_ns unmap_ns
	pagetoll show last --metric map_ns,
	exits 129
	says "an empty name"
	pagetoll show last --metric map_ns --card
	exits 129
}

@test "faults: fills that make no sense are refused" {
	pagetoll "${quick[@]}" fault.anon fill=willneed
	exits 129
	says "fault.file"
	pagetoll "${quick[@]}" fault.anon access=read fill=populate-write
	exits 129
	says "populate-read"
	pagetoll "${quick[@]}" fault.file page=thp
	exits 129
	says "page=base"
}

@test "faults: an ordinary user may not set fault-around, and hears how" {
	[[ $EUID -eq 0 ]] || skip "needs root to become somebody else"
	chmod 711 "$BATS_TEST_TMPDIR"
	mkdir -m 777 "$BATS_TEST_TMPDIR/user"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
		env PAGETOLL_DATA="$BATS_TEST_TMPDIR/user" "$PAGETOLL" "${quick[@]}" fault.file size=1m fault-around=4k
	exits 125
	says "fault-around"
	says "need root"
}

@test "faults: ab names the setting itself" {
	pagetoll ab -A fault-around=4k -B fault-around=64k fault.file
	exits 129
	says "fault-around-bytes=4k"
}

@test "forks: every way to make a child, with the slope over size" {
	pagetoll "${quick[@]}" fork.call resident=1m,4m how=fork,vfork --format json
	exits 0
	json '[.points[].measures[].verdict == "ok"] | length == 4 and all'
	json '[.facts[] | select(.id == "fork.pause_ns_gib")] | length == 2'
}

@test "segments: what geometry predicts stands beside what was measured, at two sizes" {
	"$PAGETOLL" --version | grep -q "sanitizers: none" || skip "shadow memory has page tables of its own"
	pagetoll "${quick[@]}" tables.shared segment=16m,256m processes=1,2 --format json
	exits 0
	json '[.points[] | (.estimates | map({key: .metric, value}) | from_entries)
		| (.table_bytes - .predicted_table_bytes) / .predicted_table_bytes | fabs < 0.05] | length == 4 and all'
	json '[.facts[] | select(.id == "tables.process_bytes") | .note] == ["as geometry predicts", "as geometry predicts"]'
}

@test "segments: more processes than may be started are skipped with the limit's name" {
	[[ $EUID -eq 0 ]] || skip "needs root to become somebody else"
	chmod 711 "$BATS_TEST_TMPDIR"
	mkdir -m 777 "$BATS_TEST_TMPDIR/user"
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups \
		prlimit --nproc=50 env PAGETOLL_DATA="$BATS_TEST_TMPDIR/user" \
		"$PAGETOLL" "${quick[@]}" tables.shared segment=1m processes=100
	exits 125
	says "RLIMIT_NPROC leaves 50"
	says "ulimit -u"
}

@test "programs: prefaulting is measured beside demand; nothing is left in TMPDIR" {
	mkdir "$BATS_TEST_TMPDIR/t"
	TMPDIR="$BATS_TEST_TMPDIR/t" pagetoll "${quick[@]}" exec.storm programs=3 fill=demand,prefault --format json
	exits 0
	json '[.points[].measures[].verdict] | index("ok") != null'
	json '[.points[].estimates[] | select(.metric == "faults") | .value > 10 or .value == null] | all'
	TMPDIR="$BATS_TEST_TMPDIR/t" pagetoll "${quick[@]}" exec.patches patches=1 --format json
	[[ $status -eq 0 || $status -eq 125 ]]
	[[ -z $(ls -A "$BATS_TEST_TMPDIR/t") ]]
}

@test "shared memory without huge pages is told, with the switch" {
	local words state=/sys/kernel/mm/transparent_hugepage/shmem_enabled
	grep -qE '\[(never|deny)\]' "$state" || skip "shared memory may have huge pages here"
	for words in "fault.shm size=2m" "fork.call memory=shared resident=2m" "tables.shared segment=2m processes=1"; do
		pagetoll "${quick[@]}" $words page=thp --format json
		exits 125
		json '[.points[].measures[].verdict] | unique == ["skipped"]'
		says "echo advise > $state"
	done
}
