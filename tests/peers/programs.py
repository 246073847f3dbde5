#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Random programs with loops, branches, batches and derivatives, each written for Tenure and for JAX, and judged by JAX.

    programs.py [--seed N] [--programs N] [--unit N] [--limit SECONDS] [--compiler C++] [--include DIR]... [--flags=...] [--keep DIR] [--golden FILE]

A program is a function of some tensors with two results. Tenure computes the results, the gradient of a weighted sum of both, the tangents of both, and
for most programs a second derivative of the first result alone, so that the other one has no cotangent. JAX computes the same in float64, and of a
program in float32 in float32 too.

Tolerance: JAX computes each program again with every intermediate value off by some random roundings. What that moves, scaled to the
rounding of the type, is what the program leaves open; so a branch that hangs by a rounding error is not compared. A program of `exact` operations has the
same bits, also the signs of zeros.

What fails: a value that differs, NaN and infinity included; a derivative that differs where JAX's is finite. At special arguments (zeros, infinities, NaN, ties)
only a derivative fails that is NaN or infinite where JAX's is finite and so are the values: docs/pytorch.md says which conventions are Tenure's own.
Where JAX's own float32 overflows or loses digits, its float64 is right too. JAX has no reverse mode of while_loop: there it runs a fori_loop of conds.

