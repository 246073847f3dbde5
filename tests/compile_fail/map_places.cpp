// SPDX-License-Identifier: BSL-1.0
// expect: tenure: map: the trees have different structures
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

using leaf = tn::tensor<float, tn::shape<3>>;
using tree = std::tuple<std::tuple<leaf, leaf>, leaf>;
#ifdef TENURE_MISUSE
using gradients = std::tuple<leaf, std::tuple<leaf, leaf>>;
#else
using gradients = std::tuple<std::tuple<leaf, leaf>, leaf>;
#endif

auto f(const tree& x, const gradients& g) { return tn::map([](auto a, auto b) { return a - b; }, x, g); }
