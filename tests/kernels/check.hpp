// SPDX-License-Identifier: BSL-1.0
// Compares a function by the kernels on the host with the reference backend.
#pragma once

#include "../catch.hpp"

#include <tenure/backend/reference/run.hpp>
#include <tenure/tenure.hpp>

#include "../fuzz/judge.hpp"
#include "host_device.hpp"

namespace by_kernels {

namespace tn = tenure;
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
  for (const auto& limits : host::several_limits) {
    INFO(limits.blocks << " blocks of " << limits.threads);
    CHECK(fuzz::judge(g, arguments, wanted, host::run<program>(wanted, arguments, symbols, limits)).wrong == "");
  }
}

template <class T, std::int64_t... E>
auto some(double lo = -2, double hi = 2) {
  tn::tensor<T, tn::shape<E...>> x;
  fuzz::dice d(sizeof...(E) + static_cast<std::uint64_t>(x.size()));
  for (T& v : tn::as_span(x)) v = static_cast<T>(d.between(lo, hi));
  return x;
}

}  // namespace by_kernels
