// SPDX-License-Identifier: BSL-1.0
// expect: tenure: keep_top_k, keep_top_p: k and p are one number for all rows: for one of each row write vmap of the function of a row
#include <tenure/tenure.hpp>
namespace tn = tenure;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

auto f(const array<float, 3, 50>& logits, const array<float, 3>& p) {
#ifdef TENURE_MISUSE
  return tn::keep_top_p(logits, p);
#else
  return tn::vmap([](auto row, auto p) { return tn::keep_top_p(row, p); })(logits, p);
#endif
}
