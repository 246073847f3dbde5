// SPDX-License-Identifier: BSL-1.0
// expect: tenure: call: an argument is neither a tensor, a number, a tuple, an array nor a model
#include <tenure/tenure.hpp>
#include <array>
#include <vector>
namespace tn = tenure;

using leaf = tn::variable<float, tn::shape<3>>;
#ifdef TENURE_MISUSE
using leaves = std::vector<leaf>;
#else
using leaves = std::array<leaf, 2>;
#endif

constexpr auto loss = [](auto all) { return sum(all[0] * all[1]); };
auto f(const leaves& all) { return tn::grad(loss)(all); }
