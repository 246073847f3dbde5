// SPDX-License-Identifier: BSL-1.0
// Scans read slices of a view in place: vmap of a scan whose samples are rows, transposed operands, rows of a batch. Judged by the reference backend, on the
// graph as written and after the passes.
#include "../catch.hpp"

#include <tenure/threads.hpp>

#include "reference.hpp"

namespace {
namespace tn = tenure;
template <class T, int Rank>
using array = tn::tensor<T, std::conditional_t<Rank == 1, tn::shape<tn::dyn>, std::conditional_t<Rank == 2, tn::shape<tn::dyn, tn::dyn>, tn::shape<tn::dyn, tn::dyn, tn::dyn>>>>;

template <class T = double, class... E>
auto numbers(E... extents) {
  array<T, sizeof...(E)> x(extents...);
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = static_cast<T>(0.01 * static_cast<double>((i * 37 + 11) % 97) - 0.4);
  return x;
}

template <bool Reverse>
constexpr auto path_of = [](auto x0, auto z) {
  const auto step = [](const auto& state, const auto& z) {
    const auto& [x, most] = state;
    const auto next = x * (1 + z * 0.3) + 0.01;
    return std::tuple{std::tuple{next, maximum(most, next)}, next + z};
  };
  return tn::scan(step, std::tuple{x0, x0}, z, {.reverse = Reverse});
};
constexpr auto path = path_of<false>;
constexpr auto last = [](auto x0, auto z) { return std::get<1>(std::get<0>(path(x0, z))); };
// Two scanned operands, one of them shared by all samples.
constexpr auto weighted = [](auto z, auto w) {
  return std::get<0>(tn::scan([](auto s, auto x) { return std::tuple{s * std::get<1>(x) + std::get<0>(x), tn::nothing}; }, z.at(0) * 0, std::tuple{z, w}));
};
// A cell that reads rows: its body is no elementwise kernel.
constexpr auto cell = [](auto h, auto xs, auto w, auto u) {
  return std::get<0>(tn::scan([=](auto h, auto x) { return std::tuple{tanh(matmul(x, w) + matmul(h, u)), tn::nothing}; }, h, xs));
};
constexpr auto over_columns = [](auto h, auto xs) {
  return std::get<0>(tn::scan([](auto s, auto x) { return std::tuple{s * 0.5 + x, tn::nothing}; }, h, transpose(xs)));
};
constexpr auto of_computed = [](auto h, auto xs) { return over_columns(h, exp(xs)); };
constexpr auto of_stretched = [](auto h, auto xs, auto v) { return over_columns(h, xs * 0 + v); };

template <class F, class... X>
constexpr bool copies = [] {
  using program = tn::program<tn::detail::source_of<std::remove_const_t<F>, X...>>;
  const tn::ir::graph_view g = program::value.view();
  bool any = false;
  for (int i = 0; i < g.count; ++i) any = any || (g[i].op == tn::ir::opcode::copy && g.shape_of(i).rank > 1);
  return any;
}();

}  // namespace

TEST_CASE("vmap of a scan reads the samples in place, whichever axis they have") {
  CHECK(!copies<decltype(tn::vmap(last).function), array<double, 1>, array<double, 2>>);
  CHECK(!copies<decltype(tn::vmap<0, 1>(last).function), array<double, 1>, array<double, 2>>);
  CHECK(!copies<decltype(tn::vmap(last).function), tn::tensor<float, tn::shape<100>>, tn::tensor<float, tn::shape<100, 30>>>);
  CHECK(!copies<decltype(tn::vmap<0, 0, tn::unmapped, tn::unmapped>(cell).function), array<double, 2>, array<double, 3>, array<double, 2>, array<double, 2>>);
  CHECK(!copies<decltype(over_columns), array<double, 1>, array<double, 2>>);
}

