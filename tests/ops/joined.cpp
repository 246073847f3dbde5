// SPDX-License-Identifier: BSL-1.0
// concat, stack, hstack, vstack and block of operands with run-time extents along the joined axis. Law: what is joined has the elements of its operands, one after the
// other, and the gradient to an operand is the part of the cotangent where it stands.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../control_flow/reference.hpp"

#include <vector>

namespace tn = tenure;
using vector = tn::tensor<double, tn::shape<tn::dyn>>;
using matrix = tn::tensor<double, tn::shape<tn::dyn, tn::dyn>>;
using rows = tn::tensor<double, tn::shape<tn::dyn, 3>>;

namespace {

template <class X>
X counted(X x, double first) {
  for (double& e : tn::as_span(x)) e = first++;
  return x;
}
/// The rows of all operands, one below the other; with Beside, the columns side by side.
template <bool Beside>
std::vector<double> by_hand(const std::vector<const matrix*>& all) {
  std::vector<double> out;
  if (Beside) {
    for (std::int64_t i = 0; i < all[0]->extent(0); ++i)
      for (const matrix* x : all) out.insert(out.end(), x->data() + i * x->extent(1), x->data() + (i + 1) * x->extent(1));
  } else {
    for (const matrix* x : all) out.insert(out.end(), x->data(), x->data() + x->size());
  }
  return out;
}
template <class X>
void check(const X& found, const std::vector<double>& wanted) {
  const auto dense = found.clone();
  REQUIRE(dense.size() == static_cast<std::int64_t>(wanted.size()));
  for (std::size_t e = 0; e < wanted.size(); ++e) CHECK(dense.data()[e] == wanted[e]);
}
constexpr auto below = [](auto x, auto y, auto z) { return tn::vstack(x, y * 2.0, z); };
constexpr auto beside = [](auto x, auto y, auto z) { return tn::hstack(x, y * 2.0, z); };

}  // namespace

TEST_CASE("Law: what is joined has the elements of its operands, one after the other, and the gradient to an operand is the part of the cotangent where it stands") {
  for (const std::int64_t n : {0, 1, 2, 5, 40})
    for (const std::int64_t m : {0, 1, 3, 33}) {
      CAPTURE(n, m);
      const matrix x = counted(matrix(n, 4), 1), y = counted(matrix(m, 4), 1000), z = counted(matrix(2, 4), 2000), twice = y * 2.0;
      check(tn::vstack(x, y, z), by_hand<false>({&x, &y, &z}));
      const auto joined = tn::compile(below)(x, y, z);
      CHECK(joined.extent(0) == n + m + 2);
      check(joined, by_hand<false>({&x, &twice, &z}));
      judged::agree(joined, judged::by_reference(below, x, y, z), 0);

      const matrix a = counted(matrix(4, n), 1), b = counted(matrix(4, m), 1000), c = counted(matrix(4, 1), 2000), twice_b = b * 2.0;
      check(tn::hstack(a, b, c), by_hand<true>({&a, &b, &c}));
      check(tn::compile(beside)(a, b, c), by_hand<true>({&a, &twice_b, &c}));

      const matrix weights = counted(matrix(n + m + 2, 4), 3);
      const auto [of_x, of_y, of_z] = tn::grad<0, 1, 2>([](auto x, auto y, auto z, auto w) { return sum(below(x, y, z) * w); })(x, y, z, weights);
      for (std::int64_t e = 0; e < of_x.size(); ++e) CHECK(of_x.data()[e] == weights.data()[e]);
      for (std::int64_t e = 0; e < of_y.size(); ++e) CHECK(of_y.data()[e] == 2 * weights.data()[n * 4 + e]);
      for (std::int64_t e = 0; e < of_z.size(); ++e) CHECK(of_z.data()[e] == weights.data()[(n + m) * 4 + e]);
      const auto [value, moved] = tn::jvp<0, 1, 2>(below)(x, y, z, x, y, z);
      check(moved, by_hand<false>({&x, &twice, &z}));
    }
}

TEST_CASE("concat: operands with run-time and static extents along the axis in any order, vectors, integers, targets and batches") {
  const vector x = counted(vector(3), 1), y = counted(vector(2), 10);
  const tn::tensor<double, tn::shape<2>> z{20, 21};
  check(tn::concat<0>(x, z), {1, 2, 3, 20, 21});
  check(tn::concat<0>(z, x, y, z), {20, 21, 1, 2, 3, 10, 11, 20, 21});
  check(tn::hstack(x, y), {1, 2, 3, 10, 11});
  const rows r = counted(rows(2), 1);
  check(tn::vstack(r, r, r), {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
  const matrix a = counted(matrix(1, 2), 1), b = counted(matrix(1, 1), 5), c = counted(matrix(2, 2), 7), d = counted(matrix(2, 1), 15);
  check(tn::block<2, 2>(a, b, c, d), {1, 2, 5, 7, 8, 15, 9, 10, 16});
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> i(2), j(1);
  i.at(0) = 7, i.at(1) = 8, j.at(0) = 9;
  const auto whole = tn::tensor(tn::concat<0>(i, j, i));
  CHECK((whole.size() == 5 && whole.data()[0] == 7 && whole.data()[1] == 8 && whole.data()[2] == 9 && whole.data()[3] == 7 && whole.data()[4] == 8));
  constexpr auto joined = tn::compile([](auto x, auto y) { return tn::concat<0>(x, y); });
  vector to(5);
  joined.into(to)(x, y);
  check(to, {1, 2, 3, 10, 11});
  CHECK_THROWS_AS(joined.into(to)(x, x), tn::shape_error);
  // A batch.
  const auto many = tn::vmap([](auto x, auto y) { return tn::concat<0>(x, y); })(c, d);
  check(many, {7, 8, 15, 9, 10, 16});
}
