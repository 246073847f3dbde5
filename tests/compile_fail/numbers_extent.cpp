// SPDX-License-Identifier: BSL-1.0
// expect: tenure: as_numbers: a std::array has a static extent, and this axis has one that is known only when the program runs: scan or vmap over it
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = tn::as_numbers([](const auto& p) { return p[0] * 2.0; });

#ifdef TENURE_MISUSE
auto g(const tn::tensor<double, tn::shape<tn::dyn, 2>>& x) { return f(x); }
#else
auto g(const tn::tensor<double, tn::shape<tn::dyn, 2>>& x) { return tn::vmap(f)(x); }
#endif
