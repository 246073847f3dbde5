# SPDX-License-Identifier: BSL-1.0
"""Prints the coefficients in include/tenure/math: weighted minimax fits by Remez exchange with 45 digits (needs mpmath).

Each fit minimises max |weight(x) * (target(x) - sum_k c_k x**k)| over an interval; the weights make that the relative
error of the function. About a minute.
"""
from mpmath import (mp, mpf, matrix, lu_solve, log, pi, cos, sin, sqrt, exp, expm1, asin, atan, atanh, tan, tanh, erf, erfc, diff)
import sys
mp.dps = 45

def remez(target, weight, lo, hi, count, rounds=12, grid=1200):
    lo, hi = mpf(lo), mpf(hi)
    def cheb(k, n): return (lo + hi) / 2 - (hi - lo) / 2 * cos(pi * k / (n - 1))
    def node(k, n): return (lo + hi) / 2 - (hi - lo) / 2 * cos(pi * (2 * k + 1) / (2 * n))
    points = [node(k, count + 1) for k in range(count + 1)]
    xs = [cheb(k, grid) for k in range(grid)]
    xs = [x for x in xs if weight(x) != 0]
    table = [(x, target(x), weight(x)) for x in xs]
    for _ in range(rounds):
        a = matrix(count + 1, count + 1); b = matrix(count + 1, 1)
        for i, x in enumerate(points):
            w = weight(x); p = mpf(1)
            for k in range(count):
                a[i, k] = w * p; p *= x
            a[i, count] = (-1) ** i; b[i] = w * target(x)
        c = lu_solve(a, b)
        errors = []
        for x, t, w in table:
            p = mpf(0)
            for k in reversed(range(count)): p = p * x + c[k]
            errors.append(w * (t - p))
        # one extremum per sign run
        runs, start = [], 0
        for i in range(1, len(errors) + 1):
            if i == len(errors) or (errors[i] > 0) != (errors[start] > 0):
                best = max(range(start, i), key=lambda j: abs(errors[j]))
                runs.append(best); start = i
        while len(runs) > count + 1:
            if abs(errors[runs[0]]) < abs(errors[runs[-1]]): runs.pop(0)
            else: runs.pop()
        worst = max(abs(e) for e in errors)
        if len(runs) < count + 1: break
        points = [xs[j] for j in runs]
        low = min(abs(errors[j]) for j in runs)
        if worst / low < 1.02: break
    return [c[k] for k in range(count)], worst

def show(name, fit):
    c, worst = fit
    print(f"// {name}: weighted error 2^{float(log(worst, 2)):.1f}")
    for v in c: print(f"    {float(v).hex()},   // {mp.nstr(v, 20)}")
    sys.stdout.flush()

TINY = mpf(10) ** -12

# (e^r - 1 - r) / r^2
def exp_tail(r): return (expm1(r) - r) / r ** 2 if abs(r) > TINY else mpf(1) / 2 + r / 6
half = log(2) / 2 * mpf('1.001')
show('exp float', remez(exp_tail, lambda r: abs(r * r / expm1(r)) if r != 0 else mpf(0), -half, half, 5))
show('exp double', remez(exp_tail, lambda r: abs(r * r / expm1(r)) if r != 0 else mpf(0), -half, half, 10))
show('exp by table float', remez(exp_tail, lambda r: r * r, -half / 16, half / 16, 2))
show('exp by table double', remez(exp_tail, lambda r: r * r, -half / 16, half / 16, 5))
show('tanh by table double', remez(lambda r: 2 * exp_tail(2 * r), lambda r: abs(2 * r * r / expm1(2 * r)) if r != 0 else mpf(0), -half / 32, half / 32, 6))
print('excesses', [float(((mpf(2) ** (mpf(k) / 16) / float(mpf(2) ** (mpf(k) / 16)) - 1) - k * (log(2) - float(log(2))) / 16) / 2).hex() for k in range(16)])

# (2^r - 1) / r
def exp2_slope(r): return expm1(r * log(2)) / r if abs(r) > TINY else log(2)
for name, terms in (('float', 6), ('double', 11)):
    show(f'exp2 {name}', remez(exp2_slope, lambda r: abs(r) / mpf(2) ** r, mpf('-0.5005'), mpf('0.5005'), terms))

