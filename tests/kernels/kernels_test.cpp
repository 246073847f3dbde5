// SPDX-License-Identifier: BSL-1.0
// Every kind of kernel, run on the host over all its blocks and threads, against the reference backend.
#include "../catch.hpp"

#include <cmath>

#include <tenure/backend/reference/run.hpp>
#include <tenure/tenure.hpp>

#include "../fuzz/judge.hpp"
#include "host_device.hpp"

namespace tn = tenure;

namespace {

using fuzz::array;

/// Arguments of the shapes that a function is traced for; run-time extents are what the tensors have.
template <class F, class... X>
void check(F f, const X&... x) {
  using program = typename decltype(tn::compile(f).plan(x...))::program_type;
  const tn::ir::graph_view g = program::value.view();
  const std::vector<array> arguments{array(x.extents(), x.data())...};
  const std::vector<array> wanted = tn::reference::run(g, arguments);

  std::vector<std::int64_t> symbols;
  for (int i = 0; i < g.symbol_count; ++i) {
    const tn::ir::symbol& s = g.symbols[i];
    REQUIRE(s.what == tn::ir::symbol::kind::argument);
    symbols.push_back(arguments[static_cast<std::size_t>(s.a)].shape[static_cast<int>(s.b)]);
  }
  for (const auto limits : {tn::kernels::device_limits{1, 32, 1 << 20}, {6, 64, 8 << 10}, {37, 128, 0}, {1000, 256, 48 << 10}}) {
    host::device device;
    device.given = limits;
    std::vector<array> results;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (const array& a : arguments) from.push_back(a.data.data());
    for (const array& r : wanted) results.emplace_back(r.type, r.shape);
    for (array& r : results) {
      std::fill(r.data.begin(), r.data.end(), std::byte{0xA5});
      to.push_back(r.data.data());
    }
    const tn::program_detail::placement<program> plan(symbols.data());
    const host::memory workspace = device.allocate(plan.bytes);
    tn::cuda_backend::execute<program>(device, {from.data(), to.data(), workspace.data(), symbols.data()}, plan.offset);
    INFO(limits.blocks << " blocks of " << limits.threads << ", " << device.launches << " launches");
    CHECK(fuzz::judge(g, arguments, wanted, results).wrong == "");
  }
}

template <class T, std::int64_t... E>
auto some(double lo = -2, double hi = 2) {
  tn::tensor<T, tn::shape<E...>> x;
  fuzz::dice d(sizeof...(E) + static_cast<std::uint64_t>(x.size()));
  for (T& v : tn::as_span(x)) v = static_cast<T>(d.between(lo, hi));
  return x;
}

}  // namespace

TEST_CASE("elements: several results, with ends that fill no packet") {
  const auto f = [](auto a, auto b) { return std::tuple{sigmoid(a * b) + 1.0, exp(a), a < b}; };
  check(f, some<float, 5>(), some<float, 5>());
  check(f, some<float, 1003>(), some<float, 1003>());
  check(f, some<double, 7, 33>(), some<double, 7, 33>());
}

TEST_CASE("broadcast along rows and columns") {
  const auto f = [](auto a, auto row, auto column) { return tanh(a * row) + column; };
  check(f, some<float, 12, 20>(), some<float, 20>(), some<float, 12, 1>());
  check(f, some<double, 100, 3>(), some<double, 3>(), some<double, 100, 1>());
}

TEST_CASE("strided operands") {
  const auto f = [](auto a, auto b) { return transpose(a) * 2.0 + b; };
  check(f, some<float, 12, 20>(), some<float, 20, 12>());
  check([](auto a) { return tn::flip<1>(a) + a; }, some<float, 9, 13>());
}
