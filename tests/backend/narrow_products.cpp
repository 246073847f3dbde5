// SPDX-License-Identifier: BSL-1.0
// Matrix products whose factors have a narrow type in memory, judged by sums of integers. All numbers are small integers, so every order of additions has the same
// bits. NaN lies in the memory between and behind the elements: a product that uses what it must not read is NaN.
#include "../catch.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <tenure/backend/cpu/matmul.hpp>
#include <tenure/core/bfloat16.hpp>

namespace backend = tenure::cpu_backend;
using tenure::bfloat16;
using extent = std::int64_t;

namespace {

enum class layout { rows, padded_rows, odd_rows, columns, padded_columns, odd_columns, spread };

template <class S>
struct matrix {
  std::vector<S> memory;
  backend::matrix_ref<S> ref;
  std::vector<int> value;  // row-major

  matrix(extent m, extent n, layout l, std::uint64_t seed) {
    const bool by_columns = l == layout::columns || l == layout::padded_columns || l == layout::odd_columns;
    const extent length = by_columns ? m : n, even = (length + 5) / 2 * 2;
    const extent stride = l == layout::padded_rows || l == layout::padded_columns ? even : l == layout::odd_rows || l == layout::odd_columns ? even + 1 : length;
    const extent row = l == layout::spread ? 3 * n + 1 : by_columns ? 1 : stride, column = l == layout::spread ? 3 : by_columns ? stride : 1;
    const S outside = std::is_integral_v<S> ? S(99) : S(std::numeric_limits<float>::quiet_NaN());
    memory.assign(static_cast<std::size_t>(m * n == 0 ? 1 : (m - 1) * row + (n - 1) * column + 40), outside);
    for (extent i = 0; i < m; ++i)
      for (extent j = 0; j < n; ++j) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value.push_back(static_cast<int>(seed >> 60) - (std::is_unsigned_v<S> ? 0 : 8));
        memory[static_cast<std::size_t>(i * row + j * column)] = static_cast<S>(value.back());
      }
    ref = {memory.data(), row, column};
  }
};

template <class T, class A, class B>
int wrong_elements(extent m, extent n, extent k, layout of_a, layout of_b, bool accumulate) {
  const matrix<A> a(m, k, of_a, 1);
  const matrix<B> b(k, n, of_b, 2);
  const extent ldc = n + 3;
  std::vector<T> c(static_cast<std::size_t>(m * ldc + 1), T(7));
  std::vector<char> workspace(static_cast<std::size_t>(backend::matmul_workspace<T>(m, n, k)));
  backend::matmul<T>(m, n, k, a.ref, b.ref, c.data(), ldc, accumulate, workspace.data());
  int wrong = 0;
  for (extent i = 0; i < m; ++i)
    for (extent j = 0; j < ldc; ++j) {
      std::int64_t sum = accumulate || j >= n ? 7 : 0;
      for (extent l = 0; j < n && l < k; ++l) sum += a.value[static_cast<std::size_t>(i * k + l)] * b.value[static_cast<std::size_t>(l * n + j)];
      wrong += c[static_cast<std::size_t>(i * ldc + j)] != static_cast<T>(sum);
    }
  return wrong;
}

template <class A, class B, class T = float>
void check_sizes() {
  const struct {
    extent m, n, k;
  } sizes[] = {{1, 1, 1}, {1, 1, 300}, {1, 40, 1}, {1, 64, 64}, {1, 70, 129}, {1, 500, 33}, {70, 1, 129}, {33, 1, 640}, {2, 3, 5}, {2, 16, 30}, {3, 70, 64}, {5, 23, 256}, {7, 90, 1100},
               {9, 48, 31}, {16, 16, 16}, {33, 50, 33}, {64, 96, 1030}, {65, 49, 2}, {130, 100, 257}, {70, 33, 1}, {300, 20, 64}, {8, 8, 0}, {0, 8, 8}};
  for (const auto& s : sizes)
    for (const layout of_a : {layout::rows, layout::padded_rows, layout::odd_rows, layout::columns, layout::odd_columns, layout::spread})
      for (const layout of_b : {layout::rows, layout::padded_rows, layout::columns, layout::padded_columns, layout::odd_columns, layout::spread})
        for (const bool accumulate : {false, true}) {
          INFO(s.m << " x " << s.n << " x " << s.k << ", layouts " << static_cast<int>(of_a) << " and " << static_cast<int>(of_b) << (accumulate ? ", added" : ""));
          CHECK(wrong_elements<T, A, B>(s.m, s.n, s.k, of_a, of_b, accumulate) == 0);
        }
}

}  // namespace

TEST_CASE("products of bfloat16 by bfloat16, from any memory") { check_sizes<bfloat16, bfloat16>(); }
TEST_CASE("products of float32 by bfloat16, from any memory") { check_sizes<float, bfloat16>(); }
TEST_CASE("products of bfloat16 by float32, from any memory") { check_sizes<bfloat16, float>(); }
TEST_CASE("products of float32 by float16, from any memory") { check_sizes<float, tenure::float16>(); }
TEST_CASE("products of float32 by int8, from any memory") { check_sizes<float, std::int8_t>(); }
TEST_CASE("products of uint8 by double, from any memory") { check_sizes<std::uint8_t, double, double>(); }
TEST_CASE("products of uint8 by int8 in int32, from any memory") { check_sizes<std::uint8_t, std::int8_t, std::int32_t>(); }

// Law: an element of C is a sum over ascending pairs of steps, or the sum of such parts, and of the last step if there is an odd number.
TEST_CASE("rows of a product of bfloat16 have the same bits in any panel of two rows or more") {
  std::uint64_t state = 5;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return bfloat16(static_cast<float>(static_cast<double>(state >> 11) * 0x1p-52 - 1));
  };
  for (const extent k : {64, 257, 1500}) {
    const extent m = 131, n = 70;
    std::vector<bfloat16> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
    for (auto& x : a) x = next();
    for (auto& x : b) x = next();
    std::vector<float> whole(static_cast<std::size_t>(m * n)), parts = whole;
    std::vector<char> workspace(static_cast<std::size_t>(backend::matmul_workspace<float>(m, n, k)));
    for (const bool transposed : {false, true}) {
      const auto rows_from = [&](extent i) { return transposed ? backend::matrix_ref<bfloat16>{a.data() + i, 1, m} : backend::matrix_ref<bfloat16>{a.data() + i * k, k, 1}; };
      const backend::matrix_ref<bfloat16> right{b.data(), n, 1};
      backend::matmul<float>(m, n, k, rows_from(0), right, whole.data(), n, false, workspace.data());
      for (extent i = 0, by = 2; i < m; i += by, by = by * 2 + 1) {
        if (m - i <= by + 1) by = m - i;
        backend::matmul<float>(by, n, k, rows_from(i), right, parts.data() + i * n, n, false, workspace.data(), m);
      }
      CHECK(whole == parts);
    }
  }
}
