// SPDX-License-Identifier: BSL-1.0
// Law: what a random graph is compiled to, for the CPU and for the GPU (whose kernels run on the host), means what the reference says.
#pragma once

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../fuzz/spread.hpp"
#include "../kernels/host_device.hpp"
#include "seeds.hpp"

namespace fuzz {

/// Results of garbage, with the room behind them that tensors have.
inline results empty_like(const results& wanted) {
  results r;
  for (const array& w : wanted) {
    r.emplace_back(w.type, w.shape);
    r.back().data.assign(r.back().data.size() + tenure::pool::alignment, std::byte{0xA5});
  }
  return r;
}

template <class Source>
void check(std::uint64_t seed) {
  using program = tenure::program<Source>;
  const sample s = sample_of(seed);
  const results wanted = reference_of(seed, s.graph.view(), s.arguments);

  spread_arguments memory(s, dice(seed), tenure::pool::alignment);
  const std::vector<std::int64_t> symbols = tenure::reference::bind_symbols(program::value.view(), memory.bound);
  std::vector<const void*> arguments;
  for (const auto& a : memory.bound) arguments.push_back(a.data);

  const auto runs = [&](const char* where, auto run) {
    results got = empty_like(wanted);
    std::vector<void*> to;
    for (array& r : got) to.push_back(r.data.data());
    run(arguments.data(), to.data(), symbols.data());
    const std::string wrong = judge(s.graph.view(), s.arguments, wanted, got).wrong;
    INFO(report(seed, where, wrong, s.graph.view(), program::value.view()));
    CHECK(wrong == "");
  };
  runs("on the CPU", [](auto... x) { tenure::eigen_backend::run<program>(x...); });
  runs("by the GPU's kernels", [](auto... x) {
    host::device device;
    tenure::cuda_backend::run<program>(device, x...);
  });
}

}  // namespace fuzz
