// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: a run-time extent of a result is not known: use tn::like<I>, the name of an extent of an argument, or a traced function
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using row = tn::tensor<double, tn::shape<tn::dyn>>;
#else
using row = tn::tensor<double, tn::shape<tn::dim("n")>>;
#endif
constexpr auto f = tn::extern_op([](auto y, auto x) { for (int i = 0; i < y.extent(0); ++i) y(i) = x(0, i); }, tn::result<row>);

auto g(const tn::tensor<double, tn::shape<2, tn::dim("n")>>& x) { return f(x); }
