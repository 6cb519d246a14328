#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tools/record-sysroot: a recorded machine looks as the machine did, and nothing private is in the record.

load helpers

record=$BATS_TEST_DIRNAME/../../tools/record-sysroot

# recorded NAME [ROOT]: records, unpacks, and prints the folder.
recorded() {
	local dir=$BATS_TEST_TMPDIR/recorded/$1
	mkdir -p "${dir%/*}"
	"$record" "${@:2}" >"$dir.tree" 2>"$dir.err" || return 1
	[[ ! -s $dir.err ]] || { cat "$dir.err"; return 1; }
	"$UNPACK" "$dir.tree" "$dir" || return 1
	echo "$dir"
}

# look ROOT: all that the program says of it. Groups have new names in a record.
look() {
	local words
	for words in "list --format json" "doctor --format json"; do
		# shellcheck disable=SC2086
		"$PAGETOLL" $words --sysroot "$1" | sed -E 's,/fs/cgroup/h[0-9]+,/fs/cgroup,g; s,/(pods|pod1|app|g1|g2|g3),/GROUP,g' |
			jq 'del(.boot_id?, .context?.load_average?)'
	done
}

@test "every machine of the tests, recorded anew, looks the same" {
	# The largest have nothing of their own but thousands of files.
	for name in $(machines | grep -v -e cpus-1536 -e epyc -e four-sockets); do
		tree=$(machine "$name")
		copy=$(recorded "$name" "$tree")
		diff <(look "$tree") <(look "$copy") || { echo "$name"; return 1; }
	done
}

# What only the live machine can be asked, or what moves from second to second.
still='del(.fingerprint["paging_levels", "paging_levels.cpu", "address_bits", "hypervisor"], .fingerprint["advertised.source", "advertised.dtlb1.4k",
	"advertised.dtlb1.2m", "advertised.dtlb1.1g", "advertised.dtlb2.4k", "advertised.dtlb2.2m", "advertised.dtlb2.1g"])
	| .fingerprint'

@test "this machine, recorded, looks as it does live" {
	copy=$(recorded live)
	diff <("$PAGETOLL" list --format json | jq '.page_sizes, .nodes, .words') \
		<("$PAGETOLL" list --format json --sysroot "$copy" | jq '.page_sizes, .nodes, .words')
	diff <("$PAGETOLL" doctor --format json | jq "$still") \
		<("$PAGETOLL" doctor --format json --sysroot "$copy" | jq "$still")
	[[ $("$PAGETOLL" doctor --format json --sysroot "$copy" | jq '.fingerprint | length') -gt 15 ]]
}

# Words, addresses and identifiers of whatever kind.
no_identifiers() {
	local line
	! grep -Ei '([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}' \
		<(grep -v shared_cpu_map "$1" | grep -Ev '(core|package|die|cluster)_(cpus|siblings)|cpumap') || return 1
	! grep -v osrelease "$1" | grep -E '(^|[^0-9.])[0-9]{1,3}(\.[0-9]{1,3}){3}([^0-9.]|$)' || return 1
	! grep -Ei 'serial|uuid|/home/|hostname|BOOT_IMAGE|root=' "$1" || return 1
}

@test "nothing private of this machine is recorded" {
	"$record" >"$BATS_TEST_TMPDIR/live.tree"
	no_identifiers "$BATS_TEST_TMPDIR/live.tree"
	for word in "$(uname -n)" "$(cat /etc/machine-id 2>/dev/null)" "$(cat /proc/sys/kernel/random/boot_id)" \
		$(cat /sys/class/net/*/address 2>/dev/null | grep -v '^00:00') \
		$(cat /sys/class/dmi/id/{product,board,chassis}_serial 2>/dev/null) \
		$(sed 's/.*://; s,/, ,g' /proc/self/cgroup | tr ' ' '\n' | awk 'length($0) > 8' | sort -u); do
		[[ ${#word} -lt 4 ]] || ! grep -F -- "$word" "$BATS_TEST_TMPDIR/live.tree"
	done
}

# plant PATH: a file of that invented machine from stdin.
plant() {
	mkdir -p "$tree/$(dirname "$1")"
	cat >>"$tree/$1"
}

@test "what was planted to be kept out is kept out" {
	tree=$(machine cgroup-v2)
	printf 'Serial\t\t: 10000000deadbeef\nHardware\t: alices-board\nprocessor\t: 1\nsecret\t: planted\n' | plant proc/cpuinfo
	echo 'planted=1 hugepages=8 ip=192.0.2.77::192.0.2.1::planted-host root=UUID=planted mem=4g -- planted nosmt' \
		>"$tree/proc/cmdline"
	printf 'Name:\tplanted\nUid:\t1234\t1234\nGroups:\tplanted\n' | plant proc/self/status
	printf '7f00-7f01 r-xp 00000000 00:01 1 /home/planted/program\n' | plant proc/self/smaps
	printf '40 20 0:40 / /home/planted rw - ext4 /dev/planted rw\n' | plant proc/self/mountinfo
	printf 'intr planted 1 2 3\nbtime 1234567890\n' | plant proc/stat
	printf 'planted\n' | plant proc/sys/kernel/hostname
	printf '8c3f5e6a-0000-4000-8000-00000000cafe\n' | plant proc/sys/kernel/random/uuid
	printf 'planted command line' | plant proc/1/cmdline
	printf 'PLANTED-1234\n' | plant sys/class/dmi/id/product_serial
	printf 'Planted Model of QEMU 9\n' | plant sys/class/dmi/id/product_name
	printf '52:54:00:12:34:56\n' | plant sys/class/net/eth0/address
	mv "$tree/sys/fs/cgroup/pods" "$tree/sys/fs/cgroup/planted-pods"
	sed -i 's,/pods/,/planted-pods/,' "$tree/proc/self/cgroup"
	copy=$(recorded planted "$tree")
	file=$BATS_TEST_TMPDIR/recorded/planted.tree
	! grep -iE 'planted|deadbeef|alice|cafe|192\.0\.2|52:54|1234567890' "$file" || return 1
	no_identifiers "$file"
	# What is left is enough.
	grep -qx 'hugepages=8 mem=4g' "$file"
	grep -qx '= sys/class/dmi/id/product_name | QEMU' "$file"
	pagetoll list --format json --sysroot "$copy"
	exits 0
	diff <("$PAGETOLL" list --format json --sysroot "$tree" | sed 's/planted-pods/g1/g; s/pod1/g2/g; s,/app,/g3,g') \
		<(sed 's,/fs/cgroup/h1,/fs/cgroup,g' <<<"$output")
}

@test "the recorder takes the same words of the command line as the fingerprint" {
	src=$BATS_TEST_DIRNAME/../../src/host/fingerprint.c
	diff <(sed -n '/^static const char \*const told/,/^}/p' "$src" | grep -o '"[^"]*"' | tr -d '"' | sort) \
		<(sed -n "/^words='/,/'\$/p" "$record" | sed "s/words=//" | tr -d "'" | tr -s ' \t' '\n' | grep . | sort)
}

@test "the recorder refuses what it does not know" {
	run --separate-stderr "$record" --everything
	exits 2
	says "usage"
	run --separate-stderr "$record" /nonexistent
	exits 2
	run --separate-stderr "$record" "$BATS_TEST_TMPDIR"
	exits 2
	says "no proc"
	run --separate-stderr "$record" --help
	exits 0
	prints "can be mailed"
}
