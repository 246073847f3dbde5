// SPDX-License-Identifier: BSL-1.0
// The hand of an arm in a plane, for arm.py:
//   g++ -std=c++20 -O3 -march=native -fPIC -shared -I include -isystem /usr/include/eigen3 -isystem $(python3 -c "import jax; print(jax.ffi.include_dir())")
//     examples/jax/arm.cpp -o libarm.so
#include <tenure/interop/xla_ffi.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// The place of the hand, from the angles between its three parts and their lengths.
constexpr auto hand = [](auto angles, auto lengths) {
  const auto directions = cumsum(angles, tn::axis<0>);
  return tn::stack<0>(dot(lengths, cos(directions)), dot(lengths, sin(directions)));
};

TENURE_XLA_FFI(hand, tn::tensor<float, tn::shape<3>>, tn::shared_argument<tn::tensor<float, tn::shape<3>>>);
