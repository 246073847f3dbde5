// SPDX-License-Identifier: BSL-1.0
// Law: a long sum is the sum of shorter ones, also within a kernel of several passes: in float32 ten million numbers around 1000 have a mean and a variance.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include <tenure/threads.hpp>

#include "agree.hpp"

using namespace laws;

namespace {

tn::tensor<float, shape<dyn>> around_1000(std::int64_t n) {
  auto x = filled<float>(shape<dyn>{}, 7, n);
  for (float& v : tn::as_span(x)) v += 1000;
  return x;
}
struct moments {
  double mean = 0, variance = 0;
  explicit moments(const tn::tensor<float, shape<dyn>>& x) {
    const auto n = static_cast<double>(x.size());
    for (const float v : tn::as_span(x)) mean += v / n;
    for (const float v : tn::as_span(x)) variance += (v - mean) * (v - mean) / n;
  }
};
double error_of(double found, double wanted) { return std::fabs(found / wanted - 1); }

}  // namespace

TEST_CASE("the mean and the variance of a long vector, with each other and alone") {
  const auto x = around_1000(10000001);
  const moments wanted(x);
  const auto n = static_cast<double>(x.size());
  CHECK(error_of(tn::compile([](auto x) { return sum(x); })(x).item(), wanted.mean * n) < 1e-6);
  CHECK(error_of(tn::compile([](auto x) { return mean(x); })(x).item(), wanted.mean) < 1e-6);
  CHECK(error_of(tn::compile([](auto x) { return tn::var(x); })(x).item(), wanted.variance * n / (n - 1)) < 2e-6);
  const auto [mean_of_x, square_of_rest] = tn::compile([](auto x) { return std::tuple{mean(x), mean(square(x - mean(x)))}; })(x);
  CHECK(error_of(mean_of_x.item(), wanted.mean) < 1e-6);
  CHECK(error_of(square_of_rest.item(), wanted.variance) < 2e-6);
  CHECK(error_of(tn::compile([](auto x) { return matmul(x, tn::ones_like(x)); })(x).item(), wanted.mean * n) < 1e-6);
}

TEST_CASE("the sums of long rows and columns of a matrix") {
  const auto flat = around_1000(3 * 3000017);
  const auto rows = tn::eval(tn::reshape<3, 3000017>(flat));
  const auto of_rows = tn::compile([](auto x) { return tn::var(x, tn::axis<1>); })(rows);
  for (std::int64_t i = 0; i < 3; ++i) {
    tn::tensor<float, shape<dyn>> row(tn::uninitialized, 3000017);
    for (std::int64_t j = 0; j < 3000017; ++j) tn::as_span(row)[static_cast<std::size_t>(j)] = rows.data()[i * 3000017 + j];
    const moments wanted(row);
    CHECK(error_of(of_rows.data()[i], wanted.variance * 3000017 / 3000016) < 2e-6);
  }
  const auto columns = tn::eval(tn::reshape<3000017, 3>(flat));
  const auto product = tn::compile([](auto x) { return matmul(transpose(x), tn::ones_like(x)); })(columns);
  const auto sums = tn::compile([](auto x) { return sum(x, tn::axis<0>); })(columns);
  for (int i = 0; i < 3; ++i) {
    double exact = 0;
    for (std::int64_t j = 0; j < 3000017; ++j) exact += columns.data()[j * 3 + i];
    CHECK(error_of(product.data()[i * 3], exact) < 1e-5);
    CHECK(error_of(sums.data()[i], exact) < 1e-5);
  }
}

TEST_CASE("a minimum and a sum of one long row") {
  auto x = filled<double>(shape<dyn>{}, 3, 0.9999, 1.0001, 100003);
  tn::detail::tensor_access::write(x, "test")[77777] = 0.5;
  agrees(tn::compile([](auto x) { return std::tuple{amin(x), sum(x), x / sum(x)}; }), 65536.0, x);
  tn::detail::tensor_access::write(x, "test")[20000] = std::numeric_limits<double>::quiet_NaN();
  agrees(tn::compile([](auto x) { return std::tuple{amin(x), amax(x), sum(x)}; }), x);
}

