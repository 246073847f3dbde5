#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Systems, factorizations and products of matrices: values judged by NumPy and SciPy, gradients by JAX, for some sizes and where Python has no JAX by differences of NumPy's values.

    linear_algebra.py [--seed N] [--only NAME,...] [--compiler C++] [--include DIR]... [--flags=...] [--keep DIR]

Each call is a batch of matrices of different kinds, so that its packets mix them: ordinary ones, with a condition of 1e6 and 1e12, times 2^-498 and
2^498 (about 1e-150 and 1e150), singular ones, and one with a NaN. What is computed for the scaled ones is that of an ordinary matrix times a power of two,
exactly, so the peer cannot overflow where Tenure must not.

Tolerance: the peer computes each matrix again with elements off by some roundings of the largest one. What that moves is what the matrix leaves open. A sample
with a NaN must have a NaN or inf in each result that depends on it, and a singular one where the chapter says so.
"""
import os

import calls
from calls import case, np

calls.needed("scipy")
import scipy.linalg
import scipy.special
try:
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")  # most of the time is its compiler's
    import jax
    import jax.numpy as jnp
    import jax.scipy.linalg
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

eps = 2.0 ** -53
random = np.random.default_rng(calls.options.seed)
T = lambda x: x.swapaxes(-1, -2)
by_numpy = (np, scipy.linalg)
by_jax = jax and (jnp, jax.scipy.linalg)


# ---- the peers' functions, of (NumPy or JAX, its scipy.linalg) and the arguments, with any batch axes in front ----------------------
def of_lower(m, a):
    """The symmetric matrix with the lower triangle of a. A derivative by it counts half on each side."""
    low = m.tril(a, -1)
    return low + T(low) + m.eye(a.shape[-1]) * a


def positive(m, v):
    """v with the largest component of each column positive, and the factors that make it so. Of components within a part of 1024 the first counts."""
    largest = v[..., 0, :]
    for i in range(1, v.shape[-2]):
        largest = m.where(m.abs(v[..., i, :]) > m.abs(largest) * (1 + 1 / 1024), v[..., i, :], largest)
    sign = m.where(largest < 0, -1.0, 1.0)[..., None, :]
    return v * sign, sign


def cholesky(p, a):
    m = p[0]
    a = (a + T(a)) / 2
    return [m.linalg.cholesky(a) if m is np else jax.lax.linalg.cholesky(a, symmetrize_input=False)]


def solve(p, a, b):
    return [p[0].linalg.solve(a, b[..., None])[..., 0] if b.ndim < a.ndim else p[0].linalg.solve(a, b)]


def symmetric_solve(p, a, b):
    return solve(p, (a + T(a)) / 2, b)


def qr(p, a):
    q, r = p[0].linalg.qr(a)
    k = r.shape[-2]
    sign = p[0].where(p[0].diagonal(r, axis1=-2, axis2=-1)[..., :k] < 0, -1.0, 1.0)
    return [q * sign[..., None, :], r * sign[..., :, None]]


def eigh(p, a):
    a = (a + T(a)) / 2
    w, v = p[0].linalg.eigh(a) if p[0] is np else jnp.linalg.eigh(a, symmetrize_input=False)
    return [w, positive(p[0], v)[0]]


def svd(p, a):
    u, s, vt = p[0].linalg.svd(a, full_matrices=False)
    u, sign = positive(p[0], u)
    return [u, s, vt * T(sign)]


def lu(p, a):
    return list(p[1].lu(a) if p[0] is np else jnp.vectorize(lambda x: tuple(p[1].lu(x)), signature="(n,m)->(n,n),(n,k),(k,m)")(a))


def kron(p, a, b):
    both = a[..., :, None, :, None] * b[..., None, :, None, :]
    return [both.reshape(*both.shape[:-4], both.shape[-4] * both.shape[-3], both.shape[-2] * both.shape[-1])]


def slogdet(p, a):
    return list(p[0].linalg.slogdet(a))


def normalize(p, a):
    return [a / p[0].linalg.norm(a, axis=-1, keepdims=True)]


def matrix_norm(order):
    return lambda p, a: [p[0].linalg.norm(a, order, axis=(-2, -1))]


def einsum(text):
    return lambda p, *x: [p[0].einsum(text, *x)]


# ---- the cases -------------------------------------------------------------------------------------------------------------------
# Arguments: the name of a kind of matrix in `drawn`. `degrees`: the power of a factor of all matrices, vectors excepted, in each result.
plain = ["ordinary", "ordinary", "1e6", "1e12", "tiny", "huge", "nan", "ordinary", "ordinary"]
mild = ["ordinary", "ordinary", "tiny", "huge", "nan", "ordinary"]
with_singular = [*plain, "singular"]


def matrix(name, body, kinds, f, degrees, draw=("square",), **more):
    return case(name, body, [2 if k == "vector" else 3 for k in draw], draw=draw, kinds=kinds, f=f, degrees=degrees, **more)


def pair(call):
    return f"auto [q, r] = {call}; return std::tuple{{q, r}};"


def triple(call):
    return f"auto [p, q, r] = {call}; return std::tuple{{p, q, r}};"


small = [1, 2, 3, 5, 8, 17]
factorizations = [
    matrix("cholesky", "tn::cholesky(a)", with_singular, cholesky, [0.5], ("definite",)),
    matrix("solve vector", "solve(a, b)", with_singular, solve, [-1], ("square", "vector")),
    matrix("solve columns", "solve(a, b)", plain, solve, [-1], ("square", "columns")),
    matrix("solve definite", "solve(a, b, tn::positive_definite)", plain, symmetric_solve, [-1], ("definite", "columns")),
    matrix("solve lower", "tn::solve_triangular(a, b, tn::lower)", plain, lambda p, a, b: solve(p, p[0].tril(a), b), [-1], ("lower", "columns")),
    matrix("solve upper", "tn::solve_triangular(a, b, tn::upper)", plain, lambda p, a, b: solve(p, p[0].triu(a), b), [-1], ("upper", "vector")),
    matrix("solve lower transposed", "tn::solve_triangular(a, b, tn::lower.transposed())", plain, lambda p, a, b: solve(p, T(p[0].tril(a)), b), [-1], ("lower", "columns")),
    matrix("cholesky_solve", "tn::cholesky_solve(b, a)", plain, lambda p, a, b: solve(p, p[0].tril(a), b) and solve(p, T(p[0].tril(a)), solve(p, p[0].tril(a), b)[0]), [-2],
           ("lower", "columns")),
    matrix("inverse", "tn::inverse(a)", with_singular, lambda p, a: [p[0].linalg.inv(a)], [-1]),
    matrix("inverse definite", "tn::inverse(a, tn::positive_definite)", plain, lambda p, a: [p[0].linalg.inv((a + T(a)) / 2)], [-1], ("definite",)),
    matrix("slogdet definite", pair("tn::slogdet(a, tn::positive_definite)"), plain, lambda p, a: slogdet(p, (a + T(a)) / 2), [0, "log"], ("definite",)),
    matrix("det", "tn::det(a)", with_singular, lambda p, a: [p[0].linalg.det(a)], ["n"]),
    matrix("slogdet", pair("tn::slogdet(a)"), with_singular, slogdet, [0, "log"]),
    matrix("lu", triple("tn::lu(a)"), plain, lu, [0, 0, 1]),
    matrix("lu tall", triple("tn::lu(a)"), plain, lu, [0, 0, 1], ("tall",)),
    matrix("qr", pair("tn::qr(a)"), plain, qr, [0, 1], ("tall",)),
    matrix("qr wide", pair("tn::qr(a)"), plain, qr, [0, 1], ("wide",)),
]
spectra = [
    matrix("eigh", pair("tn::eigh(a)"), plain, eigh, [1, 0], ("symmetric",)),
    matrix("eigvalsh", "tn::eigvalsh(a)", plain, lambda p, a: eigh(p, a)[:1], [1], ("symmetric",)),
    matrix("svd", triple("tn::svd(a)"), plain, svd, [0, 1, 0], ("tall",)),
    matrix("svd square", triple("tn::svd(a)"), plain, svd, [0, 1, 0], ("square",)),
    matrix("svdvals", "tn::svdvals(a)", plain, lambda p, a: svd(p, a)[1:2], [1], ("wide",)),
    matrix("pinv", "tn::pinv(a)", plain, lambda p, a: [p[0].linalg.pinv(a)], [-1], ("tall",)),
    # By mpmath, SciPy and JAX are off by up to 1e-12 at a norm of 20, and Tenure by 4e-15.
    matrix("matrix_exp", "tn::matrix_exp(a)", ["ordinary", "ordinary", "nan", "1e12", "times 8"], lambda p, a: [p[1].expm(a)], [None], loose=400),
    matrix("matrix_norm<2>", "tn::matrix_norm<2>(a)", plain, matrix_norm(2), [1], ("wide",)),
    matrix("matrix_norm<nuclear>", "tn::matrix_norm<tn::nuclear>(a)", plain, matrix_norm("nuc"), [1], ("tall",)),
]
products = [
    matrix("matrix_power<5>", "tn::matrix_power<5>(a)", ["ordinary", "nan", "ordinary", "1e6"], lambda p, a: [p[0].linalg.matrix_power(a, 5)], [None]),
    matrix("matrix_power<-2>", "tn::matrix_power<-2>(a)", ["ordinary", "nan", "ordinary", "1e6"], lambda p, a: [p[0].linalg.matrix_power(a, -2)], [None]),
    matrix("matrix_norm", "tn::matrix_norm(a)", mild, matrix_norm("fro"), [1], ("tall",)),
    matrix("matrix_norm<1>", "tn::matrix_norm<1>(a)", mild, matrix_norm(1), [1], ("tall",)),
    matrix("matrix_norm<inf>", "tn::matrix_norm<tn::inf>(a)", mild, matrix_norm(np.inf), [1], ("tall",)),
    matrix("norm", "norm(a, tn::axis<2>)", mild, lambda p, a: [p[0].linalg.norm(a, axis=-1)], [1], ("tall",)),
    matrix("norm<3>", "tn::norm<3>(a, tn::axis<2>)", mild, lambda p, a: [p[0].linalg.norm(a, 3, axis=-1)], [1], ("tall",)),
    matrix("normalize", "normalize(a)", mild, normalize, [0], ("tall",)),
    matrix("kron", "kron(a, b)", mild, kron, [1], ("square", "fixed")),
    matrix("trace", "trace(a)", mild, lambda p, a: [p[0].trace(a, axis1=-2, axis2=-1)], [1]),
    matrix("einsum of a product", 'tn::einsum<"bij,bjk->bik">(a, b)', mild, einsum("...ij,...jk->...ik"), [1], ("square", "columns")),
    matrix("einsum of three", 'tn::einsum<"bij,bkj,bk->bi">(a, b, c)', mild, einsum("...ij,...kj,...k->...i"), [1], ("square", "fixed", "vector")),
    matrix("einsum of a diagonal", 'tn::einsum<"bii->bi">(a)', mild, einsum("...ii->...i"), [1]),
    matrix("einsum with transposes", 'tn::einsum<"bji,bjk->bki">(a, b)', mild, einsum("...ji,...jk->...ki"), [1], ("square", "columns")),
    matrix("outer", "tn::einsum<\"bi,bj->bij\">(a, b)", ["ordinary"] * 5, einsum("...i,...j->...ij"), [0], ("vector", "vector")),
]
# Static extents: packets of many small matrices, words that want them, and systems whose matrix is a function.
six = ["ordinary", "ordinary", "1e6", "nan", "ordinary", "ordinary"]


def fixed(name, body, arguments, f, draw, kinds=six, **more):
    return case(name, body, arguments, draw=draw, f=f, kinds=kinds, degrees=[None] * 3, **more)


static = [
    fixed("lstsq tall", "tn::lstsq(a, b)", [(6, 5, 3), (6, 5)], lambda p, a, b: [(p[0].linalg.pinv(a) @ b[..., None])[..., 0]], ("tall", "vector of rows")),
    fixed("lstsq wide", "tn::lstsq(a, b)", [(6, 3, 5), (6, 3)], lambda p, a, b: [(p[0].linalg.pinv(a) @ b[..., None])[..., 0]], ("wide", "vector")),
    fixed("cholesky 3", "tn::cholesky(a)", [(6, 3, 3)], cholesky, ("definite",)),
    fixed("solve 3", "solve(a, b)", [(6, 3, 3), (6, 3)], solve, ("square", "vector")),
    fixed("inverse 3", "tn::inverse(a)", [(6, 3, 3)], lambda p, a: [p[0].linalg.inv(a)], ("square",)),
    fixed("det 3", "tn::det(a)", [(6, 3, 3)], lambda p, a: [p[0].linalg.det(a)], ("square",)),
    fixed("eigh 3", pair("tn::eigh(a)"), [(6, 3, 3)], eigh, ("symmetric",)),
    fixed("svd 5 x 3", triple("tn::svd(a)"), [(6, 5, 3)], svd, ("tall",)),
    fixed("cross", "cross(a, b)", [(6, 3), (6, 3)], lambda p, a, b: [p[0].cross(a, b)], ("vector", "vector"), ["ordinary"] * 6),
]
single = ["ordinary"]
# cg takes symmetric changes of its matrix: the gradient of (a + a^T) / 2 is symmetric.
without_matrix = [
    case("cg", "const auto s = 0.5 * (a + transpose(a)); return tn::cg([=](auto x) { return matmul(s, x); }, b, {.tolerance = 1e-14});", [2, 1], draw=("definite", "vector"),
         f=lambda p, a, b: symmetric_solve(p, a, b), kinds=single, degrees=[None], loose=100),
    case("gmres", "tn::gmres<20>([=](auto x) { return matmul(a, x); }, b, {.tolerance = 1e-14})", [2, 1], draw=("near 2", "vector"), f=solve, kinds=single, degrees=[None], loose=100),
    case("outer of vectors", "outer(a, b)", [1, 1], draw=("vector", "vector"), f=einsum("...i,...j->...ij"), kinds=single, degrees=[None]),
    case("dot", "dot(a, b)", [1, 1], draw=("vector", "vector"), f=einsum("...i,...i->..."), kinds=single, degrees=[None]),
    case("vdot", "vdot(a, b)", [2, 2], draw=("square", "fixed"), f=einsum("...ij,...ij->..."), kinds=single, degrees=[None]),
]


# ---- the arguments ---------------------------------------------------------------------------------------------------------------
def orthogonal(n):
    return np.linalg.qr(random.standard_normal((n, n)))[0]


def drawn(what, n, kind):
    """A matrix or vector of size n: finite and not scaled. Vectors, `columns` and `fixed` are ordinary always."""
    if what == "vector":
        return random.standard_normal(n)
    if what == "vector of rows":
        return random.standard_normal(n + 2)
    if what == "columns":
        return random.standard_normal((n, 3))
    if what == "fixed":
        return random.standard_normal((n, n))
    if what == "near 2":
        return 2 * np.eye(n) + orthogonal(n)
    rows, columns = n + 2 * (what == "tall"), n + 2 * (what == "wide")
    k = min(rows, columns)
    # Values that lie apart, from 1 to 2, or down to what the kind says.
    s = np.linspace(2, 1, k) if k > 1 else np.array([1.5])
    if kind in ("1e6", "1e12") and k > 1:
        s[-1] = 1 / float(kind)
    if kind == "singular":
        s[-1] = 0
    if kind == "times 8":
        s = s * 8
    if what == "definite":
        q = orthogonal(n)
        a = (q * s) @ q.T
        return (a + a.T) / 2
    if what == "symmetric":
        q = orthogonal(n)
        a = (q * (s * np.where(np.arange(k) % 3 == 1, -1, 1))) @ q.T
        return (a + a.T) / 2
    if what in ("lower", "upper"):
        a = np.tril(0.5 * random.standard_normal((n, n)), -1) / np.sqrt(n) + np.diag(s * random.choice([-1, 1], n))
        return a if what == "lower" else a.T
    u, v = orthogonal(rows)[:, :k], orthogonal(columns)[:, :k]
    a = (u * s) @ v.T
    if kind == "singular":  # exactly: a row is zero
        a[k // 2] = 0
    return a


scales = {"tiny": -498, "huge": 498}
reads_lower = ("definite", "symmetric", "lower")


def call(c, n):
    """(what Tenure gets, what the peer gets, kinds)"""
    kinds = list(c.kinds)
    if n > 17:
        kinds = [k for k in kinds if k in ("ordinary", "1e6", "nan", "huge")][:4]
    at = int(random.integers(len(kinds)))
    kinds = kinds[at:] + kinds[:at]
    if c.arguments and isinstance(c.arguments[0], tuple):
        kinds = kinds[:6]
    peer = [np.stack([drawn(what, n, kind) for kind in kinds]) for what in c.draw]
    ours = []
    for what, a in zip(c.draw, peer):
        a = a.copy()
        for i, kind in enumerate(kinds):
            if what not in ("vector", "vector of rows", "columns", "fixed"):
                a[i] = np.ldexp(a[i], scales.get(kind, 0))
                if kind == "nan":
                    a[i].flat[int(random.integers(a[i].size)) if what not in reads_lower and what not in ("upper", "wide") else 0] = np.nan
                if what in reads_lower:  # the other triangle is not read
                    if c.name not in ("cg",):
                        a[i] = np.where(np.triu(np.ones((n, n)), 1), random.choice([np.nan, 1e300, 0.0], (n, n)) if kind != "ordinary" else 7.0, a[i])
                elif what == "upper":
                    a[i] = np.where(np.tril(np.ones((n, n)), -1), random.choice([np.nan, 1e300, 0.0], (n, n)), a[i])
        ours.append(a)
    return ours, peer, kinds


# ---- what the peer says ----------------------------------------------------------------------------------------------------------
copies = 8
sizes_of_jax = (1, 3, 8, 17)  # it compiles a program for each, in half a second


def moved(peer, kinds, draw):
    """The arguments with an axis in front: they themselves, and copies whose elements are off by roundings of the largest one."""
    all_of_them = []
    for what, a in zip(draw, peer):
        axes = tuple(range(1, a.ndim))
        off = random.uniform(-1, 1, (copies, *a.shape)) * eps * np.max(np.abs(a), axis=axes, keepdims=True)
        if what in ("definite", "symmetric"):
            off = (off + T(off)) / 2
        off[:, [k == "singular" for k in kinds]] = 0
        all_of_them.append(np.concatenate([a[None], a + off]))
    return all_of_them


def values(c, x):
    """The results by NumPy and SciPy. A sample that it refuses, as Cholesky's factorization of a singular matrix, is NaN."""
    try:
        return [np.asarray(v) for v in c.f(by_numpy, *x)]
    except np.linalg.LinAlgError:
        copies, batch = x[0].shape[:2]
        parts = []
        for i in range(copies):
            for j in range(batch):
                try:
                    parts.append([np.asarray(v) for v in c.f(by_numpy, *(a[i:i + 1, j:j + 1] for a in x))])
                except np.linalg.LinAlgError:
                    parts.append(None)
        some = next(p for p in parts if p is not None)
        parts = [p if p is not None else [np.full_like(v, np.nan) for v in some] for p in parts]
        return [np.stack([p[r][0, 0] for p in parts]).reshape(copies, batch, *some[r].shape[2:]) for r in range(len(some))]


