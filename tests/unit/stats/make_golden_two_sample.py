#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden_two_sample.h: expected values of scipy, and of counting all divisions. By hand."""
import functools
import itertools
import math

import numpy
import scipy
from scipy import stats

random = numpy.random.RandomState(19470301)


def row(values):
    return "{ " + ", ".join(repr(float(v)) for v in values) + " }"


def permutation_p(a, b):
    """Share of all divisions whose midrank sum is at least as far from its mean, counted one by one."""
    ranks = [round(2 * r) for r in stats.rankdata(list(a) + list(b))]
    n, k = len(ranks), len(a)
    mean = k * (n + 1)
    seen = abs(sum(ranks[:k]) - mean)
    sums = [abs(sum(c) - mean) for c in itertools.combinations(ranks, k)]
    return sum(s >= seen for s in sums) / len(sums)


@functools.lru_cache(None)
def orders(u, n, m):
    """How many orders of n and m values have the statistic u (Mann and Whitney's recurrence)."""
    if u < 0 or u > n * m:
        return 0
    if n == 0 or m == 0:
        return 1 if u == 0 else 0
    return orders(u - m, n - 1, m) + orders(u, n, m - 1)


def interval_rank(n, m, level):
    """Largest k with P(U <= k - 1) <= (1 - level) / 2; 0: none."""
    k, below = 0, 0
    total = math.comb(n + m, n)
    while True:
        below += orders(k, n, m)
        if below / total > (1 - level) / 2 * (1 + 1e-12):
            return k
        k += 1


def odds_interval(a, b, level):
    """Clopper and Pearson's limits of the odds of b, which is the smaller one, by the beta law."""
    tail = (1 - level) / 2
    low = stats.beta.ppf(tail, b, a + 1) if b else 0.0
    high = stats.beta.isf(tail, b + 1, a)
    return [low / (1 - low), high / (1 - high)]


print("/* SPDX-License-Identifier: MIT */")
print("/*")
print(" * Expected values for test_two_sample.c, written by make_golden_two_sample.py with scipy %s."
      % scipy.__version__)
print(" */")
print("#ifndef PAGETOLL_TESTS_GOLDEN_TWO_SAMPLE_H")
print("#define PAGETOLL_TESTS_GOLDEN_TWO_SAMPLE_H\n")
print("#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n")

print("/* source: 'x' scipy exact, 't' counted with ties, 'n' scipy normal approximation */")
print("struct golden_rank_test {\n\tchar source;\n\tsize_t n_a, n_b;\n\tdouble a[60], b[60];\n"
      "\tdouble p;\n};")
print("static const struct golden_rank_test golden_rank_tests[] = {")
for n, m, shift in ((1, 1, 0), (2, 3, .5), (4, 4, 3), (5, 5, 1), (6, 9, .3), (10, 10, .8), (20, 15, .4),
                    (8, 24, .6), (50, 50, .2)):
    a, b = numpy.round(random.normal(0, 1, n), 6), numpy.round(random.normal(shift, 1, m), 6)
    p = stats.mannwhitneyu(a, b, alternative="two-sided", method="exact").pvalue
    print("\t{ 'x', %d, %d, %s, %s, %r }," % (n, m, row(a), row(b), float(p)))
for n, m, shift, step in ((3, 3, 1, 1), (5, 5, 1, 1), (4, 9, 1, 2), (8, 8, .7, 1), (10, 6, 0, 3),
                          (2, 12, 1, 2), (9, 9, 1, .5)):
    a = numpy.round(random.normal(0, 1, n) / step) * step
    b = numpy.round(random.normal(shift, 1, m) / step) * step
    print("\t{ 't', %d, %d, %s, %s, %r }," % (n, m, row(a), row(b), permutation_p(a, b)))
