// SPDX-License-Identifier: BSL-1.0
// expect: tenure: scan: the scanned values have different extents along axis 0: layers beside states are an array of tuples
// lines: 30
#include <tenure/tenure.hpp>
namespace tn = tenure;

using matrix = tn::tensor<float, tn::shape<8, 8>>;
using state = tn::tensor<float, tn::shape<tn::dim("batch"), 8>>;
constexpr auto layer = [](auto x, auto both) { return std::tuple{tanh(matmul(x, std::get<0>(both)) + std::get<1>(both)), tn::nothing}; };

#ifdef TENURE_MISUSE
constexpr auto beside = [](auto layers, auto states) { return std::tuple{layers, tn::stack(states[0], states[1])}; };
#else
constexpr auto beside = [](auto layers, auto states) { return std::array{std::tuple{layers[0], states[0]}, std::tuple{layers[1], states[1]}}; };
#endif
constexpr auto f = tn::compile([](auto layers, auto states, auto x) { return std::get<0>(tn::scan(layer, x, beside(layers, states))); });

auto g(const std::array<matrix, 2>& layers, const std::array<state, 2>& states, const state& x) { return f(layers, states, x); }