def gradients(c, x, cotangents):
    """For each result the gradients of its weighted sum, by JAX. Of matrix_exp, whose gradient by JAX has lost five digits at norms of 20, it is a block of SciPy's."""
    if c.name == "matrix_exp":
        turned = np.nan_to_num(np.swapaxes(np.asarray(x[0]), -1, -2))
        side, n = np.broadcast_to(cotangents[0], turned.shape), turned.shape[-1]
        whole = np.concatenate([np.concatenate([turned, side], -1), np.concatenate([0 * turned, turned], -1)], -2)
        return [[scipy.linalg.expm(whole)[..., :n, n:]]]
    def all_of_them(x, cotangents):
        results, pull = jax.vjp(lambda *y: c.f(by_jax, *y), *x)
        return [pull([(w if i == j else 0 * w) + jnp.zeros_like(r) for j, (w, r) in enumerate(zip(cotangents, results))]) for i in range(len(results))]

    return [[np.asarray(g) for g in by_result] for by_result in jax.jit(all_of_them)(x, cotangents)]


def spread(base, others, sample_axes):
    with np.errstate(all="ignore"):
        off = np.max(np.abs(others - base), axis=0)
        of_sample = np.max(off, axis=tuple(range(1, off.ndim)), keepdims=True)
        size = np.max(np.abs(base), axis=tuple(range(1, base.ndim)), keepdims=True)
    return of_sample, size


