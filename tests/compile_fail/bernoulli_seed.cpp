// SPDX-License-Identifier: BSL-1.0
// expect: tenure: bernoulli: a number stands in place of the key; write bernoulli\(shape, tn::random_key\(42\), p\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f() {
#ifdef TENURE_MISUSE
  return tn::eval(tn::bernoulli(tn::shape<3>{}, 42, 0.5));
#else
  return tn::eval(tn::bernoulli(tn::shape<3>{}, tn::random_key(42), 0.5));
#endif
}
