#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The coefficients of include/tenure/math/sinc.hpp, bessel.hpp and incomplete_gamma.hpp, and the golden numbers of their tests.

    scripts/special.py [--check | --golden NAME]

It prints each polynomial with its relative error in the function, for double and float. With --check it fails where a header has another number.
--golden sinc prints tests/math/data_sinc.hpp, and so on: erfcx, bessel, gamma_ratio, beta_ratio. Without mpmath it returns 77."""
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


def stirling(a):
    return mp.loggamma(a).real - (a - half) * log(a) + a - log(2 * pi) / 2


# name: the header, the function, where, the weight of its error, the terms for double and float
fits = {
    "sinc'(x) / x in x^2 - 1/2": ("sinc", lambda t: sinc_slope(1, sqrt(t + half)), -half, half, None, 11, 6),
    "sinc''(x) in x^2 - 1/2": ("sinc", lambda t: sinc_slope(2, sqrt(t + half)), -half, half, lambda t: mpf(1) / 2, 11, 7),
    "I_0(x) in x^2": ("bessel", lambda t: mp.besseli(0, sqrt(t)), 0, (mpf(144), mpf(64)), None, 20, 11),
    "I_1(x) / x in x^2": ("bessel", lambda t: mp.besseli(1, sqrt(t)) / sqrt(t), 0, (mpf(144), mpf(64)), None, 19, 10),
    "e^-x I_0(x) sqrt(x) in 1 / x": ("bessel", lambda t: bessel(0, 1 / t) * sqrt(1 / t), 0, (1 / mpf(12), 1 / mpf(8)), None, 19, 6),
    "e^-x I_1(x) sqrt(x) in 1 / x": ("bessel", lambda t: bessel(1, 1 / t) * sqrt(1 / t), 0, (1 / mpf(12), 1 / mpf(8)), None, 19, 6),
    "the rest of Stirling's series in 1 / a^2": ("deviance", lambda u: stirling(1 / sqrt(u)) / sqrt(u), 0, 1 / mpf(25), sqrt, 8, 3),
    "1 / gamma(1 + a) in a - 1/2": ("incomplete_gamma", lambda t: mp.rgamma(t + mpf(3) / 2), -half, half, None, 16, 9),
    "lgamma(1 + a) / a in a - 1/2": ("incomplete_gamma", lambda t: mp.loggamma(t + mpf(3) / 2).real / (t + half) if abs(t + half) > 1e-30 else mp.psi(0, 1), -half, half, lambda t: mpf(1), 22, 10),
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


def uniform_rows(rows=14, terms=40):
    """Temme's expansion of the incomplete gamma functions: c_k(eta) for eta^2 / 2 = mu - log(1 + mu), where c_0 = 1 / mu - 1 / eta, and
    c_k = (d c_(k-1) / d eta) / eta + (-1)^k g_k / mu with the coefficients g_k of Stirling's series for the gamma function."""
    order = terms + 2 * rows + 6
    mu = [mpf(0), mpf(1)]  # from mu mu' = eta (1 + mu)
    for k in range(2, order + 3):
        mu.append((mu[k - 1] - sum(mu[i] * (k + 1 - i) * mu[k + 1 - i] for i in range(2, k))) / (k + 1))
    inverse = [mpf(1)]  # of mu, from the power -1 on
    for k in range(1, order + 2):
        inverse.append(-sum(mu[i + 1] * inverse[k - i] for i in range(1, k + 1)))
    logarithm = [mpf(0) if k % 2 == 0 else mp.bernoulli(k + 1) / (k * (k + 1)) for k in range(rows + 2)]
    g = [mpf(1)]
    for n in range(1, rows + 1):
        g.append(sum(j * logarithm[j] * g[n - j] for j in range(1, n + 1)) / n)
    c = [inverse[1 : order + 1]]
    for k in range(1, rows + 1):
        d = [(n + 1) * v for n, v in enumerate(c[-1][1:])]
        c.append([d[n + 1] + (-1) ** k * g[k] * inverse[n + 1] for n in range(len(d) - 2)])
    return c


def print_uniform():
    """The rows of gamma_uniform.hpp: what is above 2^-55 (float: 2^-26) for 1 / a up to 1/40 (float: 1/20) and |eta| up to 0.6 (float: 1)."""
    texts = []
    for digits, least, bound, least_a in ((53, mpf(2) ** -55, mpf("0.6"), 40), (24, mpf(2) ** -26, mpf(1), 20)):
        for k, row in enumerate(uniform_rows()):
            count = max([n for n, v in enumerate(row[:40]) if abs(v) * bound**n / mpf(least_a) ** k > least] + [-1]) + 1
            if count:
                texts.append([text(v, digits) for v in row[:count]])
                print(f"// c_{k}(eta), {'double' if digits == 53 else 'float'}\n{{{', '.join(texts[-1])}}}")
    return texts


def gamma_numbers(a, x):
    """P, Q and the derivatives of P by a and by x, from the series with as many digits as Q loses."""
    a, x = mpf(a), mpf(x)
    exponent = max(0, float(x - a - a * log(x / a)))
    with mp.workdps(50 + int(exponent / 2.3) + 2 * int(max(0, -log(a, 10)))):
        term, slope, n = mpf(1), mpf(0), 0
        total, slopes = term, slope
        while n < 20 or abs(term) > total * mpf(10) ** -(mp.dps + 3) or abs(slope) > abs(slopes) * mpf(10) ** -(mp.dps + 3):
            n += 1
            r = x / (a + n)
            slope = r * (slope - term / (a + n))
            term *= r
            total += term
            slopes += slope
        scale = exp(a * log(x) - x - mp.loggamma(a + 1).real)
        p = scale * total
        return p, 1 - p, p * (log(x) - mp.psi(0, a + 1)) + scale * slopes, scale * a / x


