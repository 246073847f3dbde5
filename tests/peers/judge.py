#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Random programs at special values, judged by PyTorch or JAX.

    judge.py [--seed N] [--programs N] [--peer torch|jax] [--compiler C++] [--include DIR]... [--flags=...] [--keep FILE]

Writes random compositions of operations as one C++ program, compiles and runs it, and has the peer compute the same: the value, both
gradients (by pull, by push, eagerly) and the Hessian-vector product of sum(f(x, y)) in float64. Half of the arguments are ordinary; the other half are
0, -0, 1, -1, 1e-310, 1e300, inf, -inf and NaN.

What fails: a value that differs; a derivative that differs at ordinary arguments; a derivative that is NaN or infinite where the peer's, its value
and its gradients are finite and no argument is NaN; a gradient by push or by backward() that differs from the one by pull. Finite derivatives at kinks are not
compared, nor is JAX where an argument is subnormal: docs/pytorch.md says which conventions are Tenure's own. Exits with 77 where Python has neither peer.
"""
import argparse, math, os, random, re, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--programs", type=int, default=12)
parser.add_argument("--peer", choices=["torch", "jax"])
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O0")
parser.add_argument("--keep")
options = parser.parse_args()


def torch_peer():
    import torch
    F = torch.nn.functional

    def judge(f, x, y, v):
        x, y = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (x, y))
        value = f(torch, F, x, y)
        gradients = torch.autograd.grad(value.sum(), (x, y), create_graph=True, materialize_grads=True)
        directed = sum((g * torch.tensor(v, dtype=torch.float64)).sum() for g in gradients)
        try:
            products = torch.autograd.grad(directed, (x, y), materialize_grads=True)
        except RuntimeError:  # neither gradient depends on x or y
            products = (torch.zeros_like(x), torch.zeros_like(y))
        return [a.detach().numpy(force=True).tolist() for a in (value, *gradients, *products)]

    return judge


def jax_peer():
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)

    class names:
        """jnp and jax.nn under the names that torch has."""
        maximum, minimum, where, abs, exp, expm1, log, log1p, log2, sqrt, sin, cos, sinh, cosh, tanh, square, sign = (
            jnp.maximum, jnp.minimum, jnp.where, jnp.abs, jnp.exp, jnp.expm1, jnp.log, jnp.log1p, jnp.log2, jnp.sqrt, jnp.sin, jnp.cos, jnp.sinh, jnp.cosh,
            jnp.tanh, jnp.square, jnp.sign)
        atan, atan2, rsqrt, reciprocal, pow, sigmoid, erf, relu, clamp = (
            jnp.arctan, jnp.arctan2, jax.lax.rsqrt, jnp.reciprocal, jnp.power, jax.nn.sigmoid, jax.lax.erf, jax.nn.relu, jnp.clip)
        softplus, silu, mish, elu, leaky_relu, logsigmoid, softsign = (
            jax.nn.softplus, jax.nn.silu, jax.nn.mish, jax.nn.elu, jax.nn.leaky_relu, jax.nn.log_sigmoid, jax.nn.soft_sign)
        exp2, log10, tan, asin, acos, asinh, acosh, atanh, erfc, ceil, trunc = (
            jnp.exp2, jnp.log10, jnp.tan, jnp.arcsin, jnp.arccos, jnp.arcsinh, jnp.arccosh, jnp.arctanh, jax.lax.erfc, jnp.ceil, jnp.trunc)
        fmod, remainder, fmax, fmin, xlogy = jnp.fmod, jnp.remainder, jnp.fmax, jnp.fmin, jax.scipy.special.xlogy
        gelu = staticmethod(lambda x: jax.nn.gelu(x, approximate=False))
        stack, sum, mean, amax, logsumexp, softmax, log_softmax = (
            jnp.stack, jnp.sum, jnp.mean, jnp.max, jax.scipy.special.logsumexp, jax.nn.softmax, jax.nn.log_softmax)
        var, std, norm = (staticmethod(lambda x, axis: jnp.var(x, axis, ddof=1)), staticmethod(lambda x, axis: jnp.std(x, axis, ddof=1)),
                          staticmethod(lambda x, dim: jnp.linalg.norm(x, axis=dim)))
        # JAX itself has no losses: these are Optax's formulas.
        mse_loss, l1_loss = staticmethod(lambda a, b, reduction: jnp.square(a - b)), staticmethod(lambda a, b, reduction: jnp.abs(a - b))
        binary_cross_entropy_with_logits = staticmethod(lambda a, b, reduction: -b * jax.nn.log_sigmoid(a) - (1 - b) * jax.nn.log_sigmoid(-a))

        @staticmethod
        def huber_loss(a, b, reduction, delta):
            far = jnp.abs(a - b)
            near = jnp.minimum(far, delta)
            return 0.5 * near ** 2 + delta * (far - near)

        @staticmethod
        def smooth_l1_loss(a, b, reduction, beta):
            return names.huber_loss(a, b, reduction, beta) / beta

    def judge(f, x, y, v):
        x, y, v = (jnp.array(a, dtype=jnp.float64) for a in (x, y, v))
        total = lambda a, b: f(names, names, a, b).sum()
        gradient = jax.grad(total, (0, 1))
        directed = lambda a, b: sum((g * v).sum() for g in gradient(a, b))
        return [[float(n) for n in a] for a in (f(names, names, x, y) + 0 * jnp.zeros_like(x), *gradient(x, y), *jax.grad(directed, (0, 1))(x, y))]

    return judge


def find_peer():
    for name, make in (("torch", torch_peer), ("jax", jax_peer)):
        if options.peer in (None, name):
            try:
                return name, make()
            except ImportError:
                pass
    print("skipped: Python has neither torch nor jax" if options.peer is None else f"skipped: Python has no {options.peer}")
    sys.exit(77)


peer, judge = find_peer()

# Tenure's spelling and the peer's: m is its module, n has its functions of networks.
unary = [("exp(A)", "m.exp(A)"), ("expm1(A)", "m.expm1(A)"), ("log(A)", "m.log(A)"), ("log1p(A)", "m.log1p(A)"), ("log2(A)", "m.log2(A)"), ("sqrt(A)", "m.sqrt(A)"),
         ("rsqrt(A)", "m.rsqrt(A)"), ("square(A)", "m.square(A)"), ("reciprocal(A)", "m.reciprocal(A)"), ("sin(A)", "m.sin(A)"), ("cos(A)", "m.cos(A)"),
         ("atan(A)", "m.atan(A)"), ("sinh(A)", "m.sinh(A)"), ("cosh(A)", "m.cosh(A)"), ("tanh(A)", "m.tanh(A)"), ("sigmoid(A)", "m.sigmoid(A)"),
         ("softplus(A)", "n.softplus(A)"), ("erf(A)", "m.erf(A)"), ("relu(A)", "n.relu(A)"), ("elu(A)", "n.elu(A)"), ("leaky_relu(A)", "n.leaky_relu(A)"),
         ("silu(A)", "n.silu(A)"), ("gelu(A)", "n.gelu(A)"), ("mish(A)", "n.mish(A)"), ("log_sigmoid(A)", "n.logsigmoid(A)"), ("softsign(A)", "n.softsign(A)"),
         ("(-A)", "(-A)"), ("abs(A)", "m.abs(A)"), ("(A * 0.5)", "(A * 0.5)"), ("(A + 1.0)", "(A + 1.0)"), ("clamp(A, -0.75, 1.25)", "m.clamp(A, -0.75, 1.25)"),
         ("pow(A, 3.0)", "m.pow(A, 3.0)"), ("pow(A, 2.5)", "m.pow(A, 2.5)"), ("exp2(A)", "m.exp2(A)"), ("log10(A)", "m.log10(A)"), ("tan(A)", "m.tan(A)"),
         ("asin(A)", "m.asin(A)"), ("acos(A)", "m.acos(A)"), ("asinh(A)", "m.asinh(A)"), ("acosh(A)", "m.acosh(A)"), ("atanh(A)", "m.atanh(A)"), ("erfc(A)", "m.erfc(A)"),
         ("ceil(A)", "m.ceil(A)"), ("trunc(A)", "m.trunc(A)")]
binary = [("(A + B)", "(A + B)"), ("(A - B)", "(A - B)"), ("(A * B)", "(A * B)"), ("(A / B)", "(A / B)"), ("maximum(A, B)", "m.maximum(A, B)"), ("minimum(A, B)", "m.minimum(A, B)"),
          ("pow(A, B)", "m.pow(A, B)"), ("atan2(A, B)", "m.atan2(A, B)"), ("where(A > B, A, B)", "m.where(A > B, A, B)"), ("where(A < 0.5, B, A * B)", "m.where(A < 0.5, B, A * B)"),
          ("fmod(A, B)", "m.fmod(A, B)"), ("remainder(A, B)", "m.remainder(A, B)"), ("fmax(A, B)", "m.fmax(A, B)"), ("fmin(A, B)", "m.fmin(A, B)"), ("xlogy(A, B)", "m.xlogy(A, B)")]
# Losses of one element each. Probabilities are in [0, 1]. bce is written out as PyTorch's documentation has it: PyTorch itself refuses NaN.
losses = [("mse(A, B, reduction::none)", "n.mse_loss(A, B, reduction='none')"), ("l1(A, B, reduction::none)", "n.l1_loss(A, B, reduction='none')"),
          ("huber(A, B, 0.75, reduction::none)", "n.huber_loss(A, B, reduction='none', delta=0.75)"),
          ("smooth_l1(A, B, 0.5, reduction::none)", "n.smooth_l1_loss(A, B, reduction='none', beta=0.5)"),
          ("bce(sigmoid(A), clamp(B, 0.0, 1.0), reduction::none)",
           "-(m.clamp(B, 0, 1) * m.clamp(m.log(m.sigmoid(A)), -100, 1e999) + (1 - m.clamp(B, 0, 1)) * m.clamp(m.log1p(-m.sigmoid(A)), -100, 1e999))"),
          ("bce_with_logits(A, clamp(B, 0.0, 1.0), reduction::none)", "n.binary_cross_entropy_with_logits(A, m.clamp(B, 0, 1), reduction='none')")]
# Reductions of a column of two or three elements.
reductions = [("sum(stack(A, B, A), axis<0>)", "m.sum(m.stack((A, B, A)), 0)"), ("mean(stack(A, B, A), axis<0>)", "m.mean(m.stack((A, B, A)), 0)"),
              ("amax(stack(A, B), axis<0>)", "m.amax(m.stack((A, B)), 0)"), ("var(stack(A, B), axis<0>)", "m.var(m.stack((A, B)), 0)"),
              ("stddev(stack(A, B), axis<0>)", "m.std(m.stack((A, B)), 0)"), ("norm(stack(A, B), axis<0>)", "m.norm(m.stack((A, B)), dim=0)"),
              ("logsumexp(stack(A, B), axis<0>)", "m.logsumexp(m.stack((A, B)), 0)"),
              ("amax(softmax(stack(A, B), axis<0>), axis<0>)", "m.amax(n.softmax(m.stack((A, B)), 0), 0)"),
              ("sum(square(softmax(stack(A, B), axis<0>)), axis<0>)", "m.sum(m.square(n.softmax(m.stack((A, B)), 0)), 0)"),
              ("amax(log_softmax(stack(A, B), axis<0>), axis<0>)", "m.amax(n.log_softmax(m.stack((A, B)), 0), 0)")]
binary += losses + reductions
# Its gradient at (0, 0) is NaN, as JAX's, and PyTorch's is 0; its value depends on the sign of a zero, which maximum and minimum leave open.
# fmod and remainder are exact; PyTorch's packets give NaN where the divisor is subnormal.
# The derivative of xlogy(0, 0) in y is NaN, as PyTorch's and JAX's.
# bce_with_logits of an infinite logit is 0 where the target agrees, and theirs is NaN.
by_rule = ["atan2", "fmod", "remainder", "xlogy", "bce_with_logits"]


def expression(r, depth):
    if depth == 0:
        leaf = r.choice("xy")
        return leaf, leaf
    if r.random() < 0.5:
        ours, theirs = r.choice(unary)
        a = expression(r, depth - 1)
        return ours.replace("A", a[0]), theirs.replace("A", a[1])
    ours, theirs = r.choice(binary)
    a, b = expression(r, depth - 1), expression(r, r.randrange(depth))
    put = lambda s, i: s.replace("A", "\1").replace("B", "\2").replace("\1", a[i]).replace("\2", b[i])
    return put(ours, 0), put(theirs, 1)


special = [0.0, -0.0, 1.0, -1.0, 1e-310, 1e300, math.inf, -math.inf, math.nan]
ordinary = 8


def programs():
    # Every operation by itself first, dealt over the seeds, then compositions.
    single = [(o.replace("A", "x"), t.replace("A", "x")) for o, t in unary] + [
        (o.replace("A", "x").replace("B", "y"), t.replace("A", "x").replace("B", "y")) for o, t in binary]
    for i in range(options.programs):
        r = random.Random(options.seed * 1000003 + i)
        alone = (options.seed - 1) * options.programs + i
        yield (single[alone] if options.seed > 0 and alone < len(single) else expression(r, r.randrange(2, 4))), r


def literal(v):
    return "none" if math.isnan(v) else "infinity" if v == math.inf else "-infinity" if v == -math.inf else f"{v!r}"


cases, source = [], []
for i, ((ours, theirs), r) in enumerate(programs()):
    pairs = [(r.uniform(0.1, 2.5), r.uniform(0.1, 2.5)) for _ in range(ordinary)]
    pairs += [(a, b) for a in special for b in special]
    x, y = [p[0] for p in pairs], [p[1] for p in pairs]
    if not re.search(r"\bx\b", ours):
        ours, theirs = f"({ours} + x * 1.0)", f"({theirs} + x * 1.0)"
    if not re.search(r"\by\b", ours):
        ours, theirs = f"({ours} + y * 1.0)", f"({theirs} + y * 1.0)"
    v = [r.uniform(0.5, 1.5) for _ in pairs]
    cases.append((ours, theirs, x, y, v))
    numbers = lambda a: ", ".join(literal(e) for e in a)
    source.append(f"""
