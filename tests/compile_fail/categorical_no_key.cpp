// SPDX-License-Identifier: BSL-1.0
// expect: tenure: categorical: a key comes before the logits: categorical\(tn::random_key\(42\), logits\), and with a shape categorical\(shape, key, logits\)
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<3>>& logits) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::categorical(logits));
#else
  return tn::eval(tn::categorical(tn::random_key(42), logits));
#endif
}
