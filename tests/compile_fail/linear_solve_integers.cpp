// SPDX-License-Identifier: BSL-1.0
// expect: tenure: linear_solve: the right-hand side is one floating value, a number or a tensor
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using element = std::int64_t;
#else
using element = double;
#endif

auto f(const tn::tensor<element, tn::shape<3>>& b) { return tn::linear_solve([](auto x) { return x + x; }, [](auto a, auto rhs) { return tn::cg(a, rhs); })(b); }
