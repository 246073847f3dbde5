// SPDX-License-Identifier: BSL-1.0
// into() with views as targets: rows, slices, reshapes, columns, diagonals, transposes; their overlap with arguments and with each other.
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../on_device.hpp"

namespace tn = tenure;
using on_device::at;
using on_device::here;
using on_device::there;
using tn::range;
using tn::shape;

namespace {

using matrix = on_device::tensor<double, shape<4, 3>>;
using vector3 = on_device::tensor<double, shape<3>>;
using vector4 = on_device::tensor<double, shape<4>>;
using rows_of_three = on_device::tensor<double, shape<tn::dyn, 3>>;

constexpr auto doubled = tn::compile([](auto x) { return x * 2.0; });
constexpr auto sums_of_rows = tn::compile([](auto x) { return sum(x, tn::axis<1>); });

// Element (i, j) is 10 i + j.
matrix counted() { return there(tn::tensor<double, shape<4, 3>>{{0, 1, 2}, {10, 11, 12}, {20, 21, 22}, {30, 31, 32}}); }
rows_of_three counted_rows() { return counted(); }

/// Elements (i, j) that `is_written` selects are twice those of `from`; the others are 10 i + j.
template <class X, class From, class IsWritten>
void check_doubled(const X& x, const From& from, IsWritten is_written) {
  const auto& got = here(x);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      INFO("element " << i << ", " << j);
      CHECK(got(i, j) == (is_written(i, j) ? 2 * from(i, j) : 10 * i + j));
    }
}

template <class M>
void check_views(const M& start) {
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  const auto four = there(tn::tensor<double, shape<4>>{5, 6, 7, 8});
  const auto turned = there(tn::tensor<double, shape<3, 4>>{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}});
  M x = start.clone();
  // What is contiguous is written in place.
  CHECK(doubled.into(x[1]).copied_bytes(three) == 0);
  doubled.into(x[1])(three);
  check_doubled(x, [](int, int j) { return 5 + j; }, [](int i, int) { return i == 1; });

  x = start.clone();
  const auto two_rows = there(tn::tensor<double, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}});
  auto middle = x.at(range<1, 3>(), tn::all);
  CHECK(doubled.into(middle).copied_bytes(two_rows) == 0);
  doubled.into(middle)(two_rows);
  check_doubled(x, [](int i, int j) { return 3 * (i - 1) + j + 1; }, [](int i, int) { return i == 1 || i == 2; });

  x = start.clone();
  const auto six = there(tn::arange<double>(shape<6>{}));
  auto as_six = x.at(range<1, 3>(), tn::all).template reshape<6>();
  CHECK(doubled.into(as_six).copied_bytes(six) == 0);
  doubled.into(as_six)(six);
  check_doubled(x, [](int i, int j) { return 3 * (i - 1) + j; }, [](int i, int) { return i == 1 || i == 2; });

  x = start.clone();
  CHECK(doubled.into(x[2].at(range<1, 3>())).copied_bytes(three.at(range<0, 2>())) == 0);
  doubled.into(x[2].at(range<1, 3>()))(three.at(range<0, 2>()));
  check_doubled(x, [](int, int j) { return 4 + j; }, [](int i, int j) { return i == 2 && j > 0; });

  x = start.clone();
  const auto one = there(tn::tensor<double, shape<>>(3.0));
  CHECK(doubled.into(x.at(3, 1)).copied_bytes(one) == 0);
  doubled.into(x.at(3, 1))(one);
  check_doubled(x, [](int, int) { return 3; }, [](int i, int j) { return i == 3 && j == 1; });

  // What is strided is computed in other memory and copied.
  x = start.clone();
  CHECK(doubled.into(x.at(tn::all, 1)).copied_bytes(four) == 4 * sizeof(double));
  doubled.into(x.at(tn::all, 1))(four);
  check_doubled(x, [](int i, int) { return 5 + i; }, [](int, int j) { return j == 1; });

  x = start.clone();
  auto transposed = x.transpose();
  CHECK(doubled.into(transposed).copied_bytes(turned) == 12 * sizeof(double));
  doubled.into(transposed)(turned);
  check_doubled(x, [](int i, int j) { return 4 * j + i + 1; }, [](int, int) { return true; });

  x = start.clone();
  CHECK(doubled.into(x.at(range<0, 3>(), tn::all).diagonal()).copied_bytes(three) == 3 * sizeof(double));
  doubled.into(x.at(range<0, 3>(), tn::all).diagonal())(three);
  check_doubled(x, [](int i, int) { return 5 + i; }, [](int i, int j) { return i == j; });

  x = start.clone();
  doubled.into(x.at(range<0, 4, 2>(), range<1, 3>()))(two_rows.at(tn::all, range<0, 2>()));
  check_doubled(x, [](int i, int j) { return 3 * (i / 2) + j; }, [](int i, int j) { return i % 2 == 0 && j > 0; });
}

}  // namespace

