// SPDX-License-Identifier: BSL-1.0
// Kernels that read or write across rows: transposes alone and fused with arithmetic, of all extents around a packet, a line and a block, in each element type.
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <class T>
using matrix = tn::tensor<T, tn::shape<tn::dyn, tn::dyn>>;

template <class T>
matrix<T> counted(std::int64_t rows, std::int64_t columns) {
  matrix<T> x = tn::zeros<T>(tn::shape<tn::dyn, tn::dyn>{}, rows, columns);
  std::int64_t i = 0;
  for (T& e : tn::as_span(x)) e = static_cast<T>(static_cast<float>(i++ * 7 % 251));
  return x;
}
constexpr auto transposed = tn::compile([](auto x) { return tn::transpose(x); });
constexpr auto both = tn::compile([](auto x, auto y) { return std::tuple{tn::transpose(x) + y, x - tn::transpose(y)}; });
constexpr auto last_first = tn::compile([](auto x) { return tn::permute<2, 0, 1>(x * 2.0f); });
constexpr auto middle = tn::compile([](auto x) { return tn::permute<1, 0, 2>(tn::permute<0, 2, 1>(x)); });
}  // namespace

TEMPLATE_TEST_CASE("a transpose alone and in a sum, of run-time extents", "", float, double, std::int64_t, std::int32_t, tn::bfloat16) {
  using T = TestType;
  for (const std::int64_t m : {0, 1, 3, 8, 15, 16, 17, 33, 64, 100, 257})
    for (const std::int64_t n : {0, 1, 2, 7, 16, 31, 32, 48, 65, 256, 400}) {
      CAPTURE(m, n);
      const matrix<T> x = counted<T>(m, n), z = transposed(x);
      bool right = z.extent(0) == n && z.extent(1) == m;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) right = right && z.data()[j * m + i] == x.data()[i * n + j];
      CHECK(right);
      const matrix<T> y = counted<T>(n, m);
      const auto [sum, difference] = both(x, y);
      right = true;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          right = right && sum.data()[j * m + i] == static_cast<T>(x.data()[i * n + j] + y.data()[j * m + i]);
          right = right && difference.data()[i * n + j] == static_cast<T>(x.data()[i * n + j] - y.data()[j * m + i]);
        }
      CHECK(right);
    }
}

TEST_CASE("other orders of three axes, and a transpose of static extents on threads") {
  for (const std::int64_t a : {1, 3, 20})
    for (const std::int64_t b : {1, 17, 40})
      for (const std::int64_t c : {1, 16, 67}) {
        CAPTURE(a, b, c);
        auto x = tn::zeros<float>(tn::shape<tn::dyn, tn::dyn, tn::dyn>{}, a, b, c);
        float next = 0;
        for (float& e : tn::as_span(x)) e = next++;
        const auto y = last_first(x);
        const auto z = middle(x);  // axes c, a, b
        bool right = true;
        for (std::int64_t i = 0; i < a; ++i)
          for (std::int64_t j = 0; j < b; ++j)
            for (std::int64_t k = 0; k < c; ++k) {
              right = right && y.data()[(k * a + i) * b + j] == 2 * x.data()[(i * b + j) * c + k];
              right = right && z.data()[(k * a + i) * b + j] == x.data()[(i * b + j) * c + k];
            }
        CHECK(right);
      }
  auto x = tn::zeros<float>(tn::shape<512, 300>{});
  float next = 0;
  for (float& e : tn::as_span(x)) e = next++;
  const tn::tensor y = tn::transpose(x) + 1.0f;
  bool right = true;
  for (std::int64_t i = 0; i < 512; ++i)
    for (std::int64_t j = 0; j < 300; ++j) right = right && y.data()[j * 512 + i] == x.data()[i * 300 + j] + 1;
  CHECK(right);
}
