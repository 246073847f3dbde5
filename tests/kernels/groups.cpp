// SPDX-License-Identifier: BSL-1.0
// The groups of a plan on a GPU: gathers and short products run inside the kernels that read their rows. The kernels run on the host.
#include <tenure/print.hpp>

#include "check.hpp"

namespace tn = tenure;

/// What a printed plan asks of the backend of a GPU.
template <>
struct tenure::backend<tenure::cuda_device> {
  static constexpr bool is_included = true;
  template <class Program>
  static constexpr bool runs_in_reader(int s) { return cuda_backend::waiting<Program>.at[s]; }
  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cuda_backend::workspace_bytes<Program, host::device>(); }
};

namespace {

using by_kernels::check, by_kernels::some;
using tn::shape;

template <class T, std::int64_t... E>
using array = tn::tensor<T, shape<E...>>;

/// The steps of a function in its printed plan, without the graph.
template <class F, class... X>
std::string steps_of(F f, const X&... x) {
  const std::string text = tn::to_text(tn::plan<typename decltype(tn::compile(f).plan(x...))::program_type, tn::cuda_device>{});
  const std::size_t first = text.find("step 0");
  return text.substr(first, text.find("\nworkspace") - first);
}

template <class F, class... X>
std::int64_t bytes_of(F f, const X&... x) {
  return tn::cuda_backend::workspace_bytes<typename decltype(tn::compile(f).plan(x...))::program_type, host::device>();
}

/// Whether a call may write its first result over an argument.
template <class F, class... X>
bool may_overwrite(int argument, F f, const X&... x) {
  return tn::program_detail::overwrites<typename decltype(tn::compile(f).plan(x...))::program_type>.may(argument, 0);
}

/// How many launches a call takes, and how many of its steps there are.
struct launches {
  int steps, launched;
  friend bool operator==(const launches&, const launches&) = default;
};
template <class F, class... X>
launches launches_of(F f, const X&... x) {
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  const tn::ir::graph_view g = program::value.view();
  std::vector<std::int64_t> symbols;
  const std::vector<fuzz::array> arguments{fuzz::array(x.extents(), x.data())...};
  for (int i = 0; i < g.symbol_count; ++i) symbols.push_back(arguments[static_cast<std::size_t>(g.symbols[i].a)].shape[static_cast<int>(g.symbols[i].b)]);
  const std::vector<fuzz::array> wanted = tn::reference::run(g, arguments);
  std::vector<fuzz::array> results = host::garbage_like(wanted);
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const fuzz::array& a : arguments) from.push_back(a.data.data());
  for (fuzz::array& r : results) to.push_back(r.data.data());
  host::device device;
  tn::cuda_backend::run<program>(device, from.data(), to.data(), symbols.data());
  CHECK(fuzz::judge(g, arguments, wanted, results).wrong == "");
  return {program::step_count, device.launches};
}

constexpr auto of_rows = [](auto a, auto b, auto w) { return tn::stack(a.at(0) * b.at(2) - a.at(4) * w, a.at(1) * a.at(3) + tanh(b.at(0) * b.at(1))); };
constexpr auto both = [](auto table, auto other, auto w, auto i, auto j) { return tn::vmap(of_rows)(gather<0>(table, i), gather<0>(other, j), w); };
constexpr auto turned = [](auto table, auto i) { return tn::vmap([](auto a) { return tn::stack(a.at(2), a.at(0) + a.at(0), a.at(1)); })(gather<0>(table, i)); };
constexpr auto layer = [](auto x, auto w, auto b) { return tanh(matmul(x, w) + b); };

}  // namespace

TEST_CASE("gathers that wait are read by index: one launch for two gathers and their reader") {
  constexpr std::int64_t n = 11003;
  const auto table = some<double, 61, 5>();
  const auto other = some<double, 977, 5>();
  const auto w = some<double, n>();
  const auto i = some<std::int32_t, n>(0, 60);
  const auto j = some<std::int64_t, n>(0, 976);
  CHECK(launches_of(both, table, other, w, i, j) == launches{3, 1});
  CHECK(bytes_of(both, table, other, w, i, j) == 0);
  CHECK(steps_of(both, table, other, w, i, j).find(", in one launch with step 0, 1") != std::string::npos);
  check(both, table, other, w, i, j);
}

TEST_CASE("rows of integers, masks, and numbers, with any number of indices") {
  check(turned, some<std::int32_t, 40, 3>(-9, 9), some<std::int32_t, 30000>(0, 39));
  const auto i = some<std::int64_t, 40003>(0, 39);
  check([](auto table, auto i) { return tanh(gather<0>(table, i)) + gather<0>(table, i); }, some<double, 40>(), i);
  array<bool, 40> flags;
  for (std::int64_t k = 0; k < 40; ++k) flags.at(k) = k % 3 == 0;
  const auto flagged = [](auto table, auto i, auto x) { return where(gather<0>(table, i), x, -x); };
  const auto many = some<std::int32_t, 300007>(0, 39);
  CHECK(launches_of(flagged, flags, many, some<float, 300007>()) == launches{2, 1});
  const array<float, tn::dyn, 3> table = some<float, 40, 3>();
  for (const std::int64_t n : {0, 1, 257}) {
    array<std::int32_t, tn::dyn> at(n);
    for (std::int64_t k = 0; k < n; ++k) at.at(k) = static_cast<std::int32_t>(k * 7 % 40);
    CHECK(launches_of(turned, table, at) == launches{2, 1});
  }
}

