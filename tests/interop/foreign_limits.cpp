// SPDX-License-Identifier: BSL-1.0
// What other code may lend, and which extents a tensor may have: extents and strides whose products no integer holds are refused, and
// views of empty memory are moved and exchanged as others are.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <tenure/interop/dlpack.hpp>
#include <tenure/interop/mdspan.hpp>

#include "catch.hpp"

namespace tn = tenure;
namespace dlpack = tenure::dlpack;
using tn::dyn, tn::shape;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t many = std::int64_t{1} << 32;
using matrix = shape<dyn, dyn>;
using cube = shape<dyn, dyn, dyn>;

/// Four floats with extents and strides that need not fit them.
struct lender {
  float memory[4] = {1, 2, 3, 4};
  std::int64_t shape[2], strides[2];
  dlpack::managed_tensor m{1, 0, nullptr, nullptr, 0, {memory, {1, 0}, 2, dlpack::type_of<float>, shape, strides, 0}};
};

/// An mdspan of two run-time extents.
struct wide_span {
  using element_type = float;
  using extents_type = int;
  using mapping_type = int;
  struct accessor_type {
    float& access(float* p, std::size_t i) const { return p[i]; }
  };
  float* first;
  std::array<std::size_t, 2> extents, steps;

  static constexpr std::size_t rank() { return 2; }
  static constexpr bool is_always_strided() { return true; }
  static constexpr std::size_t static_extent(std::size_t) { return static_cast<std::size_t>(-1); }
  float* data_handle() const { return first; }
  accessor_type accessor() const { return {}; }
  std::size_t extent(std::size_t axis) const { return extents[axis]; }
  std::size_t stride(std::size_t axis) const { return steps[axis]; }
};

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const tn::error& e) {
    return e.what();
  }
  return "";
}

const std::vector<float> made_const() { return std::vector<float>{1, 2, 3}; }

}  // namespace

TEST_CASE("from() refuses extents that no memory has") {
  CHECK_THROWS_AS((tn::from<matrix>(static_cast<float*>(nullptr), many, many)), tn::shape_error);
  float one = 1;
  CHECK_THROWS_AS((tn::from<matrix>(&one, many, many)), tn::shape_error);
  CHECK_THROWS_AS((tn::from<matrix>(&one, many, many, [] {})), tn::shape_error);
  CHECK_THROWS_AS((tn::from<cube>(&one, many, many, 0)), tn::shape_error);
}

TEST_CASE("from_dlpack() refuses extents and strides that no memory has") {
  lender l{{1, 2, 3, 4}, {-3, 2}, {2, 1}};
  CHECK(refusal([&] { tn::from_dlpack<float, shape<dyn, 2>>(&l.m); }) == "tenure: from_dlpack: extent -3 of axis 0 is negative");
  lender repeated{{1, 2, 3, 4}, {many, many}, {0, 0}};
  CHECK(refusal([&] { tn::from_dlpack<const float, matrix>(&repeated.m); }) == "tenure: from_dlpack: no memory has the elements of shape 4294967296x4294967296");
  repeated.m.view.strides = nullptr;
  CHECK_THROWS_AS((tn::from_dlpack<const float, matrix>(&repeated.m)), tn::shape_error);
  lender far{{1, 2, 3, 4}, {4, 2}, {std::int64_t{1} << 62, 1}};
  CHECK_THROWS_AS((tn::from_dlpack<float, matrix>(&far.m)), tn::ownership_error);
  CHECK(refusal([&] { tn::from_dlpack<const float, matrix>(&far.m); }) == "tenure: from: stride 4611686018427387904 of axis 0 reaches beyond any memory");
  lender empty_far{{1, 2, 3, 4}, {0, 2}, {1, most}};
  CHECK_THROWS_AS((tn::from_dlpack<const float, matrix>(&empty_far.m)), tn::ownership_error);
}

TEST_CASE("from() of an mdspan refuses extents above those of int64") {
  float one = 1;
  CHECK_THROWS_AS(tn::from(wide_span{&one, {std::size_t{1} << 63, 1}, {1, 1}}), tn::shape_error);
  CHECK_THROWS_AS(tn::from(wide_span{&one, {static_cast<std::size_t>(many), static_cast<std::size_t>(many)}, {static_cast<std::size_t>(many), 1}}), tn::shape_error);
  CHECK(tn::from(wide_span{&one, {1, 1}, {1, 1}})(0, 0) == 1);
}

TEST_CASE("the stride of an axis of one element is any number") {
  for (const std::int64_t any : {most, -most - 1, std::int64_t{0}}) {
    lender l{{1, 2, 3, 4}, {1, 4}, {any, 1}};
    auto x = tn::from_dlpack<float, matrix>(&l.m);
    CHECK(x.strides() == tn::extents{2, {4, 1}});
    CHECK(x.diagonal()(0) == 1);
    CHECK(x(0, 3) == 4);
    CHECK(x.is_contiguous());
  }
}

TEST_CASE("an empty tensor has extents whose product without the zeros is a number") {
  constexpr std::int64_t n = std::int64_t{1} << 40;
  CHECK_THROWS_AS((tn::tensor<float, cube>(n, n, 0)), std::bad_array_new_length);
  CHECK_THROWS_AS((tn::tensor<float, cube>(0, n, n)), std::bad_array_new_length);
  CHECK(tn::tensor<float, cube>(0, n, 5).strides() == tn::extents{3, {5 * n, 5, 1}});
  tn::tensor<float, shape<dyn>> none(0);
  CHECK_THROWS_AS((none.reshape<dyn, dyn, dyn>(many, many, 0)), tn::shape_error);
  CHECK_THROWS_AS((none.reshape<dyn, dyn>(many, many)), tn::shape_error);
  CHECK(none.reshape<dyn, dyn>(many, 0).size() == 0);
}

TEST_CASE("std::swap exchanges views of empty memory") {
  std::vector<float> a, b, full{1, 2};
  auto v = tn::from(a), w = tn::from(b), two = tn::from(full);
  CHECK_NOTHROW(std::swap(v, w));
  CHECK_NOTHROW(std::swap(v, two));
  CHECK(v.size() == 2);
  CHECK(two.size() == 0);
  CHECK(v(1) == 2);
  auto kept = tn::from(std::vector<float>());
  CHECK_NOTHROW(std::swap(kept, v));
  CHECK(kept.size() == 2);
  CHECK(full == std::vector<float>{1, 2});
}

TEST_CASE("a const temporary vector is copied into the tensor") {
  const auto t = tn::from(made_const());
  CHECK(t(0) == 1);
  CHECK(t(2) == 3);
  CHECK(tn::access_of_v<decltype(t)> == tn::access::read_write);  // it owns the copy
}
