// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <tenure/core/error.hpp>

#include "catch.hpp"

namespace {
using tenure::error, tenure::io_error, tenure::shape_error;

static_assert(std::is_base_of_v<std::exception, error> && std::is_base_of_v<error, io_error>);
static_assert(std::is_nothrow_copy_constructible_v<shape_error> && std::is_nothrow_copy_assignable_v<shape_error>);
static_assert(!std::is_convertible_v<const char*, error>);
}  // namespace

TEST_CASE("an exception keeps its text, whatever becomes of what it was made of and copied from") {
  std::optional<shape_error> first(std::in_place, tenure::detail::message("add") << 2 << " and " << 3);
  shape_error copy = *first, other("tenure: other");
  first.reset();
  CHECK(std::string(copy.what()) == "tenure: add: 2 and 3");
  other = copy;
  copy = shape_error("tenure: third");
  const shape_error& self = other;
  other = self;
  CHECK(std::string(other.what()) == "tenure: add: 2 and 3");
  CHECK(std::string(copy.what()) == "tenure: third");
}

TEST_CASE("an exception is caught as tenure's, and as the standard's, with a text of any length") {
  const std::string path(5000, 'x');
  try {
    throw io_error("tenure: load: " + path + ": no such file");
  } catch (const std::exception& e) {
    CHECK(e.what() == "tenure: load: " + path + ": no such file");
  }
  std::exception_ptr kept;
  try {
    throw io_error(std::string());
  } catch (const error&) {
    kept = std::current_exception();
  }
  CHECK_THROWS_AS(std::rethrow_exception(kept), io_error);
}

TEST_CASE("a message spells numbers and shapes, and is cut at 500 characters") {
  using limits = std::numeric_limits<std::int64_t>;
  const auto spelled = [](std::int64_t n) { return std::string((tenure::detail::text() << n).c_str()); };
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{7}, std::int64_t{-10}, std::int64_t{1234567890}, limits::max(), limits::min()}) CHECK(spelled(n) == std::to_string(n));
  CHECK(std::string(tenure::detail::message("add") << tenure::shape<2, 30>::value << " and " << tenure::shape<>::value) == "tenure: add: 2x30 and scalar");
  const std::string many(700, 'y');
  tenure::detail::text cut;
  cut << "x" << many.c_str() << 12;
  CHECK(std::string(cut.c_str()) == "x" + many.substr(0, 499));
}