TEST_CASE("no call writes a result over what its kernel reads through a group") {
  CHECK(may_overwrite(0, turned, some<double, 20, 3>(), some<std::int64_t, 20>()));  // a step of its own reads the table
  CHECK_FALSE(may_overwrite(0, turned, some<double, 20000, 3>(), some<std::int64_t, 20000>()));
  constexpr auto places = [](auto table, auto i) { return gather<0>(table, i) * 2; };
  const auto many = some<std::int64_t, 40000>();
  CHECK_FALSE(may_overwrite(0, places, many, many));
  CHECK_FALSE(may_overwrite(1, places, many, many));
  constexpr auto step = [](auto x, auto w, auto y) { return tanh(matmul(x, w)) + y; };
  constexpr auto residual = [](auto x, auto w) { return tanh(matmul(x, w)) + x; };
  const auto w = some<double, 4, 4>();
  CHECK(may_overwrite(0, step, some<double, 32, 4>(), w, some<double, 32, 4>()));
  CHECK_FALSE(may_overwrite(0, step, some<double, 32768, 4>(), w, some<double, 32768, 4>()));
  CHECK(may_overwrite(2, step, some<double, 32768, 4>(), w, some<double, 32768, 4>()));
  CHECK_FALSE(may_overwrite(0, residual, some<double, 32768, 4>(), w));
}

// Law: only the sums of a product can differ from one launch after the other, because cuBLAS may add in another order.
TEST_CASE("a product of short sums is computed in the kernel after it; cuBLAS computes others") {
  const auto x = some<double, 2048, 3>();
  CHECK(launches_of(layer, x, some<double, 3, 64>(), some<double, 64>()) == launches{2, 1});
  CHECK(launches_of(layer, some<double, 2048, 9>(), some<double, 9, 64>(), some<double, 64>()) == launches{2, 2});
  CHECK(steps_of(layer, some<double, 2048, 9>(), some<double, 9, 64>(), some<double, 64>()) == "step 0: matmul %3\nstep 1: add %5 tanh %6");
  CHECK(bytes_of(layer, x, some<double, 3, 64>(), some<double, 64>()) == 0);
  CHECK(bytes_of(layer, some<double, 2048, 9>(), some<double, 9, 64>(), some<double, 64>()) == 1 << 20);
  CHECK(steps_of(layer, x, some<double, 3, 64>(), some<double, 64>()) == "step 0: matmul %3\nstep 1: add %5 tanh %6, in one launch with step 0");
  check(layer, x, some<double, 3, 64>(), some<double, 64>());
}

TEST_CASE("a short product in any layout, with sums of rows, columns and all, and of run-time rows") {
  const auto w = some<double, 3, 64>();
  const auto b = some<double, 64>();
  CHECK(launches_of([](auto x, auto w, auto b) { return tanh(matmul(transpose(x), w) + b); }, some<double, 3, 2048>(), w, b) == launches{2, 1});
  CHECK(launches_of([](auto x, auto w, auto b) { return tanh(matmul(tn::flip<1>(x), transpose(w)) + b); }, some<double, 2048, 3>(), some<double, 64, 3>(), b) == launches{2, 1});
  const auto x = some<double, 2051, 3>();
  const auto sums = [](auto x, auto w, auto b) {
    const auto y = tanh(matmul(x, w) + b);
    return std::tuple{sum(y), sum(y, tn::axis<0>), sum(y, tn::axis<1>)};
  };
  check(sums, x, w, b);
  check(tn::value_and_grad<0, 1, 2>([](auto x, auto w, auto b) { return sum(square(tanh(matmul(x, w) + b))); }), x, w, b);
  const array<double, tn::dyn, 3> any = some<double, 2051, 3>();
  CHECK(launches_of(layer, any, w, b) == launches{2, 1});
  CHECK(launches_of(layer, array<double, tn::dyn, 3>(0), w, b).steps == 2);
}

TEST_CASE("a product that is read twice is a launch of its own") {
  const auto x = some<double, 2048, 3>();
  const auto w = some<double, 3, 64>();
  CHECK(launches_of([](auto x, auto w) { return softmax(matmul(x, w)); }, x, w) == launches{2, 2});
  CHECK(launches_of([](auto x, auto w) {
    const auto y = matmul(x, w);
    return std::tuple{tanh(y), y};
  }, x, w) == launches{2, 2});
}
