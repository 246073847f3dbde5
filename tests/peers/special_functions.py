#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Special functions: values and gradients judged by mpmath with forty digits, values by SciPy too, which must not be better than Tenure where they differ.

    special_functions.py [--seed N] [--only NAME,...] [--compiler C++] [--include DIR]... [--flags=...] [--keep DIR]

The arguments are random over many powers of ten, with the edges of the domain, both tails and NaN. A value must lie within `ulp` units of the last place,
where chapter 12 lists what was measured; a derivative within `slope` units of itself or of what its formula adds up, which docs/math.md says.
"""
import calls
from calls import case, np

calls.needed("scipy", "mpmath")
import mpmath
import scipy.special as sp
from mpmath import mp, mpf

mp.dps = 40
random = np.random.default_rng(calls.options.seed)
inf, nan = np.inf, np.nan


def powers(low, high, count):
    return 10.0 ** random.uniform(low, high, count)


def both(x):
    return np.concatenate([x, -x])


def normal_cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def density(x):
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


def inverse_of_cdf(p, start):
    """The x with normal_cdf(x) = p, by Newton's steps of the logarithm from SciPy's answer."""
    x = mpf(float(start))
    for _ in range(4):
        f = normal_cdf(x)
        x -= (mpmath.log(f) - mpmath.log(p)) * f / density(x)
    return x


def icdf(p):
    return inverse_of_cdf(p, sp.ndtri(float(p))) if p <= 0.5 else -inverse_of_cdf(1 - p, sp.ndtri(float(1 - p)))


def erfinv(x):
    if x < 0:
        return -erfinv(-x)
    return -icdf((1 - x) / 2) / mpmath.sqrt(2) if x > 0.5 else mpmath.erfinv(x)


def erfcx(x, is_slope=False):
    if x < 100:
        y = mpmath.exp(x * x) * mpmath.erfc(x)
        return 2 * x * y - 2 / mpmath.sqrt(mpmath.pi) if is_slope else y
    # The terms of the asymptotic series fall by a factor of 10,000 at least.
    total, term = mpf(0), 1 / (x * mpmath.sqrt(mpmath.pi))
    for n in range(12):
        total += -(2 * n + 1) * term / x if is_slope else term
        term *= -(2 * n + 1) / (2 * x * x)
    return total


def log_cdf(x):
    return mpmath.log(normal_cdf(x)) if x < 5 else mpmath.log1p(-mpmath.erfc(x / mpmath.sqrt(2)) / 2)


def hazard(x):
    return density(x) / normal_cdf(x)


def sinc(x):
    return mpmath.sinc(mpmath.pi * x) if x else mpf(1)


def sinc_slope(x):
    return (mpmath.cospi(x) - sinc(x)) / x if x else mpf(0)


def bessel(k):
    return lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(k, x)


def incomplete(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def by_differences(f, i):
    """The derivative of f by its argument number i. The digits of f are many more than those of the result."""
    def slope(*x):
        with mp.workdps(80):
            h = mpf(10) ** -25 * max(abs(x[i]), mpf(10) ** -20)
            at = lambda t: f(*[v + t if k == i else v for k, v in enumerate(x)])
            return (at(h) - at(-h)) / (2 * h)
    return slope


def lower(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def upper(a, x):
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def gamma_density(a, x):
    return mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))


def beta_density(a, b, x):
    return mpmath.exp((a - 1) * mpmath.log(x) + (b - 1) * mpmath.log1p(-x) - mpmath.log(mpmath.beta(a, b)))


def word(name, body, f, peer, slopes, x, ulp=12, slope=40, edges=(), **more):
    """edges: (arguments, result) that must be exactly so."""
    return case(name, body, [1] * len(slopes), f=f, peer=peer, slopes=slopes, x=[np.asarray(a, float) for a in x], ulp=ulp, slope=slope, edges=edges, **more)


def triple_of_beta():
    a, b = powers(-1.5, 3, 60), powers(-1.5, 3, 60)
    mean, deviation = a / (a + b), np.sqrt(a * b / (a + b + 1)) / (a + b)
    x = np.clip(mean + random.uniform(-5, 5, 60) * deviation, 1e-4 * mean, 1 - 1e-4)
    return a, b, np.where(b < 1, np.minimum(x, 0.9), x)


def pair_of_gamma():
    a = powers(-2, 4, 60)
    return a, np.maximum(a + random.uniform(-6, 8, 60) * np.sqrt(a), powers(-3, 0, 60) * a)


words = [
    word("lgamma", "lgamma(a)", mpmath.loggamma, sp.gammaln, [mpmath.digamma], [np.concatenate([powers(-300, 300, 40), random.uniform(0.5, 3, 40)])],
         edges=[((0.0,), inf), ((inf,), inf), ((1.0,), 0.0), ((2.0,), 0.0), ((-2.0,), inf)]),
    word("lgamma of negative numbers", "lgamma(a)", lambda x: mpmath.log(abs(mpmath.gamma(x))), sp.gammaln, [mpmath.digamma], [-random.uniform(0.05, 20, 60)], near=1, near_slope=10),
    word("digamma", "digamma(a)", mpmath.digamma, sp.digamma, [lambda x: mpmath.psi(1, x)], [np.concatenate([powers(-100, 300, 40), random.uniform(0.5, 3, 40)])],
         edges=[((0.0,), -inf), ((inf,), inf)]),
    word("polygamma<1>", "tn::polygamma<1>(a)", lambda x: mpmath.psi(1, x), lambda x: sp.polygamma(1, x), [lambda x: mpmath.psi(2, x)], [powers(-90, 90, 60)], edges=[((0.0,), inf), ((inf,), 0.0)]),
    # Near its root the result is a difference of numbers of the size of 1.
    word("lbeta", "tn::lbeta(a, b)", lambda a, b: mpmath.log(mpmath.beta(a, b)), sp.betaln,
         [lambda a, b: mpmath.digamma(a) - mpmath.digamma(a + b), lambda a, b: mpmath.digamma(b) - mpmath.digamma(a + b)], [np.concatenate([powers(-3, 12, 60), powers(-2, 1, 60)]), np.concatenate([powers(-3, 12, 60), powers(-0.5, 1.5, 60)])],
         ulp=16, near=1, near_slope=4),
    word("erfinv", "erfinv(a)", erfinv, sp.erfinv, [lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(erfinv(x) ** 2)],
         [both(np.concatenate([powers(-300, -1, 20), 1 - powers(-15.5, -1, 30), random.uniform(0, 1, 30)]))], slope=400, edges=[((1.0,), inf), ((-1.0,), -inf), ((1.5,), nan)]),
    word("erfcx", "erfcx(a)", erfcx, sp.erfcx, [lambda x: erfcx(x, True)], [np.concatenate([-random.uniform(0, 26, 30), random.uniform(0, 30, 30), powers(1, 300, 20)])],
         ulp=12, edges=[((inf,), 0.0), ((-40.0,), inf)]),
    word("normal_cdf", "normal_cdf(a)", normal_cdf, sp.ndtr, [density], [both(np.concatenate([random.uniform(0, 37, 40), powers(-20, 0, 20)]))], slope=40, edges=[((-inf,), 0.0), ((inf,), 1.0)]),
    word("log_normal_cdf", "log_normal_cdf(a)", log_cdf, sp.log_ndtr, [hazard], [np.concatenate([both(random.uniform(0, 37, 40)), -powers(1, 9, 20)])], edges=[((inf,), 0.0), ((-inf,), -inf)]),
    word("normal_icdf", "normal_icdf(a)", icdf, sp.ndtri, [lambda p: 1 / density(icdf(p))], [np.concatenate([powers(-300, -1, 30), random.uniform(0, 1, 30), 1 - powers(-15, -1, 20)])],
         slope=2000, edges=[((0.0,), -inf), ((1.0,), inf), ((-0.5,), nan), ((0.5,), 0.0)], near=1e-1),
    word("gammainc", "gammainc(a, b)", lower, sp.gammainc, [by_differences(lower, 0), gamma_density], pair_of_gamma(), ulp=12, slope=60, edges=[((1.5, 0.0), 0.0), ((1.5, inf), 1.0)]),
    word("gammaincc", "gammaincc(a, b)", upper, sp.gammaincc, [by_differences(upper, 0), lambda a, x: -gamma_density(a, x)], pair_of_gamma(), ulp=12, slope=60, edges=[((1.5, 0.0), 1.0), ((1.5, inf), 0.0)]),
    word("betainc", "betainc(a, b, c)", incomplete, sp.betainc, [by_differences(incomplete, 0), by_differences(incomplete, 1), beta_density], triple_of_beta(), ulp=30, slope=400,
         edges=[((1.5, 2.0, 0.0), 0.0), ((1.5, 2.0, 1.0), 1.0)]),
    word("i0e", "i0e(a)", bessel(0), sp.i0e, [lambda x: bessel(1)(x) - mpmath.sign(x) * bessel(0)(x)], [both(np.concatenate([random.uniform(0, 40, 30), powers(-20, 5, 30)]))], near_slope=1,
         edges=[((inf,), 0.0), ((0.0,), 1.0)]),
    word("i1e", "i1e(a)", bessel(1), sp.i1e, [lambda x: bessel(0)(x) - bessel(1)(x) / x - mpmath.sign(x) * bessel(1)(x)], [both(np.concatenate([random.uniform(0, 40, 30), powers(-20, 5, 30)]))],
         near_slope=1, edges=[((inf,), 0.0), ((0.0,), 0.0)]),
    word("sinc", "sinc(a)", sinc, np.sinc, [sinc_slope], [both(np.concatenate([random.uniform(0, 20, 40), powers(-20, 3, 20)]))], slope=10, edges=[((0.0,), 1.0), ((3.0,), 0.0)], near_slope=1e-3),
]


def ulps(got, wanted, least):
    """The error in units of the last place of what is wanted, or of `least` where that is larger."""
    if not mpmath.isfinite(wanted) or abs(wanted) > mpf(1.7976931348623157e308):
        return 0.0 if got == np.sign(float(mpmath.sign(wanted))) * inf else inf
    if not np.isfinite(got):
        return inf
    unit = max(abs(wanted), mpf(least), mpf(2) ** -1022) * mpf(2) ** -52
    return float(abs(mpf(float(got)) - wanted) / unit)


def judge(c, got, out):
    (values,), gradients = got
    count = len(c.x[0])
    weights = calls.weights((len(values),), 0)
    worst, worst_slope = 0.0, 0.0
    with np.errstate(all="ignore"):
        peer = c.peer(*c.x)
    for i in range(count):
        x = [mpf(float(a[i])) for a in c.x]
        at = tuple(float(a[i]) for a in c.x)
        wanted = mpf(mpmath.re(c.f(*x)))
        error = ulps(values[i], wanted, getattr(c, "near", 0))
        worst = max(worst, error)
        out.check(c.name, error <= c.ulp, lambda: f"at {at}: {values[i]!r}, mpmath: {mpmath.nstr(wanted, 17)}, SciPy: {peer[i]!r}, {error:.1f} ulp")
        # SciPy need not be as exact. Where both are off by more than a part of 1e-10, something else is wrong.
        out.check(c.name, abs(values[i] - peer[i]) <= 1e-10 * abs(peer[i]) + 1e-10 * getattr(c, "near", 0) or error <= c.ulp, lambda: f"at {at}: {values[i]!r}, SciPy: {peer[i]!r}")
        for k, slope in enumerate(c.slopes):
            steep = mpf(mpmath.re(slope(*x)))
            reached = gradients[k][i] / weights[i]
            if abs(steep) > mpf(2) ** 1020 or 0 < abs(steep) < mpf(2) ** -1020:
                continue
            error = ulps(reached, steep, float(abs(wanted)) * getattr(c, "near_slope", 0))
            worst_slope = max(worst_slope, error)
            out.check(c.name, error <= c.slope, lambda: f"at {at}: derivative {k} is {reached!r}, mpmath: {mpmath.nstr(steep, 17)}, {error:.1f} ulp")
    for j, (at, wanted) in enumerate(c.edges):
        got = values[count + j]
        out.check(c.name, got == wanted or np.isnan(got) and np.isnan(wanted), lambda: f"at {at}: {got!r}, wanted {wanted!r}")
    for k in range(len(c.x)):
        got = values[count + len(c.edges) + k]
        out.check(c.name, np.isnan(got), lambda: f"argument {k} is NaN: {got!r}")
    print(f"{c.name}: {worst:.1f} ulp, derivatives {worst_slope:.1f} ulp")


def main():
    out = calls.report()
    cases = calls.chosen(words)
    asked = []
    for c in cases:
        given = [np.concatenate([a, [e[0][k] for e in c.edges], [nan if j == k else 0.75 for j in range(len(c.x))]]) for k, a in enumerate(c.x)]
        asked.append([(given, (), [given[0].shape])])
    for c, got in zip(cases, calls.compiled(cases, asked, "special_functions")):
        judge(c, got[0], out)
    out.end("mpmath and SciPy")


if __name__ == "__main__":
    main()
