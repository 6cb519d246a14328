#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pagetoll profile: the command is left alone, what it took is told, and the kernel's functions where that is permitted.

load helpers

runs() {
	ls "$PAGETOLL_DATA/runs" 2>/dev/null | wc -l
}

# The kernel cannot be sampled here, or does not tell its symbols.
need_symbols() {
	pagetoll profile --no-save --format json -o "$BATS_TEST_TMPDIR/need" -- true
	jq -e '.points[] | select(.bench == "profile.kernel") | .measures[0] |
		.verdict == "ok" and ((.unproven // "") | contains("symbols") | not)' \
		"$BATS_TEST_TMPDIR/need" >/dev/null || skip "no kernel profile here"
}

# hidden LEVEL: a recorded machine whose symbols are hidden, in $hidden.
hidden() {
	hidden=$BATS_TEST_TMPDIR/hidden
	mkdir -p "$hidden/proc/sys/kernel"
	printf '0000000000000000 T _stext\n0000000000000000 T do_page_fault\n' >"$hidden/proc/kallsyms"
	echo "$1" >"$hidden/proc/sys/kernel/kptr_restrict"
}

@test "input, output and exit status are the command's" {
	run --separate-stderr "$PAGETOLL" profile -- sh -c 'echo out; echo err >&2; cat; exit 3' <<<in
	exits 3
	[[ $output == $'out\nin' ]] || { show; return 1; }
	says err
	says "minor faults"
	says "exit status 3"
	[[ $(runs) -eq 1 ]]
	pagetoll profile -- true
	exits 0
	silent
	pagetoll profile true
	exits 0
}

@test "what cannot be executed: 127 and 126, and nothing is kept" {
	run -127 --separate-stderr "$PAGETOLL" profile -- /nonexistent/program
	silent
	says "/nonexistent/program"
	# Of folders that may not be searched an ordinary user hears "Permission denied".
	PATH=/usr/bin:/bin run -127 --separate-stderr "$PAGETOLL" profile -- no-such-program-anywhere
	pagetoll profile -- /
	exits 126
	says "Permission denied"
	run -127 "$PAGETOLL" profile --format json -o "$BATS_TEST_TMPDIR/report" -- /nonexistent/program
	[[ $(runs) -eq 0 ]]
}

@test "a signal that ends the command ends the profile, after its report" {
	for sig in TERM KILL INT SEGV; do
		number=$(kill -l "$sig")
		run --separate-stderr env --default-signal=INT,TERM,HUP "$PAGETOLL" profile --no-save -- \
			bash -c "kill -$sig \$\$"
		exits $((128 + number))
		says "ended by signal $number"
		says "elapsed"
	done
}

@test "a signal for the profile goes to the command" {
	for sig in TERM INT HUP USR1; do
		env --default-signal "$PAGETOLL" profile -- bash -c \
			"trap 'echo got; kill \$!; exit 9' $sig; sleep 20 & echo ready; wait" \
			>"$BATS_TEST_TMPDIR/out.$sig" 2>"$BATS_TEST_TMPDIR/err.$sig" 3>&- &
		pid=$!
		for _ in {1..200}; do
			grep -qs ready "$BATS_TEST_TMPDIR/out.$sig" && break
			sleep 0.05
		done
		kill "-$sig" "$pid"
		status=0
		wait "$pid" || status=$?
		[[ $status -eq 9 ]] || { echo "$sig: $status"; cat "$BATS_TEST_TMPDIR/err.$sig"; return 1; }
		grep -q got "$BATS_TEST_TMPDIR/out.$sig"
		grep -q "exit status 9" "$BATS_TEST_TMPDIR/err.$sig"
	done
	pagetoll show last
	exits 0
}

@test "children that nobody waits for, and a parent that ignores them" {
	run --separate-stderr env --ignore-signal=CHLD "$PAGETOLL" profile --no-save -- sh -c 'exit 4'
	exits 4
	pagetoll profile --no-save -- sh -c 'sleep 1 >/dev/null 2>&1 & exit 6'
	exits 6
	says "1 process was still running"
	# A shell that becomes pagetoll leaves it children that are none of the command's.
	run --separate-stderr bash -c 'sleep 2 >/dev/null 2>&1 3>&- & exec "$1" profile --no-save -- \
		sh -c "exit 7"' _ "$PAGETOLL"
	exits 7
	[[ $stderr != *"still running"* ]] || { show; return 1; }
}

@test "without sampling, whatever the reason: the command runs, the rest is told, the remedy stands there" {
	[[ -x ${DENY-} ]] || skip "no launcher"
	run "$DENY" getrandom:ENOSYS -- true
	[[ $status -eq 0 ]] || skip "no filters here"
	for error in EACCES EPERM ENOENT ENODEV EOPNOTSUPP EMFILE ENOSYS EINVAL; do
		case $error in
		EACCES | EPERM) remedy="--cap-add PERFMON" ;;
		ENOENT | ENODEV | EOPNOTSUPP) remedy="another kernel" ;;
		EMFILE) remedy="ulimit -n" ;;
		ENOSYS) remedy="CONFIG_PERF_EVENTS" ;;
		EINVAL) remedy="--frequency" ;;
		esac
		run --separate-stderr "$DENY" "perf_event_open:$error" -- \
			"$PAGETOLL" profile -- sh -c 'echo out; exit 5'
		exits 5
		[[ $output == out ]] || { show; return 1; }
		says "minor faults"
		output=$stderr narrow
		# The text may be wrapped.
		[[ ${stderr//$'\n'/ } =~ ${remedy// /[[:space:]]+} ]] || { show; return 1; }
		run --separate-stderr "$DENY" "perf_event_open:$error" -- \
			"$PAGETOLL" profile --format json -- sh -c 'exit 5'
		exits 5
		json '.points[] | select(.bench == "profile.command") | .measures[0].verdict == "ok"'
		json '[.. | objects | select(.bench? == "profile.kernel")] | tostring | contains("skipped")'
	done
}

@test "symbols hidden: how much time, the reason and the remedy" {
	need_symbols
	for level in 1 2; do
		hidden "$level"
		pagetoll profile --sysroot "$hidden" --format json -o "$BATS_TEST_TMPDIR/report" \
			--folded "$BATS_TEST_TMPDIR/folded" -- "$FAULT" 16 8
		exits 0
		says "kernel.kptr_restrict=$level"
		jq -e '.points[] | select(.bench == "profile.kernel") | .measures[0] |
			(.unproven | contains("sysctl -w kernel.kptr_restrict=0")) and
			(.series[0].rows | length == 1 and .[0][0] == "total")' \
			"$BATS_TEST_TMPDIR/report"
	done
	pagetoll profile --sysroot "$hidden" -- "$FAULT" 16 8
	exits 0
	says "total"
	says "kernel.kptr_restrict"
	says "minor faults"
}

@test "page faults: clearing pages and the fault are in the top ten" {
	need_symbols
	pagetoll profile --frequency 9973 --format json -o "$BATS_TEST_TMPDIR/report" -- "$FAULT" 32 24
	exits 0
	jq -r '.points[] | select(.bench == "profile.kernel") | .measures[0].series[0].rows[:10][][0]' \
		"$BATS_TEST_TMPDIR/report" >"$BATS_TEST_TMPDIR/top"
	cat "$BATS_TEST_TMPDIR/top"
	grep -qE 'clear_page|clear_(user_)?high|clear_huge|folio_zero|init_pages|memset|memzero' "$BATS_TEST_TMPDIR/top"
	grep -qE 'fault|do_anonymous_page' "$BATS_TEST_TMPDIR/top"
	# One fault a page at most, and most pages one by one.
	faults=$(jq '.points[] | select(.bench == "profile.command") | .estimates[] |
		select(.metric == "minor_faults").value' "$BATS_TEST_TMPDIR/report")
	pages=$((32 * 24 * 1048576 / $(getconf PAGESIZE)))
	((${faults%.*} >= pages / 16 && ${faults%.*} <= 2 * pages + 1000))
}

@test "the published columns: address, symbol, ticks, load, and the total" {
	need_symbols
	pagetoll profile --top 3 --callers -- "$FAULT" 32 8
	exits 0
	silent
	says "address  symbol"
	grep -qE '^ +[0-9a-f]{16}  [^ ]+ +[0-9]+ +[0-9.]+$' <<<"$stderr"
	grep -qE '^ +0{16}  total +[0-9]+ +[0-9.]+$' <<<"$stderr"
	says " < "
	[[ $(grep -cE '^ +[0-9a-f]{16}  ' <<<"$stderr") -le 8 ]]
	output=$stderr
	narrow
}

@test "folded stacks: the command, then calls, then ticks" {
	need_symbols
	pagetoll profile --folded - -- "$FAULT" 32 8
	exits 0
	[[ -n $output ]]
	while IFS= read -r line; do
		[[ $line =~ ^fault(\;[^\;]+)+\ [0-9]+$ ]] || { echo "not folded: $line"; return 1; }
	done <<<"$output"
	grep -q ';.*fault' <<<"$output"
}

@test "repeated: one invocation each, kept in the library, comparable" {
	pagetoll profile --repeat 3 --label before -- "$FAULT" 4 2
	exits 0
	says "3 executions"
	pagetoll profile --repeat 3 --label after -- "$FAULT" 8 2
	exits 0
	pagetoll show before --format json
	json '.complete and ([.points[].measures | length] | all(. == 3))'
	pagetoll compare before after --format json
	exits 0
	json '[.points[] | select(.metric == "minor_faults")] | length == 1 and (.[0].b > .[0].a)'
	pagetoll profile --repeat 5 --label stopped -- sh -c 'exit 2'
	exits 2
	pagetoll show stopped --format json
	json '.complete == false and ([.points[].measures | length] | all(. == 1))'
}

@test "files: the report, what cannot be written, what is not saved" {
	pagetoll profile --no-save --format csv -o "$BATS_TEST_TMPDIR/report" -- echo hello
	exits 0
	[[ $output == hello ]]
	head -n 1 "$BATS_TEST_TMPDIR/report" | grep -q ^run,bench
	grep -q ,minor_faults, "$BATS_TEST_TMPDIR/report"
	[[ $(runs) -eq 0 ]]
	for option in --output --folded; do
		pagetoll profile "$option" /nonexistent/file -- touch "$BATS_TEST_TMPDIR/ran"
		exits 128
		says /nonexistent/file
		[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	done
	PAGETOLL_DATA=/proc/nowhere pagetoll profile -- sh -c 'exit 3'
	exits 3
	says "not saved"
}

@test "usage errors: 129, and the command does not run" {
	for words in "" "--" "--top 0 -- touch X" "--repeat 0 -- touch X" "--repeat 1001 -- touch X" \
		"--frequency 0 -- touch X" "--frequency 1e3 -- touch X" "--event cycles -- touch X" \
		"--format html -- touch X" "--no-such -- touch X" "--label last -- touch X"; do
		# shellcheck disable=SC2086
		pagetoll profile ${words//X/$BATS_TEST_TMPDIR/ran}
		exits 129
		[[ ! -e $BATS_TEST_TMPDIR/ran ]]
	done
}

@test "the method of comparing profiles is printed whole" {
	pagetoll compare prefault-profile-2002 --by fill=demand,prefault
	exits 0
	! grep -qE "^[│|].*cut here" <<<"$output" || return 1
}

@test "all processes have at least what the largest had, also where looks are rare" {
	pagetoll profile --format json -- sh -c 'exit 0'
	exits 0
	jq -e '[.. | objects | select(.metric? == "resident_bytes" or .metric? == "largest_bytes") |
		{key: .metric, value: (.value // 0)}] | from_entries |
		.resident_bytes == 0 or .resident_bytes >= .largest_bytes' <<<"$stderr$output"
}
