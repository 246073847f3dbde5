// SPDX-License-Identifier: BSL-1.0
#include <limits>

#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/tensor.hpp>

#include <set>
#include <type_traits>

#include "../catch.hpp"

using namespace tenure;

namespace {

template <class X>
std::set<const float*> addresses(const X& x) {
  std::set<const float*> seen;
  const extents s = x.extents();
  const extents t = x.strides();
  for (std::int64_t n = 0; n < x.size(); ++n) {
    std::int64_t rest = n;
    std::int64_t at = 0;
    for (int i = s.rank - 1; i >= 0; --i) {
      at += rest % s[i] * t[i];
      rest /= s[i];
    }
    seen.insert(x.data() + at);
  }
  return seen;
}

template <class X>
using shape_t = shape_of_t<X>;

}  // namespace

// Law: a static extent stays static if the types determine it; a view that the types rule out does not compile.
TEST_CASE("indices keep static extents where they can") {
  auto x = arange<float>(shape<24>{}).reshape<4, 6>();
  const auto row = x[1];
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(row)>, shape<6>>);
  CHECK(row(2) == 8);
  const auto some = x[range(1, 4, 2)];
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(some)>, shape<dyn, 6>>);
  CHECK(some.extent(0) == 2);
  CHECK(some(1, 5) == 23);
  const auto part = x.at(1, all);
  CHECK(part(0) == 6);
  const auto column = x.at(all, range(0, 6, 2));
  CHECK(column.extents() == extents{2, {4, 3}});
  CHECK(column(3, 2) == 22);
  const auto fixed = x.at(range<1, 3>(), window<2>(4));
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(fixed)>, shape<2, 2>>);
  CHECK(fixed(0, 0) == 10);
  CHECK(fixed(1, 1) == 17);
  CHECK(x[2][3].item() == 15);
  CHECK(x.at(3, 5).item() == 23);
  CHECK(x[range(4, 4)].size() == 0);
}

TEST_CASE("an index outside its axis throws") {
  auto x = zeros<float>(shape<4, 6>{});
  CHECK_THROWS_AS(x[4], index_error);
  CHECK_THROWS_AS(x[-1], index_error);
  CHECK_THROWS_AS(x[range(0, 5)], index_error);
  CHECK_THROWS_AS(x[range(3, 2)], index_error);
  CHECK_THROWS_AS(x[range(-1, 2)], index_error);
  CHECK_THROWS_WITH(x[range(0, 2, 0)], "tenure: range: the step 0 is not positive");
  CHECK_THROWS_WITH(x[range(2, 0, -1)], "tenure: range: the step -1 is not positive");
  CHECK_THROWS_AS(x[window<3>(2)], index_error);
  CHECK_THROWS_AS(x[window<3>(-1)], index_error);
  CHECK_NOTHROW(x[window<3>(1)]);
  CHECK_THROWS_AS(x(0, 6), index_error);
  tensor<float, shape<dyn>> y(2);
  CHECK_THROWS_AS(y[window<3>(0)], index_error);
  CHECK_THROWS_AS((y[range<0, 3>()]), index_error);
}

TEST_CASE("transpose, permute, diagonal, squeeze") {
  auto x = arange<float>(shape<24>{}).reshape<2, 3, 4>();
  auto t = x.transpose();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(t)>, shape<2, 4, 3>>);
  CHECK(t(1, 3, 2) == x(1, 2, 3));
  CHECK_FALSE(t.is_contiguous());
  CHECK(t.transpose().is_contiguous());
  const auto outer = x.transpose<0, 2>();
  CHECK(outer(3, 1, 0) == x(0, 1, 3));
  const auto p = x.permute<2, 0, 1>();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(p)>, shape<4, 2, 3>>);
  CHECK(p(3, 1, 2) == x(1, 2, 3));
  const auto d = x.diagonal();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(d)>, shape<2, 3>>);
  CHECK(d(0, 2) == x(0, 2, 2));
  CHECK(d(1, 1) == x(1, 1, 1));
  const auto wide = x.unsqueeze<1>();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(wide)>, shape<2, 1, 3, 4>>);
  CHECK(wide(1, 0, 2, 3) == 23);
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(wide.squeeze<1>())>, shape<2, 3, 4>>);
  tensor<float, shape<dyn, 2>> two(2);
  CHECK_THROWS_AS(two.squeeze<0>(), shape_error);
}

