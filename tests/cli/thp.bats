# SPDX-License-Identifier: MIT
# Page sizes under every mode of transparent huge pages, on the real kernel; the mode is put back.
load helpers

thp=/sys/kernel/mm/transparent_hugepage/enabled

mode() {
	sed 's/.*\[\(.*\)\].*/\1/' "$thp"
}

set_mode() {
	[[ -w $thp ]] || skip "the mode of transparent huge pages cannot be written (not root, or none)"
	THP_WAS=${THP_WAS:-$(mode)}
	echo "$1" >"$thp"
	[[ $(mode) == "$1" ]]
}

teardown() {
	[[ -z ${THP_WAS-} ]] || echo "$THP_WAS" >"$thp"
}

@test "base pages are small pages under always, madvise and never" {
	for now in always madvise never; do
		set_mode "$now"
		pagetoll "${quick[@]}" tlb.chase pointers=600 cache.chase page=base working-set=8m --format json
		exits 0
		json '[.points[].measures[].verdict] | length == 2 and all(. == "ok")'
		json '[.points[].measures[].proof.huge_bytes] | all(. == 0)'
	done
}

@test "thp: really huge under always and madvise, skipped with the command under never" {
	for now in always madvise; do
		set_mode "$now"
		pagetoll "${quick[@]}" cache.chase page=thp working-set=8m --format json
		exits 0
		json '[.points[].measures[] | .verdict == "ok" and .proof.huge_bytes >= 8388608] | all'
	done
	set_mode never
	pagetoll "${quick[@]}" cache.chase page=thp working-set=8m
	exits 125
	says "echo madvise >"
}
