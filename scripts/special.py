#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The coefficients of include/tenure/math/sinc.hpp, bessel.hpp and incomplete_gamma.hpp, and the golden numbers of their tests.

    scripts/special.py [--check | --golden NAME]

It prints each polynomial with its relative error in the function, for double and float. With --check it fails where a header has another number.
--golden sinc prints tests/math/data_sinc.hpp, and so on: erfcx, bessel. Without mpmath it returns 77."""
import os, struct, sys

from gamma import interpolation, text  # returns 77 without mpmath
from mpmath import mp, mpf, pi, sqrt, exp, polyval, log

half = mpf(1) / 2


def sinc_slope(n, x):
    """The derivative of sinc of order n, as a series; divided by x for n = 1."""
    term, total, i = None, mpf(0), (n + 1) // 2
    while term is None or i < 30 or abs(term) > mpf(10) ** -(mp.dps + 5):
        term = (-1) ** i * pi ** (2 * i) * x ** (2 * i - n - n % 2) / mp.factorial(2 * i - n) / (2 * i + 1)
        total += term
        i += 1
    return total


def erfcx(x):
    if x < 20:
        return exp(x * x) * mp.erfc(x)
    fraction = x
    for n in range(400, 0, -1):
        fraction = x + n / mpf(2) / fraction
    return 1 / (sqrt(pi) * fraction)


def bessel(n, x):  # e^-x I_n(x)
    return mp.besseli(n, x) * exp(-x)


# name: the header, the function, where, the weight of its error, the terms for double and float
fits = {
    "sinc'(x) / x in x^2 - 1/2": ("sinc", lambda t: sinc_slope(1, sqrt(t + half)), -half, half, None, 11, 6),
    "sinc''(x) in x^2 - 1/2": ("sinc", lambda t: sinc_slope(2, sqrt(t + half)), -half, half, lambda t: mpf(1) / 2, 11, 7),
    "I_0(x) in x^2": ("bessel", lambda t: mp.besseli(0, sqrt(t)), 0, (mpf(144), mpf(64)), None, 20, 11),
    "I_1(x) / x in x^2": ("bessel", lambda t: mp.besseli(1, sqrt(t)) / sqrt(t), 0, (mpf(144), mpf(64)), None, 19, 10),
    "e^-x I_0(x) sqrt(x) in 1 / x": ("bessel", lambda t: bessel(0, 1 / t) * sqrt(1 / t), 0, (1 / mpf(12), 1 / mpf(8)), None, 19, 6),
    "e^-x I_1(x) sqrt(x) in 1 / x": ("bessel", lambda t: bessel(1, 1 / t) * sqrt(1 / t), 0, (1 / mpf(12), 1 / mpf(8)), None, 19, 6),
}


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def print_rows(name, title, columns, rows):
    print(f"// SPDX-License-Identifier: BSL-1.0\n// Written by scripts/special.py --golden {name}, with mpmath.\n#pragma once\n")
    print(f"// {title}")
    of, values = columns
    print(f"struct golden_{name} {{ double {of}; long double value[{values}]; }};\ninline constexpr golden_{name} of_{name}[] = {{")
    for arguments, results in rows:
        numbers = ", ".join(mp.nstr(v, 22, min_fixed=0, max_fixed=0) + "L" for v in results)
        print("    {" + ", ".join(float(a).hex() for a in arguments) + ", {" + numbers + "}},")
    print("};")


def golden_sinc():
    at = [k / 37 for k in range(1, 90)] + [2.0**-k for k in range(2, 60, 5)] + [k + 0.3 for k in range(3, 60, 7)] + [1 + s * 2.0**-20 for s in (1, -1)] + [0.0, 1e4 + 0.125, 123456.75]

    def row(x):
        if x == 0:
            return mpf(1), mpf(0), -pi * pi / 3
        with mp.workdps(80):  # the recurrence cancels near 0
            v = mp.sinpi(x) / (pi * x)
            d = (mp.cospi(x) - v) / x
            return v, d, -(pi * mp.sinpi(x) + 2 * d) / x

    print_rows("sinc", "sinc(x) and its first two derivatives.", ("x", 3), [((x,), row(mpf(x))) for x in sorted({single(v) for v in at})])


def golden_bessel():
    at = [k / 7 for k in range(0, 100)] + [14 + 1.7 * k for k in range(25)] + [1e3, 1e4, 3e5, 1e8, 1e15] + [2.0**-k for k in range(2, 40, 4)]
    at += [edge * (1 + s * 2.0**-20) for edge in (8, 12) for s in (1, -1)]

    def large(n, x):
        term = total = 1 / sqrt(2 * pi * x)
        for k in range(1, 60):
            term *= -(4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
            total += term
        return total

    print_rows("bessel", "e^-x I_0(x) and e^-x I_1(x).", ("x", 2), [((x,), [(large if x > 150 else bessel)(n, mpf(x)) for n in (0, 1)]) for x in sorted({single(v) for v in at})])


def golden_erfcx():
    at = [k / 9 for k in range(-80, 90)] + [10 + 1.7 * k for k in range(25)] + [1e3, 1e4, 3e5, 1e8, 1e15, 1e30] + [s * 2.0**-k for k in range(2, 40, 4) for s in (1, -1)]
    at += [edge * (1 + s * 2.0**-20) for edge in (2.1213203, 4.2426407) for s in (1, 0, -1)]
    print_rows("erfcx", "erfcx(x).", ("x", 1), [((x,), (erfcx(mpf(x)),)) for x in sorted({single(v) for v in at})])


def main():
    if "--golden" in sys.argv:
        return globals()["golden_" + sys.argv[sys.argv.index("--golden") + 1]]()
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "include", "tenure", "math")
    failed = False
    mp.dps = 70  # the powers of x^2 go up to 10^43
    for name, (header, f, low, end, weight, *terms) in fits.items():
        for count, digits in zip(terms, (53, 24)):
            high = end[digits == 24] if isinstance(end, tuple) else end
            c = interpolation(f, low, high, count)
            worst = max(abs((polyval(c[::-1], x) - f(x)) * (weight(x) if weight else 1 / f(x))) for x in (low + (high - low) * (k + half) / 100 for k in range(100)))
            numbers = [text(v, digits) for v in c]
            print(f"// {name}, {'double' if digits == 53 else 'float'}: 2^{float(log(worst, 2)):.1f}\n{{{', '.join(numbers)}}}")
            if "--check" in sys.argv:
                failed = failed or any(n not in open(f"{folder}/{header}.hpp").read() for n in numbers)
    if failed:
        print("the header has other numbers")
    sys.exit(failed)


if __name__ == "__main__":
    main()