TEST_CASE("reshape finds its extents, and is a view where strides allow") {
  constexpr auto batch = dim("batch");
  auto x = arange<float>(shape<24>{}).reshape<2, 3, 4>();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(x.reshape<4, dyn>())>, shape<4, 6>>);
  tensor<float, shape<batch, 6>> y(4);
  auto named = y.reshape<batch, 2, 3>();
  STATIC_REQUIRE(std::is_same_v<shape_t<decltype(named)>, shape<batch, 2, 3>>);
  CHECK(named.extents() == extents{3, {4, 2, 3}});
  CHECK((y.reshape<dyn, 12>().extents() == extents{2, {2, 12}}));
  CHECK((y.reshape<dyn, dyn>(3, 8).extents() == extents{2, {3, 8}}));
  CHECK((y.reshape<4, 6>().extents() == extents{2, {4, 6}}));
  CHECK_THROWS_AS((y.reshape<dyn, 7>()), shape_error);
  CHECK_THROWS_AS((y.reshape<5, 6>()), shape_error);
  CHECK_THROWS_AS((y.reshape<dyn, dyn>(3, 7)), shape_error);
  CHECK_THROWS_AS((y.reshape<dyn, dyn>(-3, -8)), shape_error);
  // Where another extent is 0, the number of elements tells nothing.
  STATIC_REQUIRE_FALSE(detail::reshape_rule<shape<24>, 0, 0, dyn>::counts_agree);
  STATIC_REQUIRE_FALSE(detail::reshape_rule<shape<0>, 0, 0, dyn>::counts_agree);
  tensor<float, shape<dyn>> none(0);
  CHECK_THROWS_AS((none.reshape<0, dyn>()), shape_error);
  auto t = x.transpose();
  CHECK_THROWS_AS(t.reshape<24>(), shape_error);
  CHECK(t.clone().reshape<24>()(1) == x(0, 1, 0));
  auto cut = t.reshape<2, 2, 2, 3>();
  CHECK(cut(1, 1, 0, 2) == t(1, 2, 2));
  CHECK(t.contiguous().reshape<24>()(1) == x(0, 1, 0));
}

TEST_CASE("a reshape of a strided view agrees with the reshape of a copy, or throws") {
  // Every stride pattern of three axes over a buffer, against every factorisation of 24.
  auto base = arange<float>(shape<1920>{}).reshape<4, 6, 8, 10>();
  int views = 0;
  const auto check = [&](auto view) {
    const auto copy = view.clone();
    const auto compare = [&](auto reshaped_view, auto reshaped_copy) {
      for (std::int64_t i = 0; i < reshaped_view.extent(0); ++i)
        for (std::int64_t j = 0; j < reshaped_view.extent(1); ++j)
          for (std::int64_t k = 0; k < reshaped_view.extent(2); ++k)
            REQUIRE(reshaped_view(i, j, k) == reshaped_copy(i, j, k));
      ++views;
    };
    for (const int a : {1, 2, 3, 4, 6, 8, 12, 24})
      for (const int b : {1, 2, 3, 4, 6, 8, 12, 24}) {
        if (24 % (a * b) != 0) continue;
        const int c = 24 / (a * b);
        try {
          compare(view.template reshape<dyn, dyn, dyn>(a, b, c), copy.template reshape<dyn, dyn, dyn>(a, b, c));
        } catch (const shape_error&) {
        }
      }
  };
  check(base.at(range(0, 2), range(0, 3), range(0, 4), 0));
  check(base.at(range(0, 2), range(0, 3), 0, range(0, 4)));
  check(base.at(range(0, 4), range(0, 6), 1, 1));
  check(base.at(0, range(0, 3), range(0, 8), 0));
  check(base.at(0, 0, range(0, 4), range(0, 6)));
  check(base.at(0, 0, range(0, 8, 2), range(0, 6)).transpose());
  check(base.at(range(0, 1), range(0, 6), range(0, 4), range(0, 1)));
  check(base.at(range(0, 2), range(0, 6), range(0, 1), range(0, 10, 5)).permute<1, 0, 2, 3>());
  CHECK(views > 60);
}

