// SPDX-License-Identifier: BSL-1.0
// expect: tenure: uniform, normal, .*: this is no key: make one by random_key\(seed\), and others of it by fold_in\(key, i\)
// lines: 20
#include <tenure/tenure.hpp>
namespace tn = tenure;
auto f(const tn::tensor<float, tn::shape<3>>& logits, const tn::tensor<std::int32_t, tn::shape<2>>& key) {
#ifdef TENURE_MISUSE
  return tn::eval(tn::categorical(logits, key));
#else
  return tn::eval(tn::categorical(key, logits));
#endif
}
