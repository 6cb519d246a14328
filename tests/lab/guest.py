# SPDX-License-Identifier: MIT
"""The initramfs of a guest: the program as it was built, the libraries it needs, the steps.

Source: kernel Documentation/driver-api/early-userspace/buffer-format.rst (newc, as cpio writes it).
"""
import glob
import os
import re
import shutil
import subprocess

import kernels

PROGRAMS = {
    "init": "tests/lab/lab-init",
    "bin/pagetoll": "src/cli/pagetoll",
    "bin/deny": "tests/tools/deny",
    "bin/lab-tables": "tests/lab/lab-tables",
    "bin/true": "tests/lab/lab-true",
    "bin/lab-wander": "tests/lab/lab-wander",
}


def libraries_x86(programs):
    """{path in the guest: path here}, as this system's loader finds them."""
    found = {}
    for program in programs:
        for path in re.findall(r"(/\S+) \(0x", kernels.run(["ldd", program])[0]):
            found[path.lstrip("/")] = path
    return found


def libraries_arm(sysroot):
    """All of those that were unpacked: they are few."""
    found = {"lib/ld-linux-aarch64.so.1": os.path.join(sysroot, "lib/ld-linux-aarch64.so.1")}
    for place in ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"):
        for path in glob.glob(os.path.join(sysroot, place, "*.so.*")):
            found[os.path.relpath(path, sysroot)] = path
    return found


def libraries(arch, programs, cache):
    if arch == "x86_64":
        return libraries_x86(programs)
    return libraries_arm(kernels.sysroot(cache))


def pack(folder, build, arch, cache, tests, steps):
    """Writes folder/initrd and returns its path. @tests: {name in the guest's /bin: file}"""
    tree, initrd = os.path.join(folder, "tree"), os.path.join(folder, "initrd")
    shutil.rmtree(tree, ignore_errors=True)
    files = {inside: os.path.join(build, path) for inside, path in PROGRAMS.items()}
    files.update({"bin/" + name: os.path.join(build, path) for name, path in tests.items()})
    for path in files.values():
        if not os.path.exists(path):
            raise kernels.Missing("%s is not built" % path)
    files.update(libraries(arch, list(files.values()), cache))
    for inside, path in files.items():
        target = os.path.join(tree, inside)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
    for name in ("proc", "sys", "dev", "tmp"):
        os.makedirs(os.path.join(tree, name))
    with open(os.path.join(tree, "steps"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in steps))
    names = "\n".join(sorted(os.path.relpath(os.path.join(at, name), tree)
                             for at, folders, names in os.walk(tree) for name in folders + names))
    try:
        with open(initrd, "wb") as f:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=tree, stdout=f,
                           input=names.encode(), check=True)
    except FileNotFoundError as e:
        raise kernels.Missing("cpio is not installed") from e
    shutil.rmtree(tree)
    return initrd
