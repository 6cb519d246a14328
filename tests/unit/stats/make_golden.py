#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden_stats.h: expected values of numpy and scipy for fixed inputs. Run by hand only."""
import numpy
import scipy
from scipy.optimize import nnls
from scipy.stats import binom, median_abs_deviation


def row(values):
    return "{ " + ", ".join(repr(float(v)) for v in values) + " }"


random = numpy.random.RandomState(20050101)
print("/* SPDX-License-Identifier: MIT */")
print("/*")
print(" * Expected values for test_*.c, written by make_golden.py with numpy %s and scipy %s."
      % (numpy.__version__, scipy.__version__))
print(" */")
print("#ifndef PAGETOLL_TESTS_GOLDEN_STATS_H")
print("#define PAGETOLL_TESTS_GOLDEN_STATS_H\n")
print("#include <stddef.h>\n")

print("struct golden_quantile {\n\tsize_t n;\n\tdouble x[40];\n"
      "\tdouble q0, q05, q25, q50, q90, q100, mad;\n};")
print("static const struct golden_quantile golden_quantiles[] = {")
for n in (1, 2, 3, 4, 5, 7, 10, 33, 40):
    x = numpy.round(random.lognormal(1, 1, n), 3)
    if n == 10:
        x[3:7] = x[3]  # ties
    q = [numpy.quantile(x, p) for p in (0, .05, .25, .5, .9, 1)]
    mad = 1.4826 * median_abs_deviation(x)
    print("\t{ %d, %s, %s }," % (n, row(x), ", ".join(repr(float(v)) for v in q + [mad])))
print("};\n")

print("/* rank: the lower end of the interval is the rank-th smallest value; 0: none. */")
print("struct golden_rank {\n\tsize_t n;\n\tdouble level;\n\tsize_t rank;\n\tdouble coverage;\n};")
print("static const struct golden_rank golden_ranks[] = {")
for level in (.5, .9, .95, .99):
    for n in (1, 2, 5, 6, 7, 8, 9, 10, 16, 17, 30, 100, 999, 3000):
        best, cover = 0, 0.0
        for k in range(1, n // 2 + 1):
            c = 1 - 2 * binom.cdf(k - 1, n, .5)
            if c >= level:
                best, cover = k, c
        print("\t{ %d, %r, %d, %r }," % (n, level, best, float(cover)))
print("};\n")

print("struct golden_nnls {\n\tsize_t rows, cols;\n\tdouble a[72], b[12], x[6], residual;\n};")
print("static const struct golden_nnls golden_nnls[] = {")
for rows, cols, kind in ((3, 1, "plain"), (4, 2, "plain"), (6, 3, "plain"), (12, 6, "plain"),
                         (12, 6, "scaled"), (12, 6, "negative"), (4, 6, "wide"),
                         (12, 4, "hinges"), (12, 6, "near")):
    a = random.normal(size=(rows, cols))
    b = random.normal(size=rows)
    if kind == "scaled":
        a *= 10.0 ** numpy.arange(-3, 3)
    if kind == "negative":
        a, b = abs(a), -abs(b)
    if kind == "hinges":
        x = 4.0 * 2 ** numpy.arange(rows)
        a = numpy.array([[1] + [max(0, 1 - c / v) for c in (30, 64, 900)] for v in x])
        b = a @ [4, 0, 7, 30] * numpy.exp(.02 * random.normal(size=rows))
    if kind == "near":
        a[:, 5] = a[:, 4] + 1e-4 * a[:, 5]
        b = a @ [1, 2, 0, 0, 1, 1] + 1e-3 * b
    a = numpy.round(a, 9)
    b = numpy.round(b, 9)
    x, residual = nnls(a, b)
    print("\t{ %d, %d, %s, %s, %s, %r }," % (rows, cols, row(a.ravel()), row(b), row(x),
                                            float(residual)))
print("};\n")
print("#endif")
