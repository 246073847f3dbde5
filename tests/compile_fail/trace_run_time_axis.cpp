// SPDX-License-Identifier: BSL-1.0
// expect: tenure: at: in a trace only an axis of static extent is indexed
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using rows = tn::tensor<double, tn::shape<tn::dyn>>;
#else
using rows = tn::tensor<double, tn::shape<4>>;
#endif

auto f(const rows& x) { return tn::compile([](auto t) { return t[0]; })(x); }