--golden writes the programs, arguments and results as a header for tests/golden/jax.cpp, which needs no JAX, and compiles nothing.
Without --seed the seed is a new one, which the last line says. A program takes 5 to 20 s of CPU. Exits with 77 where Python has no JAX.
"""
import argparse, math, os, random, struct, subprocess, sys, tempfile

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000, 1000000))
parser.add_argument("--programs", type=int, default=8)
parser.add_argument("--unit", type=int, default=2, help="programs in a unit of translation")
parser.add_argument("--limit", type=int, default=300, help="seconds for the compiler and a unit")
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O0 -march=native")
parser.add_argument("--keep")
parser.add_argument("--golden")
options = parser.parse_args()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import numpy as np
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:
    print("skipped: Python has no JAX")
    sys.exit(77)
jax.config.update("jax_enable_x64", True)


# ---- derivatives that keep their digits where JAX's own are computed from a result that has reached its limit ---------------------
@jax.custom_jvp
def bell(x):
    return jax.nn.sigmoid(x) * jax.nn.sigmoid(-x)


@jax.custom_jvp
def sigmoid(x):
    return jax.nn.sigmoid(x)


@jax.custom_jvp
def tanh(x):
    return jnp.tanh(x)


@jax.custom_jvp
def expm1(x):
    return jnp.expm1(x)


@jax.custom_jvp
def softplus(x):
    return jnp.logaddexp(x, 0)


bell.defjvps(lambda t, y, x: -t * bell(x) * tanh(x / 2))
sigmoid.defjvps(lambda t, y, x: t * bell(x))
tanh.defjvps(lambda t, y, x: t * 4 * bell(2 * x))
expm1.defjvps(lambda t, y, x: t * jnp.exp(x))
softplus.defjvps(lambda t, y, x: t * sigmoid(x))


# ---- the operations: Tenure's spelling and JAX's --------------------------------------------------------------------------
unary = [("sin(A)", "m.sin(A)"), ("cos(A)", "m.cos(A)"), ("tanh(A)", "tanh(A)"), ("sigmoid(A)", "sigmoid(A)"), ("softplus(A)", "softplus(A)"),
         ("erf(A)", "jax.lax.erf(A)"), ("atan(A)", "m.arctan(A)"), ("exp(-square(A))", "m.exp(-n(m.square(A)))"), ("sqrt(square(A) + 1.0)", "m.sqrt(n(n(m.square(A)) + 1.0))"),
         ("log1p(square(A))", "m.log1p(n(m.square(A)))"), ("silu(A)", "(A * sigmoid(A))"), ("gelu(A)", "k.gelu(A, approximate=False)"), ("relu(A)", "k.relu(A)"),
         ("abs(A)", "m.abs(A)"), ("elu(A)", "m.where(A > 0, A, expm1(m.minimum(A, 0)))"), ("leaky_relu(A)", "k.leaky_relu(A)"), ("log_sigmoid(A)", "(-softplus(-A))"), ("square(A)", "m.square(A)"),
         ("asinh(A)", "m.arcsinh(A)"), ("(A * 0.5)", "(A * 0.5)"), ("(A + 1.0)", "(A + 1.0)"), ("(0.75 - A)", "(0.75 - A)"), ("(-A)", "(-A)"), ("log(abs(A) + 0.5)", "m.log(n(m.abs(A) + 0.5))"),
         ("rsqrt(square(A) + 0.5)", "jax.lax.rsqrt(n(n(m.square(A)) + 0.5))"), ("reciprocal(square(A) + 1.0)", "m.reciprocal(n(n(m.square(A)) + 1.0))"),
         ("clamp(A, -0.75, 1.25)", "m.clip(A, -0.75, 1.25)"), ("pow(abs(A) + 0.25, 1.5)", "m.power(n(m.abs(A) + 0.25), 1.5)"), ("expm1(clamp_max(A, 2.0))", "expm1(m.minimum(A, 2.0))"),
         ("sqrt(abs(A))", "m.sqrt(m.abs(A))"), ("exp(clamp_max(A, 3.0))", "m.exp(m.minimum(A, 3.0))"), ("stop_gradient(A)", "jax.lax.stop_gradient(A)"), ("floor(A)", "m.floor(A)")]
binary = [("(A + B)", "(A + B)"), ("(A - B)", "(A - B)"), ("(A * B)", "(A * B)"), ("(A / (square(B) + 1.0))", "(A / n(n(m.square(B)) + 1.0))"), ("maximum(A, B)", "m.maximum(A, B)"),
          ("minimum(A, B)", "m.minimum(A, B)"), ("where(A > B, A, B * 0.5)", "m.where(A > B, A, B * 0.5)"), ("where(A < 0.5, B, A * B)", "m.where(A < 0.5, B, A * B)"),
          ("atan2(A, B)", "m.arctan2(A, B)"), ("where(B > 0.0, log(B), A)", "m.where(B > 0.0, m.log(B), A)"), ("remainder(A, square(B) + 0.5)", "m.remainder(A, n(n(m.square(B)) + 0.5))")]
# Without rounding, but for the products, which round once: their bits agree.
exact_unary = [("(-A)", "(-A)"), ("abs(A)", "m.abs(A)"), ("(A * 0.5)", "(A * 0.5)"), ("(A * -2.0)", "(A * -2.0)"), ("stop_gradient(A)", "jax.lax.stop_gradient(A)"), ("trunc(A)", "m.trunc(A)")]
exact_binary = [("(A * B)", "(A * B)"), ("where(A > B, A, B)", "m.where(A > B, A, B)"), ("where(A < 0.5, B, A)", "m.where(A < 0.5, B, A)"), ("where(isnan(A), B, A)", "m.where(m.isnan(A), B, A)")]
reductions = [("sum", "m.sum(A, AXIS)"), ("mean", "m.mean(A, AXIS)"), ("amax", "m.max(A, AXIS)"), ("amin", "m.min(A, AXIS)"), ("logsumexp", "jax.scipy.special.logsumexp(A, AXIS)"),
              ("var", "m.var(A, AXIS, ddof=1)"), ("norm", "m.linalg.norm(A, axis=AXIS)"), ("prod", "m.prod(A, AXIS)")]
along = [("softmax(A, tn::axis<AXIS>)", "k.softmax(A, AXIS)"), ("log_softmax(A, tn::axis<AXIS>)", "k.log_softmax(A, AXIS)"), ("tn::cumsum(A, tn::axis<AXIS>)", "m.cumsum(A, AXIS)"),
         ("tn::sort(A, tn::axis<AXIS>)", "m.sort(A, AXIS)")]
shapes = [(), (3,), (5,), (2, 3), (3, 3), (4, 2), (9,), (17,), (2, 9), (3, 1), (1, 4), (2, 3, 2)]
shapes_of_none = [(0,), (0, 3), (3, 0)]


def size(s):
    return math.prod(s)


class scope:
    """Statements in both languages, and the values that they made. A value is (name, shape)."""

    def __init__(self, outer=None):
        self.c, self.p, self.values = [], [], []
        self.outer, self.read = outer, outer.read if outer else set()

    def visible(self):
        return self.values + (self.outer.visible() if self.outer else [])

    def pick(self, r, wanted=lambda s: True):
        """A value, rather one that nothing has read yet, or else a recent one."""
        near = [v for v in self.values if wanted(v[1])]
        unread = [v for v in near if v[0] not in self.read]
        everything = [v for v in self.visible() if wanted(v[1])]
        if not everything:
            return None
        dice = r.random()
        found = r.choice(unread if unread and dice < 0.5 else near[-4:] if near and dice < 0.75 else everything)
        self.read.add(found[0])
        return found


def indented(lines, by="  "):
    return [by + line for line in lines]


class program:
    """A random program, from its seed. `c` is the body of a C++ function and `p` of a Python function."""

    def __init__(self, seed):
        self.r = r = random.Random(seed * 7919 + 5)
        self.seed, self.count, self.control_flows = seed, 0, 0
        self.type = r.choice(["double", "double", "float"])
        self.exact = r.random() < 0.12
        self.inner_grad = self.has_while = False
        self.features, self.made = set(), []
        self.second = r.choice(["", "", "", "forward", "forward", "reverse"]) if not self.exact else ""
        empty = r.random() < 0.08
        self.batch = 0 if empty else r.choice([0, 0, 0, 3, 9])
        self.most_control_flows = r.choice([1, 1, 2, 2, 3])
        kinds = [r.choice(shapes) for _ in range(r.choice([2, 2, 3]))]
        if all(len(s) == 0 for s in kinds):
            kinds[0] = (3,)
        if empty:
            kinds[-1] = r.choice(shapes_of_none)
            self.features.add("empty")
        top = scope()
        names = []
        for s in kinds:
            names.append(self.fresh("a"))
            top.values.append((names[-1], s))
        self.mapped = [bool(self.batch) and (i == 0 or r.random() < 0.7) for i in range(len(kinds))]
        self.grow(top, 0, r.choice([3, 4, 5, 6]))
        # A control-flow operation that a result depends on, as far as there is one.
        tail = top.values[-1]
        first, second = self.made[-1] if self.made else tail, tail if r.random() < 0.7 else top.pick(r)
        if first == second and self.made:
            second = self.made[0]
        # Mostly all that was made has a part in the second result.
        if not self.exact and r.random() < 0.7:
            for v in [v for v in top.values if v[0] not in top.read | {first[0], second[0]}]:
                part = self.let(top, f"sin(tn::sum({v[0]}))", f"m.sin(n(m.sum({v[0]})))", ())
                second = self.let(top, f"({second[0]} + {part[0]} * 0.5)", f"({second[0]} + {part[0]} * 0.5)", second[1])
        self.names = names
        self.c = top.c + [f"return std::tuple{{{first[0]}, {second[0]}}};"]
        self.p = top.p + [f"return ({first[0]}, {second[0]})"]
        lead = lambda s, m: ((self.batch,) if m else ()) + s
        self.arguments = [lead(s, m) for s, m in zip(kinds, self.mapped)]
        self.results = [lead(first[1], bool(self.batch)), lead(second[1], bool(self.batch))]
        if self.batch:
            self.features.add("vmap of all")

    def fresh(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def let(self, at, c, p, shape):
        name = self.fresh("v")
        at.c.append(f"const auto {name} = {c};")
        at.p.append(f"{name} = n({p})")
        at.values.append((name, tuple(shape)))
        return at.values[-1]

    # ---- straight operations ----
    def pointwise(self, at):
        r = self.r
        ones, twos = (exact_unary, exact_binary) if self.exact else (unary, binary)
        a = at.pick(r)
        if r.random() < 0.5:
            c, p = r.choice(ones)
            return self.let(at, c.replace("A", a[0]), p.replace("A", a[0]), a[1])
        fits = lambda s: self.broadcast(s, a[1]) is not None and size(self.broadcast(s, a[1])) <= 60
        b = at.pick(r, fits) or a
        c, p = r.choice(twos)
        if "atan2" in c and a == b:  # its derivative is a rounding error
            c, p = twos[0]
        put = lambda s, x, y: s.replace("A", "\1").replace("B", "\2").replace("\1", x).replace("\2", y)
        return self.let(at, put(c, a[0], b[0]), put(p, f"n({a[0]})", f"n({b[0]})"), self.broadcast(a[1], b[1]))

    @staticmethod
    def broadcast(a, b):
        try:
            return tuple(np.broadcast_shapes(a, b))
        except ValueError:
            return None

    def reduction(self, at):
        r = self.r
        a = at.pick(r, lambda s: len(s) > 0)
        if not a or self.exact:
            return self.pointwise(at)
        c, p = r.choice(reductions if size(a[1]) else reductions[:2] + reductions[-1:])
        if r.random() < 0.4:
            if c == "var" and size(a[1]) == 1:
                return self.pointwise(at)
            if c == "norm":  # of a matrix NumPy's is another one
                p = "m.sqrt(m.sum(n(m.square(A))))"
            return self.let(at, f"tn::{c}({a[0]})", p.replace("AXIS", "None").replace("A", a[0], 1) if c != "norm" else p.replace("A", a[0]), ())
        axis = r.randrange(len(a[1]))
        if c == "var" and a[1][axis] == 1:
            c, p = reductions[0]
        if r.random() < 0.3:
            shape = a[1][:axis] + (1,) + a[1][axis + 1:]
            return self.let(at, f"tn::{c}({a[0]}, tn::axis<{axis}>, tn::keepdim)", f"m.expand_dims({p.replace('AXIS', str(axis)).replace('A', a[0], 1)}, {axis})", shape)
        return self.let(at, f"tn::{c}({a[0]}, tn::axis<{axis}>)", p.replace("AXIS", str(axis)).replace("A", a[0], 1), a[1][:axis] + a[1][axis + 1:])

    def along(self, at):
        a = at.pick(self.r, lambda s: len(s) > 0 and size(s) > 0)
        if not a or self.exact:
            return self.movement(at)
        axis = self.r.randrange(len(a[1]))
        c, p = self.r.choice(along)
        return self.let(at, c.replace("AXIS", str(axis)).replace("A", a[0], 1), p.replace("AXIS", str(axis)).replace("A", a[0], 1), a[1])

    def product(self, at):
        r = self.r
        a = at.pick(r, lambda s: len(s) == 2)
        if not a or self.exact:
            return self.movement(at)
        b = at.pick(r, lambda s: len(s) in (1, 2) and s[0] == a[1][1])
        if b:
            return self.let(at, f"matmul({a[0]}, {b[0]})", f"m.matmul({a[0]}, {b[0]})", (a[1][0],) + b[1][1:])
        return self.let(at, f"matmul({a[0]}, transpose({a[0]}))", f"m.matmul({a[0]}, {a[0]}.T)", (a[1][0], a[1][0]))

    def movement(self, at):
        r = self.r
        a = at.pick(r, lambda s: len(s) > 0 and size(s) > 0)
        if not a:
            return self.pointwise(at)
        name, s = a
        axis = r.randrange(len(s))
        n, before, after = s[axis], s[:axis], s[axis + 1:]
        rows = ", ".join([":"] * axis)
        lead = rows + ", " if rows else ""
        choice = r.randrange(10)
        if choice == 0:
            i = r.randrange(n)
            return self.let(at, f"tn::select<{axis}, {i}>({name})", f"{name}[{lead}{i}]", before + after)
        if choice == 1 and n > 1:
            first = r.randrange(n - 1)
            length = r.randrange(1, n - first + 1)
            return self.let(at, f"tn::slice<{axis}, {first}, {length}>({name})", f"{name}[{lead}{first}:{first + length}]", before + (length,) + after)
        if choice == 2:
            return self.let(at, f"tn::flip<{axis}>({name})", f"m.flip({name}, {axis})", s)
        if choice == 3:
            return self.let(at, f"tn::roll<1, {axis}>({name})", f"m.roll({name}, 1, {axis})", s)
        if choice == 4 and len(s) > 1:
            return self.let(at, f"tn::transpose<0, {len(s) - 1}>({name})", f"m.swapaxes({name}, 0, {len(s) - 1})", (s[-1],) + s[1:-1] + (s[0],))
        if choice == 5:
            return self.let(at, f"tn::reshape<{size(s)}>({name})", f"m.reshape({name}, ({size(s)},))", (size(s),))
        if choice == 6 and size(s) <= 30:
            b = at.pick(r, lambda t: t == s)
            return self.let(at, f"tn::stack<0>({name}, {b[0]})", f"m.stack(({name}, {b[0]}), 0)", (2,) + s) if len(s) < 3 else self.pointwise(at)
        if choice == 7 and size(s) <= 30:
            b = at.pick(r, lambda t: t[:axis] == before and t[axis + 1:] == after and len(t) == len(s))
            return self.let(at, f"tn::concat<{axis}>({name}, {b[0]})", f"m.concatenate(({name}, {b[0]}), {axis})", before + (n + b[1][axis],) + after)
        if choice == 8 and len(s) == 1 and not self.exact:  # a position that the values decide
            return self.let(at, f"{name}[argmax({name})]", f"{name}[m.argmax({name})]", ())
        if choice == 9 and len(s) == 1 and not self.exact:
            return self.let(at, f"tn::gather<0>({name}, tn::argsort(-{name}))", f"{name}[m.argsort(-{name}, stable=True)]", s)
        return self.pointwise(at)

    # ---- control-flow operations ----
    def fit(self, at, v, shape):
        """v, or what becomes of it, in a shape that is given."""
        if v[1] == shape:
            return v
        if self.exact:
            return next(u for u in at.visible() if u[1] == shape)
        other = next(u for u in at.visible() if u[1] == shape)
        if self.broadcast(v[1], shape) == shape:
            return self.let(at, f"({other[0]} * 0.5 + sin({v[0]}))", f"(n({other[0]} * 0.5) + n(m.sin({v[0]})))", shape)
        v = self.let(at, f"tn::sum({v[0]})", f"m.sum({v[0]})", ())
        return self.let(at, f"(tanh({v[0]}) + {other[0]} * 0.75)", f"(n(tanh({v[0]})) + n({other[0]} * 0.75))", shape)

    def steady(self, at, v):
        """Bounded, so that iterations do not explode."""
        if self.exact:
            return v
        c, p = self.r.choice([("sin(A)", "m.sin(A)"), ("tanh(A)", "tanh(A)"), ("(A * 0.5)", "(A * 0.5)"), ("A", "A"), ("(A / (square(A) + 1.0))", "(A / n(n(m.square(A)) + 1.0))")])
        return self.let(at, c.replace("A", v[0]), p.replace("A", v[0]), v[1])

    def body(self, at, arguments, depth, steps):
        """A scope with values of its own, and some statements."""
        inner = scope(at)
        inner.values += arguments
        self.grow(inner, depth + 1, steps)
        return inner

    def write(self, name, parameters, inner, result_c, result_p, at):
        """The lambda, and the def that stands before the statement."""
        at.p += [f"def {name}({', '.join(parameters)}):"] + indented(inner.p + [f"return {result_p}"])
        return "[=](" + ", ".join("[[maybe_unused]] auto " + x for x in parameters) + ") { " + " ".join(inner.c) + f" return {result_c}; }}"

    def carries(self, at):
        r = self.r
        return [at.pick(r, lambda s: size(s) <= 30) for _ in range(r.choice([1, 2, 2]))]

    def unpack(self, inner, carry, names):
        inner.c = [f"[[maybe_unused]] const auto {x} = std::get<{i}>({carry});" for i, (x, s) in enumerate(names)] + inner.c
        inner.p = ["%s = %s" % (", ".join(x for x, s in names) + ",", carry)] + inner.p

    def next_carry(self, inner, states):
        """The next state: the shapes stay."""
        r = self.r
        made = []
        for name, s in states:
            if r.random() < 0.15:
                made.append((name, s))  # stays
                continue
            made.append(self.steady(inner, self.fit(inner, inner.pick(r), s)))
        return made

    def scan(self, at, depth):
        r = self.r
        first = at.pick(r, lambda s: len(s) > 0)
        if not first:
            return self.pointwise(at)
        n = first[1][0]
        rows = [first] + ([at.pick(r, lambda s: len(s) > 0 and s[0] == n)] if r.random() < 0.4 else [])
        init = self.carries(at)
        f, c, x = self.fresh("f"), self.fresh("c"), self.fresh("x")
        states = [(self.fresh("s"), s) for _, s in init]
        slices = [(self.fresh("x"), s[1:]) for _, s in rows]
        inner = self.body(at, states + slices, depth, r.choice([1, 2, 3]))
        after = self.next_carry(inner, states)
        y = inner.pick(r, lambda s: size(s) * n <= 60) if r.random() < 0.8 else None
        self.unpack(inner, c, states)
        self.unpack(inner, x, slices)
        t = lambda values: ", ".join(v[0] for v in values)
        text = self.write(f, [c, x], inner, f"std::tuple{{std::tuple{{{t(after)}}}, {y[0] if y else 'tn::nothing'}}}", f"(({t(after)},), {y[0] if y else None})", at)
        reverse = r.random() < 0.3
        out = self.fresh("r")
        at.c.append(f"[[maybe_unused]] const auto {out} = tn::scan({text}, std::tuple{{{t(init)}}}, std::tuple{{{t(rows)}}}{', {.reverse = true}' if reverse else ''});")
        at.p.append(f"{out} = lax.scan({f}, ({t(init)},), ({t(rows)},){', reverse=True' if reverse else ''})")
        if y and r.random() < 0.6:
            self.let(at, f"std::get<1>({out})", f"{out}[1]", (n,) + y[1])
        if not y or r.random() < 0.7:
            i = r.randrange(len(init))
            self.let(at, f"std::get<{i}>(std::get<0>({out}))", f"{out}[0][{i}]", init[i][1])
        self.features.add("scan")

    def fori_loop(self, at, depth):
        r = self.r
        init = self.carries(at)
        n = r.choice([0, 1, 2, 3, 3, 4])
        f, i, c = self.fresh("f"), self.fresh("i"), self.fresh("c")
        states = [(self.fresh("s"), s) for _, s in init]
        inner = scope(at)
        inner.values += states
        row = at.pick(r, lambda s: len(s) > 0 and s[0] >= max(n, 1))
        if row and r.random() < 0.6:
            self.let(inner, f"{row[0]}[{i}]", f"{row[0]}[{i}]", row[1][1:])
        elif not self.exact:
            a = inner.pick(r)
            self.let(inner, f"({a[0]} * (tn::cast<T>({i}) * 0.25 + 0.5))", f"({a[0]} * ({i}.astype(T) * 0.25 + 0.5))", a[1])
        self.grow(inner, depth + 1, r.choice([1, 1, 2]))
        after = self.next_carry(inner, states)
        place = r.randrange(len(states))
        s = states[place][1]
        if r.random() < 0.35 and len(s) in (1, 2) and s[0] >= n and size(s):  # a row of the state is written
            new = self.fit(inner, inner.pick(r), s)
            start = f"{i}" if len(s) == 1 else f"std::tuple{{{i}, 0}}"
            begin = f"({i},)" if len(s) == 1 else f"({i}, jnp.zeros_like({i}))"
            after[place] = self.let(inner, f"tn::dynamic_update({states[place][0]}, tn::unsqueeze<0>({new[0]}[{i}]), {start})",
                                    f"lax.dynamic_update_slice({states[place][0]}, {new[0]}[{i}][None], {begin})", s)
        self.unpack(inner, c, states)
        t = lambda values: ", ".join(v[0] for v in values)
        text = self.write(f, [i, c], inner, f"std::tuple{{{t(after)}}}", f"({t(after)},)", at)
        out = self.fresh("r")
        at.c.append(f"[[maybe_unused]] const auto {out} = tn::fori_loop({n}, {text}, std::tuple{{{t(init)}}});")
        at.p.append(f"{out} = lax.fori_loop(0, {n}, {f}, ({t(init)},))")
        k = r.randrange(len(init))
        self.let(at, f"std::get<{k}>({out})", f"{out}[{k}]", init[k][1])
        self.features.add("fori_loop")

    def while_loop(self, at, depth):
        r = self.r
        init = self.carries(at)
        most = r.choice([0, 1, 3, 4, 5])
        f, g, c, iteration = self.fresh("f"), self.fresh("g"), self.fresh("c"), self.fresh("s")
        states = [(self.fresh("s"), s) for _, s in init]
        inner = self.body(at, states, depth, r.choice([1, 2]))
        after = self.next_carry(inner, states)
        self.unpack(inner, c, states + [(iteration, ())])
        t = lambda values: ", ".join(v[0] for v in values)
        text = self.write(f, [c], inner, f"std::tuple{{{t(after)}, {iteration} + 1}}", f"({t(after)}, {iteration} + 1)", at)
        k, limit = r.randrange(len(init)), r.choice([0.5, 1.5, 4.0])
        less = r.choice("<>")
        part, count = f"std::get<{k}>({c})", f"std::get<{len(init)}>({c})"
        measure = (part, f"{c}[{k}]") if init[k][1] == () else (f"tn::sum(abs({part}))", f"m.sum(m.abs({c}[{k}]))")
        if self.exact and init[k][1] != ():
            measure = (f"tn::amax({part})", f"m.max({c}[{k}])") if size(init[k][1]) else ("T(0)", "0.0")
        goes_on = f"[=](auto {c}) {{ return {measure[0]} {less} {limit} && {count} < {most}; }}"
        if measure[0] == "T(0)" or r.random() < 0.2:
            goes_on, measure, less, limit = f"[=](auto {c}) {{ return {count} < {most}; }}", ("", "0.0"), "<", 1.0
        at.p.append(f"def {g}({c}): return ({measure[1]} {less} {limit}) & ({c}[{len(init)}] < {most})")
        out = self.fresh("r")
        bound = f", tn::at_most<{most + r.choice([0, 1])}>" if r.random() < 0.3 else ""
        at.c.append(f"[[maybe_unused]] const auto {out} = tn::while_loop({goes_on}, {text}, std::tuple{{{t(init)}, 0}}{bound});")
        at.p.append(f"{out} = repeat({g}, {f}, ({t(init)}, jnp.int32(0)), {most})")
        k = r.randrange(len(init))
        self.let(at, f"std::get<{k}>({out})", f"{out}[{k}]", init[k][1])
        self.has_while = True
        self.features.add("while_loop" + (" with a bound" if bound else ""))

    def flag(self, at):
        r = self.r
        a = at.pick(r, lambda s: size(s) > 0 or s == ())
        if not a:
            return "tn::sum(%s) > 0.5" % at.visible()[0][0], "m.sum(%s) > 0.5" % at.visible()[0][0]
        c, p = (a[0], a[0]) if a[1] == () else r.choice([(f"tn::sum({a[0]})", f"m.sum({a[0]})"), (f"tn::amax({a[0]})", f"m.max({a[0]})")]) if not self.exact else (f"tn::amax({a[0]})", f"m.max({a[0]})")
        compare, number = r.choice("<>"), r.choice([-0.5, 0.0, 0.25, 1.0])
        return f"{c} {compare} {number}", f"{p} {compare} {number}"

    def branch(self, at, depth):
        """cond, or with an index switch_case. The first branch decides the shape."""
        r = self.r
        by_index = at.pick(r, lambda s: len(s) == 1 and s[0] > 1) if r.random() < 0.3 and not self.exact else None
        x = at.pick(r, lambda s: size(s) <= 30)
        texts, names, shape = [], [], None
        for _ in range(3 if by_index else 2):
            f, a = self.fresh("f"), self.fresh("b")
            inner = self.body(at, [(a, x[1])], depth, r.choice([1, 1, 2]))
            y = inner.pick(r)
            if shape is None:
                shape = y[1] if any(u[1] == y[1] for u in at.visible()) else x[1]
            y = self.fit(inner, y, shape)
            texts.append(self.write(f, [a], inner, y[0], y[0], at))
            names.append(f)
        if by_index:
            self.let(at, f"tn::switch_case(argmax({by_index[0]}), {', '.join(texts)}, {x[0]})", f"lax.switch(m.argmax({by_index[0]}), ({', '.join(names)}), {x[0]})", shape)
            self.features.add("switch_case")
        else:
            c, p = self.flag(at)
            self.let(at, f"tn::cond({c}, {', '.join(texts)}, {x[0]})", f"lax.cond({p}, {', '.join(names)}, {x[0]})", shape)
            self.features.add("cond")

    def vmap(self, at, depth):
        r = self.r
        x = at.pick(r, lambda s: len(s) > 0)
        if not x:
            return self.pointwise(at)
        axis = r.randrange(len(x[1]))
        n = x[1][axis]
        y = at.pick(r, lambda s: len(s) > 0 and s[0] == n)
        shared = y is None or r.random() < 0.4
        y = at.pick(r) if shared else y
        f, a, b = self.fresh("f"), self.fresh("a"), self.fresh("a")
        inner = self.body(at, [(a, x[1][:axis] + x[1][axis + 1:]), (b, y[1] if shared else y[1][1:])], depth, r.choice([2, 2, 3]))
        z = inner.values[-1] if size(inner.values[-1][1]) * n <= 90 else inner.values[0]
        text = self.write(f, [a, b], inner, z[0], z[0], at)
        self.let(at, f"tn::vmap<{axis}, {'tn::unmapped' if shared else 0}>({text})({x[0]}, {y[0]})", f"jax.vmap({f}, in_axes=({axis}, {None if shared else 0}))({x[0]}, {y[0]})", (n,) + z[1])
        self.features.add("vmap")

    def derivative(self, at, depth):
        """A gradient, a tangent or a checkpoint within the program."""
        r = self.r
        x = at.pick(r, lambda s: size(s) <= 30)
        f, a = self.fresh("f"), self.fresh("d")
        inner = self.body(at, [(a, x[1])], depth, r.choice([1, 2]))
        y = inner.values[-1]
        what = r.choice(["grad", "grad", "jvp", "checkpoint"])
        if what == "grad":
            y = y if y[1] == () else self.let(inner, f"tn::sum({y[0]})", f"m.sum({y[0]})", ())
            text = self.write(f, [a], inner, y[0], y[0], at)
            self.let(at, f"tn::grad({text})({x[0]})", f"jax.grad({f})({x[0]})", x[1])
            self.inner_grad = True
        elif what == "jvp":
            text = self.write(f, [a], inner, y[0], y[0], at)
            self.let(at, f"std::get<1>(tn::jvp({text})({x[0]}, sin({x[0]})))", f"jax.jvp({f}, ({x[0]},), (m.sin({x[0]}),))[1]", y[1])
        else:
            text = self.write(f, [a], inner, y[0], y[0], at)
            self.let(at, f"tn::checkpoint({text})({x[0]})", f"jax.checkpoint({f})({x[0]})", y[1])
        self.features.add(what + " within")

    def grow(self, at, depth, steps):
        r = self.r
        for _ in range(steps):
            if self.control_flows < self.most_control_flows and depth < 3 and r.random() < (0.5 if depth == 0 else 0.35):
                self.control_flows += 1
                makes = [self.scan, self.scan, self.fori_loop, self.while_loop, self.branch, self.branch, self.vmap] + ([] if self.exact else [self.derivative])
                if depth > 0:
                    self.features.add("nested")
                r.choice(makes)(at, depth)
                if depth == 0:
                    self.made.append(at.values[-1])
            else:
                r.choice([self.pointwise, self.pointwise, self.pointwise, self.reduction, self.along, self.product, self.movement, self.movement])(at)

    # ---- the texts ----
    def cpp(self):
        t = lambda s: f"tn::tensor<T, tn::shape<{', '.join(map(str, s))}>>"
        args = ", ".join(f"[[maybe_unused]] auto {x}" for x in self.names)
        body = "\n      ".join(self.c)
        if self.batch:
            body = f"return tn::vmap<{', '.join('0' if m else 'tn::unmapped' for m in self.mapped)}>([]({args}) {{\n      {body}\n    }})"
        else:
            body = f"return [=]({args}) {{\n      {body}\n    }}"
        body += "(" + ", ".join(f"std::get<{i}>(x)" for i in range(len(self.names))) + ");"
        return f"""struct program_{self.seed} {{
  using T = {self.type};
  using arguments = std::tuple<{', '.join(t(s) for s in self.arguments)}>;
  using results = std::tuple<{', '.join(t(s) for s in self.results)}>;
  static constexpr auto second = order::{self.second or 'none'};
  template <class X> constexpr auto operator()(const X& x) const {{
    {body}
  }}
}};
"""

    def python(self):
        text = "\n".join([f"def body({', '.join(self.names)}):"] + indented(self.p))
        return text + ("\nfunction = body" if not self.batch else f"\nfunction = jax.vmap(body, in_axes=({', '.join('0' if m else 'None' for m in self.mapped)}))")


# ---- JAX ---------------------------------------------------------------------------------------------------------------------
def evaluator(p, T):
    """(x, t, c, noise, amount) to a list of arrays, in the order in which Tenure writes them. `true` loops are while_loops."""
    state = {}

    def n(v):
        noise, amount = state["noise"]
        state["row"] = (state["row"] + 1) % len(noise)
        return v * (1 + amount * noise[state["row"], :v.size].reshape(v.shape).astype(v.dtype))

    def repeat(goes_on, iteration, init, most):
        if state["true"]:
            return lax.while_loop(goes_on, iteration, init)
        return lax.fori_loop(0, most, lambda i, c: lax.cond(goes_on(c), iteration, lambda c: c, c), init)

    names = {"sigmoid": sigmoid, "tanh": tanh, "expm1": expm1, "softplus": softplus, "m": jnp, "k": jax.nn, "jax": jax, "jnp": jnp, "lax": lax, "n": n, "repeat": repeat, "T": T}
    exec(p.python(), names)
    f = names["function"]

    def outputs(x, t, c, noise, amount):
        state["row"] = 0
        state["noise"] = (noise, amount)
        x, t, c = jax.tree.map(n, (x, t, c))
        state["true"] = not p.inner_grad
        values = f(*x)
        _, tangents = jax.jvp(lambda *x: f(*x), x, t)
        state["true"] = False
        loss = lambda *x: sum((a * b).sum() for a, b in zip(f(*x), c))
        everything = tuple(range(len(x)))
        gradients = jax.grad(loss, everything)(*x)
        one = lambda *x: (f(*x)[0] * c[0]).sum()
        second = ()
        if p.second == "forward":
            second = jax.jvp(jax.grad(one, everything), x, t)[1]
        if p.second == "reverse":
            second = jax.grad(lambda *x: sum((g * v).sum() for g, v in zip(jax.grad(one, everything)(*x), t)), everything)(*x)
        return [*values, *gradients, *tangents, *second]

    return jax.jit(outputs)


kinds = ["ordinary", "ordinary", "ordinary", "saturated", "large", "tiny", "special", "special", "ties"]


def draw(p, which):
    """Arguments, tangents and cotangents of one call."""
    r = np.random.RandomState(p.seed * 101 + which)
    kind, dtype = kinds[which], np.float32 if p.type == "float" else np.float64

    def numbers(shape):
        x = r.standard_normal(shape)
        if kind == "saturated":
            x = x * 30
        if kind == "large":
            x = x * 10.0 ** r.uniform(3, 12, shape)
        if kind == "tiny":
            x = x * 10.0 ** r.uniform(-12, -3, shape)
        if kind == "special":
            x = np.where(r.uniform(size=shape) < 0.3, r.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 1e30, -1e30, 1e-30], size=shape), x)
        if kind == "ties":
            x = r.choice([-1.0, 0.0, -0.0, 0.5, 1.0], size=shape)
        return np.asarray(x, dtype=dtype)

    x = tuple(numbers(s) for s in p.arguments)
    plain = lambda shapes: tuple(np.asarray(r.uniform(0.5, 1.5, s) * r.choice([-1, 1], s), dtype=dtype) for s in shapes)
    return kind, x, plain(p.arguments), plain(p.results)


def judged(p):
    """For each call: kind, arguments, and [(what, wanted in float64, tolerance, wanted in float32 or None)]."""
    what = [*(f"value {i}" for i in range(2)), *(f"gradient {i}" for i in range(len(p.arguments))), *(f"tangent {i}" for i in range(2)),
            *(f"second {i}" for i in range(len(p.arguments) if p.second else 0))]
    wide = evaluator(p, jnp.float64)
    narrow = evaluator(p, jnp.float32) if p.type == "float" else None
    eps = 2.0 ** -24 if narrow else 2.0 ** -53
    # A few roundings, as the sine of a large number does not move in proportion; in float64 also more, as those of JAX are as large.
    amounts = [16 * eps] * 4 + ([] if narrow else [1e-9] * 4)
    # A derivative of softmax is a difference from the mean of its row, so that it is right to a rounding error of the row.
    floor = 40 * eps if any("softmax" in line or "logsumexp" in line for line in p.p) else 1e-36 if narrow else 1e-290
    rounds = np.random.RandomState(p.seed)
    noises = [rounds.uniform(-1, 1, (61, 1024)) for _ in amounts]
    for which in range(len(kinds)):
        kind, *given = draw(p, which)
        doubles = jax.tree.map(lambda a: np.asarray(a, np.float64), given)
        base = [np.asarray(a) for a in wide(*doubles, noises[0], 0.0)]
        moved = [[np.asarray(a) for a in wide(*doubles, s, by)] for s, by in zip(noises, amounts)]
        single = [np.asarray(a) for a in narrow(*given, noises[0], 0.0)] if narrow else [None] * len(base)
        with np.errstate(all="ignore"):
            entries = []
            for i, a in enumerate(base):
                spread = np.max([np.abs(m[i] - a) * (eps / by) for m, by in zip(moved, amounts)], axis=0) if a.size else np.zeros(a.shape)
                spread = np.where(np.isnan(spread), 0 if not np.isfinite(a).all() else np.inf, spread)
                spread = np.where(np.isfinite(a) & ~np.all([np.isfinite(m[i]) for m in moved], axis=0), np.inf, spread)
                spread = np.where(40 * spread > 0.01 * np.abs(a), 100 * spread, spread)  # no digit is left, as of the sine of a large number
                entries.append((what[i], a, 160 * spread + 40 * eps * np.abs(a) + floor, single[i]))
        yield kind, given, entries


def flat(given):
    return [float(v) for group in given for a in group for v in np.asarray(a).ravel()]


# ---- Tenure ------------------------------------------------------------------------------------------------------------------
def unit_of(programs):
    return ('#include <cstdio>\n#include "evaluate.hpp"\n#pragma GCC diagnostic ignored "-Wunused-variable"\nnamespace tn = tenure;\nusing peers::order;\n\n' + "\n".join(p.cpp() for p in programs) +
            "\nint main() {\n" + "".join(f"  peers::run<program_{p.seed}>({len(kinds)});\n" for p in programs) + "}\n")


def compiled(folder, programs, name):
    """The numbers that the programs write; none of them where the compiler takes too long. None if something fails."""
    source, binary = os.path.join(folder, name + ".cpp"), os.path.join(folder, name)
    with open(source, "w") as file:
        file.write(unit_of(programs))
    here = os.path.dirname(os.path.abspath(__file__))
    command = [options.compiler, *options.flags.split(), f"-I{here}", *(f"-I{d}" for d in options.include), source, "-o", binary]
    try:
        built = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        print(f"{name}: left out, takes more than {options.limit} s to compile", flush=True)
        return ()
    if built.returncode:
        print(f"{source} does not compile:\n{built.stderr[:3000]}")
        return None
    given = b"".join(struct.pack(f"{len(v)}d", *v) for p in programs for v in (flat(draw(p, i)[1:]) for i in range(len(kinds))))
    ran = subprocess.run([binary], input=given, capture_output=True)
    if ran.returncode:
        print(f"{source}: {ran.stderr.decode()[:2000]}")
        return None
    return struct.unpack(f"{len(ran.stdout) // 8}d", ran.stdout)


def verdict(p, kind, what, got, wanted, tolerance, single, finite):
    """"" where the numbers agree, else the reason."""
    def agrees(w, tol):
        if math.isnan(w) or math.isnan(got):
            return math.isnan(w) and math.isnan(got)
        return got == w or abs(got - w) <= tol

    limit = 3.4028235e38
    rounded = wanted if single is None or not math.isfinite(wanted) or abs(wanted) <= limit else math.copysign(math.inf, wanted)
    fine = agrees(rounded, tolerance) or single is not None and agrees(single, tolerance + 1e-5 * abs(single))
    # A derivative within the program makes its values follow the conventions of derivatives.
    of_derivative = kind in ("special", "ties") and any("grad(" in line or "jvp(" in line for line in p.p)
    if what.startswith("value") and not of_derivative:
        bits = wanted if single is None else single
        if p.exact and (not agrees(bits, 0) or got == 0 and math.copysign(1, got) != math.copysign(1, bits)):
            return "" if abs(bits) < (1.2e-38 if single is not None else 2.3e-308) and got == bits == 0 and abs(wanted) > 0 else "bits"
        return "" if fine or math.isinf(tolerance) else "value"
    if not math.isfinite(wanted):
        return ""
    if kind in ("special", "ties"):
        return "lost" if finite and not math.isfinite(got) and (single is None or math.isfinite(single)) else ""
    return "" if fine or math.isinf(tolerance) else "derivative"


def is_finite(given, entries):
    return all(np.isfinite(w).all() for what, w, *_ in entries if what.startswith("value")) and all(np.isfinite(a).all() for a in given[0])


def compare(p, got):
    """How many numbers were compared, and the differences."""
    at, differences = 0, []
    for kind, given, entries in judged(p):
        finite = is_finite(given, entries)
        for what, wanted, tolerance, single in entries:
            for i, w in enumerate(wanted.ravel()):
                s = None if single is None else float(single.ravel()[i])
                reason = verdict(p, kind, what, got[at], float(w), float(tolerance.ravel()[i]), s, finite)
                if reason:
                    differences.append(f"{reason}: {what}[{i}], {kind} arguments: {got[at]!r}, JAX: {float(w)!r}{'' if s is None else f' (float32: {s!r})'}, tolerance {tolerance.ravel()[i]:.2g}")
                at += 1
    return at, differences


# ---- the programs of tests/golden ---------------------------------------------------------------------------------------------
# Chosen for what they contain, of the first seeds, and for a short time of compilation.
golden_programs = [4000006, 4100008, 4200008, 4300001, 4300007, 4600001, 4600009]
golden_calls = [0, 3, 4, 5, 6, 8]


def write_golden(path):
    def number(v, bits=False):
        text = f"{v:.17g}" if bits or p.type == "double" else f"{v:.9g}"
        return text if any(c in text for c in ".en") else text + ".0"

    rows = lambda texts: "\n".join("    " + ", ".join(texts[i:i + 8]) + "," for i in range(0, len(texts), 8))
    text = [f"""// SPDX-License-Identifier: BSL-1.0
