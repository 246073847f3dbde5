#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""gmm, ba and ht of GradBench inside JAX (docs/jax.md): the functions of bench/gradbench, called under jax.jit and differentiated by JAX's transforms, beside
the same functions in JAX, on one core, in float64.

gradbench_in_jax.py CHECKOUT [--compiler C++] [--include DIR]... [--flags=...] [--repetitions N]
CHECKOUT is one of GradBench: ba and ht read its data. Values and derivatives are compared first. The times are the least of N, taken in turns.
"""
import os
import random
import sys

sys.dont_write_bytecode = True
import beside_jax

options = beside_jax.parse(__doc__, "checkout")
sys.path.insert(0, os.path.join(beside_jax.root, "bench/gradbench"))

import jax
import jax.numpy as jnp
import numpy as np

import run as gradbench
import tenure_xla

jax.config.update("jax_enable_x64", True)
row = lambda name, functions, arguments: beside_jax.row(name, functions, arguments, tolerance=1e-9)

HEAD = r"""
#include <tenure/interop/xla_ffi.hpp>
#include <tenure/tenure.hpp>

#include "{0}.hpp"

namespace tn = tenure;
using namespace gradbench::{0};
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
template <class X>
using constant = tn::constant_argument<X>;
constexpr auto n = tn::dyn;
using integers = tn::tensor<std::int32_t, tn::shape<n>>;
"""
MODEL = "std::tuple<array<22, 4, 4>, array<22, 4, 4>, array<n, 4>, array<n, 22>>"
EXPORTS = {
    "gmm": """
using places = tn::tensor<std::int32_t, tn::shape<n, n>>;
TENURE_XLA_FFI(log_posterior, array<n>, array<n, n>, array<n, n>, array<n, n>, constant<array<n, n>>, places, constant<double>, constant<double>, constant<double>);
""",
    # An error of one observation, whose Jacobian JAX takes, and the blocks of all Jacobians, which Tenure takes.
    "ba": """
TENURE_XLA_FFI(error_of, array<11>, array<3>, double, constant<array<2>>);
TENURE_XLA_FFI(errors_of, constant<array<n, 11>>, constant<array<n, 3>>, constant<array<n>>, constant<array<n, 2>>, integers, integers);
TENURE_XLA_FFI(blocks_of, constant<array<n, 11>>, constant<array<n, 3>>, constant<array<n>>, constant<array<n, 2>>, integers, integers);
""",
    "ht": f"""
