// SPDX-License-Identifier: BSL-1.0
// Memory is read and written in pieces of 16 bytes: one load an input and one store an output, each once, in a branch beside that of a
// row's end. A GPU's memory is what a fused kernel waits for, and pieces of 4 bytes take four times the instructions.
// ptx: 3 ld\.global(\.nc)?\.v4\.[fb]32
// ptx: 2 st\.global\.v4\.[fb]32
// ptx: 3 ld\.global(\.nc)?\.v2\.[fb]64
// ptx: 2 st\.global\.v2\.[fb]64
// Elements of bfloat16 in pieces of 8 bytes.
// ptx: 3 ld\.global(\.nc)?\.v4\.u16
// ptx: 2 st\.global\.v4\.u16
#include <tenure/cuda.hpp>

namespace tn = tenure;

template <class T>
auto compute() {
  const auto on_gpu = [] { return tn::tensor<T, tn::shape<1000>>{}.to(tn::cuda); };
  constexpr auto f = tn::compile([](auto x, auto y, auto z) { return std::tuple{x * y + z, x - z}; });
  return f(on_gpu(), on_gpu(), on_gpu());
}

template auto compute<float>();
template auto compute<double>();
template auto compute<tn::bfloat16>();
