#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Signals, kills, full disks, forbidden system calls, ordinary users.

load helpers

# Starts a long measurement in the background with signals as in a fresh shell, waits for its first
# measure, and leaves its id in $pid.
start_long() {
	env --default-signal=INT,TERM,HUP "$PAGETOLL" run --quiet "$@" \
		cache.chase working-set=16k,32k,64k,128k,256k,512k,1m,2m,4m,8m \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	for _ in {1..200}; do
		file=("$PAGETOLL_DATA"/runs/*.jsonl)
		if [[ -e ${file[0]} ]] && (($(wc -l <"${file[0]}") >= 2)); then return 0; fi
		sleep 0.05
	done
	cat "$BATS_TEST_TMPDIR/err"
	return 1
}

no_worker_left() {
	for _ in {1..40}; do
		pgrep -f "^[^ ]*pagetoll __worker" >/dev/null || return 0
		sleep 0.05
	done
	pgrep -af pagetoll
	return 1
}

@test "SIGINT: summary on stdout, valid file marked incomplete, ended by the signal" {
	start_long --invocations 50
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 130 ]]
	grep -q cache.chase "$BATS_TEST_TMPDIR/out"
	is_run_file "${file[0]}"
	[[ $(tail -n 1 "${file[0]}" | jq '.. | .complete? // empty' 2>/dev/null) != true ]]
	tail -n 1 "${file[0]}" | grep -q interrupted
	no_worker_left
	pagetoll show last
	exits 0
}

@test "SIGTERM with --format json: one valid document" {
	start_long --invocations 50 --format json
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 143 ]]
	jq -es 'length == 1' "$BATS_TEST_TMPDIR/out" >/dev/null
	is_run_file "${file[0]}"
	no_worker_left
}

@test "kill -9: every finished measure is in the file" {
	start_long --invocations 50
	sleep 0.5
	before=$(wc -l <"${file[0]}")
	kill -KILL "$pid"
	wait "$pid" || true
	((before >= 2))
	# The last line may be torn; all lines before it are whole.
	head -n "$before" "${file[0]}" | jq -e 'type == "object"' >/dev/null
	no_worker_left
	pagetoll show last
	exits 0
	prints cache.chase
}

@test "a full disk under the result: 128" {
	[[ -e /dev/full ]] || skip "no /dev/full"
	run --separate-stderr bash -c '"$1" list >/dev/full' _ "$PAGETOLL"
	exits 128
	says "cannot write"
	run --separate-stderr bash -c '"$1" help run >/dev/full' _ "$PAGETOLL"
	exits 128
	run --separate-stderr bash -c '"$1" --version >/dev/full' _ "$PAGETOLL"
	exits 128
}

@test "a closed stdout: 128, and no file takes its place" {
	run --separate-stderr bash -c '"$1" list >&-' _ "$PAGETOLL"
	exits 128
	run bash -c '"$1" run --preset quick --invocations 1 -q tlb.chase pointers=1 >&-' _ "$PAGETOLL"
	exits 128
	is_run_file "$PAGETOLL_DATA"/runs/*.jsonl
	run bash -c '"$1" list >/dev/null 2>&-' _ "$PAGETOLL"
	exits 0
}

@test "a broken pipe: 128 without noise" {
	run --separate-stderr bash -c '(sleep 0.3; "$1" export altix-2005; echo $? >"$2") | true' \
		_ "$PAGETOLL" "$BATS_TEST_TMPDIR/status"
	[[ $(cat "$BATS_TEST_TMPDIR/status") -eq 128 ]]
	[[ -z $stderr ]]
}

@test "a full disk in mid-run: the result is printed, status 128" {
	[[ $EUID -eq 0 ]] || skip "needs root to mount a small file system"
	unshare --mount true 2>/dev/null || skip "cannot mount here"
	run --separate-stderr unshare --mount bash -c '
		mkdir "$2/small" && mount -t tmpfs -o size=16k tmpfs "$2/small" &&
		exec "$1" run --preset quick --invocations 6 --quiet -o "$2/small/run.jsonl" \
			tlb.chase pointers=1..64' _ "$PAGETOLL" "$BATS_TEST_TMPDIR"
	exits 128
	prints tlb.chase
	says "run.jsonl"
}

@test "forbidden system calls: a measurement or a reason, never a crash" {
	[[ -x ${DENY-} ]] || skip "no launcher"
	for rules in mbind:EPERM mbind:ENOSYS set_mempolicy:EPERM set_mempolicy:ENOSYS \
		move_pages:EPERM move_pages:ENOSYS perf_event_open:EPERM perf_event_open:ENOSYS \
		perf_event_open:EACCES get_mempolicy:EPERM sched_setaffinity:EPERM \
		memfd_create:ENOSYS \
		mbind:EPERM,set_mempolicy:EPERM,get_mempolicy:EPERM,move_pages:EPERM,perf_event_open:EPERM; do
		run --separate-stderr "$DENY" "$rules" -- "$PAGETOLL" "${quick[@]}" "${small[@]}"
		[[ $status -eq 0 || $status -eq 125 ]] || { echo "$rules"; show; return 1; }
		[[ -n $output ]]
		if [[ $status -eq 125 ]]; then says "nothing could be measured"; fi
		run --separate-stderr "$DENY" "$rules" -- "$PAGETOLL" doctor --format json
		exits 0
		is_json
	done
}

@test "the launcher does forbid" {
	[[ -x ${DENY-} ]] || skip "no launcher"
	run "$DENY" getrandom:ENOSYS -- true
	exits 0
	run "$DENY" nonsense:EPERM -- true
	exits 125
	run "$DENY" mbind:ENOTHING -- true
	exits 125
	run "$DENY" madvise:EPERM
	exits 125
}

@test "an ordinary user measures as well" {
	[[ $EUID -eq 0 ]] || skip "this is one already"
	command -v setpriv >/dev/null || skip "no setpriv"
	place=$(mktemp -d /tmp/pagetoll-nobody.XXXXXX)
	cp "$PAGETOLL" "$place/pagetoll"
	mkdir "$place/home"
	chown -R nobody "$place"
	nobody=(setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all
		env -u PAGETOLL_DATA HOME="$place/home")
	run --separate-stderr "${nobody[@]}" "$place/pagetoll" "${quick[@]}" "${small[@]}"
	measured=$status
	saved=$(find "$place/home/.local/share/pagetoll/runs" -name '*.jsonl' | wc -l)
	doctor=$("${nobody[@]}" "$place/pagetoll" doctor --format json | jq '.findings | length')
	rm -rf "$place"
	[[ $measured -eq 0 ]] || { show; return 1; }
	[[ $saved -eq 1 ]]
	((doctor >= 0))
}

@test "no home at all: a warning names what to set" {
	run --separate-stderr env -u HOME -u PAGETOLL_DATA "$PAGETOLL" "${quick[@]}" tlb.chase pointers=1
	exits 0
	says PAGETOLL_DATA
	run --separate-stderr env -u HOME -u PAGETOLL_DATA "$PAGETOLL" show last
	exits 128
	says PAGETOLL_DATA
	run --separate-stderr env -u HOME -u PAGETOLL_DATA "$PAGETOLL" show altix-2005
	exits 0
}
