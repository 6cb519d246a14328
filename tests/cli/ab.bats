#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Two arms in one command, for real: settings, environments, settings of the system and their way
# back, continuing. No test asserts a time.

load helpers

thp=/sys/kernel/mm/transparent_hugepage/enabled

# The kernel's setting is everybody's: it comes back even when a test fails.
setup_file() {
	export THP_WAS
	THP_WAS=$(thp_now)
}

teardown() {
	if [[ $EUID -eq 0 && -n $THP_WAS && $(thp_now) != "$THP_WAS" ]]; then
		echo "$THP_WAS" >"$thp"
	fi
}

thp_now() {
	sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || true
}

needs_thp() {
	[[ $EUID -eq 0 ]] || skip "needs root"
	[[ -w $thp ]] || skip "the kernel's settings cannot be written here"
	echo "$THP_WAS" >"$thp" 2>/dev/null || skip "the kernel's settings cannot be written here"
}

# The same program as an ordinary user, who may read where the journal is.
as_nobody() {
	local dir
	dir=$(mktemp -d /tmp/pagetoll-nobody.XXXXXX) # bats' own folders are closed to others
	cp "$PAGETOLL_RUN/settings.journal" "$dir/"
	chmod -R a+rX,go-w "$dir"
	run --separate-stderr env PAGETOLL_DATA="$dir/data" PAGETOLL_RUN="$dir" setpriv \
		--reuid=65534 --regid=65534 --clear-groups "$PAGETOLL" "$@"
	rm -r "$dir"
}

fast=(ab --quiet --preset quick)

# Whether the file has a whole round of both arms: what can be compared when it is cut short.
has_both_arms() {
	[[ $(grep -c '"measure".*"arm":"A"' "$1" 2>/dev/null) -ge 5 &&
		$(grep -c '"measure".*"arm":"B"' "$1") -ge 5 ]]
}

# Starts a long experiment that changes a system setting; leaves its id in $pid, its file in $file.
start_thp() {
	file=$BATS_TEST_TMPDIR/ab.jsonl
	env --default-signal=INT,TERM,HUP "$PAGETOLL" ab --quiet --resume-block "$file" \
		--invocations 400 -A thp=always -B thp=never tlb.chase pointers=1,8,16,32,64 \
		>"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	for _ in {1..400}; do
		if has_both_arms "$file" && [[ $(thp_now) != "$THP_WAS" ]]; then return 0; fi
		sleep 0.05
	done
	cat "$BATS_TEST_TMPDIR/err"
	return 1
}

# ends SIGNAL STATUS
ends() {
	kill "-$1" "$pid"
	status=0
	wait "$pid" || status=$?
	[[ $status -eq $2 ]] || { echo "status $status"; cat "$BATS_TEST_TMPDIR/err"; return 1; }
}

# Measures of the file as jq sees them: those of an arm.
arm() {
	jq -s "[.[] | select(.type == \"measure\" and .arm == \"$1\")] | length" "$2"
}

