// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a traced lambda begins with .., not with .=. or .&., also if it captures nothing
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::compile([=](auto a) { return a * 2.0; })(x); }
#else
auto f(const tn::tensor<double, tn::shape<3>>& x) { return tn::compile([](auto a) { return a * 2.0; })(x); }
#endif
