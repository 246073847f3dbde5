#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Functions of Tenure inside JAX (docs/jax.md), beside the same functions in JAX and beside a handler by hand, on one core.

inside_jax.py [--compiler C++] [--include DIR]... [--flags=...] [--repetitions N]
The values and derivatives of each row are compared first. The times are the least of N, taken in turns.
"""
import sys

sys.dont_write_bytecode = True
import beside_jax

beside_jax.parse(__doc__)

import ctypes

import jax
import jax.numpy as jnp
import numpy as np

import tenure_xla

PROGRAM = r"""
#include <cmath>

#include <tenure/interop/xla_ffi.hpp>
#include <tenure/tenure.hpp>
#include <xla/ffi/api/ffi.h>

namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

constexpr auto distance = [](auto x, auto y, auto scale) { return scale * sqrt(sum((x - y) * (x - y))); };
constexpr auto layer = [](auto w, auto b, auto x) { return tanh(matmul(w, x) + b); };
// A camera of bundle adjustment: rotation, position, focal length and two numbers of distortion.
constexpr auto reprojection = [](auto camera, auto point, auto seen) {
  const auto w = tn::slice<0, 0, 3>(camera), angle = sqrt(sum(w * w)), axis = w / angle;
  const auto turned = point * cos(angle) + cross(axis, point) * sin(angle) + axis * (dot(axis, point) * (1.0f - cos(angle)));
  const auto p = turned + tn::slice<0, 3, 3>(camera);
  const auto at = -tn::slice<0, 0, 2>(p) / p(2), r = sum(at * at);
  return camera(6) * (1.0f + r * (camera(7) + r * camera(8))) * at - seen;
};

TENURE_XLA_FFI(distance, array<3>, array<3>, tn::constant_argument<float>);
TENURE_XLA_FFI(layer, tn::shared_argument<array<16, 16>>, tn::shared_argument<array<16>>, array<16>);
TENURE_XLA_FFI(reprojection, array<9>, array<3>, tn::constant_argument<array<2>>);

namespace ffi = xla::ffi;
static ffi::Error by_hand(ffi::BufferR1<ffi::F32> x, ffi::BufferR1<ffi::F32> y, ffi::BufferR0<ffi::F32> scale, ffi::ResultBufferR0<ffi::F32> result) {
  const float *a = x.typed_data(), *b = y.typed_data();
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  *result->typed_data() = *scale.typed_data() * std::sqrt(sum);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(distance_by_hand, by_hand, ffi::Ffi::Bind().Arg<ffi::BufferR1<ffi::F32>>().Arg<ffi::BufferR1<ffi::F32>>().Arg<ffi::BufferR0<ffi::F32>>().Ret<ffi::BufferR0<ffi::F32>>());
"""

path = beside_jax.build("functions", PROGRAM)
library = tenure_xla.load(path)
jax.ffi.register_ffi_target("distance_by_hand", jax.ffi.pycapsule(ctypes.CDLL(path).distance_by_hand), platform="cpu")


def cross_rotation(camera, point):
    w = camera[:3]
    angle = jnp.sqrt(jnp.sum(w * w))
    axis = w / angle
    return point * jnp.cos(angle) + jnp.cross(axis, point) * jnp.sin(angle) + axis * (jnp.dot(axis, point) * (1 - jnp.cos(angle)))


def reprojection(camera, point, seen):
    p = cross_rotation(camera, point) + camera[3:6]
    at = -p[:2] / p[2]
    r = jnp.sum(at * at)
    return camera[6] * (1 + r * (camera[7] + r * camera[8])) * at - seen


distance = lambda x, y, scale: scale * jnp.sqrt(jnp.sum((x - y) ** 2))
by_hand = lambda x, y, scale: jax.ffi.ffi_call("distance_by_hand", jax.ShapeDtypeStruct((), jnp.float32))(x, y, scale)
layer = lambda w, b, x: jnp.tanh(w @ x + b)
rng = np.random.default_rng(0)
normal = lambda *shape: jnp.asarray(rng.normal(size=shape), jnp.float32)
CALLS, SAMPLES = 100_000, 100_000


def row(name, functions, wrap, arguments, *units):
    beside_jax.row(name, {key: wrap(f) for key, f in functions.items()}, arguments, *units)


x, y, scale = normal(3), normal(3), jnp.float32(2)
row("a call in a loop", {"Tenure": library.distance, "by hand": by_hand, "JAX": distance},
    lambda f: lambda x, y, scale: jax.lax.fori_loop(0, CALLS, lambda _, a: f(a, y, scale) * 1e-3 + a, x), (x, y, scale), CALLS, "us", 1e6)
of_layer = {"Tenure": library.layer, "JAX": layer}
weights = (normal(16, 16) / 4, normal(16), normal(SAMPLES, 16))
row("100,000 samples of a layer of 16", of_layer, lambda f: jax.vmap(f, (None, None, 0)), weights)
row("its gradient by weights and bias", of_layer, lambda f: jax.grad(lambda w, b, x: jnp.mean(jax.vmap(f, (None, None, 0))(w, b, x)), (0, 1)), weights)
of_camera = {"Tenure": library.reprojection, "JAX": reprojection}
cameras = jnp.concatenate([normal(SAMPLES, 3) * 0.3, normal(SAMPLES, 3) + jnp.array([0, 0, 20.0]), 500 + normal(SAMPLES, 1), normal(SAMPLES, 2) * 0.1], axis=1)
observed = (cameras, normal(SAMPLES, 3), normal(SAMPLES, 2))
row("100,000 reprojections", of_camera, jax.vmap, observed)
row("their Jacobians, 2 x 12, by jacfwd", of_camera, lambda f: jax.vmap(jax.jacfwd(f, (0, 1))), observed)
row("their gradients, by grad", of_camera, lambda f: jax.grad(lambda c, p, s: jnp.mean(jax.vmap(f)(c, p, s) ** 2), (0, 1)), observed)