# sinh float by the addition theorem: (cosh r - 1) / r^2 and (sinh r - r) / r^3 in z = r^2
def cosh_tail(z): return (mp.cosh(sqrt(z)) - 1) / z if z > TINY else mpf(1) / 2 + z / 24
def sinh_tail(z): return (mp.sinh(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3 if z > TINY else mpf(1) / 6 + z / 120
show('cosh float', remez(cosh_tail, lambda z: z, 0, half ** 2, 3))
show('sinh float', remez(sinh_tail, lambda z: z * sqrt(z) / mp.sinh(sqrt(z)) if z > 0 else mpf(0), 0, half ** 2, 3))

# (2 atanh s - 2 s) / s^3 in z = s^2; s <= 1/5 for m in [3/4, 3/2)
def log_tail(z): return (2 * atanh(sqrt(z)) - 2 * sqrt(z)) / sqrt(z) ** 3 if z > TINY else mpf(2) / 3 + 2 * z / 5
end = mpf('0.2001') ** 2
show('log float', remez(log_tail, lambda z: z / 2, 0, end, 4))
show('log double', remez(log_tail, lambda z: z / 2, 0, end, 7))
def pow_tail(z): return (log_tail(z) - mpf(2) / 3) / z if z > TINY else mpf(2) / 5 + 2 * z / 7
show('pow float', remez(pow_tail, lambda z: z * z / 2, 0, end, 3))
show('pow double', remez(pow_tail, lambda z: z * z / 2, 0, end, 8))

# log(1 + r) by table: (log(1 + r) - r) / r^2, and log2(1 + r) / r
low, high = mpf('-0.03126'), mpf('0.06251')
def log1p_tail(r): return (log(1 + r) - r) / r ** 2 if abs(r) > TINY else -mpf(1) / 2 + r / 3
def log2_slope(r): return log(1 + r) / r / log(2) if abs(r) > TINY else (1 - r / 2) / log(2)
def log1p_weight(r): return abs(r * r / log(1 + r)) if r != 0 else mpf(0)
def log2_weight(r): return abs(r / log(1 + r)) * log(2) if r != 0 else log(2)
show('log by table float', remez(log1p_tail, log1p_weight, low, high, 4))
show('log by table double', remez(log1p_tail, log1p_weight, low, high, 9))
show('log2 by table float', remez(log2_slope, log2_weight, low, high, 5))
show('log2 by table double', remez(log2_slope, log2_weight, low, high, 10))

# Its tables: the nearest c to a start (2 / (low + high) of a piece, in few bits) with log(1/c), and log2(1/c) where both are wanted, in `digits`
def from_whole(x, digits):
    scaled = x * mpf(2) ** (digits - 1 - int(mp.floor(log(abs(x), 2))))
    return abs(scaled - mp.nint(scaled))
def log_entry(start, digits, ulps, both):
    for i in range(1, 10 ** 7):
        c = start + (i // 2 if i % 2 else -i // 2) * mpf(2) ** ((1 if start >= 1 else 0) - digits)
        if from_whole(log(c), digits) < ulps and (not both or from_whole(log(c) / log(2), digits) < ulps): return c
def log_table(name, digits, bits, ulps, of_one):
    for k in range(1, 16 if of_one else 15):
        middle = (1 + (k + mpf('0.5')) / 16) / (1 if of_one or k < 8 else 2)
        if of_one and k == 1: middle = mpf('1.067')
        unit = mpf(2) ** (bits - (1 if middle <= 1 else 0))
        c = log_entry(mp.nint(unit / middle) / unit, digits, ulps, not of_one)
        print(name, k, float(c).hex(), float(-log(c)).hex(), float(-log(c) / log(2)).hex())
for digits, bits_of_one in ((24, 12), (53, 16)):
    log_table(f'log_table {digits}', digits, 14, mpf(1) / 64, False)
    log_table(f'log_table_of_one {digits}', digits, bits_of_one, mpf(1) / 256, True)

# (sin r - r) / r^3 in z = r^2
def sin_tail(z): return (sin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3 if z > TINY else -mpf(1) / 6 + z / 120
def sin_weight(z): return z * sqrt(z) / sin(sqrt(z)) if z > 0 else mpf(0)
end = (pi / 2 * mpf('1.0005')) ** 2
show('sin float', remez(sin_tail, sin_weight, 0, end, 4))
show('sin double', remez(sin_tail, sin_weight, 0, end, 8))

# (tan r - r) / r^3 in z = r^2
def tan_tail(z): return (tan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3 if z > TINY else mpf(1) / 3 + 2 * z / 15
for name, terms in (('float', 7), ('double', 14)):
    show(f'tan {name}', remez(tan_tail, lambda z: z * sqrt(z) / tan(sqrt(z)) if z > 0 else mpf(0), 0, (pi / 4 * mpf('1.0005')) ** 2, terms))

# (asin s - s) / s^3 in z = s^2
def asin_tail(z): return (asin(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3 if z > TINY else mpf(1) / 6 + 3 * z / 40
for name, terms in (('float', 5), ('double', 12)):
    show(f'asin {name}', remez(asin_tail, lambda z: z * sqrt(z) / asin(sqrt(z)) if z > 0 else mpf(0), 0, mpf('0.25'), terms))

# (atan t - t) / t^3 in z = t^2
def atan_tail(z): return (atan(sqrt(z)) - sqrt(z)) / sqrt(z) ** 3 if z > TINY else -mpf(1) / 3 + z / 5
end = (tan(pi / 8) * mpf('1.001')) ** 2
show('atan float', remez(atan_tail, lambda z: z, 0, end, 5))
show('atan double', remez(atan_tail, lambda z: z, 0, end, 11))

# log(erfc x) / x; an error dh of it is erfc(x) x dh in erf
def erf_h(x): return log(erfc(x)) / x if x > TINY else -2 / sqrt(pi) - x * 2 / pi
def erf_weight(x): return erfc(x) * x / erf(x) if x > TINY else sqrt(pi) / 2
show('erf float', remez(erf_h, erf_weight, 0, mpf('3.95'), 9, rounds=20, grid=3000))
show('erf double', remez(erf_h, erf_weight, 0, mpf('6.0'), 25, rounds=40, grid=6000))

# erfc: erf(x) / x in z = x^2 near 0, and e^(a^2) erfc(a) (1 + 2a) in t = (a - k) / (a + k)
def erf_slope(z): return erf(sqrt(z)) / sqrt(z) if z > TINY else 2 / sqrt(pi) * (1 - z / 3)
for name, terms in (('float', 5), ('double', 9)):
    show(f'erfc near 0 {name}', remez(erf_slope, lambda z: sqrt(z) / erfc(sqrt(z)), 0, mpf('0.4376') ** 2, terms))
for name, k, end, terms in (('float', mpf('2.5'), mpf('10.2'), 10), ('double', mpf(3), mpf('27.3'), 22)):
    def scaled_erfc(t, k=k):
        a = k * (1 + t) / (1 - t)
        return erfc(a) * exp(a * a) * (1 + 2 * a)
    start = mpf('0.43')
    show(f'erfc {name}', remez(scaled_erfc, lambda t: 1 / scaled_erfc(t), (start - k) / (start + k), (end - k) / (end + k), terms, rounds=25, grid=1500))

# normal_cdf(-a) e^(a^2 / 2) = H / (k a H + G) with k = sqrt(2 pi), H(0) = 1, G(0) = 2. Least squares, linear by the denominator of the last round;
# the weights grow where the error is large (Lawson), until it is level.
def rational(end, middle, of_h, of_g, rounds=16, grid=300):
    k, first = sqrt(2 * pi), (middle - end) / (middle + end)
    ts = [(-1 - first) / 2 + (1 - first) / 2 * cos(pi * i / (grid - 1)) for i in range(grid - 1)]
    xs = [middle * (1 + t) / (1 - t) for t in ts]
    fs = [erfc(x / sqrt(2)) / 2 * exp(x * x / 2) for x in xs]
    weights, below, n = [mpf(1)] * len(xs), [mpf(1)] * len(xs), of_h + of_g
    for iteration in range(rounds):
        a, b = matrix(n, n), matrix(n, 1)
        for x, f, w, d in zip(xs, fs, weights, below):
            one = (1 - k * x * f) / f
            terms = [one * x ** i for i in range(1, of_h + 1)] + [-x ** i for i in range(1, of_g + 1)]
            for i in range(n):
                b[i] += w / d ** 2 * terms[i] * (2 - one)
                for j in range(n): a[i, j] += w / d ** 2 * terms[i] * terms[j]
        c = list(lu_solve(a, b))
        h, g = [mpf(1)] + c[:of_h], [mpf(2)] + c[of_h:]
        value = lambda c, x: mp.polyval(c[::-1], x)
        below = [k * x * value(h, x) + value(g, x) for x in xs]
        errors = [abs(value(h, x) / d / f - 1) for x, f, d in zip(xs, fs, below)]
        if iteration >= 3: weights = [w * (e / max(errors) + mpf('0.001')) for w, e in zip(weights, errors)]
        weights = [w * len(xs) / sum(weights) for w in weights]
    return h, g, max(errors)
mp.dps = 90
for name, end, middle, of_h, of_g in (('double', 39, 3, 10, 9), ('float', mpf('14.5'), 2, 4, 4)):
    h, g, worst = rational(mpf(end), mpf(middle), of_h, of_g)
    show(f'normal_cdf {name}, H', (h, worst))
    show(f'normal_cdf {name}, G', (g, worst))
mp.dps = 45

# (f(c + d) - f(c)) / d around the centres c = k w. pieces.hpp has another last piece of float tanh, a step, and moves a part of f(c) into its low
# part where the line through c would pass 1.
def pieces(name, f, w, count, terms):
    for k in range(count):
        c, fc, reach = w * k, f(w * k), w / 2 * mpf('1.0001')
        slope = lambda d: (f(c + d) - fc) / d if abs(d) > mpf(10) ** -14 else diff(f, c)
        weight = (lambda d: abs(d) / f(c + d)) if k else (lambda d: d / f(d) if d > 0 else 1 / diff(f, mpf(0)))
        show(f'{name}, piece {k}, f(c) = {mp.nstr(fc, 25)}', remez(slope, weight, -reach if k else mpf(0), reach, terms, rounds=8, grid=400))

pieces('erf float', erf, mpf(33) / 128, 16, 6)
pieces('erf double', erf, mpf(13) / 16, 8, 16)
pieces('tanh float', tanh, mpf(75) / 128, 16, 7)
