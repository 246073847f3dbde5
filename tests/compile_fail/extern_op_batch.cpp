// SPDX-License-Identifier: BSL-1.0
// expect: tenure: extern_op: with tn::whole_batch the function also takes the results and the arguments with one more axis, as tn::memory_view
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::extern_op([](double x) { return 2 * x; }, tn::result<double>, tn::whole_batch);
#else
constexpr auto f = tn::extern_op([](double x) { return 2 * x; }, tn::result<double>);
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return tn::vmap(f)(x); }