def scaled(a, power):
    return np.ldexp(a, int(round(power)))


def judge(c, n, of_call, got, out):
    ours, peer, kinds = of_call
    one = c.kinds is single
    got_values, got_gradients = ([a[None] for a in group] if one else group for group in got)
    x = moved(peer, kinds, c.draw)
    wanted = values(c, x)
    weights = [calls.weights(np.shape(g)[1:] if one else np.shape(g), leaf).reshape(np.shape(g)) for leaf, g in enumerate(got_values)]
    loose = getattr(c, "loose", 1)
    tolerances = []
    for r, (g, w) in enumerate(zip(got_values, wanted)):
        off, size = spread(w[0], w[1:], 1)
        tolerances.append(40 * off + 40 * loose * n * eps * size)
        for i, kind in enumerate(kinds):
            # The sign of a determinant, and a permutation, say nothing of a NaN.
            if kind == "nan":
                depends = not (c.name.startswith("lu") or c.name.startswith("einsum") or c.name in ("trace", "kron", "norm", "norm<3>", "normalize"))
                out.check(c.name, not depends or not np.isfinite(g[i]).all(), lambda: f"n = {n}: result {r} of a matrix with a NaN is finite: {str(g[i])[:200]}")
                continue
            if kind == "singular":
                fine = (np.isneginf(g[i]) if r else g[i] == 0) if c.name == "slogdet" else abs(g[i]) <= tolerances[r][i] + 1e-14 if c.name == "det" else not np.isfinite(g[i]).all()
                if c.name == "cholesky":  # by rounding it may be definite
                    continue
                out.check(c.name, bool(np.all(fine)), lambda: f"n = {n}: result {r} of a singular matrix: {str(g[i])[:200]}")
                continue
            degree, power = c.degrees[r], scales.get(kind, 0)
            want, tolerance = w[0][i], tolerances[r][i]
            if degree == "log":
                want = want + n * power * np.log(2)
                tolerance = tolerance + 4 * eps * np.abs(want)
            elif power:
                by = power * (n if degree == "n" else degree)
                with np.errstate(over="ignore", under="ignore"):
                    want, tolerance = scaled(want, by), scaled(tolerance, by) + 1e-322
                if not np.isfinite(want).all():
                    continue
            with np.errstate(invalid="ignore"):
                fine = np.abs(g[i] - want) <= tolerance
            out.check(c.name, bool(np.all(fine)), lambda: f"n = {n}, {kind}: result {r} is off by {np.max(np.abs(g[i] - want)):.2g}, tolerance {np.max(tolerance):.2g}, largest {np.max(np.abs(want)):.3g}")
    if not jax or n not in sizes_of_jax and not isinstance(c.arguments[0], tuple):
        return differences(c, n, of_call, got_gradients, weights, out)
    by_result = gradients(c, x, weights)
    for k, g in enumerate(got_gradients):
        for i, kind in enumerate(kinds):
            if kind in ("nan", "singular"):
                continue
            power, want, tolerance, known = scales.get(kind, 0), 0.0, 0.0, True
            for r, of_result in enumerate(by_result):
                w = of_result[k]
                off, size = spread(w[0], w[1:], 1)
                known = known and np.isfinite(w[:, i]).all()
                degree = c.degrees[r]
                is_matrix = c.draw[k] not in ("vector", "vector of rows", "columns", "fixed")
                by = power * ((0 if degree == "log" else n if degree == "n" else degree) - is_matrix) if power else 0
                with np.errstate(over="ignore", under="ignore", invalid="ignore"):
                    want = want + scaled(w[0][i], by)
                    tolerance = tolerance + scaled(40 * off[i] + 40 * loose * n * eps * np.maximum(size[i], 1), by) + (1e-322 if power else 0)
            if not known or not np.isfinite(want).all():
                continue
            with np.errstate(invalid="ignore"):
                fine = np.abs(g[i] - want) <= tolerance
            out.check(c.name, bool(np.all(fine)),
                      lambda: f"n = {n}, {kind}: gradient {k} is off by {np.max(np.abs(g[i] - want)):.2g}, tolerance {np.max(tolerance):.2g}, largest {np.max(np.abs(want)):.3g}")