@test "two page sizes: both arms equally often, a comparison, a run like any other" {
	pagetoll "${fast[@]}" --invocations 4 -A page=4k -B page=base -A order=random \
		-B order=sequential tlb.chase pointers=1,8
	exits 0
	prints "order=sequential"
	prints tlb.chase
	output=${output%Saved as *} # a path is as long as it is
	narrow
	file=("$PAGETOLL_DATA"/runs/*.jsonl)
	is_run_file "${file[0]}"
	[[ $(arm A "${file[0]}") -eq 8 ]]
	[[ $(arm B "${file[0]}") -eq 8 ]]
	# never pooled: A random, B sequential
	[[ $(jq -s '[.[] | select(.type == "measure") | .arm + .setting.order] | unique | length' \
		"${file[0]}") -eq 2 ]]
	pagetoll show last
	exits 0
	prints arm
	pagetoll compare last --by arm=A,B
	exits 0
	pagetoll export --format csv last
	exits 0
	[[ $(head -n 1 <<<"$output") == *,arm,* ]]
	pagetoll show --format json last
	json '[.points[].arm] | unique == ["A", "B"]'
}

@test "JSON: one document, and the arms by name" {
	pagetoll "${fast[@]}" --invocations 2 --format json -A pointers=8 -B pointers=16 tlb.chase
	exits 0
	is_json
	json '.. | strings | select(. == "pointers=16")'
}

@test "an environment reaches the processes of its arm, and no others" {
	# The loader lists libraries instead of starting the program: B fails, A does not.
	pagetoll "${fast[@]}" --invocations 4 -A MALLOC_ARENA_MAX=1 -B LD_TRACE_LOADED_OBJECTS=1 \
		"${small[@]}"
	file=("$PAGETOLL_DATA"/runs/*.jsonl)
	[[ $(jq -s '[.[] | select(.arm == "A" and .verdict == "ok")] | length' "${file[0]}") -gt 0 ]]
	[[ $(jq -s '[.[] | select(.arm == "B" and .verdict == "ok")] | length' "${file[0]}") -eq 0 ]]
	[[ $(jq -s '[.[] | select(.arm == "B" and .verdict == "failed")] | length' \
		"${file[0]}") -eq 2 ]]
	grep -q 'arm B failed again and again' "${file[0]}"
}

@test "what cannot be meant is refused, before anything is measured" {
	for words in "tlb.chase" "-A page=4k -B page=4k tlb.chase" "-A page=4k,thp -B page=4k tlb.chase" \
		"-A pge=4k -B page=4k tlb.chase" "-A thp=always tlb.chase" \
		"-A thp=maybe -B thp=never tlb.chase" "-A fault-around-bytes=5k -B fault-around-bytes=4k" \
		"--aa -A page=4k tlb.chase" "-A page -B page=thp tlb.chase" \
		"--aa --invocations 5 tlb.chase" "--aa --invocations 0 tlb.chase" \
		"--aa -o x --no-save tlb.chase" "--aa --fail-on better tlb.chase"; do
		# shellcheck disable=SC2086
		pagetoll ab $words
		exits 129
		silent
	done
	[[ ! -e $PAGETOLL_DATA/runs ]]
	[[ $(thp_now) == "$THP_WAS" ]]
}

@test "--dry-run: the plan, and nothing changed" {
	pagetoll ab --dry-run -A thp=always -B thp=never tlb.chase pointers=8
	exits 0
	prints "B: thp=never"
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
}

@test "a system setting as an ordinary user: refused with the remedy" {
	[[ -e $thp ]] || skip "no transparent huge pages"
	if [[ $EUID -eq 0 ]]; then
		dir=$(mktemp -d /tmp/pagetoll-nobody.XXXXXX) # bats' own folders are closed to others
		chmod 777 "$dir"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGETOLL" --version >/dev/null \
			2>&1 || skip "the program cannot be run by another user"
		run --separate-stderr env PAGETOLL_DATA="$dir/data" PAGETOLL_RUN="$dir/run" setpriv \
			--reuid=65534 --regid=65534 --clear-groups "$PAGETOLL" ab -q \
			-A thp=always -B thp=never tlb.chase pointers=8
		[[ ! -e $dir/run/settings.journal ]]
		rm -r "$dir"
	else
		pagetoll ab -q -A thp=always -B thp=never tlb.chase pointers=8
	fi
	exits 125
	says "cannot set thp"
	says root
	silent
	[[ $(thp_now) == "$THP_WAS" ]]
}

@test "a real THP mode: in force for its arm, restored at the end" {
	needs_thp
	pagetoll "${fast[@]}" --invocations 2 -A thp=always -B thp=never tlb.chase page=base,thp \
		pointers=8
	exits 0
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
	# With thp=never no huge page can be had, and so neither arm runs that setting.
	file=("$PAGETOLL_DATA"/runs/*.jsonl)
	[[ $(jq -s '[.[] | select(.type == "measure" and .setting.page == "thp")
		| .verdict] | unique == ["skipped"]' "${file[0]}") == true ]]
	[[ $(jq -s '[.[] | select(.type == "measure" and .setting.page != "thp" and
		.verdict == "ok")] | length' "${file[0]}") -eq 4 ]]
	# each arm's machine is on record, and what differs is the factor
	[[ $(jq -s -c '[.[] | select(.type == "environment") | [.arm, .fingerprint.thp]] | sort' \
		"${file[0]}") == '[["A","always"],["B","never"]]' ]]
	[[ $(jq -r 'select(.type == "header").fingerprint.thp' "${file[0]}") == "$THP_WAS" ]]
	prints '* thp'
	[[ $output != *"the same, both sides"* ]]
	pagetoll compare --format json last --by arm=A,B
	json '[.environment[] | select(.is_factor) | [.name, .a, .b]] == [["thp", "always", "never"]]'
}

@test "restored after SIGINT and SIGTERM, and what was measured is told" {
	needs_thp
	start_thp
	ends INT 130
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
	grep -q interrupted "$file"
	grep -q tlb.chase "$BATS_TEST_TMPDIR/out"
	rm "$file"
	start_thp
	ends TERM 143
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
}

@test "restored when signals come twice, and after SIGHUP" {
	needs_thp
	start_thp
	kill -INT "$pid"
	kill -TERM "$pid" 2>/dev/null || true
	status=0
	wait "$pid" || status=$?
	[[ $status -eq 130 || $status -eq 143 ]]
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
	rm "$file"
	start_thp
	ends HUP 129
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
}

@test "after SIGKILL: named and restored at the next start" {
	needs_thp
	start_thp
	ends KILL 137
	[[ $(thp_now) != "$THP_WAS" ]]
	[[ -s $PAGETOLL_RUN/settings.journal ]]
	# named by what changes nothing, and not touched
	pagetoll doctor --format json
	json '[.findings[] | select(.id == "settings-left") | .what] | length == 1'
	json '.findings[] | select(.id == "settings-left") | .remedy | test("echo .* > /sys/")'
	pagetoll list
	says "left thp at"
	pagetoll ab --dry-run -A thp=always -B thp=never tlb.chase pointers=8
	exits 0
	says "left thp at"
	[[ $(thp_now) != "$THP_WAS" ]]
	[[ -s $PAGETOLL_RUN/settings.journal ]]
	as_nobody list
	says "left thp at"
	as_nobody run --preset quick --invocations 1 --quiet --no-save tlb.chase pointers=1
	says "left thp at"
	says "echo $THP_WAS > /sys/"
	[[ $(thp_now) != "$THP_WAS" ]]
	pagetoll run --preset quick --invocations 1 --quiet --no-save tlb.chase pointers=1
	exits 0
	says "thp is restored"
	says "$THP_WAS"
	[[ $(thp_now) == "$THP_WAS" ]]
	[[ ! -e $PAGETOLL_RUN/settings.journal ]]
	pagetoll run --preset quick --invocations 1 --quiet --no-save tlb.chase pointers=1
	[[ $stderr != *restored* ]]
}

@test "a THP mode where the pages follow it: their size belongs to the arms, also when continued" {
	needs_thp
	file=$BATS_TEST_TMPDIR/ab.jsonl
	pagetoll "${fast[@]}" --invocations 2 --resume-block "$file" -A thp=always -B thp=never \
		cache.chase working-set=64k
	exits 0
	prints "thp=always page=thp"
	prints "thp=never page=4k"
	[[ $(jq -s -c '[.[] | select(.type == "measure") | [.arm, .setting.page, .verdict]] | unique' \
		"$file") == '[["A","thp","ok"],["B","4k","ok"]]' ]]
	pagetoll ab --quiet --resume-block "$file" -A thp=always -B thp=never
	exits 0
	pagetoll ab --quiet --resume-block "$file"
	exits 0
	pagetoll "${fast[@]}" -A thp=always -B thp=never cache.chase page=auto,64k working-set=64k
	[[ $status -ne 0 ]]
	[[ $(thp_now) == "$THP_WAS" ]]
}

@test "another experiment meanwhile: refused, and a run is warned" {
	needs_thp
	start_thp
	pagetoll "${fast[@]}" -A thp=always -B thp=never tlb.chase pointers=8
	exits 125
	says "another pagetoll has system settings changed"
	pagetoll ab --quiet --resume-block "$file"
	exits 125
	ends TERM 143
	[[ $(thp_now) == "$THP_WAS" ]]
}

@test "a killed experiment is continued: same file, both arms whole" {
	file=$BATS_TEST_TMPDIR/ab.jsonl
	"$PAGETOLL" ab --quiet --resume-block "$file" --invocations 10 -A order=random \
		-B order=sequential tlb.chase pointers=1,2,4,8 >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in {1..400}; do
		if [[ -e $file ]] && (($(wc -l <"$file") >= 6)); then break; fi
		sleep 0.05
	done
	kill -KILL "$pid"
	wait "$pid" || true
	before=$(wc -l <"$file")
	((before >= 6 && before < 80))
	pagetoll ab --quiet --resume-block "$file" -A order=sequential -B order=random tlb.chase
	exits 129
	says "other words"
	pagetoll ab --quiet --resume-block "$file"
	exits 0
	is_run_file "$file"
	[[ $(arm A "$file") -eq 40 ]]
	[[ $(arm B "$file") -eq 40 ]]
	[[ $(jq -s '[.[] | select(.type == "measure") | [.arm, .invocation, .setting]] | unique
		| length' "$file") -eq 80 ]]
	tail -n 1 "$file" | jq -e '.type == "footer" and .complete' >/dev/null
	# once more there is nothing to do but to tell
	pagetoll ab --quiet --resume-block "$file"
	exits 0
	[[ $(arm A "$file") -eq 40 ]]
}

@test "--resume-block of something else: refused, and left as it is" {
	pagetoll run --preset quick --invocations 1 --quiet -o "$BATS_TEST_TMPDIR/run.jsonl" \
		tlb.chase pointers=1
	exits 0
	sum=$(md5sum <"$BATS_TEST_TMPDIR/run.jsonl")
	pagetoll ab --quiet --resume-block "$BATS_TEST_TMPDIR/run.jsonl"
	exits 129
	says "no experiment"
	[[ $(md5sum <"$BATS_TEST_TMPDIR/run.jsonl") == "$sum" ]]
	echo "a shopping list" >"$BATS_TEST_TMPDIR/list"
	pagetoll ab --quiet --resume-block "$BATS_TEST_TMPDIR/list" tlb.chase
	exits 128
	[[ $(cat "$BATS_TEST_TMPDIR/list") == "a shopping list" ]]
}

@test "two kernels: a boot is a block, and is measured once" {
	file=$BATS_TEST_TMPDIR/boots.jsonl
	pagetoll ab --quiet --preset quick --resume-block "$file" tlb.chase pointers=1,8
	exits 0
	prints "1 boot of A, 0 of B"
	prints "Boot the other kernel"
	[[ $(arm A "$file") -eq 8 ]]
	[[ $(arm B "$file") -eq 0 ]]
	head -n 1 "$file" | jq -e '.boot_id | length > 0' >/dev/null
	jq -es '[.[] | select(.type == "measure") | .proof.kernel | length > 0] | all' "$file" \
		>/dev/null
	pagetoll ab --quiet --resume-block "$file"
	says "measured already"
	[[ $(arm A "$file") -eq 8 ]]
	is_run_file "$file"
	# As if that had been another boot of another kernel: this one is B.
	sed -i 's/"kernel":"[^"]*"/"kernel":"another"/; s/"boot_id":"[^"]*"/"boot_id":"another"/' "$file"
	pagetoll ab --quiet --resume-block "$file" tlb.chase pointers=1,8
	exits 0
	[[ $(arm B "$file") -eq 8 ]]
	[[ $(jq -s '[.[] | select(.arm == "B") | .boot_id | length > 10] | all' "$file") == true ]]
	prints another
}

@test "--aa: two blocks tell no spread, and that is said" {
	pagetoll ab --quiet --invocations 4 --aa tlb.chase pointers=8
	exits 0
	prints "No spread of this machine is stored"
	prints "this is the first"
	[[ $output != *"1 facts"* ]]
}

@test "--aa: findings among tests, and the spread of this machine is stored" {
	pagetoll ab --quiet --invocations 6 --aa tlb.chase pointers=8,16
	exits 0
	prints "A against A"
	prints "Spread of tlb.chase"
	prints stored
	while IFS= read -r line; do
		[[ ${#line} -le 80 || $line == "Saved as"* ]]
	done <<<"$output"
	pagetoll ab --quiet --invocations 6 --format json --aa tlb.chase pointers=8,16
	exits 0
	json '.alike.points_tested > 0 and .alike.stored and .alike.spreads[0].spread_ratio >= 0'
	pagetoll ab --quiet --invocations 6 --format json --aa tlb.chase pointers=8,16
	json '.alike.spreads[0].from_blocks == false and .alike.spreads[0].runs == 3'
	# what is not saved cannot be stored either
	pagetoll ab --quiet --invocations 6 --no-save --format json --aa tlb.chase pointers=8
	json '.alike.stored == false'
}
