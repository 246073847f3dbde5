// SPDX-License-Identifier: BSL-1.0
// expect: tenure: diagonal: of a run-time extent only the main diagonal is taken: beside it sum
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<tn::dyn, tn::dyn>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::diagonal<1>(x));
#else
  return tn::eval(tn::sum(where(tn::index_along<0>(x) + 1 == tn::index_along<1>(x), x, 0), tn::axis<1>));
#endif
}