for n, m, shift, digits in ((55, 50, .3, 6), (60, 60, .2, 0), (60, 45, .5, 1)):
    a, b = numpy.round(random.normal(0, 1, n), digits), numpy.round(random.normal(shift, 1, m), digits)
    p = stats.mannwhitneyu(a, b, alternative="two-sided", method="asymptotic").pvalue
    print("\t{ 'n', %d, %d, %s, %s, %r }," % (n, m, row(a), row(b), float(p)))
print("};\n")

print("struct golden_shift {\n\tsize_t n_a, n_b;\n\tdouble level, a[24], b[24];\n"
      "\tdouble difference, low, high, ratio, ratio_low, ratio_high;\n};")
print("static const struct golden_shift golden_shifts[] = {")
for n, m, level in ((3, 3, .95), (4, 4, .95), (5, 5, .95), (5, 5, .99), (6, 10, .95), (10, 10, .9),
                    (15, 24, .95), (2, 20, .95)):
    a, b = numpy.round(random.lognormal(1, .2, n), 4), numpy.round(random.lognormal(1.1, .2, m), 4)
    k = interval_rank(n, m, level)
    out = []
    for d in (b[:, None] - a[None, :], numpy.log(b)[:, None] - numpy.log(a)[None, :]):
        d = numpy.sort(d.ravel())
        out.append([numpy.median(d), d[k - 1] if k else None, d[n * m - k] if k else None])
    cells = out[0] + [None if v is None else math.exp(v) for v in out[1]]
    print("\t{ %d, %d, %r, %s, %s, %s }," % (n, m, level, row(a), row(b), ", ".join(
        "NAN" if v is None else repr(float(v)) for v in cells)))
print("};\n")

print("struct golden_rate {\n\tint64_t a, b;\n\tdouble exposure_a, exposure_b, level, low, high, p;\n};")
print("static const struct golden_rate golden_rates[] = {")
for a, ea, b, eb, level in ((10, 100, 20, 100, .95), (3, 1000, 0, 500, .95), (0, 5, 7, 5, .95),
                            (1, 1, 1, 1, .95), (120, 3, 90, 2, .99), (5000, 1e6, 5300, 1e6, .95),
                            (2, 1e9, 900000, 1e9, .95), (100000, 7, 100000, 7, .9),
                            (400, 1e-3, 3, 1e-3, .95), (999999, 1, 1000500, 1, .95)):
    ci = odds_interval(a, b, level) if a > b else [1 / v if v else math.inf for v in
                                                  odds_interval(b, a, level)[::-1]]
    share = eb / (ea + eb)
    p = min(1, 2 * min(stats.binom.cdf(b, a + b, share), stats.binom.sf(b - 1, a + b, share)))
    low, high = ["INFINITY" if math.isinf(v) else repr(float(v * ea / eb)) for v in ci]
    print("\t{ %d, %d, %r, %r, %r, %s, %s, %r }," % (a, b, float(ea), float(eb), level, low, high,
                                                   float(p)))
print("};\n")

print("struct golden_adjust {\n\tsize_t n;\n\tdouble p[12], holm[12], bh[12];\n};")
print("static const struct golden_adjust golden_adjusts[] = {")
for n in (1, 2, 5, 12):
    p = numpy.round(random.uniform(0, .2, n), 4)
    if n == 12:
        p[3], p[7] = p[0], 1.0
    order = numpy.argsort(p, kind="stable")
    holm = numpy.empty(n)
    holm[order] = numpy.minimum(1, numpy.maximum.accumulate((n - numpy.arange(n)) * p[order]))
    bh = [min(1, min(n / sum(p <= q) * q for q in p if q >= one)) for one in p]
    print("\t{ %d, %s, %s, %s }," % (n, row(p), row(holm), row(bh)))
print("};\n")

print("struct golden_normal {\n\tdouble p, quantile;\n};")
print("static const struct golden_normal golden_normals[] = {")
for p in (1e-300, 1e-10, .001, .025, .3, .5, .9, .975, .9999):
    print("\t{ %r, %r }," % (p, float(stats.norm.ppf(p))))
print("};\n")
print("#endif")