TEST_CASE("views are targets: what is contiguous costs no copy, what is strided one, and nothing beside them is written") {
  check_views(counted());
  check_views(counted_rows());
}

TEST_CASE("targets are named views, temporary views, and trees of views; a call keeps its temporaries") {
  auto x = counted();
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  constexpr auto both = tn::compile([](auto v) { return std::tuple{v + 1.0, std::array{v * 2.0, v * 3.0}}; });
  auto owner = there(tn::tensor<double, shape<3>>{0, 0, 0});
  both.into(owner, std::array{x[0], x[3]})(three);
  CHECK(at(owner, 0) == 6);
  CHECK(at(x, 0, 1) == 12);
  CHECK(at(x, 3, 2) == 21);
  CHECK(at(x, 1, 0) == 10);
  std::tuple views{x[1], std::array{x[2], x[3]}};
  both.into(views)(three);
  CHECK(at(x, 1, 0) == 6);
  CHECK(at(x, 2, 0) == 10);
  const auto later = doubled.into(x[0]);
  later(three);
  later(x[1]);
  CHECK(at(x, 0, 0) == 12);
  doubled.into(std::tie(owner))(three);
  CHECK(at(owner, 1) == 12);
}

TEST_CASE("targets without a common element are right, others are refused before anything is written") {
  auto x = counted();
  const auto four = there(tn::tensor<double, shape<4>>{5, 6, 7, 8});
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  constexpr auto two = tn::compile([](auto v) { return std::tuple{v * 2.0, v * 3.0}; });
  two.into(x.at(tn::all, 0), x.at(tn::all, 2))(four);
  CHECK(at(x, 3, 0) == 16);
  CHECK(at(x, 3, 1) == 31);
  CHECK(at(x, 3, 2) == 24);
  // A row between strided rows.
  constexpr auto rows = tn::compile([](auto v) { return std::tuple{v[0] * 1.0, tn::stack(v[1], v[2])}; });
  auto y = counted();
  rows.into(y[1], y.at(range<0, 4, 2>(), tn::all))(y.at(range<1, 4>(), tn::all));
  CHECK(at(y, 1, 2) == 12);
  CHECK(at(y, 0, 2) == 22);
  CHECK(at(y, 2, 2) == 32);
  CHECK(at(y, 3, 2) == 32);

  auto z = counted();
  const auto untouched = [&] { check_doubled(z, [](int, int) { return 0; }, [](int, int) { return false; }); };
  CHECK_THROWS_WITH(two.into(z.at(tn::all, 1), z.at(tn::all, 1))(four), "tenure: into: targets 0 and 1 share memory");
  CHECK_THROWS_AS(two.into(z.at(range<0, 2>(), tn::all), z.at(range<1, 3>(), tn::all))(there(tn::tensor<double, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}})), tn::overlap_error);
  constexpr auto row_and_column = tn::compile([](auto v, auto w) { return std::tuple{v * 2.0, w * 2.0}; });
  CHECK_THROWS_AS(row_and_column.into(z[1], z.at(tn::all, 1))(three, four), tn::overlap_error);
  CHECK_THROWS_AS(row_and_column.into(z, z[3])(counted(), three), tn::overlap_error);
  CHECK_THROWS_AS(row_and_column.into(z, z[3]).copied_bytes(counted(), three), tn::overlap_error);
  auto even = z.at(range<0, 4, 2>(), tn::all), odd = z.at(range<1, 4, 2>(), tn::all);
  CHECK_NOTHROW(row_and_column.into(even, odd).copied_bytes(counted().at(range<0, 2>(), tn::all), counted().at(range<2, 4>(), tn::all)));
  untouched();
}

