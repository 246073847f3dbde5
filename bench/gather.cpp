// SPDX-License-Identifier: BSL-1.0
// Rows of a table of 544 rows, chosen by 10,000 indices, float64: one and three numbers a row, as with the points and cameras of a scene.
// gather is the rows themselves, index_add its transpose, the sums of 10,000 rows by their indices, and gather_gradient the gradient of the sum of squares
// of the gathered rows. By hand these are loops over the indices.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <cstring>
#include <vector>

namespace {

namespace tn = tenure;

constexpr std::int64_t rows = 544, count = 10'000;

// In functions of their own, as a library would have them: the compiler does not see the sizes of the arrays.
template <int Width>
[[gnu::noinline]] void gather_by_hand(const double* table, const std::int64_t* index, std::int64_t n, double* out) {
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < Width; ++k) out[i * Width + k] = table[index[i] * Width + k];
}
template <int Width>
[[gnu::noinline]] void index_add_by_hand(const double* updates, const std::int64_t* index, std::int64_t n, double* out) {
  std::memset(out, 0, sizeof(double) * rows * Width);
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < Width; ++k) out[index[i] * Width + k] += updates[i * Width + k];
}
template <int Width>
[[gnu::noinline]] void gradient_by_hand(const double* table, const std::int64_t* index, std::int64_t n, double* out) {
  std::memset(out, 0, sizeof(double) * rows * Width);
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < Width; ++k) out[index[i] * Width + k] += 2 * table[index[i] * Width + k];
}

template <int Width>
struct lookup {
  using row_shape = std::conditional_t<Width == 1, tn::shape<tn::dyn>, tn::shape<tn::dyn, Width>>;
  tn::tensor<double, row_shape> table, chosen, sums, gradient;
  tn::tensor<std::int64_t, tn::shape<tn::dyn>> index;
  std::vector<double> chosen_by_hand, sums_by_hand, gradient_of_hand;

  static constexpr auto get = [](auto t, auto i) { return gather<0>(t, i); };
  static constexpr auto value = tn::compile(get);
  static constexpr auto transpose = tn::compile([](auto t, auto i, auto updates) { return index_add<0>(zeros_like(t), i, updates); });
  static constexpr auto derivative = tn::grad<0>([](auto t, auto i) { return sum(square(gather<0>(t, i))); });

  explicit lookup(std::int64_t n)
      : table(tn::uninitialized, rows), chosen(tn::uninitialized, n), sums(tn::uninitialized, rows), gradient(tn::uninitialized, rows), index(tn::uninitialized, n),
        chosen_by_hand(static_cast<std::size_t>(n * Width)), sums_by_hand(static_cast<std::size_t>(rows * Width)), gradient_of_hand(static_cast<std::size_t>(rows * Width)) {
    bench::fill_uniform(bench::data_of(table), table.size(), -1, 1, 1);
    std::mt19937_64 engine(2);
    for (std::int64_t i = 0; i < n; ++i) index[i].fill_(static_cast<std::int64_t>(engine() % rows));
    tenure(), hand(), add(), add_by_hand(), pull(), pull_by_hand();
    bench::require_agreement("gather", chosen.data(), chosen_by_hand.data(), chosen.size(), 1e-15);
    bench::require_agreement("index_add", sums.data(), sums_by_hand.data(), sums.size(), 1e-15);
    bench::require_agreement("gather_gradient", gradient.data(), gradient_of_hand.data(), gradient.size(), 1e-12);
  }
  std::int64_t items() const { return index.size(); }
  void tenure() { value.into(chosen)(table, index); }
  void hand() { gather_by_hand<Width>(table.data(), index.data(), index.size(), chosen_by_hand.data()); }
  void add() { transpose.into(sums)(table, index, chosen); }
  void add_by_hand() { index_add_by_hand<Width>(chosen_by_hand.data(), index.data(), index.size(), sums_by_hand.data()); }
  void pull() { derivative.into(gradient)(table, index); }
  void pull_by_hand() { gradient_by_hand<Width>(table.data(), index.data(), index.size(), gradient_of_hand.data()); }
};

template <int Width>
void add_rows(const std::string& width) {
  using problem = lookup<Width>;
  bench::row<problem>("gather" + width, "tenure", count, [](problem& p) { p.tenure(); });
  bench::row<problem>("gather" + width, "hand", count, [](problem& p) { p.hand(); });
  bench::row<problem>("index_add" + width, "tenure", count, [](problem& p) { p.add(); });
  bench::row<problem>("index_add" + width, "hand", count, [](problem& p) { p.add_by_hand(); });
  bench::row<problem>("gather_gradient" + width, "tenure", count, [](problem& p) { p.pull(); });
  bench::row<problem>("gather_gradient" + width, "hand", count, [](problem& p) { p.pull_by_hand(); });
}

const bool registered = [] {
  bench::keep_heap_warm();
  add_rows<1>("_1");
  add_rows<3>("_3");
  return true;
}();

}  // namespace
