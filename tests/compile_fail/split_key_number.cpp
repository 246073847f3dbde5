// SPDX-License-Identifier: BSL-1.0
// expect: tenure: split_key: the number of keys is a template argument, split_key<2>.key.: for a run-time number, fold_in.key, i. is key i
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key) { return tn::eval(tn::split_key(key, 2)); }
#else
auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key) { return tn::eval(tn::split_key<2>(key)); }
#endif
