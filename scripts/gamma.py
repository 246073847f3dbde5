#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The coefficients of include/tenure/math/gamma.hpp, digamma_pieces.hpp, digamma_rows.hpp, normal_tail.hpp and normal_inverse.hpp: interpolation at Chebyshev's points with 40 digits.

    scripts/gamma.py [--check | --golden | --golden-normal | --golden-inverse]

It prints each polynomial with its relative error in the function, for double and float. With --check it fails where the header has another number.
--golden prints tests/math/data_gamma.hpp, --golden-normal data_normal_tail.hpp, --golden-inverse
data_normal_inverse.hpp. The errors of more arguments: scripts/accuracy.py lgamma digamma. Without mpmath it returns 77."""
import os, re, struct, sys

try:
    from mpmath import mp, mpf, matrix, lu_solve, log, pi, sin, cos, sqrt, loggamma, psi, findroot, polyval
except ImportError:
    print("no mpmath")
    sys.exit(77)
mp.dps = 40
half = mpf(1) / 2
root = findroot(lambda x: psi(0, x), mpf("1.4616"))


def of_large(f):  # as a function of u = 1 / x^2
    return lambda u: f(1 / sqrt(u), u)


def sine(z):
    r = sqrt(z)
    return sin(pi * r) / (pi * r)


def slope(t):  # of digamma from its root, times x
    return (t + 1.5) * (psi(0, t + 1.5) / (t + 1.5 - root) if abs(t + 1.5 - root) > 1e-15 else psi(1, root))


def by_root(v):  # erfinv(x) v for v = 1 / sqrt(w)
    return inverse(v**-2) * sqrt(-mp.expm1(-(v**-2))) * v


def mills(a, _):  # a (phi(a) / Phi(-a) - a)
    fraction = mpf(0)
    for n in range(400, 0, -1):
        fraction = n / (a + fraction)
    return a * fraction


def inverse(w):  # erfinv(x) / x for w = -log(1 - x^2)
    d = mp.exp(-w)
    x = sqrt(-mp.expm1(-w))
    if w < 3:
        return mp.erfinv(x) / x if w > 1e-20 else sqrt(pi) / 2
    q, y = d / (1 + x), sqrt(w - log(sqrt(pi * w)))
    for _ in range(60):
        step = log(mp.erfc(y) / q) * mp.erfc(y) * sqrt(pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < mpf(10) ** -32:
            break
    return y / x


# name: the function, where, the weight of its error, the terms for double and float
fits = {
    "lgamma(2 + t) / t": (lambda t: loggamma(2 + t).real / t if abs(t) > 1e-15 else psi(0, mpf(2)), mpf(-23) / 32, mpf(9) / 32, None, 20, 10),
    "lgamma, Stirling": (of_large(lambda x, u: x * (loggamma(x) - (x - half) * (log(x) - 1) - half * log(2 * pi) + half)), 0, 1 / mpf(4.28125) ** 2,
                         of_large(lambda x, u: 1 / x / loggamma(x)), 9, 3),
    "x digamma(x) / (x - root) in x - 1.5": (slope, -half, half, None, 18, 9),
    "digamma, Stirling": (of_large(lambda x, u: (log(x) - 1 / x / 2 - psi(0, x)) / u), 0, 1 / mpf(16), of_large(lambda x, u: u / psi(0, x)), 10, 4),
    "digamma, Stirling, from 32 on": (of_large(lambda x, u: (log(x) - 1 / x / 2 - psi(0, x)) / u), 0, 1 / mpf(1024), of_large(lambda x, u: u / psi(0, x)), 4),
    "trigamma, Stirling": (of_large(lambda x, u: (psi(1, x) - 1 / x - u / 2) * x / u), 0, 1 / mpf(25), of_large(lambda x, u: u / x / psi(1, x)), 10, 4),
    "polygamma<2>, Stirling": (of_large(lambda x, u: (-psi(2, x) - u - u / x) / u**2), 0, 1 / mpf(25), of_large(lambda x, u: -u * u / psi(2, x)), 11, 4),
    "sin(pi r) / (pi r) in r^2": (sine, 0, mpf(0.25), None, 9, 5),
    "pi r cot(pi r) in r^2": (lambda z: cos(pi * sqrt(z)) / sine(z), 0, mpf(0.25), lambda z: mpf(1), 17, 8),
    "the tail of the normal distribution": (of_large(mills), 0, (1 / mpf(36), 1 / mpf(9)), None, 16, 10),
    "erfinv(x) / x in w - 2.25": (lambda t: inverse(t + mpf(2.25)), mpf(-2.25), mpf(2.25), None, 21, 10),
    "erfinv / s in 1 / s - 0.3125, a guess": (lambda t: by_root(t + mpf(0.3125)), mpf(-0.15), mpf(0.16), None, 9, 9),
    "erfinv / s in 1 / s - 0.1, a guess": (lambda t: by_root(t + mpf(0.1)), mpf(-0.064), mpf(0.0667), None, 8, 8),
}


def interpolation(f, low, high, count):
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    a, b = matrix(count, count), matrix(count, 1)
    for i, x in enumerate(points):
        b[i] = f(x)
        for k in range(count):
            a[i, k] = x**k
    return list(lu_solve(a, b))


def digamma_pieces(terms=15):
    """digamma on [1, 32) in 16 pieces: their centres, one of which is next to the root, and the coefficients of equal powers."""
    edges = [mpf(2) ** int(v) * (1 + v - int(v)) for v in (mpf(5) * i / 16 for i in range(17))]
    columns = []
    for low, high in zip(edges, edges[1:]):
        centre = mpf(float(root)) if low < root < high else (low + high) / 2
        value = [psi(0, centre)] if low < root < high else []
        f = (lambda d: (psi(0, centre + d) - value[0]) / d if d else psi(1, centre)) if value else (lambda d: psi(0, centre + d))
        columns.append([centre] + value + interpolation(f, low - centre, high - centre, terms - len(value)))
    return [[text(v, 53) for v in row] for row in zip(*columns)]


def digamma_rows(terms=8):
    """digamma on [1, 32) in 32 pieces of each octave, those beside the root about it."""
    rows = []
    for piece in range(160):
        octave, part = divmod(piece, 32)
        low, width = mpf(2) ** octave * (1 + mpf(part) / 32), mpf(2) ** octave / 32
        centre, value = (mpf(float(root)), [psi(0, mpf(float(root)))]) if part // 2 == 7 and octave == 0 else (low + width / 2, [])
        f = (lambda d: (psi(0, centre + d) - value[0]) / d) if value else (lambda d: psi(0, centre + d))
        rows.append([text(v, 53) for v in value + interpolation(f, low - centre, low + width - centre, terms - len(value))])
    return rows


def text(c, digits):
    if digits == 53:
        return float(c).hex()
    return re.sub(r"\.?0+p", "p", struct.unpack("f", struct.pack("f", float(c)))[0].hex()) + "f"


def reflected(n, x):  # polygamma
    if x > 0:
        return psi(n, x)
    c, s = pi * cos(pi * x) / sin(pi * x), pi / sin(pi * x)
    return (psi(0, 1 - x) - c, s * s - psi(1, 1 - x), psi(2, 1 - x) - 2 * c * s * s)[n]


def log_gamma(x):
    return loggamma(x).real if x > 0 else log(pi / abs(x * sin(pi * x))) - log_gamma(-x)


def print_golden():
    """Arguments that are floats, and the four functions."""
    single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    at = [k / 16 + 0.0371 for k in range(100)] + [k * 2.37 + 6.5 for k in range(30)] + [10.0**k for k in range(3, 19)] + [2.0**-k for k in range(2, 60, 3)]
    for edge in (1, 1.2812500, 1.3125, 1.4616321, 1.625, 1.9375, 2, 2.28125, 2.5, 3, 3.28125, 4, 4.28125, 5, 9, 32):
        at += [edge] + [edge * (1 + s * 2.0**-k) for k in (5, 11, 17, 22) for s in (1, -1)]
    at += [-(k / 8 + 0.0371) for k in range(70)] + [-k - s * 2.0**-10 for k in range(1, 12) for s in (1, -1)]
    print("// SPDX-License-Identifier: BSL-1.0\n// Written by scripts/gamma.py --golden, with mpmath.\n#pragma once\n")
    print("// The functions lgamma, digamma, trigamma and tetragamma of x.")
    print("struct golden_gamma { double x; long double value[4]; };\ninline constexpr golden_gamma of_gamma[] = {")
    for x in sorted({single(v) for v in at}):
        x = mpf(x)
        values = [log_gamma(x)] + [reflected(n, x) for n in range(3)]
        number = lambda v: mp.nstr(v, 22, min_fixed=0, max_fixed=0) + "L"
        print(f"    {{{float(x).hex()}, {{{', '.join(map(number, values))}}}}},")
    print("};")


def print_golden_normal():
    single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    at = [k / 9 for k in range(-70, 60)] + [-9.0 - 1.7 * k for k in range(25)] + [-1e3, -1e4, -3e5, -1e8, -1e15] + [s * 2.0**-k for k in range(2, 40, 4) for s in (1, -1)]
    at += [edge * (1 + s * 2.0**-20) for edge in (-3, -6) for s in (1, 0, -1)] + [7.5, 9.0]
    print("// SPDX-License-Identifier: BSL-1.0\n// Written by scripts/gamma.py --golden-normal, with mpmath.\n#pragma once\n")
    print("// log Phi(x), phi(x) / Phi(x) and x + phi(x) / Phi(x).")
    print("struct golden_normal { double x; long double value[3]; };\ninline constexpr golden_normal of_normal[] = {")
    for x in map(mpf, sorted({single(v) for v in at})):
        if x < -5:
            e = mills(-x, 0) / -x
            values = -x * x / 2 - log((e - x) * sqrt(2 * pi)), e - x, e
        else:
            tail = mp.erfc(abs(x) / sqrt(2)) / 2
            r = mp.npdf(x) / (tail if x < 0 else 1 - tail)
            values = log(tail) if x < 0 else mp.log1p(-tail), r, x + r
        print(f"    {{{float(x).hex()}, {{{', '.join(mp.nstr(v, 22, min_fixed=0, max_fixed=0) + 'L' for v in values)}}}}},")
    print("};")


def print_golden_inverse():
    single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    at = [k / 61 for k in range(1, 61)] + [2.0**-k for k in range(1, 126, 4)] + [1 - 2.0**-k for k in range(2, 25)] + [0.0027, 0.0028, 0.99721, 0.99443, 0.9945]
    at += [0.5 * (1 + s * 2.0**-k) for k in (5, 11, 17, 23) for s in (1, -1)]
    print("// SPDX-License-Identifier: BSL-1.0\n// Written by scripts/gamma.py --golden-inverse, with mpmath.\n#pragma once\n")
    print("// erfinv(x), and z for Phi(z) = x.")
    print("struct golden_inverse { double x; long double value[2]; };\ninline constexpr golden_inverse of_inverse[] = {")
    for x in map(mpf, sorted({single(v) for v in at})):
        y = x * inverse(-log((1 - x) * (1 + x)))
        z = sqrt(mpf(2)) * (2 * x - 1) * (inverse(-log(4 * x * (1 - x))) if x != half else 0)
        print(f"    {{{float(x).hex()}, {{{', '.join(mp.nstr(v, 22, min_fixed=0, max_fixed=0) + 'L' for v in (y, z))}}}}},")
    print("};")


def main():
    if "--golden-inverse" in sys.argv:
        return print_golden_inverse()
    if "--golden-normal" in sys.argv:
        return print_golden_normal()
    if "--golden" in sys.argv:
        return print_golden()
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "include", "tenure", "math")
    header = "".join(open(f"{folder}/{name}.hpp").read() for name in ("gamma", "digamma_pieces", "digamma_rows", "normal_tail", "normal_inverse")) if "--check" in sys.argv else ""
    failed = False
    for name, (f, low, end, weight, *terms) in fits.items():
        for count, digits in zip(terms, (53, 24)):
            high = end[digits == 24] if isinstance(end, tuple) else end
            c = interpolation(f, low, high, count)
            worst = max(abs((polyval(c[::-1], x) - f(x)) * (weight(x) if weight else 1 / f(x)))
                        for x in (low + (high - low) * (k + half) / 100 for k in range(100)))
            numbers = [text(v, digits) for v in c]
            print(f"// {name}, {'double' if digits == 53 else 'float'}: 2^{float(log(worst, 2)):.1f}\n{{{', '.join(numbers)}}}")
            if header:
                failed = failed or any(n not in header for n in numbers)
    with mp.workdps(60):
        rows, table = digamma_pieces(), digamma_rows()
    print("// digamma on [1, 32), double\n" + "\n".join("{" + ", ".join(row) + "}," for row in rows))
    print("// the same in 160 pieces\n" + "\n".join("{" + ", ".join(row) + "}," for row in table))
    if header:
        failed = failed or any(n not in header for row in rows + table for n in row)
    high = float(1.5 - root)
    print("1.5 - root:", high.hex(), float(1.5 - root - high).hex())
    single = struct.unpack("f", struct.pack("f", high))[0]
    print("float:", text(single, 24), text(1.5 - root - mpf(single), 24))
    print("log(2 pi) / 2 - 1 / 2:", float(log(2 * pi) / 2 - half).hex())
    if failed:
        print("the header has other numbers")
    sys.exit(failed)


if __name__ == "__main__":
    main()
