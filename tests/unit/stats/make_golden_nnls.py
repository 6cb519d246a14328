#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden_nnls.h: expected values of scipy for fixed inputs, which R has not. By hand only."""
import numpy
import scipy
from scipy.optimize import nnls


def row(values):
    return "{ " + ", ".join(repr(float(v)) for v in values) + " }"


random = numpy.random.RandomState(20050101)
print("/* SPDX-License-Identifier: MIT */")
print("/*")
print(" * Expected values for test_fits.c, written by make_golden_nnls.py with numpy %s and scipy %s."
      % (numpy.__version__, scipy.__version__))
print(" */")
print("#ifndef PAGETOLL_TESTS_GOLDEN_NNLS_H")
print("#define PAGETOLL_TESTS_GOLDEN_NNLS_H\n")
print("#include <stddef.h>\n")

# The draws that the quantiles had, so that the matrices stay what they were.
for n in (1, 2, 3, 4, 5, 7, 10, 33, 40):
    random.lognormal(1, 1, n)

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