using model = {MODEL};
using corners = tn::tensor<std::int32_t, tn::shape<n, 3>>;
TENURE_XLA_FFI(simple_value, array<26>, constant<model>, integers, constant<array<n, 3>>);
TENURE_XLA_FFI(simple_jacobian, constant<array<26>>, constant<model>, integers, constant<array<n, 3>>);
TENURE_XLA_FFI(value_of, array<26>, constant<array<n, 2>>, constant<model>, corners, constant<array<n, 3>>);
TENURE_XLA_FFI(jacobian_of, constant<array<26>>, constant<array<n, 2>>, constant<model>, corners, constant<array<n, 3>>);
""",
}
loaded = {name: tenure_xla.load(beside_jax.build(name, HEAD.format(name) + program)) for name, program in EXPORTS.items()}
array = lambda x: jnp.asarray(x, jnp.float64)

# ---- gmm -----------------------------------------------------------------------------------------------------------


def log_posterior(alpha, mu, q, l, x, places, n, m, gamma):
    d = q.shape[1]
    lower = jnp.where(np.tri(d, k=-1, dtype=bool), l[:, places], 0) + jax.vmap(jnp.diag)(jnp.exp(q))
    y = jnp.einsum("kij,knj->kni", lower, x[None] - mu[:, None])
    of_points = (alpha + jnp.sum(q, 1))[:, None] - 0.5 * jnp.sum(y * y, 2)
    likelihood = jnp.sum(jax.nn.logsumexp(of_points, axis=0)) - n * jax.nn.logsumexp(alpha)
    return likelihood + m * jnp.sum(q) - 0.5 * gamma**2 * (jnp.sum(jnp.exp(2 * q)) + jnp.sum(l * l))


for d, k in ((10, 25), (64, 50)):
    given = gradbench.gmm(random.Random(1), d, k, 1000)
    places = np.zeros((d, d), np.int32)
    places.T[np.triu_indices(d, 1)] = np.arange(d * (d - 1) // 2)
    arguments = (*map(array, (given["alpha"], given["mu"], given["q"], given["l"], given["x"])), jnp.asarray(places), array(1000), array(0), array(1))
    both = {"Tenure": loaded["gmm"].log_posterior, "JAX": log_posterior}
    row(f"gmm d {d} K {k}", both, arguments)
    row(f"gmm d {d} K {k}, jax.grad", {key: jax.grad(f, (0, 1, 2, 3)) for key, f in both.items()}, arguments)

# ---- ba ------------------------------------------------------------------------------------------------------------


def error_of(camera, point, weight, seen):
    w, p = camera[:3], point - camera[3:6]
    square = jnp.dot(w, w)
    turns = square > 0
    safe = jnp.where(turns, square, 1)
    angle = jnp.sqrt(safe)
    a = jnp.cross(w, p)
    p = p + jnp.where(turns, jnp.sin(angle) / angle, 1) * a + jnp.where(turns, (1 - jnp.cos(angle)) / safe, 0.5) * jnp.cross(w, a)
    at = p[:2] / p[2]
    r = jnp.dot(at, at)
    return weight * (at * camera[6] * (1 + r * (camera[9] + r * camera[10])) + camera[7:9] - seen)


def errors(error):
    return lambda cameras, points, weights, seen, camera, point: (jax.vmap(error)(cameras[camera], points[point], weights, seen), 1 - weights**2)


def blocks(error, jacobian):
    def of_all(cameras, points, weights, seen, camera, point):
        by_camera, by_point, by_weight = jax.vmap(jacobian(error, (0, 1, 2)))(cameras[camera], points[point], weights, seen)
        return jnp.concatenate([by_camera, by_point, by_weight[..., None]], 2), -2 * weights

    return of_all


for number in (1, 8):
    given = gradbench.ba(options.checkout, number)
    n, m, p = given["n"], given["m"], given["p"]
    repeated = lambda x, count: jnp.tile(array(x), (count, 1))
    seen_from = jnp.arange(p, dtype=jnp.int32)
    arguments = (repeated(given["cam"], n), repeated(given["x"], m), jnp.full(p, given["w"], jnp.float64), repeated(given["feat"], p), seen_from % n, seen_from % m)
    of = loaded["ba"]
    row(f"ba {number}", {"Tenure": of.errors_of, "Tenure, jax.vmap": errors(of.error_of), "JAX": errors(error_of)}, arguments)
    row(f"ba {number}, Jacobian", {"Tenure": of.blocks_of, "Tenure, jax.jacrev": blocks(of.error_of, jax.jacrev), "Tenure, jax.jacfwd": blocks(of.error_of, jax.jacfwd),
                                   "JAX, jax.jacfwd": blocks(error_of, jax.jacfwd), "JAX, jax.jacrev": blocks(error_of, jax.jacrev)}, arguments)

# ---- ht ------------------------------------------------------------------------------------------------------------


def by_angles(x, z):
    cx, sx, cz, sz = jnp.cos(x), jnp.sin(x), jnp.cos(z), jnp.sin(z)
    zero = jnp.zeros_like(x)
    return jnp.stack([jnp.stack([cz, -sz * cx, sz * sx], -1), jnp.stack([sz, cz * cx, -cz * sx], -1), jnp.stack([zero, sx, cx], -1)], -2)


def about(axis):
    square = jnp.dot(axis, axis)
    turns = square >= 1e-8
    angle = jnp.sqrt(jnp.where(turns, square, 1))
    u = axis / angle
    cross = jnp.cross(jnp.eye(3), u)  # the matrix of u x
    turned = jnp.cos(angle) * jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * jnp.outer(u, u)
    return jnp.where(turns, turned, jnp.eye(3))


def vertices_of(theta, model, rest):
    """Points in the coordinates of the bones (rest: [n, 22, 4], weighted) after the hand moved."""
    base, inverse, _, _ = model
    angles = theta[6:].reshape(5, 4)
    wrist = about(theta[:3]) @ base[0, :3]
    local = base[1:21].reshape(5, 4, 4, 4)
    zero = jnp.zeros(5)
    x = jnp.stack([zero, angles[:, 0], angles[:, 2], angles[:, 3]], 1)
    z = jnp.stack([zero, angles[:, 1], zero, zero], 1)
    local = jnp.concatenate([local[..., :3] @ by_angles(x, z), local[..., 3:]], -1)
    chain = [wrist @ local[:, 0]]
    for k in range(1, 4):
        chain.append(chain[-1] @ local[:, k])
    transforms = jnp.concatenate([wrist[None], jnp.stack(chain, 1).reshape(20, 3, 4), (wrist @ base[21])[None]]) @ inverse
    return jnp.einsum("nbk,bck->nc", rest, transforms) + theta[3:6]


weighted = lambda positions, weights: weights[:, :, None] * positions[:, None, :]


def simple_value(theta, model, vertices, points):
    return points - vertices_of(theta, model, weighted(model[2][vertices], model[3][vertices]))


def error_on(corners, u, point):
    return point - (u[0] * corners[0] + u[1] * corners[1] + (1 - u[0] - u[1]) * corners[2])


def value_of(theta, us, model, corners, points):
    return jax.vmap(error_on)(vertices_of(theta, model, weighted(model[2], model[3]))[corners], us, points)


def jacobian_of(theta, us, model, corners, points):
    at = vertices_of(theta, model, weighted(model[2], model[3]))[corners]
    by_own = jax.vmap(jax.jacfwd(error_on, 1))(at, us, points)
    return jnp.concatenate([by_own, jax.jacfwd(value_of)(theta, us, model, corners, points)], 2)


for variant, number in (("simple_small", 1), ("complicated_small", 5), ("simple_big", 5), ("complicated_big", 8)):
    given = gradbench.hand(options.checkout, variant, number)
    m, correspondences, points = given["data"]["model"], np.array(given["data"]["correspondences"], np.int32), array(given["data"]["points"])
    model = tuple(map(array, (m["base_relatives"], m["inverse_base_absolutes"], m["base_positions"], m["weights"])))
    theta, us, of = array(given["theta"]), array(given["us"]), loaded["ht"]
    name = f"ht {variant} {number}"
    if us.size == 0:
        arguments = theta, model, jnp.asarray(correspondences), points
        row(name, {"Tenure": of.simple_value, "JAX": simple_value}, arguments)
        row(f"{name}, Jacobian", {"Tenure": of.simple_jacobian, "Tenure, jax.jacfwd": jax.jacfwd(of.simple_value), "JAX": jax.jacfwd(simple_value)}, arguments)
    else:
        arguments = theta, us, model, jnp.asarray(np.array(m["triangles"], np.int32)[correspondences]), points
        row(name, {"Tenure": of.value_of, "JAX": value_of}, arguments)
        row(f"{name}, Jacobian", {"Tenure": of.jacobian_of, "JAX": jacobian_of}, arguments)
