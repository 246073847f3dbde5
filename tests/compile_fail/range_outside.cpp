// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t last = 4;
#else
constexpr std::int64_t last = 3;
#endif

auto f(const tn::tensor<double, tn::shape<3>>& x) { return x[tn::range<0, last>()]; }
