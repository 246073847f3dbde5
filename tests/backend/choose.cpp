// SPDX-License-Identifier: BSL-1.0
// Which kernel computes a product, at the borders between two kernels.
#include <utility>

#include <tenure/backend/cpu/choose.hpp>

#include "../catch.hpp"

namespace {

namespace backend = tenure::cpu_backend;
using kernel = backend::product_kernel;
using number = std::int64_t;

/// The kernel for row-major factors, or for factors of which one is transposed.
enum class factors { as_they_are, left_transposed, right_transposed };
template <class T>
constexpr backend::product_choice choice(number m, number n, number k, factors f = factors::as_they_are, number whole = 0) {
  const backend::matrix_ref<T> a = f == factors::left_transposed ? backend::matrix_ref<T>{nullptr, 1, m} : backend::matrix_ref<T>{nullptr, k, 1};
  const backend::matrix_ref<T> b = f == factors::right_transposed ? backend::matrix_ref<T>{nullptr, 1, k} : backend::matrix_ref<T>{nullptr, n, 1};
  return backend::choose<T>(m, n, k, a, b, n, whole);
}
template <class T>
constexpr number lanes = backend::detail::max_lanes<T>;

}  // namespace

// Law: a choice does not depend on the number of threads, nor on the addresses.
TEST_CASE("small products and narrow products") {
  CHECK(choice<float>(0, 8, 8).kernel == kernel::none);
  CHECK(choice<float>(5, 7, 0, factors::right_transposed).kernel == kernel::loops);
  CHECK(choice<int>(100, 100, 100).kernel == kernel::loops);
  CHECK(choice<float>(4, 4, 4, factors::right_transposed).kernel == kernel::loops);
  CHECK(choice<float>(4, 4, 5, factors::right_transposed).kernel == kernel::blocked);
  const number rows = 3 * backend::detail::tile_shape<float>::rows;
  CHECK(choice<float>(2, lanes<float>, 1).kernel == kernel::narrow);
  CHECK(choice<float>(2, lanes<float>, 0).kernel == kernel::loops);
  CHECK(choice<float>(rows, lanes<float>, 100).kernel == kernel::narrow);
  CHECK(choice<float>(rows + 1, lanes<float>, 100).kernel == kernel::blocked);
  CHECK(choice<float>(rows, lanes<float> + 1, 100).kernel == kernel::blocked);
  CHECK(choice<float>(rows, lanes<float>, 100, factors::right_transposed).kernel == kernel::few_rows);
  CHECK(choice<float>(64, 100, 256, factors::right_transposed).kernel == kernel::few_rows);
  CHECK(choice<float>(64, 100, 4 * lanes<float> - 1, factors::right_transposed).kernel == kernel::blocked);
  CHECK(choice<float>(65, 100, 256, factors::right_transposed).kernel == kernel::blocked);
}

TEST_CASE("products with a vector") {
  CHECK(choice<float>(1, 4, 4).kernel == kernel::loops);
  CHECK(choice<float>(1, 4, 5).kernel == kernel::columns);
  CHECK(choice<float>(1, 31, 32).kernel == kernel::narrow_columns);
  CHECK(choice<float>(1, 32, 32).kernel == kernel::columns);
  CHECK(choice<float>(1, 31, 31).kernel == kernel::columns);
  CHECK(choice<float>(1, 512, 512).kernel == kernel::columns);  // of 1 MiB, and its rows have 2 KiB
  CHECK(choice<float>(1, 512, 513).kernel == kernel::rows);
  CHECK(choice<float>(1, 513, 4096).kernel == kernel::columns);
  CHECK(choice<float>(1, 513, 8192).kernel == kernel::rows);
  CHECK(choice<float>(1, 512, 16, factors::as_they_are, 512 * 513).kernel == kernel::rows);  // a part of a matrix
  CHECK(choice<float>(1, lanes<float>, 31, factors::as_they_are, 1 << 20).kernel == kernel::columns);
  CHECK(choice<float>(1, lanes<float> + 1, 31, factors::as_they_are, 1 << 20).kernel == kernel::rows);
  CHECK(choice<double>(1, lanes<double>, 100'000).kernel == kernel::narrow_columns);
  CHECK(choice<double>(1, 31, 10'000).kernel == (31 <= 4 * lanes<double> ? kernel::narrow_columns : kernel::rows));
  CHECK(choice<float>(1, 1024, 4096, factors::right_transposed).kernel == kernel::dots);
  CHECK(choice<float>(1, 1025, 4096, factors::right_transposed).kernel == kernel::dots);  // rows of 16 KiB
  CHECK(choice<float>(1, 4097, 1024, factors::right_transposed).kernel == kernel::dots_one_by_one);
  CHECK(choice<float>(1, 4096, 1024, factors::right_transposed).kernel == kernel::dots);
  CHECK(choice<float>(1, 100'000, 127, factors::right_transposed).kernel == kernel::dots);

  const auto column = choice<float>(4097, 1, 1024);
  CHECK(column == backend::product_choice{kernel::dots_one_by_one, true});
  CHECK(choice<float>(512, 1, 513, factors::left_transposed) == backend::product_choice{kernel::rows, true});
  CHECK(choice<float>(1, 1, 17) == backend::product_choice{kernel::dots, false});
}

TEST_CASE("large products, their panels and pieces") {
  CHECK(choice<double>(1000, 16, 10'000, factors::left_transposed).kernel == kernel::tall);
  CHECK(choice<double>(1000, 16, 10'000).kernel == kernel::blocked);
  CHECK(choice<double>(255, 16, 10'000, factors::left_transposed).kernel == kernel::blocked);  // rows of less than 2 KiB in the memory of A
  CHECK(choice<double>(1024, 16, 1023, factors::left_transposed).kernel == kernel::blocked);   // less than 8 MiB
  CHECK(choice<double>(1024, 512, 1024, factors::left_transposed).kernel == kernel::tall);
  CHECK(choice<double>(1024, 513, 1024, factors::left_transposed).kernel == kernel::blocked);

  CHECK(backend::detail::is_worth_packing<float>(128, {nullptr, 128, 1}));
  CHECK_FALSE(backend::detail::is_worth_packing<float>(127, {nullptr, 128, 1}));
  CHECK_FALSE(backend::detail::is_worth_packing<float>(128, {nullptr, 127, 1}));
  if (backend::detail::may_stream<float>) {
    CHECK(backend::detail::may_bypass_caches<float>(2048, 4096, 16, 4096, false));
    CHECK_FALSE(backend::detail::may_bypass_caches<float>(2047, 4096, 16, 4096, false));
    CHECK_FALSE(backend::detail::may_bypass_caches<float>(2048, 4096, 16, 4096, true));
    CHECK_FALSE(backend::detail::may_bypass_caches<float>(2048, 4096, 4096, 4096, false));
  }

  const auto pieces = [](number m, number n, int workers) {
    const auto p = backend::detail::pieces_of_product(m, n, sizeof(float), workers);
    return std::pair(p.rows, p.columns);
  };
  CHECK(pieces(512, 512, 2) == std::pair<number, number>(4, 2));  // of 128 rows
  CHECK(pieces(512, 128, 2) == std::pair<number, number>(8, 1));  // of 64 rows
  CHECK(pieces(31, 1000, 2) == std::pair<number, number>(1, 5));
  CHECK(pieces(100'000, 64, 2) == std::pair<number, number>(64, 1));
}
