// SPDX-License-Identifier: BSL-1.0
// mdspan in both directions where the standard library has it; and from a stand-in with its members everywhere.
#include <array>

#include <tenure/interop/mdspan.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;
using tn::shape;

namespace {

/// Two axes, the first of run-time extent, with the members of std::mdspan that are asked for.
template <class T>
struct span_2d {
  using element_type = T;
  using extents_type = int;
  using mapping_type = int;
  struct accessor_type {
    T& access(T* p, std::size_t i) const { return p[i]; }
  };

  T* first;
  std::size_t rows;
  std::array<std::size_t, 2> steps;

  static constexpr std::size_t rank() { return 2; }
  static constexpr bool is_always_strided() { return true; }
  static constexpr std::size_t static_extent(std::size_t axis) { return axis == 0 ? static_cast<std::size_t>(-1) : 3; }
  T* const& data_handle() const { return first; }
  accessor_type accessor() const { return {}; }
  std::size_t extent(std::size_t axis) const { return axis == 0 ? rows : 3; }
  std::size_t stride(std::size_t axis) const { return steps[axis]; }
};

}  // namespace

// Law: the result is writable exactly if the elements of the argument are.
TEST_CASE("a tensor over what has the members of an mdspan") {
  double memory[6] = {1, 2, 3, 4, 5, 6};
  auto x = tn::from(span_2d<double>{memory, 2, {3, 1}});
  static_assert(std::is_same_v<decltype(x)::shape_type, shape<tn::dyn, 3>>);
  CHECK(x(1, 0) == 4);
  CHECK(x.is_contiguous());
  auto columns = tn::from(span_2d<double>{memory, 2, {1, 2}});
  CHECK(columns(1, 0) == 2);
  CHECK(columns(1, 2) == 6);
  columns.mul_(10);
  CHECK(memory[5] == 60);
  const auto fixed = tn::from(span_2d<const double>{memory, 2, {3, 1}});
  static_assert(tn::access_of_v<decltype(fixed)> == tn::access::read_only);
  CHECK_THROWS_AS(tn::from(span_2d<double>{memory, 2, {0, 1}}), tn::ownership_error);
  CHECK(tn::from(span_2d<const double>{memory, 2, {0, 1}})(1, 2) == 30);
}

#if defined(__cpp_lib_mdspan)
TEST_CASE("std::mdspan in both directions") {
  tn::tensor<float, shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
  auto m = tn::as_mdspan(x);
  static_assert(decltype(m)::static_extent(1) == 3 && decltype(m)::is_always_exhaustive());
  m[std::array{1, 2}] = 60;
  CHECK(x(1, 2) == 60);
  CHECK(x.version() == 1);
  auto turned = x.transpose();
  const auto t = tn::as_mdspan(turned);
  CHECK(t.extent(0) == 3);
  CHECK(t[std::array{2, 1}] == 60);
  CHECK(x.version() == 2);
  const auto& fixed = x;
  static_assert(std::is_const_v<decltype(tn::as_mdspan(fixed))::element_type>);
  auto back = tn::from(t);
  static_assert(std::is_same_v<decltype(back)::shape_type, shape<3, 2>>);
  CHECK(back.data() == x.data());
  const tn::tensor<double, shape<>> number(5.0);
  const auto zero = tn::as_mdspan(number);
  CHECK(zero[std::array<int, 0>{}] == 5);
  CHECK(tn::from(zero).item() == 5);
  tn::tensor<double, shape<tn::dyn, 2>> rows(4);
  CHECK(tn::as_mdspan(rows).extent(0) == 4);
  const auto w = tn::variable<double, shape<2>>{1, 2};
  tn::tensor y = w * 1;
  auto alias = y.detach();
  const tn::tensor z = y * y;
  CHECK_THROWS_AS(tn::as_mdspan(alias), tn::ownership_error);
}
#endif
