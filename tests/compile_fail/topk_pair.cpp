// SPDX-License-Identifier: BSL-1.0
// expect: no matching function for call to
// lines: 240
#include <tenure/tenure.hpp>
#include <tuple>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<8>>& x) {
#ifdef TENURE_MISUSE
  return tn::eval(std::get<1>(tn::topk<3>(x)));
#else
  return tn::eval(tn::argtopk<3>(x));
#endif
}
