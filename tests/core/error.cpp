// SPDX-License-Identifier: BSL-1.0
#include <exception>
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
