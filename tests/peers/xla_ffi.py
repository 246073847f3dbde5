#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The functions of exported.cpp inside JAX, beside the same functions of JAX: values, derivatives, batches of each argument and of none, under jit and
inside loops; what is refused; and the example of docs/jax.md.

    xla_ffi.py [--compiler C++] [--include DIR]... [--flags=...]

Exits with 77 where Python has no JAX.
"""
import argparse, itertools, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O1 -march=native")
options = parser.parse_args()
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    include = jax.ffi.include_dir()
except (ImportError, AttributeError) as missing:
    print("skipped: no JAX with jax.ffi:", missing)
    sys.exit(77)
here = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(here, "../../python"))
import tenure_xla

root = os.path.join(here, "../..")
folder = tempfile.TemporaryDirectory()


def library_of(source):
    path = os.path.join(folder.name, f"lib{os.path.basename(source)}.so")
    includes = [x for i in [*options.include, include] for x in ("-isystem", i)]
    subprocess.run([options.compiler, *options.flags.split(), "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", *includes, source, "-o", path], check=True)
    return path


# The example, beside what docs/jax.md says that it prints.
arm = library_of(os.path.join(root, "examples/jax/arm.cpp"))
environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(root, "python"), os.environ.get("PYTHONPATH", "")])}
printed = subprocess.run([sys.executable, os.path.join(root, "examples/jax/arm.py"), arm], check=True, env=environment, capture_output=True, text=True).stdout
with open(os.path.join(root, "docs/jax.md")) as page:
    assert f"```\n{printed}```" in page.read(), f"docs/jax.md does not show what the example prints:\n{printed}"

path = library_of(os.path.join(here, "exported.cpp"))

try:
    tenure_xla.load(path).newton(2.0)
    raise SystemExit("float64 was taken without jax_enable_x64")
except TypeError as e:
    assert "jax_enable_x64" in str(e), e
jax.config.update("jax_enable_x64", True)
library = tenure_xla.load(path)
rng = np.random.default_rng(1)
normal = lambda *shape: jnp.asarray(rng.normal(size=shape))
same = lambda a, b, tolerance=1e-12: jax.tree.map(lambda x, y: np.testing.assert_allclose(np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=tolerance, atol=tolerance), a, b)


def projected(c, point):
    seen = jnp.cross(c["rotation"], point) + point + c["position"]
    return c["focal"] * seen[:2] / seen[2]


def newton(x):
    y = x
    for _ in range(6):
        y = 0.5 * (y + x / y)
    return y


energy = lambda x: jnp.sum(x**3) / 3 + jnp.sum(jnp.sin(x))
peers = {
    "projected": projected,
    "layer": lambda net, x: jnp.tanh(net["w"] @ x + net["b"]),
    "both": lambda pair: (pair[0] * jnp.sum(pair[1]), (jnp.sin(pair[1]), jnp.dot(*pair))),
    "joined": lambda x, y: jnp.concatenate([x * jnp.sum(y), jnp.exp(y)]),
    "table": lambda x, y: jnp.outer(jnp.sin(x), y) * jnp.sum(x),
    "newton": newton,
    "energy": energy,
    "slope": jax.grad(energy),
}
camera = lambda *n: {"rotation": normal(*n, 3), "position": normal(*n, 3) + 4, "focal": normal(*n)}
network = lambda *n: {"w": normal(*n, 4, 5), "b": normal(*n, 4)}
arguments = {  # makers of each argument, and which get derivatives
    "projected": ([camera, lambda *n: normal(*n, 3)], [0]),
    "layer": ([network, lambda *n: normal(*n, 5)], [0, 1]),
    "both": ([lambda *n: (normal(*n, 3), normal(*n, 3))], [0]),
    "joined": ([lambda *n: normal(*n, 4), lambda *n: normal(*n, 3)], [0, 1]),
    "table": ([lambda *n: normal(*n, 4), lambda *n: normal(*n, 3)], [0, 1]),
    "newton": ([lambda *n: jnp.exp(normal(*n))], [0]),
    "energy": ([lambda *n: normal(*n, 3)], [0]),
    "slope": ([lambda *n: normal(*n, 3)], [0]),
}
total = lambda y: sum(jnp.sum(jnp.cos(leaf) * (1 + i)) for i, leaf in enumerate(jax.tree.leaves(y)))

for name, peer in peers.items():
    f = getattr(library, name)
    make, variables = arguments[name]
    variables = tuple(variables)
    x = [m() for m in make]
    # Values and derivatives of one call.
    for wrap in (lambda g: g, jax.jit):
        same(wrap(f)(*x), peer(*x))
        loss = lambda g: lambda *a: total(g(*a))
        same(wrap(jax.grad(loss(f), variables))(*x), jax.grad(loss(peer), variables)(*x))
        same(wrap(jax.grad(loss(jax.checkpoint(f)), variables))(*x), jax.grad(loss(peer), variables)(*x))
    tangents = [jax.tree.map(lambda leaf: 0.5 + jnp.cos(leaf), a) for a in x[:len(variables)]]
    forward = lambda g: jax.jvp(lambda *v: g(*v, *x[len(variables):]), x[:len(variables)], tangents)
    same(forward(f), forward(peer))
    if name != "both":
        for jacobian in (jax.jacfwd, jax.jacrev):
            same(jacobian(f, variables)(*x), jacobian(peer, variables)(*x))
    same(jax.linearize(lambda *v: f(*v, *x[len(variables):]), *x[:len(variables)])[1](*tangents), forward(peer)[1])
    # Batches: each argument along axis 0, or shared by all samples; one batch, and one inside another.
    for n in (0, 1, 7):
        for axes in itertools.product((0, None), repeat=len(make)):
            if all(a is None for a in axes):
                continue
            many = [m(n) if a == 0 else m() for m, a in zip(make, axes)]
            batch = lambda g: jax.vmap(g, axes)
            same(jax.jit(batch(f))(*many), batch(peer)(*many))
            same(batch(jax.grad(loss(f), variables))(*many), batch(jax.grad(loss(peer), variables))(*many))
            same(jax.jit(jax.grad(loss(batch(f)), variables))(*many), jax.grad(loss(batch(peer)), variables)(*many))
            fixed = many[len(variables):]
            tangents_of_batch = jax.tree.map(jnp.cos, many[:len(variables)])
            along = lambda g: jax.jvp(lambda *v: batch(g)(*v, *fixed), many[:len(variables)], tangents_of_batch)
            same(along(f), along(peer))
    # Jacobians of a batch, and batches of Jacobians: only the directions differ.
    if name != "both":
        for axes in itertools.product((0, None), repeat=len(make)):
            if all(a is None for a in axes):
                continue
            many = [m(3) if a == 0 else m() for m, a in zip(make, axes)]
            for jacobian in (jax.jacfwd, jax.jacrev):
                for of_batch in (lambda g: jax.vmap(jacobian(g, variables), axes), lambda g: jacobian(jax.vmap(g, axes), variables)):
                    same(jax.jit(of_batch(f))(*many), of_batch(peer)(*many))
    if len(make) == 2:
        outer = lambda g, first: jax.vmap(jax.vmap(g, (None, 0)), (0, None)) if first else jax.vmap(jax.vmap(g, (0, None)), (None, 0))
        for first in (True, False):
            grid = [make[0](3), make[1](5)]
            same(outer(f, first)(*grid), outer(peer, first)(*grid))
            same(jax.grad(loss(outer(f, first)), variables)(*grid), jax.grad(loss(outer(peer, first)), variables)(*grid))
        both = jax.vmap(jax.vmap(f)), jax.vmap(jax.vmap(peer))
        grid = [make[0](2, 3), make[1](2, 3)]
        same(both[0](*grid), both[1](*grid))
        models = lambda g: jax.vmap(lambda a, b: jax.vmap(g, (None, 0))(a, b))  # a batch of models, each with a batch of points
        grid = [make[0](3), make[1](3, 5)]
        same(models(f)(*grid), models(peer)(*grid))
        same(jax.grad(loss(models(f)), variables)(*grid), jax.grad(loss(models(peer)), variables)(*grid))
        same(jax.vmap(jax.grad(lambda a, b: total(jax.vmap(f, (None, 0))(a, b)), variables))(*grid),
             jax.vmap(jax.grad(lambda a, b: total(jax.vmap(peer, (None, 0))(a, b)), variables))(*grid))
    print("ok", name, f)

# A batch gives what single calls give.
x = normal(9, 3)
same(jax.vmap(library.energy)(x), jnp.stack([library.energy(row) for row in x]), 1e-15)
# Another axis, loops of JAX, a Hessian by an exported gradient.
same(jax.vmap(library.energy, 1)(x.T), jax.vmap(energy)(x))
same(jax.lax.scan(lambda a, row: (a + library.energy(row), library.slope(row)), 0.0, x), jax.lax.scan(lambda a, row: (a + energy(row), jax.grad(energy)(row)), 0.0, x))
same(jax.jacfwd(library.slope)(x[0]), jax.hessian(energy)(x[0]))
same(jax.lax.cond(x[0, 0] > 0, library.energy, lambda v: 0.0, x[1]), jax.lax.cond(x[0, 0] > 0, energy, lambda v: 0.0, x[1]))
# Integers, bool and narrow types.
keep, n, y = jnp.array([True, False, True, True]), jnp.array([3, 4], jnp.int32), normal(4).astype(jnp.float32)
same(library.chosen(keep, n, y), (jnp.where(keep, y, 0), n + 1))
many = jnp.stack([keep, ~keep])
same(jax.vmap(library.chosen, (0, None, None))(many, n, y), (jnp.where(many, y, 0), jnp.stack([n + 1, n + 1])))
b = normal(8).astype(jnp.bfloat16)
assert library.narrow(b).dtype == jnp.bfloat16
same(library.narrow(b), b * b + b, 0.01)
same(jax.grad(lambda v: jnp.sum(library.narrow(v)).astype(jnp.float32))(b), 2 * b + 1, 0.01)
# NaN stays in its sample.
assert np.isnan(jax.vmap(library.energy)(x.at[3, 1].set(jnp.nan))).tolist() == [i == 3 for i in range(9)]


def refused(text, f, *x):
    try:
        jax.block_until_ready(f(*x))
    except Exception as e:
        assert text in str(e), f"another message: {e}"
        return
    raise SystemExit(f"not refused: {text}")


refused("energy: argument 0 is float64[2], and the function in C++ takes float64[3]", library.energy, x[0, :2])
refused("energy: argument 0 is float32[3]", library.energy, y[:3])
refused("energy: 2 arguments, and the function in C++ takes 1", library.energy, x[0], x[0])
refused("projected: argument 0 has the keys ['focal', 'position'], and the members in C++ are ['rotation', 'position', 'focal']",
        library.projected, {"position": x[0], "focal": 1.0}, x[0])
refused("projected: argument 1 is a constant", jax.grad(lambda p: jnp.sum(library.projected(camera(), p))), x[0])
refused("energy: a derivative of a derivative", jax.hessian(library.energy), x[0])
refused("chosen: it has no derivative", jax.grad(lambda v: jnp.sum(library.chosen(keep, n, v)[0])), y)
refused("chosen: argument 1 is float", library.chosen, keep, 2.7, y)
refused("energy: argument 0 is no array", library.energy, None)
refused("tenure: add: shapes 3 and 4 disagree", library.checked, normal(3), normal(4))  # found by C++, in the call

# The gradient by tangents that share their point, whose operand in C++ is declared as shared.
net, tangents, point = network(), network(6), normal(5)
of_tangents = lambda g: jax.grad(lambda many: total(jax.vmap(lambda t: jax.jvp(lambda n: g(n, point), (net,), (t,))[1])(many)))(tangents)
same(of_tangents(library.layer), of_tangents(peers["layer"]))
of_w = lambda g: jax.grad(lambda many: total(jax.vmap(lambda t: jax.jvp(lambda w: g({**net, "w": w}, point), (net["w"],), (t,))[1])(many)))(tangents["w"])
same(of_w(library.layer), of_w(peers["layer"]))

# One leaf of a shared model with a batch, two libraries whose functions have one name, NaN where JAX looks for it, two devices.
x = network(3), normal(3, 5)
partly = {"w": 0, "b": None}, 0
half = {"w": x[0]["w"], "b": x[0]["b"][0]}, x[1]
loss = lambda g: lambda *a: total(jax.vmap(g, partly)(*a))
same(jax.grad(loss(library.layer), (0, 1))(*half), jax.grad(loss(peers["layer"]), (0, 1))(*half))
programs = []
for sign in "+-":
    source = os.path.join(folder.name, f"one_name_{len(programs)}.cpp")
    with open(source, "w") as file:
        file.write(f"""#include <tenure/interop/xla_ffi.hpp>
