# SPDX-License-Identifier: MIT
"""Case files, and judging what the guest sent.

Lines of a case file ("#" starts a comment; a line that starts with a blank continues the last):

  about TEXT              what holds when the case passes
  machines NAME...        where it runs, each once
  units GLOB...           the build's unit tests of these names (mem_*), a step each
  step NAME WORD...       a command in the guest, in order (quoting as in sh; see init.c)
  exits NAME STATUS       the step's exit status; 0 where nothing else is said
  json NAME FILTER        jq: the step's stdout, FILTER must be true
  prints NAME TEXT        stdout holds TEXT
  says NAME TEXT          stderr holds TEXT
"""
import glob
import os
import re
import shlex
import subprocess

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases")
CHECKS = ("exits", "json", "prints", "says")


class BadCase(Exception):
    pass


def logical_lines(text):
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t":
            if not lines:
                raise BadCase("line %d continues nothing" % number)
            lines[-1] = (lines[-1][0], lines[-1][1] + " " + line.strip())
        else:
            lines.append((number, line.strip()))
    return lines


class Case:
    def __init__(self, name, text):
        self.name, self.about, self.machines, self.checks = name, "", [], []
        self.steps, self.units = {}, []
        for number, line in logical_lines(text):
            try:
                self.take(*line.split(None, 1))
            except (ValueError, TypeError, BadCase) as e:
                raise BadCase("%s.case, line %d: %s" % (name, number, e)) from e
        if not (self.about and self.machines and (self.units or self.steps and self.checks)):
            raise BadCase("%s.case: about, machines, a step and a check are needed" % name)

    def take(self, key, value):
        if key == "about":
            self.about = value
        elif key == "machines":
            self.machines = value.split()
        elif key == "units":
            self.units += value.split()
        elif key == "step":
            step, command = value.split(None, 1)
            if step in self.steps:
                raise BadCase("a second step %s" % step)
            self.steps[step] = shlex.split(command)
        elif key in CHECKS:
            step, expected = value.split(None, 1)
            if step not in self.steps:
                raise BadCase("no step %s above" % step)
            self.checks.append((key, step, expected))
        else:
            raise BadCase("unknown word %s" % key)

    def unit_tests(self, build):
        """{name: file below the build}"""
        found = {}
        for pattern in self.units:
            for path in glob.glob(os.path.join(build, "tests/unit/*/test_" + pattern)):
                if os.path.isfile(path):
                    found[os.path.basename(path)] = os.path.relpath(path, build)
        if self.units and not found:
            raise BadCase("%s: no unit test %s in %s" % (self.name, self.units, build))
        return found

    def commands(self, build):
        """{step: words}"""
        return {**{name: [name] for name in sorted(self.unit_tests(build))}, **self.steps}

    def guest_lines(self, build):
        return ["\t".join([self.name, step] + words)
                for step, words in self.commands(build).items()]

    def faults(self, results, build):
        """What is wrong with the results {step: (status, stdout, stderr)}, as texts."""
        faults = []
        said = {step for key, step, _ in self.checks if key == "exits"}
        checks = [("exits", step, "0") for step in self.commands(build) if step not in said]
        checks += self.checks
        for key, step, expected in checks:
            if step not in results:
                faults.append("%s: no result" % step)
                continue
            fault = judge(key, expected, *results[step])
            if fault:
                faults.append("%s: %s" % (step, fault))
        return faults


def judge(key, expected, status, out, err):
    if key == "exits":
        if status != int(expected):
            return "status %d, expected %s: %s" % (status, expected, last_line(err or out))
    elif key == "prints":
        return None if expected in out else "stdout has no \"%s\"" % expected
    elif key == "says":
        return None if expected in err else "stderr has no \"%s\": %s" % (expected, last_line(err))
    else:
        done = subprocess.run(["jq", "-e", expected], input=out, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False)
        if done.returncode or done.stdout.strip() != "true":
            return "%s gives %s" % (expected, last_line(done.stderr or done.stdout) or "nothing")
    return None


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def load(names):
    files = sorted(f[:-5] for f in os.listdir(FOLDER) if f.endswith(".case"))
    unknown = [n for n in names if n not in files]
    if unknown:
        raise BadCase("no case %s; there are: %s" % (", ".join(unknown), ", ".join(files)))
    cases = []
    for name in names or files:
        with open(os.path.join(FOLDER, name + ".case"), encoding="utf-8") as f:
            cases.append(Case(name, f.read()))
    return cases


def parse_results(data):
    """{(case, step): (status, stdout, stderr)} and whether the guest came to the end."""
    results, at = {}, 0
    head = re.compile(rb"@@ (\S+)(?: (\S+) (\d+) (\d+) (\d+) (\d+))?\n")
    while True:
        match = head.match(data, at)
        if not match:
            return results, False
        if match.group(2) is None:
            return results, match.group(1) == b"end"
        at = match.end()
        sizes = int(match.group(5)), int(match.group(6))
        out, err = data[at:at + sizes[0]], data[at + sizes[0]:at + sum(sizes)]
        at += sum(sizes)
        if at > len(data):
            return results, False
        results[match.group(1).decode(), match.group(2).decode()] = (
            int(match.group(3)), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
