# SPDX-License-Identifier: MIT
"""Debian's cloud kernels and arm64 libraries, by apt, without touching the system.

Everything lies in a folder of its own (lists, packages, what was unpacked); neither root nor a
second architecture is needed. What is there already is not fetched again. The names of kernel
packages change with every update of Debian, so they are resolved through the meta packages.
Source: apt.conf(5), apt-get(8).
"""
import glob
import os
import subprocess

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
META = {"6.1": "linux-image-cloud-%s", "6.12": "linux-image-6.12-cloud-%s"}


class Missing(Exception):
    """What cannot be had, and why."""


def run(words, **more):
    """What it said, on stdout and on stderr."""
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=240,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False, **more)
    except FileNotFoundError as e:
        raise Missing("%s is not installed" % words[0]) from e
    except subprocess.TimeoutExpired as e:
        raise Missing("%s: no answer within %d s" % (words[0], e.timeout)) from e
    if done.returncode:
        text = (done.stderr or done.stdout).strip().splitlines() or ["status %d" % done.returncode]
        raise Missing("%s: %s" % (" ".join(words[:1] + words[-2:]), text[-1]))
    return done.stdout, done.stderr


class Apt:
    def __init__(self, cache, arch):
        self.folder = os.path.join(cache, "apt-" + DEBIAN[arch])
        self.packages = os.path.join(self.folder, "packages")
        state, store = os.path.join(self.folder, "state"), os.path.join(self.folder, "cache")
        for path in (state + "/lists/partial", store + "/archives/partial", self.packages):
            os.makedirs(path, exist_ok=True)
        self.options = []
        for option in ("APT::Architecture=" + DEBIAN[arch], "APT::Architectures::=" + DEBIAN[arch],
                       "Dir::State=" + state, "Dir::Cache=" + store,
                       "Dir::State::status=/dev/null", "APT::Sandbox::User="):
            self.options += ["-o", option]
        self.said = None  # by the update of the lists, which may fail in part and succeed

    def command(self, program, *words):
        try:
            return run([program] + self.options + list(words), cwd=self.packages)
        except Missing as e:
            raise Missing("%s (%s)" % (e, self.said) if self.said else str(e)) from e

    def update(self):
        if self.said is None:
            warnings = self.command("apt-get", "-q", "update")[1].strip().splitlines()
            self.said = warnings[0] if warnings else ""

    def depends(self, name, start):
        self.update()
        for line in self.command("apt-cache", "depends", name)[0].splitlines():
            kind, _, package = line.strip().partition(": ")
            if kind == "Depends" and package.startswith(start):
                return package
        raise Missing("%s depends on no %s*" % (name, start))

    def fetch(self, names):
        """Paths of the packages' files."""
        paths = []
        for name in names:
            found = glob.glob(os.path.join(self.packages, name + "_*.deb"))
            if not found:
                self.update()
                self.command("apt-get", "-q", "download", name)
                found = glob.glob(os.path.join(self.packages, name + "_*.deb"))
            if not found:
                raise Missing("%s was not downloaded" % name)
            paths.append(found[0])
        return paths


def unpack(package, folder):
    os.makedirs(folder, exist_ok=True)
    run(["dpkg-deb", "-x", package, folder])


def kernel(cache, arch, version):
    """Path of a bootable image."""
    folder = os.path.join(cache, "kernels", "%s-%s" % (arch, version))
    pattern = os.path.join(folder, "boot", "vmlinuz-*")
    if not glob.glob(pattern):
        apt = Apt(cache, arch)
        name = apt.depends(META[version] % DEBIAN[arch], "linux-image-")
        unpack(apt.fetch([name])[0], folder + ".new")
        run(["rm", "-rf", folder, os.path.join(folder + ".new", "lib")])
        os.rename(folder + ".new", folder)
    return glob.glob(pattern)[0]


# What pagetoll and its tests link, and the C library that runs them.
ARM_PACKAGES = ("libc6", "libhwloc15", "libhwloc-dev", "libjansson4", "libjansson-dev",
                "libsqlite3-0", "libsqlite3-dev", "libcmocka0", "libcmocka-dev", "libudev1")


def sysroot(cache):
    """Folder with Debian's arm64 libraries and headers, laid out as a system."""
    folder = os.path.join(cache, "sysroot-arm64")
    if not os.path.exists(os.path.join(folder, "complete")):
        for package in Apt(cache, "aarch64").fetch(ARM_PACKAGES):
            unpack(package, folder)
        with open(os.path.join(folder, "complete"), "w", encoding="ascii") as f:
            f.write("\n".join(ARM_PACKAGES))
    return folder


def sysroot_libraries(folder):
    return os.path.join(folder, "usr/lib/aarch64-linux-gnu")