TEST_CASE("a target may overlap an argument in any way") {
  // Shifted by a row, in both directions.
  for (const bool down : {false, true}) {
    auto x = counted();
    auto first = x.at(range<0, 3>(), tn::all), last = x.at(range<1, 4>(), tn::all);
    if (down) doubled.into(last)(first);
    else doubled.into(first)(last);
    const int by = down ? -1 : 1;
    check_doubled(x, [&](int i, int j) { return 10 * (i + by) + j; }, [&](int i, int) { return down ? i > 0 : i < 3; });
  }
  // A view of an argument that owns its memory: the second row of x, and x as a whole, begin at other places.
  auto x = counted();
  constexpr auto column_sums = tn::compile([](auto v) { return sum(v, tn::axis<0>); });
  column_sums.into(x[1])(x);
  CHECK(at(x, 1, 0) == 60);
  CHECK(at(x, 1, 2) == 68);
  // Rows of an argument are written that it still reads.
  auto y = counted();
  constexpr auto first_rows = tn::compile([](auto v) { return tn::slice<0, 0, 3>(v) * 2.0; });
  CHECK(first_rows.into(y.at(range<1, 4>(), tn::all)).copied_bytes(y) == 9 * sizeof(double));
  first_rows.into(y.at(range<1, 4>(), tn::all))(y);
  check_doubled(y, [](int i, int j) { return 10 * (i - 1) + j; }, [](int i, int) { return i > 0; });
  // An argument that begins in the middle of a target.
  constexpr auto minus_row = tn::compile([](auto v, auto row) { return v - row; });
  minus_row.into(x)(x, x[3]);
  CHECK(at(x, 0, 2) == -30);
  CHECK(at(x, 3, 2) == 0);
  minus_row.into(x.at(range<0, 2>(), tn::all))(x.at(range<0, 2>(), tn::all), x[0]);
  CHECK(at(x, 0, 1) == 0);
  CHECK(at(x, 1, 1) == (64 - 31) - (1 - 31));
}

