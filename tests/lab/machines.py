# SPDX-License-Identifier: MIT
"""The machines of the lab and QEMU's command line for them.

A machine is a list of nodes "CPUS:MEMORY" (either may be empty: ":512M" has no CPUs, "2-3:" no
memory), the distances that differ from 10 (itself) and 20, a kernel, an architecture and words
for the kernel's command line. Software emulation only: what is judged is function, never time.
Source: QEMU 7.2, system emulation manual, -numa and -object.
"""
from dataclasses import dataclass, field


@dataclass
class Machine:
    nodes: list
    kernel: str = "6.1"
    arch: str = "x86_64"
    distances: dict = field(default_factory=dict)
    words: str = ""


TWO = ["0-1:1024M", "2-3:1024M"]
FOUR = ["0:512M", "1:512M", "2:512M", "3:512M"]

# The long ones first: two guests run at a time.
MACHINES = {
    "two-nodes": Machine(TWO),
    "arm64": Machine(FOUR, arch="aarch64"),
    "two-nodes-units": Machine(TWO),  # a boot of its own, to run beside the others
    "two-nodes-6.12": Machine(TWO, kernel="6.12"),
    # Sockets of two nodes each, four levels of page tables; ring-like distances.
    "eight-nodes": Machine(["%d:320M" % i for i in range(8)], words="no5lvl",
                           distances={(i, k): 12 if i // 2 == k // 2 else 20 + 2 * (k // 2 - i // 2)
                                      for i in range(8) for k in range(i + 1, 8)}),
    # Ordinary, ordinary and far, CPUs without memory, memory without CPUs (as CXL memory is); in
    # this order, for Linux numbers the nodes that have CPUs first.
    "mixed": Machine(["0-1:512M", "2:512M", "3:", ":512M"],
                     distances={(0, 1): 21, (0, 3): 17, (1, 3): 28, (0, 2): 31, (1, 2): 11,
                                (2, 3): 25}),
    "two-nodes-fixed": Machine(TWO, words="nokaslr"),  # the kernel's text is at 16 MiB: node 0
    "small": Machine(["0:256M"]),
}

PROGRAMS = {"x86_64": "qemu-system-x86_64", "aarch64": "qemu-system-aarch64"}


def count_cpus(machine):
    cpus = 0
    for node in machine.nodes:
        first, _, last = node.split(":")[0].partition("-")
        if first:
            cpus = max(cpus, int(last or first) + 1)
    return cpus


def numa_words(machine):
    words, total = [], 0
    for i, node in enumerate(machine.nodes):
        cpus, _, memory = node.partition(":")
        numa = "node,nodeid=%d" % i
        if cpus:
            numa += ",cpus=" + cpus
        if memory:
            total += int(memory.rstrip("M"))
            words += ["-object", "memory-backend-ram,id=m%d,size=%s" % (i, memory)]
            numa += ",memdev=m%d" % i
        words += ["-numa", numa]
    n = len(machine.nodes)
    for i in range(n):
        for k in range(i + 1, n):
            distance = machine.distances.get((i, k), 20)
            words += ["-numa", "dist,src=%d,dst=%d,val=%d" % (i, k, distance)]
    return words + ["-m", "%dM" % total]


def qemu_command(machine, kernel, initrd, console, results):
    cpus = count_cpus(machine)
    words = [PROGRAMS[machine.arch], "-accel", "tcg,thread=single"]
    line = "panic=-1 quiet cryptomgr.notests " + machine.words
    if machine.arch == "x86_64":
        words += ["-M", "q35", "-cpu", "max", "-smp", "%d,sockets=%d,cores=1" % (cpus, cpus)]
        words += ["-serial", "file:" + console, "-serial", "file:" + results]
        line += " console=ttyS0 tsc=reliable lpj=4000000 results=/dev/ttyS1"
    else:
        words += ["-M", "virt,gic-version=3", "-cpu", "max,pauth-impdef=on", "-smp", str(cpus)]
        words += ["-serial", "file:" + console, "-chardev", "file,id=results,path=" + results,
                  "-device", "pci-serial,chardev=results"]
        line += " console=ttyAMA0 results=/dev/ttyS0"
    words += numa_words(machine)
    words += ["-nodefaults", "-display", "none", "-no-reboot", "-kernel", kernel,
              "-initrd", initrd, "-append", line]
    return words
