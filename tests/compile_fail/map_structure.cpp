// SPDX-License-Identifier: BSL-1.0
// expect: tenure: map: the trees have different structures
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

using leaf = tn::tensor<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using gradients = std::array<leaf, 3>;
#else
using gradients = std::array<leaf, 2>;
#endif

auto f(const std::array<leaf, 2>& x, const gradients& g) { return tn::map([](auto a, auto b) { return a - b; }, x, g); }
