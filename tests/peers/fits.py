#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""tn::least_squares, judged by scipy.optimize.least_squares: with bounds, robust losses and outliers, and the covariance of plain fits.

    fits.py [--seed N] [--only NAME,...] [--compiler C++] [--include DIR]... [--flags=...] [--keep DIR]

Both fit the same random data from the same start. Tenure's cost may not be larger than SciPy's by more than a part of 1e-9, and where the costs agree the
parameters must agree to the digits that the cost decides. A fit that converged to a smaller cost is right too.
"""
import calls
from calls import np

calls.needed("scipy")
import scipy.optimize

random = np.random.default_rng(calls.options.seed)
inf = np.inf

program = """#include "calls.hpp"
namespace tn = tenure;
using vector = peers::tensor<double, tn::dyn>;

constexpr auto decay = [](auto p, auto t, auto y) { return p[0] * exp(-p[1] * t) + p[2] - y; };
constexpr auto growth = [](auto p, auto t, auto y) { return p[0] * sigmoid(p[1] * (t - p[2])) - y; };
constexpr auto wave = [](auto p, auto t, auto y) { return p[0] * sin(p[1] * t + p[2]) + p[3] * t - y; };
constexpr tn::levenberg_marquardt tight{.most_iterations = 2000, .gradient_tolerance = 0, .value_tolerance = 0, .step_tolerance = 1e-13};

template <std::int64_t N, class F, class Loss>
void fit(F f, Loss loss, int calls) {
  for (int i = 0; i < calls; ++i) {
    auto p = peers::next_tensor<peers::tensor<double, N>>();
    const auto least = peers::next_tensor<peers::tensor<double, N>>(), most = peers::next_tensor<peers::tensor<double, N>>();
    const auto t = peers::next_tensor<vector>(), y = peers::next_tensor<vector>();
    const auto problem = tn::least_squares(f, tight, loss);
    const auto reached = problem.within(least, most)(p, t, y);
    const auto c = problem.covariance(p, t, y);
    std::vector<double> to(tn::as_span(p).begin(), tn::as_span(p).end());
    to.push_back(reached.value);
    to.push_back(reached.converged());
    to.insert(to.end(), tn::as_span(c).begin(), tn::as_span(c).end());
    std::fwrite(to.data(), sizeof(double), to.size(), stdout);
  }
}
"""


def decay(p, t):
    return p[0] * np.exp(-p[1] * t) + p[2]


def growth(p, t):
    return p[0] / (1 + np.exp(-p[1] * (t - p[2])))


def wave(p, t):
    return p[0] * np.sin(p[1] * t + p[2]) + p[3] * t


def tukey(z):
    left = np.maximum(1 - z, 0)
    return np.stack([(1 - left ** 3) / 3, left ** 2, -2 * left])


# name, the function, the parameters that make the data, the loss in C++ and in SciPy
fits = [("decay", decay, (5, 0.5, 0.3), "none{}", "linear"), ("wave", wave, (2, 1.3, 0.4, 0.1), "none{}", "linear"),
        ("decay huber", decay, (5, 0.5, 0.3), "huber{.scale = 0.1}", "huber"), ("decay cauchy", decay, (5, 0.5, 0.3), "cauchy{.scale = 0.1}", "cauchy"),
        ("growth tukey", growth, (4, 1.2, 5), "tukey{.scale = 0.5}", tukey)]
kinds = ["free", "free", "bounds", "bounds", "exact data", "large", "small"]


def draw(f, true, loss, kind):
    """(start, least, most, t, y), the unit of the data, and the parameters that have it."""
    t = np.sort(random.uniform(0, 10, int(random.integers(12, 60))))
    true = np.asarray(true) * random.uniform(0.8, 1.25, len(true))
    y = f(true, t)
    start = true * random.uniform(0.9, 1.1, len(true))
    if kind != "exact data":
        y = y + 0.05 * random.standard_normal(len(t))
    if loss != "linear":
        y[random.integers(0, len(t), 3)] += random.choice([-3, 3], 3)
    least, most = np.full(len(true), -inf), np.full(len(true), inf)
    if kind == "bounds":  # the first parameter cannot reach what fits best, and another one can
        most[0] = 0.93 * true[0]
        start[0] = 0.9 * true[0]
        least[1] = 0.5 * true[1]
    # The damping is never that of a diagonal below 1e-6, as Ceres' is not: far smaller residuals are to be scaled by their user.
    unit = {"large": 2.0 ** 60, "small": 2.0 ** -7}.get(kind, 1.0) if loss == "linear" else 1.0
    linear = {"decay": [0, 2], "growth": [0], "wave": [0, 3]}[f.__name__]
    y, start, most = y * unit, start.copy(), most.copy()
    start[linear] *= unit
    return (start, least, most, t, y), unit, linear


def judge(name, f, loss, scale, given, unit, linear, kind, got, out):
    start, least, most, t, y = given
    n = len(start)
    p, cost, converged, covariance = got[:n].copy(), got[n], got[n + 1], got[n + 2:].reshape(n, n)
    # SciPy fits the data without their unit.
    p[linear] /= unit
    cost = cost / unit ** 2
    begin, y = start.copy(), y / unit
    begin[linear] /= unit
    wanted = scipy.optimize.least_squares(lambda q: f(q, t) - y, begin, bounds=(least, most), loss=loss, f_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=5000, jac="3-point")
    at = f"{kind}, {len(t)} data, from {begin}"
    inside = (p >= least).all() and (p <= most).all()
    out.check(name, inside, lambda: f"{at}: {p} is not within {least}, {most}")
    out.check(name, cost <= wanted.cost * (1 + 1e-9) + 1e-20, lambda: f"{at}: the cost is {cost!r}, SciPy: {wanted.cost!r}, at {p}, SciPy: {wanted.x}")
    if abs(cost - wanted.cost) <= 1e-9 * wanted.cost + 1e-20:
        out.check(name, np.allclose(p, wanted.x, rtol=2e-5, atol=1e-7), lambda: f"{at}: {p}, SciPy: {wanted.x}, with the costs {cost!r} and {wanted.cost!r}")
    if loss == "linear" and kind == "free":
        inverse = np.linalg.inv(wanted.jac.T @ wanted.jac)
        out.check(name, np.allclose(covariance, inverse, rtol=1e-5, atol=1e-6 * np.abs(inverse).max()), lambda: f"{at}: covariance {covariance}, SciPy: {inverse}")
        out.check(name, converged == 1, lambda: f"{at}: it did not converge")


def main():
    out = calls.report()
    chosen = [f for f in fits if not calls.options.only or f[0] in calls.options.only.split(",")]
    drawn = [[(kind, *draw(f, true, loss, kind)) for kind in kinds] for _, f, true, _, loss in chosen]
    text = program + "\nint main() {\n" + "".join(f"  fit<{len(true)}>({f.__name__}, tn::robust::{ours}, {len(kinds)});\n" for _, f, true, ours, _ in chosen) + "}\n"
    numbers = calls.answers(calls.built(text, "fits"), b"".join(calls.packed(given) for of_fit in drawn for _, given, _, _ in of_fit))
    at = 0
    for (name, f, true, ours, loss), of_fit in zip(chosen, drawn):
        scale = float(ours.split("= ")[1].rstrip("}")) if "= " in ours else 1.0
        for kind, given, unit, linear in of_fit:
            count = len(true) * (len(true) + 1) + 2
            judge(name, f, loss, scale, given, unit, linear, kind, numbers[at:at + count], out)
            at += count
    assert at == len(numbers)
    out.end("SciPy")


if __name__ == "__main__":
    main()
