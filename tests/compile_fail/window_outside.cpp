// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t n = 4;
#else
constexpr std::int64_t n = 3;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x, int i) { return x[tn::window<n>(i)]; }