TEST_CASE("a target may be an argument in another order") {
  on_device::tensor<double, shape<3, 3>> x = there(tn::tensor<double, shape<3, 3>>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  constexpr auto plus_one = tn::compile([](auto v) { return v + 1.0; });
  plus_one.into(x)(x.transpose());
  CHECK(at(x, 0, 1) == 5);
  CHECK(at(x, 1, 0) == 3);
  plus_one.into(x.transpose())(x);
  CHECK(at(x, 0, 1) == 4);
  CHECK(at(x, 1, 0) == 6);
  CHECK(plus_one.into(x.transpose()).copied_bytes(x.transpose()) == 9 * sizeof(double));
  plus_one.into(x.transpose())(x.transpose());
  CHECK(at(x, 0, 1) == 5);
  plus_one.into(x.diagonal())(x[2]);
  CHECK(at(x, 0, 0) == at(x, 2, 0) + 1);
}

TEST_CASE("a product is computed into one of its operands, and the version rises once") {
  using square = on_device::tensor<double, shape<2, 2>>;
  constexpr auto product = tn::compile([](auto a, auto b) { return matmul(a, b); });
  const square b = there(tn::tensor<double, shape<2, 2>>{{5, 6}, {7, 8}});
  const auto check = [&](auto multiply, std::array<double, 4> wanted) {
    square a = there(tn::tensor<double, shape<2, 2>>{{1, 2}, {3, 4}});
    CHECK(product.into(a).copied_bytes(a, b) == 4 * sizeof(double));
    const auto before = a.version();
    multiply(a);
    CHECK(a.version() == before + 1);
    for (int i = 0; i < 4; ++i) CHECK(at(a, i / 2, i % 2) == wanted[static_cast<std::size_t>(i)]);
  };
  check([&](auto& a) { product.into(a)(a, b); }, {19, 22, 43, 50});
  check([&](auto& a) { product.into(a)(b, a); }, {23, 34, 31, 46});
  check([&](auto& a) { product.into(a)(a, a); }, {7, 10, 15, 22});
}

TEST_CASE("a view that is argument and target is updated in place") {
  auto x = counted();
  constexpr auto added = tn::compile([](auto sums, auto v) { return sums + v; });
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  auto row = x[2];
  CHECK(added.into(row).copied_bytes(row, three) == 0);
  added.into(row)(row, three);
  added.into(x[2])(x[2], three);
  check_doubled(x, [](int, int j) { return (20 + j + 2 * (5 + j)) / 2.0; }, [](int i, int) { return i == 2; });

  // The whole, two rows of a matrix with run-time extents, and kernels with several passes over a row.
  auto rows = counted_rows();
  auto two = rows.at(range(1, 3), tn::all);
  constexpr auto smooth = tn::compile([](auto v) { return softmax(v, tn::axis<1>); });
  const auto wanted = smooth(two);
  CHECK(smooth.into(two).copied_bytes(two) == 0);
  smooth.into(two)(two);
  for (int j = 0; j < 3; ++j) {
    CHECK(at(rows, 1, j) == at(wanted, 0, j));
    CHECK(at(rows, 2, j) == at(wanted, 1, j));
    CHECK(at(rows, 3, j) == 30 + j);
  }
  auto whole = rows.view();
  CHECK(added.into(whole).copied_bytes(whole, rows) == 0);
  added.into(whole)(whole, rows);
  CHECK(at(rows, 3, 1) == 62);

  // Not where the function reads the argument in another order or again.
  constexpr auto backwards = tn::compile([](auto v) { return tn::flip<0>(v) * 1.0; });
  CHECK(backwards.into(row).copied_bytes(row) == 3 * sizeof(double));
  backwards.into(row)(row);
  CHECK(at(x, 2, 0) == 36);
  CHECK(at(x, 2, 2) == 30);
  // An update of a view writes the block only.
  constexpr auto put = tn::compile([](auto v, auto block, auto i) { return tn::dynamic_update(v, block, i); });
  auto cache = on_device::tensor<double, shape<500>>();
  auto half = cache.at(range<0, 250>());
  CHECK(put.into(half).copied_bytes(half, three, 7) == 0);
  put.into(half)(half, three, 7);
  CHECK(at(cache, 8) == 6);
  CHECK(at(cache, 10) == 0);
}

TEST_CASE("a write to a view raises the version of the whole, so backward() finds it") {
  auto w = there(tn::variable<double, shape<4, 3>>{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  const auto four = there(tn::tensor<double, shape<4>>{5, 6, 7, 8});
  const auto check_found = [&](auto write) {
    auto x = counted();
    tn::tensor y = w * x;
    const auto before = x.version();
    write(x);
    CHECK(x.version() == before + 1);
    CHECK_THROWS_AS(sum(y).backward(), tn::ownership_error);
  };
  check_found([&](auto& x) { doubled.into(x[1])(three); });
  check_found([&](auto& x) { doubled.into(x.at(tn::all, 2))(four); });
  check_found([&](auto& x) { doubled.into(x.view())(x); });
  check_found([&](auto& x) { doubled.into(x.detach())(x); });
  // A call that is refused raises none.
  auto x = counted();
  constexpr auto two = tn::compile([](auto v) { return std::tuple{v * 2.0, v * 3.0}; });
  const auto before = x.version();
  CHECK_THROWS_AS(two.into(x[1], x[1])(three), tn::overlap_error);
  CHECK(x.version() == before);
}

TEST_CASE("a leaf and its views are targets inside no_grad") {
  auto w = there(tn::variable<double, shape<4, 3>>{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}});
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  tn::no_grad([&](auto v) {
    doubled.into(v[1])(three);
    doubled.into(v.at(tn::all, 2))(v.at(tn::all, 1));
  }, w);
  CHECK(at(w, 1, 1) == 12);
  CHECK(at(w, 1, 2) == 24);
  CHECK(at(w, 0, 2) == 2);
}

TEST_CASE("what only the run knows of a target is checked before anything is written") {
  auto rows = counted_rows();
  const auto three = there(tn::tensor<double, shape<3>>{5, 6, 7});
  CHECK_THROWS_WITH(doubled.into(rows.at(range(1, 3), tn::all))(counted_rows()), "tenure: into: a target of shape 2x3 for a result of shape 4x3");
  auto row = rows[1];
  auto taken = std::move(row);
  constexpr auto two = tn::compile([](auto v) { return std::tuple{v * 2.0, v * 3.0}; });
  const auto before = rows.version();
  CHECK_THROWS_AS(two.into(rows[0], row)(three), tn::ownership_error);
  CHECK(rows.version() == before);
  CHECK_THROWS_AS(doubled.into(row)(three), tn::ownership_error);
  constexpr auto picked = tn::compile([](auto v, auto i) { return std::tuple{v * 2.0, gather(v, i * 2)}; });
  auto i = there(tn::tensor<std::int64_t, shape<3>>{0, 1, 2});
  CHECK_THROWS_AS(picked.into(rows[0], rows[1])(rows[2], i), tn::index_error);
  CHECK_THROWS_AS(picked.into(rows.at(range(0, 3), 0), rows.at(range(0, 3), 1))(rows[2], i), tn::index_error);
  check_doubled(rows, [](int, int) { return 0; }, [](int, int) { return false; });
  i = there(tn::tensor<std::int64_t, shape<3>>{0, 1, 1});
  picked.into(rows[0], rows[1])(rows[2], i);
  CHECK(at(rows, 1, 2) == 22);
}

TEST_CASE("a target that was moved from is found before the version of another one rises") {
  constexpr auto both = tn::compile([](auto x) { return std::tuple{x * 2.0, x * 3.0}; });
  const auto check = [&](auto first, auto second, const auto& x) {
    const auto before = first.version();
    const auto kept = std::move(second);
    CHECK_THROWS_WITH(both.into(first, second)(x), "tenure: into: the tensor is empty: it was moved from, or made without extents");
    CHECK_THROWS_WITH(both.into(first.view(), second)(x), "tenure: into: the tensor is empty: it was moved from, or made without extents");
    CHECK(first.version() == before);
    CHECK(kept(0) == 7);
  };
  const tn::tensor<double, shape<2>> x{1, 2};
  check(tn::tensor<double, shape<2>>{5, 6}, tn::tensor<double, shape<2>>{7, 8}, x);
  using open = tn::tensor<double, shape<tn::dyn>>;
  check(open{5, 6}, open{7, 8}, x);
  check(open{5, 6}, tn::tensor<double, shape<2>>{7, 8}, open{1, 2});
}

TEST_CASE("empty views are targets, and share memory with nothing") {
  auto rows = counted_rows();
  const rows_of_three none(0);
  constexpr auto two = tn::compile([](auto v, auto w) { return std::tuple{v * 2.0, w * 2.0}; });
  // Both begin inside the rows that are written.
  two.into(rows.at(range(1, 3), tn::all), rows.at(range(2, 2), tn::all))(counted_rows().at(range(0, 2), tn::all), none);
  two.into(rows.at(range(2, 2), tn::all), rows.at(range(2, 2), tn::all))(rows.at(range(3, 3), tn::all), none);
  CHECK(at(rows, 2, 1) == 22);
  constexpr auto columns = tn::compile([](auto v) { return sum(v, tn::axis<0>); });
  columns.into(rows[0])(rows.at(range(2, 2), tn::all));
  CHECK(at(rows, 0, 2) == 0);
  CHECK(at(rows, 3, 2) == 32);
}

TEST_CASE("NaN and infinities arrive in a strided target as they are") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto x = counted();
  const auto odd = there(tn::tensor<double, shape<4>>{std::nan(""), inf, -inf, -0.0});
  doubled.into(x.at(tn::all, 1))(odd);
  CHECK(std::isnan(at(x, 0, 1)));
  CHECK(at(x, 1, 1) == inf);
  CHECK(at(x, 2, 1) == -inf);
  CHECK(std::signbit(at(x, 3, 1)));
  // A target of NaN is overwritten, not read.
  auto nan = there(tn::tensor<double, shape<3, 2>>{{std::nan(""), 1}, {std::nan(""), 1}, {std::nan(""), 1}});
  sums_of_rows.into(nan.at(tn::all, 0))(there(tn::tensor<double, shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}}));
  CHECK(at(nan, 2, 0) == 11);
  CHECK(at(nan, 2, 1) == 1);
}
