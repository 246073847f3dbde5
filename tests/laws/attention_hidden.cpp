// SPDX-License-Identifier: BSL-1.0
// Law: causal attention and its gradient do not meet what a row does not see, also if that is NaN or infinite.
#include <limits>

#include "attention.hpp"

using namespace laws;

namespace {

template <class T>
using rows_of_five = tn::tensor<T, shape<dyn, 5>>;

constexpr auto pulled = [](auto q, auto k, auto v, auto g) {
  return tn::grad<0, 1, 2>([](auto q, auto k, auto v, auto g) { return sum(attends_causally(q, k, v) * g); })(q, k, v, g);
};

/// Whether rows first ... last - 1 have the same bits.
template <class X>
bool same_rows(const X& a, const X& b, int first, int last) {
  for (int i = first; i < last; ++i)
    for (int c = 0; c < 5; ++c)
      if (!(a(i, c) == b(i, c))) return false;
  return true;
}

template <class T>
rows_of_five<T> with_row(const rows_of_five<T>& x, int row, T number) {
  rows_of_five<T> y = tn::deepcopy(x);
  for (int c = row % 5; c < 5; c += 2) tn::as_span(y)[5 * row + c] = number;
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("Law: a row of causal attention does not meet what it does not see", "", float, double) {
  using T = TestType;
  const auto forward = tn::compile(attends_causally);
  const auto backward = tn::compile(pulled);
  for (const int n : {2, 3, 8, 16, 17, 31, 40, 70, 130, 150, 270}) {
    const auto q = filled<T>(shape<dyn, 5>{}, 1, n), k = filled<T>(shape<dyn, 5>{}, 2, n), v = filled<T>(shape<dyn, 5>{}, 3, n), g = filled<T>(shape<dyn, 5>{}, 4, n);
    const auto whole = forward(q, k, v);
    const auto [dq, dk, dv] = backward(q, k, v, g);
    for (int row = 0; row < n; row += n < 20 ? 1 : 7)
      for (const T number : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
        INFO(n << " rows, row " << row << " has " << number);
        const auto bad_k = with_row(k, row, number), bad_v = with_row(v, row, number), bad_q = with_row(q, row, number), bad_g = with_row(g, row, number);
        CHECK(same_rows(forward(q, bad_k, bad_v), whole, 0, row));
        const auto [dq_hidden, dk_hidden, dv_hidden] = backward(q, bad_k, bad_v, g);
        CHECK(same_rows(dq_hidden, dq, 0, row));
        // A row of q and its cotangent give nothing to rows of k and v that they do not see, nor to another row of q.
        const auto [dq_row, dk_row, dv_row] = backward(bad_q, k, v, bad_g);
        CHECK(same_rows(dq_row, dq, 0, row));
        CHECK(same_rows(dq_row, dq, row + 1, n));
        CHECK(same_rows(dk_row, dk, row + 1, n));
        CHECK(same_rows(dv_row, dv, row + 1, n));
      }
  }
}
