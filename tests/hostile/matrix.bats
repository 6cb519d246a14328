#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every benchmark in every hostile environment: it measures, or it says why not; never a crash, a hang, or anything
# left behind. The benchmarks and their smallest settings come from `pagetoll list`, so new ones need no listing here.
# What cannot be had on this machine (cgroups, mounts, another user) is skipped with the reason.

load ../cli/helpers

seconds=100 # for a run, far more than any needs
all_or_reason="ok skipped invalid failed"
no_failure="ok skipped invalid"

# Leaks are looked for by other tests; without processes they cannot be. A fault has to end the process as anywhere.
if [[ -n ${SANITIZED-} ]]; then export ASAN_OPTIONS=detect_leaks=0:handle_sigbus=0; fi

setup_file() {
	"$PAGETOLL" list --format json |
		jq -r '.benchmarks[] | [.name, .runs_here, .smoke] | @tsv' >"$BATS_FILE_TMPDIR/benchmarks"
}

# Whatever ends a test, its control group and its folder for others go.
teardown() {
	if [[ -n ${group-} ]]; then rmdir "$group" 2>/dev/null || true; fi
	if [[ ${place-} == *pagetoll-matrix* ]]; then rm -rf "$place"; fi
}

# What an experiment may change and has to put back.
settings() {
	grep -H . /sys/kernel/mm/transparent_hugepage/{enabled,defrag,use_zero_page} \
		/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled \
		/sys/kernel/mm/hugepages/*/nr_hugepages /sys/kernel/mm/ksm/run \
		/proc/sys/kernel/numa_balancing /proc/sys/vm/overcommit_memory 2>/dev/null || true
}

# one DIR LAUNCHER... @ WORD...: runs these targets in a folder, which gets out, err, status, run.jsonl.
one() {
	local dir=$1 launcher=()
	shift
	while [[ $1 != @ ]]; do launcher+=("$1"); shift; done
	shift
	mkdir -p "$dir/tmp"
	TMPDIR=$dir/tmp PAGETOLL_DATA=$dir/data PAGETOLL_RUN=$dir/state "$ALONE" "$seconds" -- "${launcher[@]}" \
		"${program:-$PAGETOLL}" run --preset quick --invocations 1 --quiet --format json \
		-o "$dir/run.jsonl" "$@" >"$dir/out" 2>"$dir/err" 3>&- || echo $? >"$dir/status"
	[[ -e $dir/status ]] || echo 0 >"$dir/status"
}

complain() {
	printf '%s: %s\n' "$1" "$2"
	printf 'status %s\n' "$(cat "$1/status")"
	tail -n 5 "$1/err"
	[[ ! -e $1/run.jsonl ]] ||
		jq -c 'select(.type == "measure") | [.bench, .setting, .verdict, .reason]' "$1/run.jsonl"
	return 1
}

# What is wrong with a run file: it holds other verdicts than these, a reason or the end is missing, the status belies
# it, or ($positive) the time that a benchmark is about is not positive; differences of times may be so by chance.
wrong='
	([.[] | select(.type == "measure")]) as $measures
	| (.[0].benches | map({key: .name, value: .metrics}) | from_entries) as $metrics
	| [($measures[] | select(.verdict as $v | $verdicts | split(" ") | index($v) | not) | "\(.bench): \(.verdict)"),
	($measures[] | select(.verdict != "ok" and ((.reason // "") | length == 0)) | "\(.bench): no reason"),
	(if (.[-1].type == "footer") then empty else "no end" end),
	(if any($measures[]; .verdict == "ok") == ($status == "0") then empty else "status \($status) belies it" end),
	($measures[] | select(.verdict == "ok") | .bench as $b | .series[] | .metric as $m
		| select($positive == "yes" and .form == "samples" and $m == $metrics[$b][0].name and $metrics[$b][0].unit == "ns")
		| (.values // [] | map(select(type == "number")) | sort) as $v | select($v | length > 0)
		| select((if $metrics[$b][0].estimator == "min" then $v[0] else $v[($v | length) / 2 | floor] end) <= 0)
		| "\($b): \($m) is not positive")]
	| unique | .[]'

# judge DIR VERDICTS: exit code, result, run file and traces agree, and no other verdict occurs ("ok skipped").
judge() {
	local dir=$1 status found
	status=$(<"$dir/status")
	case $status in
	0 | 125) ;;
	97) complain "$dir" "leaves something in /dev/shm"; return 1 ;;
	98) complain "$dir" "hangs"; return 1 ;;
	99) complain "$dir" "leaves processes behind"; return 1 ;;
	*) complain "$dir" "exit status $status"; return 1 ;;
	esac
	if [[ $status -eq 125 ]] && ! grep -q '^pagetoll run: ' "$dir/err"; then
		complain "$dir" "fails without a word"
		return 1
	fi
	[[ -z $(ls -A "$dir/tmp") ]] || { complain "$dir" "leaves files: $(ls -A "$dir/tmp")"; return 1; }
	[[ -z $(ls -A "$dir/state" 2>/dev/null) ]] || { complain "$dir" "leaves a journal of settings"; return 1; }
	! grep -Eq 'Sanitizer|runtime error|core dumped' "$dir/err" || { complain "$dir" "is broken"; return 1; }
	# Refused before anything ran: there is no run file then, and the message has the reason.
	[[ -e $dir/run.jsonl ]] || { [[ $status -eq 125 ]] || complain "$dir" "no run file"; return; }
	jq -es 'length == 1' "$dir/out" >/dev/null || { complain "$dir" "the result is no JSON"; return 1; }
	found=$(jq -rs --arg verdicts "$2" --arg status "$status" --arg positive "${positive-}" "$wrong" "$dir/run.jsonl" 2>&1) || found="no run file: $found"
	[[ -z $found ]] || { complain "$dir" "$found"; return 1; }
}

# The targets of a run of all benchmarks, in ${words[@]}; a line of the list as $name, $runs_here, ${smoke[@]}.
all_words() {
	local name runs_here smoke
	words=()
	while IFS=$'\t' read -r name runs_here smoke; do
		# shellcheck disable=SC2206
		words+=("$name" $smoke)
	done <"$BATS_FILE_TMPDIR/benchmarks"
}

# together VERDICTS LAUNCHER...: all benchmarks in one run under that launcher, judged; each is in the run.
together() {
	local verdicts=$1 dir=${place:-$BATS_TEST_TMPDIR}/all words
	shift
	all_words
	one "$dir" "$@" @ "${words[@]}"
	judge "$dir" "$verdicts"
	if [[ -e $dir/run.jsonl ]]; then
		diff <(cut -f 1 "$BATS_FILE_TMPDIR/benchmarks" | sort) \
			<(jq -r 'select(.type == "measure") | .bench' "$dir/run.jsonl" | sort -u)
	fi
	"$PAGETOLL" show "$dir/run.jsonl" >/dev/null
}

# The benchmarks that run here by the list's word, all measured in the last `together`.
all_measured() {
	local dir=$BATS_TEST_TMPDIR/all
	# Sanitizers take page faults of their own, which contradict some evidence.
	[[ -z ${SANITIZED-} ]] || return 0
	diff <(awk -F '\t' '$2 == "true" { print $1 }' "$BATS_FILE_TMPDIR/benchmarks" | sort) \
		<(jq -r 'select(.type == "measure" and .verdict == "ok") | .bench' "$dir/run.jsonl" | sort -u) ||
		complain "$dir" "not all are measured"
}

# each VERDICTS LAUNCHER...: every benchmark in a run of its own, two at a time, judged: where limits make the planner
# refuse a whole run.
each() {
	local verdicts=$1 name runs_here smoke running=0 bad=0
	shift
	while IFS=$'\t' read -r name runs_here smoke; do
		if ((running >= 2)); then
			wait -n || true
			running=$((running - 1))
		fi
		# shellcheck disable=SC2086
		one "$BATS_TEST_TMPDIR/$name" "$@" @ "$name" $smoke &
		running=$((running + 1))
	done <"$BATS_FILE_TMPDIR/benchmarks"
	wait
	while IFS=$'\t' read -r name runs_here smoke; do
		judge "$BATS_TEST_TMPDIR/$name" "$verdicts" || bad=1
	done <"$BATS_FILE_TMPDIR/benchmarks"
	((bad == 0))
}

@test "nothing hostile: what the list says to run here is measured" {
	together "$no_failure" env
	all_measured
}

deny() {
	[[ -x ${DENY-} ]] || skip "no launcher"
	"$DENY" "$1" -- true || skip "seccomp filters cannot be installed here"
	together "$all_or_reason" "$DENY" "$1" --
}

measured_any() {
	grep -q '"verdict":"ok"' "$BATS_TEST_TMPDIR/all/run.jsonl"
}

says_in_run() {
	grep -q "$1" "$BATS_TEST_TMPDIR/all/run.jsonl"
}

# In the program's workers only: it can start them, they can start nothing.
deny_in_workers() {
	[[ -e ${HOSTILE-} ]] || skip "no library to load"
	together "$all_or_reason" env HOSTILE_WORKER="$1" LD_PRELOAD="$HOSTILE"
}

@test "mbind: EPERM" { deny mbind:EPERM; }
@test "set_mempolicy: EPERM" { deny set_mempolicy:EPERM; }
@test "get_mempolicy: EPERM" { deny get_mempolicy:EPERM; }
@test "move_pages: EPERM" { deny move_pages:EPERM; }
@test "no NUMA calls at all: ENOSYS" {
	deny mbind:ENOSYS,set_mempolicy:ENOSYS,get_mempolicy:ENOSYS,move_pages:ENOSYS
}
@test "perf_event_open: EACCES, and all is measured all the same" {
	deny perf_event_open:EACCES
	all_measured
}
@test "perf_event_open: ENOSYS" {
	deny perf_event_open:ENOSYS
	all_measured
}
@test "madvise: EPERM" { deny madvise:EPERM; }
@test "madvise: EINVAL" { deny madvise:EINVAL; }
@test "sched_setaffinity: EPERM" { deny sched_setaffinity:EPERM; }
@test "memfd_create: ENOSYS" { deny memfd_create:ENOSYS; }
@test "fork: no process at all can be started" {
	deny fork:EAGAIN
	! measured_any || return 1
	says_in_run "cannot start a worker process"
}
@test "fork: workers can start no process and no thread" { deny_in_workers fork:EAGAIN; }
@test "clone3: ENOSYS as in old sandboxes, and all is measured all the same" {
	deny clone3:ENOSYS
	all_measured
}

@test "an ordinary user" {
	[[ $EUID -eq 0 ]] || skip "this is one already"
	command -v setpriv >/dev/null || skip "no setpriv"
	place=$(mktemp -d "${TMPDIR:-/tmp}/pagetoll-matrix.XXXXXX")
	cp "$PAGETOLL" "$place/pagetoll"
	chmod 755 "$place" "$place/pagetoll"
	mkdir -p "$place/all/tmp"
	chown -R nobody "$place"
	program=$place/pagetoll together "$no_failure" setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all || bad=1
	rm -rf "$place"
	[[ -z ${bad-} ]]
}

@test "one CPU" {
	together "$no_failure" taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')"
}

@test "256 MiB of address space" {
	[[ -z ${SANITIZED-} ]] || skip "sanitizers need more"
	each "$all_or_reason" prlimit --as=$((256 << 20))
}

@test "24 MiB of data" {
	[[ -z ${SANITIZED-} ]] || skip "sanitizers need more"
	each "$all_or_reason" prlimit --data=$((24 << 20))
}

# group CONTROLLER FILE VALUE: a control group of ours with that limit, left in $group.
group() {
	local root
	[[ $EUID -eq 0 ]] || skip "needs root to make a control group"
	root=$(awk -v c=",$1," '$3 == "cgroup" && index("," $4 ",", c) { print $2; exit }' /proc/mounts)
	[[ -n $root ]] || skip "no cgroup v1 hierarchy of $1 is mounted"
	group=$root/pagetoll-matrix.$$
	mkdir "$group" 2>/dev/null || skip "no control group can be made below $root"
	echo "$3" >"$group/$2" || { rmdir "$group"; skip "$2 cannot be set"; }
}

# in_group HOW VERDICTS: together or each, with every process in $group; then the group goes.
in_group() {
	local bad=
	# shellcheck disable=SC2016
	"$1" "$2" bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" || bad=1
	for _ in {1..50}; do
		rmdir "$group" 2>/dev/null && break
		sleep 0.1
	done
	[[ ! -d $group && -z $bad ]]
}

@test "a control group with 128 MiB of memory" {
	[[ -z ${SANITIZED-} ]] || skip "sanitizers need more"
	group memory memory.limit_in_bytes $((128 << 20))
	in_group each "$all_or_reason"
}

@test "a control group with 12 MiB of memory: refused or ended, never the whole program" {
	[[ -z ${SANITIZED-} ]] || skip "sanitizers need more"
	group memory memory.limit_in_bytes $((12 << 20))
	# shellcheck disable=SC2016
	run --separate-stderr bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		"$PAGETOLL" run --dry-run cache.chase working-set=64m
	exits 125
	says "memory.limit_in_bytes"
	in_group each "$all_or_reason killed"
}

@test "a control group for so many processes that workers can start none" {
	group pids pids.max 2
	in_group together "$all_or_reason"
}

@test "a control group with a tenth of a CPU" {
	group cpu cpu.cfs_quota_us 20000
	in_group together "$no_failure"
}

# In a mount namespace of its own: mounted COMMANDS
namespaced() {
	[[ $EUID -eq 0 ]] || skip "needs root to mount"
	unshare --mount true 2>/dev/null || skip "cannot mount here"
}

@test "1 MiB of /dev/shm" {
	namespaced
	# shellcheck disable=SC2016
	together "$all_or_reason" unshare --mount bash -c '
		mount -t tmpfs -o size=1m tmpfs /dev/shm && "$@"
		status=$?
		[[ -z $(ls -A /dev/shm) ]] || { ls -l /dev/shm >&2; exit 97; }
		exit $status' _
}

@test "a clock that moves in steps of 4 ms: skipped, with the remedy" {
	[[ -e ${HOSTILE-} ]] || skip "no library to load"
	together "skipped" env HOSTILE_CLOCK_NS=4000000 LD_PRELOAD="$HOSTILE"
	says_in_run "steps of"
}

@test "a clock that moves in steps of 300 ns" {
	[[ -e ${HOSTILE-} ]] || skip "no library to load"
	positive=yes together "$no_failure" env HOSTILE_CLOCK_NS=300 LD_PRELOAD="$HOSTILE"
	all_measured
}

# hugetlb HOW VERDICTS: the pool of 2 MiB pages looks full of free pages, and mapping them goes as HOW says.
hugetlb() {
	local pool=/sys/kernel/mm/hugepages/hugepages-2048kB name runs_here smoke fake bad=0
	[[ -e ${HOSTILE-} ]] || skip "no library to load"
	namespaced
	[[ -d $pool ]] || skip "no hugetlb pages of 2 MiB"
	fake=$BATS_TEST_TMPDIR/pool
	mkdir "$fake"
	for file in nr_hugepages free_hugepages; do echo 64 >"$fake/$file"; done
	for file in resv_hugepages nr_overcommit_hugepages surplus_hugepages; do echo 0 >"$fake/$file"; done
	while IFS=$'\t' read -r name runs_here smoke; do
		"$PAGETOLL" info "$name" --format json | jq -e '.parameters[] | select(.type == "page")' >/dev/null || continue
		# shellcheck disable=SC2016,SC2086
		one "$BATS_TEST_TMPDIR/$name" unshare --mount bash -c '
			for dir in /sys/kernel/mm/hugepages/hugepages-2048kB \
				/sys/devices/system/node/node*/hugepages/hugepages-2048kB; do
				[[ ! -d $dir ]] || mount --bind "$0" "$dir" || exit 96
			done
			exec "$@"' "$fake" env HOSTILE_HUGETLB="$1" LD_PRELOAD="$HOSTILE" @ "$name" $smoke page=hugetlb-2m
		# Not with the setting's other words: a mistake of whoever asks.
		if [[ $(<"$BATS_TEST_TMPDIR/$name/status") -eq 129 ]]; then continue; fi
		judge "$BATS_TEST_TMPDIR/$name" "$2" || bad=1
		tried=$((${tried-0} + 1))
	done <"$BATS_FILE_TMPDIR/benchmarks"
	((bad == 0 && ${tried-0} >= 2))
}

