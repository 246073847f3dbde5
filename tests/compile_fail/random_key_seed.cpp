// SPDX-License-Identifier: BSL-1.0
// expect: tenure: random_key: the seed is an integer of C..?, as in random_key\(42\): an integer of a trace or of a tensor is a key by fold_in\(key, i\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f() {
#ifdef TENURE_MISUSE
  return tn::random_key(1.5);
#else
  return tn::random_key(1);
#endif
}
