// SPDX-License-Identifier: BSL-1.0
// expect: tenure: normal, uniform: no key: the numbers need a source; write normal\(shape, tn::random_key\(42\)\), or normal\(shape, g\) with tn::engine g\(42\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f() {
#ifdef TENURE_MISUSE
  return tn::eval(tn::uniform(tn::shape<3>{}));
#else
  return tn::eval(tn::uniform(tn::shape<3>{}, tn::random_key(42)));
#endif
}