#include <tenure/tenure.hpp>
inline constexpr auto f = [](auto x) {{ return sum(x {sign} 1.0); }};
namespace a {{ constexpr auto g = [](auto x) {{ return x; }}; }}
TENURE_XLA_FFI(f, tenure::tensor<double, tenure::shape<3>>); TENURE_XLA_FFI(a::g, double);
""")
    programs.append(tenure_xla.load(library_of(source)))
for f, expected in zip(programs, (3.0, -3.0)):
    same(f.f(jnp.zeros(3)), jnp.array(expected))
    same(jax.vmap(f.f)(jnp.zeros((5, 3))), jnp.full(5, expected))
    same(f.g(2.0), jnp.array(2.0))
bad = jnp.array([1.0, jnp.nan, 0.0])
with jax.debug_nans(True):
    refused("invalid value (nan) encountered in energy", library.energy, bad)
with jax.disable_jit():
    same(library.newton(2.0), newton(2.0))
from jax import export

checks = [export.DisabledSafetyCheck.custom_call(name) for name in library.energy.targets.values()]
same(export.export(jax.jit(jax.grad(library.energy)), disabled_checks=checks)(bad).call(jnp.ones(3)), jax.grad(energy)(jnp.ones(3)))
if jax.device_count() == 2:
    from jax.sharding import Mesh, PartitionSpec as P
    mesh = Mesh(jax.devices(), ("d",))
    points, net = normal(4, 5), network()
    sharded = lambda g: jax.shard_map(jax.vmap(g, (None, 0)), mesh=mesh, in_specs=(P(), P("d")), out_specs=P("d"))
    same(jax.grad(lambda n: total(sharded(library.layer)(n, points)))(net), jax.grad(lambda n: total(jax.vmap(peers["layer"], (None, 0))(n, points)))(net))
print("ok")