// Generated by tests/peers/programs.py --golden: random programs with their values and derivatives by JAX {jax.__version__}.
#pragma once

#include <limits>

#include "../peers/evaluate.hpp"

#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

namespace by_jax {{

namespace tn = tenure;
using peers::order;
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// A number of JAX, and how far Tenure's may lie from it: infinity asks for nothing, and what is below 0 for any finite number.
struct number {{
  double wanted, tolerance;
}};
"""]
    for seed in golden_programs:
        p = program(seed)
        calls = list(judged(p))
        given, wanted = [], []
        for i in golden_calls:
            kind, arguments, entries = calls[i]
            given += [number(v) for v in flat(arguments)]
            finite = is_finite(arguments, entries)
            for what, base, tolerance, single in entries:
                for k, w in enumerate(base.ravel()):
                    limit, s = float(tolerance.ravel()[k]), None if single is None else float(single.ravel()[k])
                    asked = lambda got: verdict(p, kind, what, got, float(w), limit, s, finite) != ""
                    if s is not None and (p.exact or verdict(p, kind, "value 0", s, float(w), limit, None, finite)):
                        w, limit = (s, 0.0) if p.exact else (w, math.inf)
                    if p.exact and what.startswith("value"):
                        limit = 0.0
                    if not asked(math.nan if not math.isnan(w) else 0.0):
                        w, limit = 0.0, math.inf
                    elif kind in ("special", "ties") and not what.startswith("value"):
                        w, limit = 0.0, -1.0
                    wanted.append(f"{{{number(float(w), limit == 0)}, {limit:.1e}}}".replace("0.0e+00", "0") if limit != math.inf else "{0, inf}")
        text += [f"\n// {', '.join(sorted(p.features))}\n{p.cpp()}constexpr double given_{seed}[] = {{\n{rows(given)}\n}};\nconstexpr number wanted_{seed}[] = {{\n{rows(wanted)}\n}};\n"]
    text += ["\ntemplate <class Judge>\nvoid for_each_program(Judge judge) {\n" + "".join(f"  judge.template operator()<program_{i}>({i}, given_{i}, wanted_{i});\n" for i in golden_programs) + "}\n\n}  // namespace by_jax\n"]
    with open(path, "w") as file:
        file.write("".join(text))


def main():
    if options.golden:
        return write_golden(options.golden)
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    wrong = compared = done = 0
    seen = {}
    programs = [program(options.seed * 100000 + i) for i in range(options.programs)]
    for first in range(0, len(programs), options.unit):
        unit = programs[first:first + options.unit]
        numbers = compiled(folder, unit, f"unit_{unit[0].seed}")
        if numbers is None:
            wrong += 1
        if not numbers:
            continue
        done += len(unit)
        at = 0
        for p in unit:
            count = len(kinds) * sum(size(s) for s in [*p.results, *p.results, *p.arguments, *(p.arguments if p.second else [])])
            n, differences = compare(p, numbers[at:at + count])
            at, compared = at + count, compared + n
            for feature in p.features:
                seen[feature] = seen.get(feature, 0) + 1
            if differences:
                wrong += 1
                print(f"program {p.seed} ({p.type}{', exact' if p.exact else ''}): {len(differences)} of {n} numbers differ")
                print("\n".join("  " + d for d in differences[:6]), flush=True)
        assert at == len(numbers)
    print(f"seed {options.seed}: {done} of {len(programs)} programs, {compared} numbers, {wrong} programs or units differ; " + ", ".join(f"{k}: {v}" for k, v in sorted(seen.items())))
    return wrong != 0 or done == 0


if __name__ == "__main__":
    sys.exit(main())
