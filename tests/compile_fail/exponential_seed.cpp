// SPDX-License-Identifier: BSL-1.0
// expect: tenure: exponential, laplace, cauchy, log_normal: no key behind the shape; write exponential\(shape, tn::random_key\(42\)\), and the parameters behind the key
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f() {
#ifdef TENURE_MISUSE
  return tn::eval(tn::exponential(tn::shape<3>{}, 42));
#else
  return tn::eval(tn::exponential(tn::shape<3>{}, tn::random_key(42)));
#endif
}