@test "hugetlb pages that the pool has and mapping refuses" {
	hugetlb refuse "skipped failed"
}

@test "hugetlb pages that are promised and not there" {
	hugetlb unbacked "skipped failed killed"
}

@test "two copies at once, in one data folder" {
	local words copy
	all_words
	for copy in a b; do
		one "$BATS_TEST_TMPDIR/$copy" env PAGETOLL_DATA="$BATS_TEST_TMPDIR/data" @ "${words[@]}" &
	done
	wait
	for copy in a b; do judge "$BATS_TEST_TMPDIR/$copy" "$no_failure"; done
}

@test "the disk is full while a run is written: the result is printed, what is there is readable" {
	namespaced
	local name runs_here smoke dir=$BATS_TEST_TMPDIR
	while IFS=$'\t' read -r name runs_here smoke; do
		# shellcheck disable=SC2016,SC2086
		run --separate-stderr "$ALONE" "$seconds" -- unshare --mount bash -c '
			program=$0 dir=$1
			shift
			mkdir -p "$dir/small" && mount -t tmpfs -o size=16k tmpfs "$dir/small" || exit 96
			"$program" run --preset quick --invocations 8 --quiet --format json -o "$dir/small/run.jsonl" "$@"
			status=$?
			[[ ! -s $dir/small/run.jsonl ]] || cp "$dir/small/run.jsonl" "$dir/saved.jsonl"
			exit $status' "$PAGETOLL" "$dir" "$name" $smoke
		[[ $status -eq 128 || $status -eq 125 || $status -eq 0 ]] || { echo "$name"; show; return 1; }
		if [[ $status -eq 128 ]]; then
			says "run.jsonl"
			is_json
			full=$((${full-0} + 1))
		fi
		run --separate-stderr "$PAGETOLL" show "$dir/saved.jsonl"
		exits 0
		rm "$dir/saved.jsonl"
	done <"$BATS_FILE_TMPDIR/benchmarks"
	((${full-0} > 0))
}

@test "the system's settings stay as they are" {
	# Somebody else may change one just then, but not every time.
	for _ in {1..4}; do
		settings >"$BATS_TEST_TMPDIR/before"
		together "$no_failure" env
		settings >"$BATS_TEST_TMPDIR/after"
		rm -r "$BATS_TEST_TMPDIR/all"
		diff "$BATS_TEST_TMPDIR/before" "$BATS_TEST_TMPDIR/after" && return
	done
	return 1
}