// Law: strided_slices keeps the bits of all values.
TEST_CASE("vmap of a scan has the values of the reference backend, for any number of samples and iterations") {
  for (const std::int64_t n : {0, 1, 3, 8, 17, 37, 64})
    for (const std::int64_t t : {0, 1, 2, 7, 8, 9, 16, 23}) {
      INFO(n << " samples, " << t << " iterations");
      const auto x = numbers(n);
      const auto rows = numbers(n, t), columns = numbers(t, n);
      judged::agrees_with_reference("rows", tn::vmap(path).function, x, rows);
      judged::agrees_with_reference("columns", tn::vmap<0, 1>(path).function, x, columns);
      judged::agrees_with_reference("from the last to the first", tn::vmap(path_of<true>).function, x, rows);
      judged::agrees_with_reference("transposed", over_columns, x, rows);
      judged::agrees_with_reference("transposed and computed", of_computed, x, rows);
      if (t > 0) judged::agrees_with_reference("with a shared operand", tn::vmap<0, tn::unmapped>(weighted).function, rows, numbers(t));
    }
  judged::agree(tn::vmap(path)(numbers<float>(37), numbers<float>(37, 41)), judged::by_reference(tn::vmap(path).function, numbers<float>(37), numbers<float>(37, 41)), 1e-5);
  judged::agrees_with_reference("stretched", of_stretched, numbers(5), numbers(5, 7), numbers(7));
}

TEST_CASE("a batch of sequences is read in place by a cell of products") {
  judged::agrees_with_reference("cell", tn::vmap<0, 0, tn::unmapped, tn::unmapped>(cell).function, numbers(6, 10), numbers(6, 5, 9), numbers(9, 10), numbers(10, 10));
  const auto loss = [](auto h, auto xs, auto w, auto u) { return sum(square(tn::vmap<0, 0, tn::unmapped, tn::unmapped>(cell)(h, xs, w, u))); };
  judged::agrees_with_reference("its gradient", tn::grad<0, 1, 2, 3>(loss).function, numbers(6, 10), numbers(6, 5, 9), numbers(9, 10), numbers(10, 10));
}

TEST_CASE("gradients of a batch of scans are those of the reference backend") {
  const auto loss = [](auto x, auto z) { return sum(std::get<1>(tn::vmap(path)(x, z))) + sum(tn::vmap(last)(x, z)); };
  for (const std::int64_t n : {1, 9, 40}) judged::agrees_with_reference("gradient", tn::grad<0, 1>(loss).function, numbers(n), numbers(n, 11));
  judged::agrees_with_reference("batch of gradients", tn::vmap(tn::grad<0, 1>(last)).function, numbers(19), numbers(19, 11));
}

TEST_CASE("the graph of a scan that reads in place has the values of the graph as written") {
  static_cast<void>(judged::interpreted(tn::vmap(path).function, numbers(5), numbers(5, 7)));
  static_cast<void>(judged::interpreted(of_stretched, numbers(5), numbers(5, 7), numbers(7)));
}

TEST_CASE("a scan over an empty axis of a view has no slice to read") {
  using of_samples = tn::tensor<double, tn::shape<18>>;
  const of_samples h = tn::full<double>(tn::shape<18>{}, 3);
  const tn::tensor<double, tn::shape<18, 0>> none;
  using program = tn::program<tn::detail::source_of<std::remove_const_t<decltype(over_columns)>, of_samples, tn::tensor<double, tn::shape<18, 0>>>>;
  CHECK(tn::passes::verify(program::value.view()).ok());
  const of_samples kept = tn::compile(over_columns)(h, none);
  for (std::int64_t i = 0; i < 18; ++i) CHECK(kept(i) == 3);
}

TEST_CASE("threads divide the samples of a batch of scans and keep the bits") {
  const tn::thread_pool pool(3, 0);
  for (const std::int64_t n : {5, 1025, 5000}) {
    const auto x = numbers(n);
    const auto z = numbers(n, 13);
    const auto alone = tn::vmap(last)(x, z);
    const auto scope = pool.scope();
    const auto shared = tn::vmap(last)(x, z);
    for (std::int64_t i = 0; i < n; ++i) CHECK(alone(i) == shared(i));
  }
}
