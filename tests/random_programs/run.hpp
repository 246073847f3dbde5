// SPDX-License-Identifier: BSL-1.0
// Law: what a random graph is compiled to, for the CPU and for the GPU (whose kernels run on the host), means what the reference says.
#pragma once

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../fuzz/spread.hpp"
#include "../kernels/host_device.hpp"
#include "seeds.hpp"

namespace fuzz {

template <class Source>
void check(std::uint64_t seed) {
  using program = tenure::program<Source>;
  const sample s = sample_of(seed);
  const results wanted = reference_of(seed, s.graph.view(), s.arguments);

  spread_arguments memory(s, dice(seed), tenure::pool::alignment);
  const std::vector<std::int64_t> symbols = tenure::reference::bind_symbols(program::value.view(), memory.bound);
  std::vector<const void*> arguments;
  for (const auto& a : memory.bound) arguments.push_back(a.data);

  const auto agrees = [&](const std::string& where, const results& got) {
    const std::string wrong = judge(s.graph.view(), s.arguments, wanted, got).wrong;
    INFO(report(seed, where.c_str(), wrong, s.graph.view(), program::value.view()));
    CHECK(wrong == "");
  };
  results here = host::garbage_like(wanted, tenure::pool::alignment);  // the room behind them that tensors have
  std::vector<void*> to;
  for (array& r : here) to.push_back(r.data.data());
  tenure::cpu_backend::run<program>(arguments.data(), to.data(), symbols.data());
  agrees("on the CPU", here);
  for (const auto& limits : host::several_limits) agrees("by the GPU's kernels, " + std::to_string(limits.blocks) + " blocks", host::run<program>(wanted, arguments, symbols, limits));
}

}  // namespace fuzz
