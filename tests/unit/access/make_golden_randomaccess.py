#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints golden_randomaccess.h: numbers of the RandomAccess stream, found another way.

One step is a linear map of 64 bits, written down as a 64 x 64 matrix over GF(2) from the rule
"shift left, add 7 where a bit went out"; n steps are the n-th power of that matrix, by repeated
products of matrices. The first thousand are also checked against stepping.

Usage: make_golden_randomaccess.py > golden_randomaccess.h
"""
MASK = (1 << 64) - 1
PERIOD = 1317624576693539401


def step(a):
    out = (a << 1) & MASK
    return out ^ 7 if a >> 63 else out


def apply(columns, v):
    out = 0
    for i in range(64):
        if v >> i & 1:
            out ^= columns[i]
    return out


def product(p, q):
    return [apply(p, column) for column in q]


def power(n):
    base = [step(1 << i) for i in range(64)]
    result = [1 << i for i in range(64)]
    while n:
        if n & 1:
            result = product(result, base)
        base = product(base, base)
        n >>= 1
    return result


def number(n):
    return apply(power(n % PERIOD), 1)


assert PERIOD * 7 == 2**63 - 1
assert apply(power(PERIOD), 1) == 1  # without the reduction that number() does
a = 1
for n in range(1000):
    assert number(n) == a
    a = step(a)

STEPS = [0, 1, 2, 62, 63, 64, 65, 127, 1000, 2**20 - 1, 2**20, 2**20 + 1, 2**29, 2**32, 2**40,
         2**40 + 2**20 + 1, 2**60 - 1, PERIOD - 1, PERIOD, PERIOD + 1, 2**62, 2**63 - 1, -1, -64,
         -2**40, -PERIOD, -2**63]
print("/* SPDX-License-Identifier: MIT */")
print("/* Made by make_golden_randomaccess.py, which says how. */")
print("/* clang-format off */")
print("static const struct {\n\tint64_t step;\n\tuint64_t number;\n} golden[] = {")
for n in STEPS:
    text = "INT64_MIN" if n == -2**63 else "INT64_C(%d)" % n
    print("\t{ %s, UINT64_C(0x%016x) }," % (text, number(n)))
print("};\n/* clang-format on */")