struct program_{i} {{ template <class X, class Y> constexpr auto operator()(const X& x, const Y& y) const {{ return {ours}; }} }};
void run_{i}() {{ check<program_{i}>({i}, {{{numbers(x)}}}, {{{numbers(y)}}}, {{{numbers(v)}}}); }}""")

n = ordinary + len(special) ** 2
text = f"""#include <cstdio>
#include <limits>
#include <tenure/tenure.hpp>
using namespace tenure;
constexpr double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
using vector = tensor<double, shape<{n}>>;
template <class X> void print(const char* what, int i, const X& x) {{
  std::printf("%s %d", what, i);
  for (int k = 0; k < {n}; ++k) std::printf(" %.17g", x.data()[k]);
  std::puts("");
}}
template <class F> void check(int i, const double (&a)[{n}], const double (&b)[{n}], const double (&d)[{n}]) {{
  vector x(uninitialized), y(uninitialized), v(uninitialized);
  for (int k = 0; k < {n}; ++k) as_span(x)[k] = a[k], as_span(y)[k] = b[k], as_span(v)[k] = d[k];
  constexpr auto total = [](auto p, auto q) {{ return sum(F{{}}(p, q)); }};
  const auto [value, gx, gy] = compile([](auto p, auto q) {{
    const auto g = grad<0, 1>(total)(p, q);
    return std::tuple{{F{{}}(p, q), std::get<0>(g), std::get<1>(g)}};
  }})(x, y);
  print("value", i, value), print("gx", i, gx), print("gy", i, gy);
  const auto [hx, hy] = compile([](auto p, auto q, auto w) {{
    return grad<0, 1>([w](auto r, auto s) {{
      const auto g = grad<0, 1>(total)(r, s);
      return sum(std::get<0>(g) * w) + sum(std::get<1>(g) * w);
    }})(p, q);
  }})(x, y, v);
  print("hx", i, hx), print("hy", i, hy);
  const auto [px, py] = compile([](auto p, auto q, auto along) {{
    return std::tuple{{std::get<1>(jvp([q](auto r) {{ return F{{}}(r, q); }})(p, along)), std::get<1>(jvp([p](auto s) {{ return F{{}}(p, s); }})(q, along))}};
  }})(x, y, full<double>(shape<{n}>{{}}, 1.0));
  print("px", i, px), print("py", i, py);
  auto u = x.clone().requires_grad_(), w = y.clone().requires_grad_();
  sum(F{{}}(u, w)).backward();
  print("ex", i, u.grad()), print("ey", i, w.grad());
}}
{"".join(source)}
int main() {{ {" ".join(f"run_{i}();" for i in range(len(cases)))} }}
"""

folder = tempfile.mkdtemp()
path, program = options.keep or os.path.join(folder, "program.cpp"), os.path.join(folder, "program")
with open(path, "w") as file:
    file.write(text)
command = [options.compiler, *options.flags.split(), *(f"-I{d}" for d in options.include), path, "-o", program]
built = subprocess.run(command, capture_output=True, text=True)
if built.returncode != 0:
    print(built.stderr[:4000])
    sys.exit(f"judge.py: --seed {options.seed}: the program does not compile")
got = {}
for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
    what, i, *numbers = line.split()
    got[what, int(i)] = [float(a) for a in numbers]


def same(a, b):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-11


failed = compared = 0
for i, (ours, theirs, x, y, v) in enumerate(cases):
    wanted = dict(zip(("value", "gx", "gy", "hx", "hy"), judge(eval("lambda m, n, x, y: " + theirs), x, y, v)))
    for what, numbers in wanted.items():
        for k, b in enumerate(numbers):
            flushed = peer == "jax" and any(0 < abs(e) < sys.float_info.min for e in (x[k], y[k]))  # XLA takes subnormal numbers for zeros
            ruled = k >= ordinary and any(name in ours for name in by_rule) or flushed
            a, strict = got[what, i][k], k < ordinary or what == "value" and not ruled
            compared += 1
            defined = all(math.isfinite(wanted[w][k]) for w in ("value", "gx", "gy")) and not math.isnan(x[k]) and not math.isnan(y[k])
            # Behind a function without a derivative JAX computes no derivatives. Tenure's and PyTorch's are 0 times those, or NaN.
            dropped = peer == "jax" and what != "value" and b == 0 and math.isnan(a) and re.search(r"\b(ceil|trunc)\(", ours)
            lost = defined and math.isfinite(b) and not math.isfinite(a) and not ruled
            if same(a, b) or dropped or not (strict or lost):
                continue
            failed += 1
            if failed <= 200:
                print(f"{what} of {ours} at x = {x[k]!r}, y = {y[k]!r}: {a!r}, {peer}: {b!r}")
    for pull, others in (("gx", ("px", "ex")), ("gy", ("py", "ey"))):
        for other in others:
            for k, (a, b) in enumerate(zip(got[pull, i], got[other, i])):
                compared += 1
                # Which of the two multiplies 0 with infinity or NaN depends on the direction.
                by_zero = other[0] == "p" and (k >= ordinary or math.isnan(got["value", i][k])) and (math.isnan(a) or math.isnan(b))
                if not same(a, b) and not by_zero:
                    failed += 1
                    print(f"{other} (by {'push' if other[0] == 'p' else 'backward()'}) of {ours} at x = {x[k]!r}, y = {y[k]!r}: {b!r}, by pull: {a!r}")
print(f"{peer}, seed {options.seed}: {len(cases)} programs, {compared} comparisons, {failed} failed")
sys.exit(failed != 0)