def differences(c, n, of_call, got, weights, out):
    """Along one direction, from central differences of NumPy's values: for ordinary matrices, and to six digits."""
    _, peer, kinds = of_call
    total = lambda x: sum((w * v).reshape(len(kinds), -1).sum(1) for w, v in zip(weights, [v[0] for v in values(c, [a[None] for a in x])]))
    for k, g in enumerate(got):
        along = random.uniform(-1, 1, peer[k].shape)
        if c.draw[k] in ("definite", "symmetric"):
            along = (along + T(along)) / 2
        if c.draw[k] in ("lower", "upper"):
            along = np.tril(along) if c.draw[k] == "lower" else np.triu(along)
        at = lambda h: total([a + h * along if j == k else a for j, a in enumerate(peer)])
        h = 1e-6
        wanted = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
        reached = (g * along).reshape(len(kinds), -1).sum(1)
        size = np.abs(g * along).reshape(len(kinds), -1).sum(1)
        for i, kind in enumerate(kinds):
            if kind == "ordinary":
                out.check(c.name, abs(reached[i] - wanted[i]) <= 1e-6 * size[i] + 1e-9, lambda: f"n = {n}: gradient {k} along a direction is {reached[i]}, by differences {wanted[i]}")


def main():
    out = calls.report()
    units = [("factorizations", factorizations), ("spectra", spectra), ("products", products), ("static", static + without_matrix[2:]), ("solvers", without_matrix[:2])]
    for what, cases in units:
        cases = calls.chosen(cases)
        if not cases:
            continue
        of_cases = []
        for c in cases:
            sizes = [c.arguments[0][-1]] if isinstance(c.arguments[0], tuple) and "wide" not in c.draw else [3] if isinstance(c.arguments[0], tuple) else [*small, 40]
            of_cases.append([(n, call(c, n)) for n in sizes])
        asked = []
        for c, of_case in zip(cases, of_cases):
            one = c.kinds is single
            asked.append([([a[0] for a in ours] if one else ours, (), [v.shape[2 if one else 1:] for v in values(c, [a[None] for a in peer])]) for _, (ours, peer, _) in of_case])
        answers = calls.compiled(cases, asked, what)
        for c, of_case, got in zip(cases, of_cases, answers):
            for (n, of_call), g in zip(of_case, got):
                with np.errstate(invalid="ignore"):
                    judge(c, n, of_call, g, out)
    out.end(f"NumPy, SciPy and {'JAX' if jax else 'no JAX'}")


if __name__ == "__main__":
    main()
