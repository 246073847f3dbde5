#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tn::log_density: values judged by mpmath with forty digits and by scipy.stats, gradients by differences of mpmath's values with 250 digits.

    densities.py [--seed N] [--only NAME,...] [--compiler C++] [--include DIR]... [--flags=...] [--keep DIR]

Arguments are random, with tails as far as 1e150 and parameters of all sizes; the last ones of each call lie outside of the support, where the density is
-inf and its gradient 0, or outside of the domain of a parameter or are NaN, where it is NaN.

Tolerance: some roundings of the result and of each argument. What they move is what the arguments leave open.
"""
import calls
from calls import case, np

calls.needed("scipy", "mpmath")
import mpmath
import scipy.stats as st
from mpmath import mp, mpf

mp.dps = 40
eps = mpf(2) ** -53
random = np.random.default_rng(calls.options.seed)
inf, nan = np.inf, np.nan
log, lgamma = mpmath.log, mpmath.loggamma


def powers(low, high, count):
    return 10.0 ** random.uniform(low, high, count)


# ---- the densities as textbooks have them, of numbers of mpmath -------------------------------------------------------------------
def normal(x, m, s):
    return -((x - m) / s) ** 2 / 2 - log(s) - log(2 * mpmath.pi) / 2


def student(x, n, m, s):
    return lgamma((n + 1) / 2) - lgamma(n / 2) - log(n * mpmath.pi) / 2 - log(s) - (n + 1) / 2 * mpmath.log1p(((x - m) / s) ** 2 / n)


def gamma(x, a, r):
    return a * log(r) - lgamma(a) + (a - 1) * log(x) - r * x


def inverse_gamma(x, a, s):
    return a * log(s) - lgamma(a) - (a + 1) * log(x) - s / x


def beta(x, a, b):
    return (a - 1) * log(x) + (b - 1) * mpmath.log1p(-x) - lgamma(a) - lgamma(b) + lgamma(a + b)


def poisson(r, k):
    return k * log(r) - r - lgamma(k + 1)


def binomial(p, k, n):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * mpmath.log1p(-p)


def bernoulli(logit, y):
    return -mpmath.log1p(mpmath.exp(-logit if y else logit))


def categorical(logits, k):
    top = max(logits)
    return logits[int(k)] - top - log(sum(mpmath.exp(v - top) for v in logits))


def dirichlet(x, a):
    return lgamma(sum(a)) - sum(lgamma(v) for v in a) + sum((v - 1) * log(t) for v, t in zip(a, x))


def lkj(l, eta):
    """Lewandowski, Kurowicka and Joe 2009, equation 16, and the determinant of the change to the elements of l."""
    d = l.rows
    constant = sum((2 * (eta - 1) + d - k) * (d - k) * log(2) + (d - k) * log(mpmath.beta(eta + mpf(d - k - 1) / 2, eta + mpf(d - k - 1) / 2)) for k in range(1, d))
    return sum((2 * eta - 2 + d - k - 1) * log(l[k, k]) for k in range(1, d)) - constant


def by_factor(x, m, l):
    low = mpmath.matrix(l.rows, l.rows)
    for i in range(l.rows):
        for j in range(i + 1):
            low[i, j] = l[i, j]
    z = mpmath.lu_solve(low, mpmath.matrix([a - b for a, b in zip(x, m)]))
    return -sum(v * v for v in z) / 2 - sum(log(abs(l[i, i])) for i in range(l.rows)) - l.rows * log(2 * mpmath.pi) / 2


def by_covariance(x, m, a):
    """mpmath.cholesky takes small matrices for singular ones."""
    l = (a + a.T) / 2
    for j in range(l.rows):
        for i in range(j, l.rows):
            l[i, j] -= sum(l[i, k] * l[j, k] for k in range(j))
            l[i, j] = mpmath.sqrt(l[j, j]) if i == j else l[i, j] / l[j, j]
    return by_factor(x, m, l)


# ---- the cases -------------------------------------------------------------------------------------------------------------------
def density(name, call, f, peer, x, data=(), outside=(), wrong=(), loose=1, terms=None, slope_terms=None):
    """outside, wrong: the arguments, then the data, of samples that are beyond the support, or beyond the domain; a number in wrong stands for
    sample 0 with this argument negative. terms: what the result is a sum of, where that
    is known to be larger; slope_terms: that of derivative number i."""
    x, data = [np.asarray(a, float) for a in x], [np.asarray(a) for a in data]
    return case(name, f"tn::log_density::{call}", [a.ndim for a in x], [a.ndim for a in data], f=f, peer=peer, x=x, given=data, outside=outside, wrong=wrong, loose=loose, terms=terms, slope_terms=slope_terms)


def place(count=40):
    """x, location, scale: ordinary, in the tails, and of all sizes."""
    m, s = random.standard_normal(count), powers(-1, 1, count)
    x = m + s * np.concatenate([random.standard_normal(count // 2), random.choice([-1, 1], count - count // 2) * powers(1, 8, count - count // 2)])
    more = [(1e150, 1e140, 1), (-1e150, 1e145, 1e10), (1e-150, 2e-151, 1e-150), (1e150, 2e150, 1e150), (2e-300, 1e-300, 1e-300), (3, 3, 1e300)]
    return [np.concatenate([v, [w[i] for w in more]]) for i, v in enumerate((x, m, s))]


def correlations(n, count):
    """Cholesky factors of correlation matrices."""
    l = np.tril(random.standard_normal((count, n, n)))
    l[:, np.arange(n), np.arange(n)] = np.abs(l[:, np.arange(n), np.arange(n)]) + 0.1
    return l / np.linalg.norm(l, axis=-1, keepdims=True)


def factors(n):
    l = np.tril(random.standard_normal((7, n, n)) / (2 * n))
    l[:, np.arange(n), np.arange(n)] = random.uniform(0.5, 2, (7, n))
    l[1, -1] *= 1e-3
    l[2, -1] *= 1e-6  # the covariance has a condition of 1e12
    return l * 2.0 ** np.array([0, 0, 0, -498, 498, 0, 0])[:, None, None]


def vectors(n, l):
    m = random.standard_normal((7, n)) * np.abs(l[:, :1, 0])
    return m + (l @ random.standard_normal((7, n, 1)))[..., 0] * np.array([1, 1, 1, 1, 1, 1e8, 1])[:, None], m


x, m, s = place()
positive = powers(-3, 3, 40)
k = np.concatenate([random.integers(0, 30, 30), random.integers(0, 10 ** 5, 10)])
n = k + np.concatenate([random.integers(0, 20, 30), random.integers(0, 10 ** 5, 10)])
simple = [
    density("normal", "normal(a, b, c)", normal, lambda x, m, s: st.norm.logpdf(x, m, s), [x, m, s], wrong=[(0, 0, -1.0)]),
    density("log_normal", "log_normal(a, b, c)", lambda x, m, s: normal(log(x), m, s) - log(x), lambda x, m, s: st.lognorm.logpdf(x, s, scale=np.exp(m)),
            [powers(-300, 300, 46), np.clip(m, -1e3, 1e3), powers(-1, 2, 46)], outside=[(-1.0, 0, 1)], wrong=[(1, 0, -1.0)]),
    density("cauchy", "cauchy(a, b, c)", lambda x, m, s: -log(mpmath.pi * s) - mpmath.log1p(((x - m) / s) ** 2), lambda x, m, s: st.cauchy.logpdf(x, m, s), [x, m, s], wrong=[(0, 0, -1.0)]),
    density("laplace", "laplace(a, b, c)", lambda x, m, s: -log(2 * s) - abs(x - m) / s, lambda x, m, s: st.laplace.logpdf(x, m, s), [x[:44], m[:44], s[:44]], wrong=[(0, 0, -1.0)]),
    density("student_t", "student_t(a, b, c, d)", student, lambda x, n, m, s: st.t.logpdf(x, n, m, s), [x, powers(-1, 6, len(x)), m, s], wrong=[(0, -1.5, 0, 1), (0, 1, 0, -1)],
            loose=2, slope_terms=lambda i, x, n, m, s: 8 / n if i == 1 else 0),
    density("exponential", "exponential(a, b)", lambda x, r: log(r) - r * x, lambda x, r: st.expon.logpdf(x, scale=1 / r), [powers(-100, 100, 40), powers(-50, 50, 40)],
            outside=[(-1.0, 2)], wrong=[(1, -1.0)]),
    density("gamma", "gamma(a, b, c)", gamma, lambda x, a, r: st.gamma.logpdf(x, a, scale=1 / r), [powers(-100, 4, 40), powers(-3, 5, 40), powers(-3, 3, 40)],
            outside=[(-1.0, 2, 2)], wrong=[(1, -1.5, 1), (1, 0, 1), (1, 1, -1)]),
    density("inverse_gamma", "inverse_gamma(a, b, c)", inverse_gamma, lambda x, a, s: st.invgamma.logpdf(x, a, scale=s), [powers(-4, 100, 40), powers(-3, 5, 40), powers(-3, 3, 40)],
            outside=[(-1.0, 2, 2)], wrong=[(1, -1.5, 1), (1, 0, 1), (1, 1, -1)]),
    density("beta", "beta(a, b, c)", beta, lambda x, a, b: st.beta.logpdf(x, a, b), [np.concatenate([random.uniform(0, 1, 20), powers(-200, -1, 10), 1 - powers(-15, -1, 10)]), powers(-3, 6, 40), powers(-3, 6, 40)],
            outside=[(-0.5, 2, 2), (1.5, 2, 2)], wrong=[(0.5, -1.5, 1), (0.5, 1, -1.5)], loose=2, slope_terms=lambda i, x, a, b: int(i > 0)),
    density("poisson", "poisson(k, a)", poisson, lambda r, k: st.poisson.logpmf(k, r), [np.where(random.uniform(0, 1, 40) < 0.5, k + 0.5, powers(-100, 5, 40))], [k], outside=[(2.0, -1)], wrong=[(-1.0, 2)],
            terms=lambda r, k: abs(k * log(r)) + lgamma(mpf(int(k)) + 1)),
    density("binomial", "binomial(k, l, a)", binomial, lambda p, k, n: st.binom.logpmf(k, n, p), [np.concatenate([random.uniform(0, 1, 20), powers(-200, -1, 10), 1 - powers(-15, -1, 10)])], [k, n],
            outside=[(0.5, -1, 4), (0.5, 5, 4)], wrong=[(1.5, 2, 4)], loose=8),
    density("bernoulli_logit", "bernoulli_logit(k, a)", bernoulli, lambda a, y: np.where(y == 1, -np.logaddexp(0, -a), -np.logaddexp(0, a)),
            [np.concatenate([random.standard_normal(20) * 3, random.uniform(-800, 800, 10), random.choice([-1, 1], 10) * powers(-20, 5, 10)])], [random.integers(0, 2, 40)], outside=[(0.5, 2)]),
]


def of_vectors(size):
    """(case name, x, data) of vectors of this size; the cases are compiled once."""
    l = factors(size)
    y, mean = vectors(size, l)
    logits = random.standard_normal((7, size)) * np.array([1, 1, 10, 400, 1e-9, 1, 1])[:, None]
    share = random.dirichlet(np.ones(size), 7)
    share = share / share.sum(-1, keepdims=True)
    return {"categorical_logit": ([logits], [random.integers(0, size, 7)]), "dirichlet": ([share, powers(-2, 3, (7, size))], []),
            "lkj_cholesky": ([correlations(size, 7), powers(-1, 2, 7)], []), "multivariate_normal of a factor": ([y, mean, l], []),
            "multivariate_normal of a covariance": ([y, mean, l @ np.swapaxes(l, -1, -2)], [])}


def normal_of_rows(x, m, a):
    return np.array([st.multivariate_normal(v, w, allow_singular=True).logpdf(u) for u, v, w in zip(x, m, a)])


vector = [
    density("categorical_logit", "categorical_logit(k, a)", categorical, None, *of_vectors(3)["categorical_logit"], loose=32, slope_terms=lambda i, logits, k: int(i == k)),
    density("dirichlet", "dirichlet(a, b)", dirichlet, lambda x, a: np.array([st.dirichlet.logpdf(v, w) if len(v) > 1 else 0 for v, w in zip(x, a)]), *of_vectors(3)["dirichlet"], wrong=[1]),
    density("lkj_cholesky", "lkj_cholesky(a, b)", lkj, None, *of_vectors(3)["lkj_cholesky"], wrong=[1]),
    density("multivariate_normal of a factor", "multivariate_normal(a, b, c, tn::cholesky_factor)", by_factor, None, *of_vectors(3)["multivariate_normal of a factor"], loose=20),
    density("multivariate_normal of a covariance", "multivariate_normal(a, b, c, tn::covariance)", by_covariance, None, *of_vectors(3)["multivariate_normal of a covariance"], loose=20),
]


# ---- what mpmath says ------------------------------------------------------------------------------------------------------------
def x_of(shapes, numbers):
    """The numbers in these shapes."""
    at, x = 0, []
    for s in shapes:
        count = int(np.prod(s))
        part = numbers[at:at + count]
        at += count
        x.append(part[0] if s == () else part if len(s) == 1 else mpmath.matrix([part[i * s[1]:(i + 1) * s[1]] for i in range(s[0])]))
    return x


def value(c, shapes, numbers, given):
    return mpmath.re(c.f(*x_of(shapes, numbers), *[mpf(int(v)) for v in given]))


def derivative(c, shapes, numbers, given, i, sizes):
    h = mpf(10) ** -25 * sizes[i]
    at = lambda t: value(c, shapes, [*numbers[:i], numbers[i] + t, *numbers[i + 1:]], given)
    return (at(h) - at(-h)) / (2 * h)


def judge(c, x, data, got, out):
    (values,), gradients = got
    count = len(x[0])
    weights = calls.weights((len(values),), 0)
    with np.errstate(all="ignore"):
        peer = c.peer(*x, *data) if c.peer else None
    worst = worst_slope = 0.0
    with mp.workdps(250):
        for i in range(count):
            shapes = [a.shape[1:] for a in x]
            numbers = [mpf(float(v)) for a in x for v in a[i].ravel()]
            # A rounding of a vector or a matrix is one of its largest element.
            sizes = [max(mpf(float(np.max(np.abs(a[i])))) if a.ndim > 2 else abs(mpf(float(v))), mpf(10) ** -320) for a in x for v in a[i].ravel()]
            given = [d[i] for d in data]
            at = [*(a[i].tolist() for a in x), *given]
            wanted = value(c, shapes, numbers, given)
            slopes = [derivative(c, shapes, numbers, given, k, sizes) for k in range(len(numbers))]
            # The derivatives by elements above the diagonal of a matrix add to those below.
            moved = sum(abs(s) * size for s, size in zip(slopes, sizes))
            tolerance = c.loose * 8 * eps * (abs(wanted) + moved + 1 + (c.terms(*x_of(shapes, numbers), *given) if c.terms else 0))
            off = abs(mpf(float(values[i])) - wanted) if np.isfinite(values[i]) else mpmath.inf
            if abs(wanted) > mpf(2) ** 1023:
                out.check(c.name, not np.isfinite(values[i]) or off <= tolerance, lambda: f"at {at}: {values[i]!r}, too large")
                continue
            worst = max(worst, float(off / tolerance))
            out.check(c.name, off <= tolerance, lambda: f"at {at}: {values[i]!r}, mpmath: {mpmath.nstr(wanted, 17)}, tolerance {float(tolerance):.2g}")
            if peer is not None:  # SciPy is not as exact in tails
                out.check(c.name, off <= tolerance or abs(values[i] - peer[i]) <= 1e-9 * abs(peer[i]), lambda: f"at {at}: {values[i]!r}, SciPy: {peer[i]!r}")
            reached = np.concatenate([g[i].ravel() for g in gradients]) / weights[i]
            few = len(numbers) <= 12
            largest = max(map(abs, slopes))
            for k, steep in enumerate(slopes):
                if abs(steep) > mpf(2) ** 1020 or 0 < abs(steep) < mpf(2) ** -1000:
                    continue
                if few:
                    moved = mpf(0)
                    for j, size in enumerate(sizes):
                        h = mpf(10) ** -20 * size
                        moved += abs(derivative(c, shapes, [*numbers[:j], numbers[j] + h, *numbers[j + 1:]], given, k, sizes) - steep) / h * size
                else:
                    moved = largest * len(numbers)
                terms = c.slope_terms(k, *x_of(shapes, numbers), *given) if c.slope_terms else 0
                lost = mpf(10) ** (10 - mp.dps) * abs(wanted) / (mpf(10) ** -25 * sizes[k])  # of mpmath's difference
                tolerance = c.loose * 8 * eps * (abs(steep) + moved + terms) + mpf(2) ** -1022 + lost
                off = abs(mpf(float(reached[k])) - steep) if np.isfinite(reached[k]) else mpmath.inf
                worst_slope = max(worst_slope, float(off / tolerance))
                out.check(c.name, off <= tolerance, lambda: f"at {at}: derivative {k} is {reached[k]!r}, mpmath: {mpmath.nstr(steep, 17)}, tolerance {float(tolerance):.2g}")
    for j in range(count, len(values)):
        if j < count + len(c.outside):
            flat = np.concatenate([g[j].ravel() for g in gradients])
            out.check(c.name, np.isneginf(values[j]) and (flat == 0).all(), lambda: f"outside of the support, {c.outside[j - count]}: {values[j]!r}, gradient {flat}")
        else:
            out.check(c.name, np.isnan(values[j]) or c.name == "lkj_cholesky" and x[0].shape[-1] == 1, lambda: f"outside of the domain or NaN, sample {j - count}: {values[j]!r}")
    return worst, worst_slope


def with_edges(c, x, data):
    """The arguments and data with the samples outside, wrong, and a NaN in each argument behind them."""
    extra = [e if isinstance(e, tuple) else tuple(-1.5 * a[0] if k == e else a[0] for k, a in enumerate([*x, *data])) for e in (*c.outside, *c.wrong)]
    if extra:
        x, data = ([np.concatenate([a, [e[k + at] for e in extra]]) for k, a in enumerate(group)] for group, at in ((x, 0), (data, len(x))))
    all_of_them = []
    for k, a in enumerate(x):
        more = np.stack([a[0]] * len(x))
        more.reshape(len(x), -1)[k, -1] = nan
        all_of_them.append(np.concatenate([a, more]))
    return all_of_them, [np.concatenate([d, [d[0]] * len(x)]) for d in data]


def main():
    out = calls.report()
    for first, unit in (("densities_of_numbers", simple[:6]), ("densities_of_counts", simple[6:]), ("densities_of_vectors", vector)):
        cases = calls.chosen(unit)
        if cases:
            judge_all(cases, first, out)
    out.end("mpmath and scipy.stats")


def judge_all(cases, what, out):
    wanted = [[(c.x, c.given)] if c in simple else [of_vectors(size)[c.name] for size in (1, 2, 3, 5)] for c in cases]
    asked = []
    for c, of_case in zip(cases, wanted):
        asked.append([(*with_edges(c, x, data), [(len(x[0]) + len(c.outside) + len(c.wrong) + len(x),)]) for x, data in of_case])
    for c, of_case, got in zip(cases, wanted, calls.compiled(cases, asked, what)):
        shares = [judge(c, x, data, g, out) for (x, data), g in zip(of_case, got)]
        print(f"{c.name}: at most {max(s[0] for s in shares):.2f} of the tolerance, gradients {max(s[1] for s in shares):.2f}", flush=True)


if __name__ == "__main__":
    main()