namespace {
/// Numbers from 1000 to 1001, whose rounding errors have one sign for long stretches.
template <class S>
auto above_1000(S shape, auto... n) {
  auto x = filled<float>(shape, 7, 0.0, 1.0, n...);
  for (float& v : tn::as_span(x)) v += 1000;
  return x;
}
template <class X>
void check_columns(const X& x, std::int64_t rows, std::int64_t columns) {
  INFO(rows << " x " << columns);
  const auto [mean_of, var_of, total_of_rows, of_products] = tn::compile([](auto x) {
    return std::tuple{mean(x, tn::axis<0>), tn::var(x, tn::axis<0>), sum(amax(x, tn::axis<1>)), sum(x * amax(x, tn::axis<1>, tn::keepdim))};
  })(x);
  double total = 0, products = 0;
  const float* const all = x.data();
  for (std::int64_t i = 0; i < rows; ++i) {
    const float most = *std::max_element(all + i * columns, all + (i + 1) * columns);
    total += most;
    for (std::int64_t j = 0; j < columns; ++j) products += static_cast<double>(most * all[i * columns + j]);
  }
  for (std::int64_t j = 0; j < columns; ++j) {
    tn::tensor<float, shape<dyn>> column(tn::uninitialized, rows);
    for (std::int64_t i = 0; i < rows; ++i) tn::as_span(column)[static_cast<std::size_t>(i)] = all[i * columns + j];
    const moments wanted(column);
    CHECK(error_of(mean_of.data()[j], wanted.mean) < 1e-5);
    CHECK(error_of(var_of.data()[j], wanted.variance * static_cast<double>(rows) / static_cast<double>(rows - 1)) < 1e-4);
  }
  CHECK(error_of(total_of_rows.item(), total) < 1e-5);
  CHECK(error_of(of_products.item(), products) < 1e-5);
}
}  // namespace

TEST_CASE("the sums of many rows: of columns, of numbers for a row, and of elements beside them") {
  check_columns(above_1000(shape<dyn, 2>{}, 2000003), 2000003, 2);
  check_columns(above_1000(shape<dyn, dyn>{}, 2000003, 2), 2000003, 2);
  check_columns(above_1000(shape<dyn, dyn>{}, 500009, 40), 500009, 40);
  check_columns(above_1000(shape<dyn, 3>{}, 1023), 1023, 3);
  check_columns(above_1000(shape<dyn, dyn>{}, 1024, 3), 1024, 3);
  check_columns(above_1000(shape<dyn, dyn>{}, 32769, 1), 32769, 1);
}
// Law: only shapes decide how work is cut, so the bits of the results do not depend on the number of threads.
TEST_CASE("sums of many rows have the same bits on any number of threads") {
  const auto x = above_1000(shape<dyn, dyn>{}, 200003, 7);
  constexpr auto f = [](auto x) { return std::tuple{sum(x, tn::axis<0>), tn::var(x, tn::axis<0>), sum(softmax(x), tn::axis<0>), sum(amax(x, tn::axis<1>))}; };
  const auto alone = tn::compile(f)(x);
  for (const int workers : {1, 2, 3, 5}) {
    const tn::thread_pool pool(workers, 0);
    const auto found = tn::compile(f, pool)(x);
    std::apply([&](const auto&... a) { std::apply([&](const auto&... b) { CHECK(((std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0) && ...)); }, found); }, alone);
  }
}

// Loops add several rows to the columns at a time, and skip rows that add only zeros.
TEST_CASE("the sums of columns of the rows that a mask keeps") {
  const auto masked = tn::compile([](auto x, auto keep) { return std::tuple{sum(tn::where(keep, x, 0.0f), tn::axis<0>), sum(tn::where(keep, x * x, 0.0f), tn::axis<0>)}; });
  const auto columns_of = tn::compile([](auto x, auto keep) { return sum(tn::where(keep, x, 0.0f), tn::axis<0>); });
  const auto total_of = tn::compile([](auto x, auto keep) { return sum(tn::where(keep, x, 0.0f)); });
  for (const int rows : {1, 3, 4, 5, 8, 11, 64})
    for (const int columns : {1, 16, 37, 96}) {
      tn::tensor<float, tn::shape<tn::dyn, tn::dyn>> x(rows, columns);
      tn::tensor<bool, tn::shape<tn::dyn, 1>> keep(rows);
      const auto element = tn::as_span(x);
      const auto mask = tn::as_span(keep);
      for (int pattern = 0; pattern < 4; ++pattern) {
        std::vector<float> sums(columns), squares(columns);
        for (int i = 0; i < rows; ++i) {
          mask[i] = pattern == 0 || (pattern == 1 && i % 3 == 1) || (pattern == 2 && i < 4);
          for (int j = 0; j < columns; ++j) {
            const float number = static_cast<float>((7 * i + 3 * j) % 16 - 5);
            element[i * columns + j] = mask[i] ? number : NAN;
            if (mask[i]) sums[j] += number, squares[j] += number * number;
          }
        }
        const bool all = pattern == 0;
        const auto every = tn::full<bool>(tn::shape<>{}, all);
        const auto [kept, kept_squares] = masked(x, keep);
        const auto some = columns_of(x, every), plain = tn::eval(sum(x, tn::axis<0>));
        INFO(rows << " x " << columns << ", pattern " << pattern);
        bool is_right = true;
        for (int j = 0; j < columns; ++j) {
          is_right = is_right && kept(j) == sums[j] && kept_squares(j) == squares[j] && some(j) == (all ? sums[j] : 0);
          if (all) is_right = is_right && plain(j) == sums[j];
        }
        CHECK(is_right);
        CHECK(total_of(x, every).item() == (all ? std::accumulate(sums.begin(), sums.end(), 0.0f) : 0));
      }
    }
}
