// SPDX-License-Identifier: BSL-1.0
// gather, scatter and copies of rows, for rows of every length that has a way of its own, judged by the reference backend.
#include "../control_flow/reference.hpp"

#include <limits>
#include <string>

namespace {
namespace tn = tenure;
template <class T>
using table = tn::tensor<T, tn::shape<tn::dyn, tn::dyn>>;
template <class I>
using places = tn::tensor<I, tn::shape<tn::dyn>>;

constexpr auto of_rows = [](auto x, auto i) { return tn::gather<0>(x, i); };
constexpr auto of_columns = [](auto x, auto i) { return tn::gather<1>(x, i); };
constexpr auto of_turned = [](auto x, auto i) { return tn::gather<0>(transpose(x), i); };
constexpr auto added = [](auto x, auto i) { return tn::index_add<0>(x, i, tn::gather<0>(x + x, i)); };

template <class T>
table<T> numbers(std::int64_t rows, std::int64_t columns) {
  table<T> made(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) made.at(i, j) = static_cast<T>(columns * i + j + 1);
  return made;
}
template <class I>
places<I> some(std::int64_t n, std::int64_t extent) {
  places<I> made(n);
  for (std::int64_t k = 0; k < n; ++k) made.at(k) = static_cast<I>((3 * k + 1) % extent);
  return made;
}
}  // namespace

TEST_CASE("rows of any length are gathered, added and copied") {
  for (const std::int64_t length : {0, 1, 2, 3, 4, 5, 7, 8, 11, 16, 33, 64, 65, 200}) {
    INFO("rows of " << length);
    judged::agrees_with_reference("rows", of_rows, numbers<double>(5, length), some<std::int32_t>(9, 5));
    judged::agrees_with_reference("added", added, numbers<double>(5, length), some<std::int64_t>(9, 5));
    judged::agrees_with_reference("int32", added, numbers<std::int32_t>(5, length), some<std::int32_t>(9, 5));
    if (length > 0) {
      judged::agrees_with_reference("columns", of_columns, numbers<double>(3, length), some<std::int32_t>(7, length));
      judged::agrees_with_reference("turned", of_turned, numbers<double>(3, length), some<std::int32_t>(7, length));
    }
  }
}

TEST_CASE("a table of as many axes as there may be") {
  STATIC_REQUIRE(tn::max_rank == 8);
  const tn::tensor x = tn::eval(tn::arange<double>(tn::shape<2 * 3 * 2 * 2 * 3>{}).reshape<2, 3, 1, 2, 1, 2, 1, 3>() + 1.0);
  judged::agrees_with_reference("first axis", of_rows, x, some<std::int32_t>(7, 2));
  judged::agrees_with_reference("second axis", of_columns, x, some<std::int64_t>(7, 3));
  judged::agrees_with_reference("added", added, x, some<std::int64_t>(7, 2));
}

TEST_CASE("an index outside is found among many, and the message names it") {
  auto i = some<std::int32_t>(100, 5);
  i.at(63) = -2;
  CHECK_THROWS_WITH(tn::compile(of_rows)(numbers<double>(5, 3), i), "tenure: gather: index -2 is outside an axis of 5");
  i.at(63) = 5;
  CHECK_THROWS_WITH(tn::compile(of_rows)(numbers<double>(5, 3), i), "tenure: gather: index 5 is outside an axis of 5");
}

TEMPLATE_TEST_CASE("the least and the largest index are outside, at each place of a packet", "", std::int32_t, std::int64_t) {
  using limits = std::numeric_limits<TestType>;
  constexpr auto f = tn::compile(of_rows);
  const auto x = numbers<double>(5, 3);
  for (const std::int64_t n : {1, 7, 64, 67})
    for (const TestType bad : {limits::min(), limits::max(), TestType{-1}, TestType{5}, static_cast<TestType>(limits::min() + 5)})
      for (std::int64_t k = 0; k < n; ++k) {
        auto i = some<TestType>(n, 5);
        i.at(k) = bad;
        INFO(n << " indices, number " << k << " is " << bad);
        CHECK_THROWS_WITH(f(x, i), "tenure: gather: index " + std::to_string(bad) + " is outside an axis of 5");
      }
  CHECK_THROWS_AS(f(numbers<double>(0, 3), some<TestType>(4, 1)), tn::index_error);  // of no rows each index is outside
  CHECK(f(numbers<double>(0, 3), places<TestType>(0)).size() == 0);
}