TEST_CASE("expand repeats without memory, is read-only, and never repeats a run-time extent") {
  tensor<float, shape<3, 1>> x{{1}, {2}, {3}};
  const auto e = x.expand<2, 3, 4>();
  STATIC_REQUIRE(access_of_v<decltype(e)> == access::read_only);
  CHECK(e(1, 2, 3) == 3);
  CHECK(e.strides() == extents{3, {0, 1, 0}});
  auto copy = e.clone();
  STATIC_REQUIRE(access_of_v<decltype(copy)> == access::read_write);
  copy.fill_(9);
  CHECK(x(0, 0) == 1);
  CHECK((x.expand<3, dyn>(5).extents() == extents{2, {3, 5}}));
  tensor<float, shape<dyn>> y(1);
  CHECK_THROWS_AS((y.expand<2, 4>()), shape_error);
  CHECK((y.expand<2, dyn>().extents() == extents{2, {2, 1}}));
}

// Law: a view maps each of its indices to an element of the base.
TEST_CASE("a view maps each index to an element of its base, each to one of its own") {
  auto x = zeros<float>(shape<4, 6>{});
  const auto base = addresses(x);
  const auto check = [&](auto v) {
    const auto mine = addresses(v);
    CHECK(static_cast<std::int64_t>(mine.size()) == v.size());
    for (const float* p : mine) CHECK(base.count(p) == 1);
  };
  check(x.view());
  check(x.transpose());
  check(x.diagonal());
  check(x.at(range(1, 4, 2), range(0, 6, 5)));
  check(x.at(range(1, 4, 2)).transpose());
  check(x.reshape<2, 12>().at(all, range(3, 9)));
}

// Law: a view shares the storage and version counter of its base, keeps the memory alive, and is read-only if the base is const or read-only.
TEST_CASE("what is reached through const cannot be written") {
  auto x = zeros<float>(shape<4, 6>{});
  const auto& c = x;
  STATIC_REQUIRE(access_of_v<decltype(x.view())> == access::read_write);
  STATIC_REQUIRE(access_of_v<decltype(c.view())> == access::read_only);
  STATIC_REQUIRE(access_of_v<decltype(c[0])> == access::read_only);
  STATIC_REQUIRE(access_of_v<decltype(c.detach())> == access::read_only);
  STATIC_REQUIRE(access_of_v<decltype(c.transpose())> == access::read_only);
  STATIC_REQUIRE(access_of_v<decltype(c.unsafe_data())> == access::read_only);
  STATIC_REQUIRE(access_of_v<decltype(c.clone())> == access::read_write);
  const auto v = x.view();
  STATIC_REQUIRE(access_of_v<decltype(v[0])> == access::read_only);
  using handle = std::remove_const_t<decltype(v)>;
  STATIC_REQUIRE(std::is_constructible_v<handle, handle&>);
  STATIC_REQUIRE(!std::is_constructible_v<handle, const handle&>);
  using reading = decltype(c.view());
  STATIC_REQUIRE(std::is_copy_constructible_v<reading>);
  STATIC_REQUIRE(std::is_constructible_v<reading, const handle&>);
  STATIC_REQUIRE(!std::is_constructible_v<handle, reading&>);
}

TEST_CASE("a view keeps its memory alive") {
  auto v = [] {
    auto x = arange<float>(shape<6>{});
    return x.reshape<2, 3>()[1];
  }();
  CHECK(v(2) == 5);
  auto w = arange<float>(shape<4>{}).view();
  CHECK(w(3) == 3);
}

TEST_CASE("extents and steps whose product overflows are refused, or do not matter") {
  tensor<float, shape<dyn>> none(0), one(1);
  constexpr std::int64_t many = std::int64_t{1} << 32;
  CHECK_THROWS_AS((none.template reshape<dyn, dyn>(many, many)), shape_error);
  const auto a = arange<float>(shape<5>{});
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  CHECK(a[range(0, 3, far)].size() == 1);
  CHECK(a[range(4, 5, far)](0) == 4);
  CHECK(a[range(5, 5, far)].size() == 0);
}

TEST_CASE("axes of views count from the last too, as those of traced values") {
  const tensor<float, shape<2, 3, 4>> x = arange<float>(shape<24>{}).reshape<2, 3, 4>().clone();
  CHECK(x.transpose<-2, -1>().strides() == x.transpose<1, 2>().strides());
  CHECK(x.transpose<0, -1>().strides() == x.transpose<0, 2>().strides());
  CHECK(x.permute<-1, 0, -2>().strides() == x.permute<2, 0, 1>().strides());
  CHECK(x.unsqueeze<-1>().extents() == extents{4, {2, 3, 4, 1}});
  CHECK(x.unsqueeze<-4>().extents() == extents{4, {1, 2, 3, 4}});
  CHECK(x.unsqueeze<1>().squeeze<-3>().extents() == x.extents());
}