def golden_gamma_ratio():
    rows = set()
    for a in [1e-20, 1e-6, 0.01, 0.1, 0.3, 0.5, 0.75, 1, 1.25, 2, 3, 4.5, 4.99, 5.01, 7, 10, 13, 17, 19.5, 20.5, 23, 30, 36, 39.5, 40.5, 50, 100, 300, 1000, 1e4, 1e5]:
        for k in (0.001, 0.1, 0.3, 0.5, 0.52, 0.54, 0.58, 0.62, 0.7, 0.8, 0.9, 0.95, 0.99, 1, 1.01, 1.05, 1.1, 1.2, 1.3, 1.38, 1.42, 1.6, 1.74, 1.78, 2, 3, 10):
            rows.add((single(a), single(a * k)))
        for k in (-30, -8, -4, -2, -1, -0.1, 0, 0.1, 1, 2, 4, 8, 30):
            if a + k * a**0.5 > 0 and a >= 1:
                rows.add((single(a), single(a + k * a**0.5)))
        for x in (1e-30, 1e-8, 0.01, 0.2, 0.7, 0.99, 1.01, 1.4, 1.6, 2, 3, 5, 7.9, 8.1, 15, 40, 100):
            rows.add((single(a), single(x)))
    rows |= {(a * 1.0009765123456789, x * 1.123456789) for a, x in sorted(rows)[::5]}  # of doubles only
    rows = [(a, x) for a, x in sorted(rows) if x - a - a * float(log(mpf(x) / a)) < 740]
    print_rows("gamma_ratio", "P(a, x), Q(a, x) and the derivatives of P by a and by x.", ("a, x", 4), [(r, gamma_numbers(*r)) for r in rows[::3]])


def beta_numbers(a, b, x):
    """I_x(a, b) and its derivatives by a, b and x: the series x^a y^b / (a B(a, b)) (1 + (a + b) x / (a + 1) + ...), whose terms are positive, of x or of y."""
    swaps = x > (a + 1) / (a + b + 2)
    rough = a * float(log(x)) + b * float(mp.log1p(-x)) + float(mp.loggamma(a + b).real - mp.loggamma(a).real - mp.loggamma(b).real)
    with mp.workdps(40 + (max(0, int(-rough / 2.3)) if swaps else 0)):  # the digits that 1 - I loses
        a, b, x = mpf(a), mpf(b), mpf(x)
        y = 1 - x
        if swaps:
            a, b, x, y = b, a, y, x
        s = a + b
        term, by_a, by_b, n = mpf(1), mpf(0), mpf(0), 0
        sums = [term, by_a, by_b]
        while n < 20 or term > sums[0] * mpf(10) ** -(mp.dps - 5) or abs(by_a) + abs(by_b) > (abs(sums[1]) + abs(sums[2])) * mpf(10) ** -(mp.dps - 5):
            r = (s + n) / (a + n + 1) * x
            by_a = r * (by_a + term * (1 / (s + n) - 1 / (a + n + 1)))
            by_b = r * (by_b + term / (s + n))
            term *= r
            n += 1
            if n > 6000:
                return None
            sums = [sums[0] + term, sums[1] + by_a, sums[2] + by_b]
        h = exp(a * log(x) + b * log(y) + mp.loggamma(s).real - mp.loggamma(a).real - mp.loggamma(b).real) / a
        v = h * sums[0]
        va = v * (log(x) - mp.psi(0, a + 1) + mp.psi(0, s)) + h * sums[1]
        vb = v * (log(y) - mp.psi(0, b) + mp.psi(0, s)) + h * sums[2]
        density = h * a / x / y
        return (1 - v, -vb, -va, density) if swaps else (v, va, vb, density)


def golden_beta_ratio():
    import random

    random.seed(5)
    rows = []
    shapes = [0.01, 0.25, 0.5, 1, 1.5, 3, 4.99, 5.01, 8, 20, 57, 300, 1000]
    for a in shapes:
        for b in shapes:
            if a + b > 1200 and a != b:
                continue
            mean, width = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
            for x in (mean, mean * 0.5, mean + width * random.gauss(0, 2), mean + width * random.gauss(0, 5), random.random()):
                x = single(x) if len(rows) % 3 else x
                if 1e-30 < x < 1 - 1e-6:
                    rows.append((single(a), single(b), x))
    numbers = [(r, beta_numbers(*r)) for r in rows]
    print_rows("beta_ratio", "I_x(a, b) and its derivatives by a, b and x.", ("a, b, x", 4), [(r, v) for r, v in numbers if v and v[0] > 1e-290])


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
                if header == "deviance" and digits == 53:  # lbeta has them too
                    failed = failed or any(n not in open(f"{folder}/../ops/log_density.hpp").read() for n in numbers)
    numbers = [n for row in print_uniform() for n in row]
    if "--check" in sys.argv:
        failed = failed or any(n not in open(f"{folder}/gamma_uniform.hpp").read() for n in numbers)
    if failed:
        print("the header has other numbers")
    sys.exit(failed)


if __name__ == "__main__":
    main()
