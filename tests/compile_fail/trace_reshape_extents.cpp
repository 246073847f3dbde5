// SPDX-License-Identifier: BSL-1.0
// expect: tenure: reshape: extents are template arguments: write reshape<2, 3>..
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<6>>& x) {
#ifdef TENURE_MISUSE
  return tn::compile([](auto a) { return a.reshape(2, 3); })(x);
#else
  return tn::compile([](auto a) { return a.template reshape<2, 3>(); })(x);
#endif
}
