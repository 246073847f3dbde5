// SPDX-License-Identifier: BSL-1.0
// expect: tenure: bernoulli: fewer than three arguments: the shape, a key and the probability; write bernoulli\(shape, tn::random_key\(42\), p\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f() {
#ifdef TENURE_MISUSE
  return tn::eval(tn::bernoulli(tn::shape<3>{}, 0.5));
#else
  return tn::eval(tn::bernoulli(tn::shape<3>{}, tn::random_key(42), 0.5));
#endif
}
