// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: the shapes have different numbers of elements
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr std::int64_t n = 7;
#else
constexpr std::int64_t n = 6;
#endif

auto f(const tn::tensor<float, tn::shape<2, 3>>& x) { return x.reshape<n>(); }
