// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: the index lies outside its axis
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t last = 3;
#else
constexpr std::int64_t last = 2;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return x.at(tn::range<0, last>(), tn::all); }
