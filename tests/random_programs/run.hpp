// SPDX-License-Identifier: BSL-1.0
// Law: what a random graph is compiled to, for the CPU and for the GPU (whose kernels run on the host), means what the reference says.
#pragma once

#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../difference.hpp"
#include "../fuzz/spread.hpp"
#include "../kernels/host_device.hpp"
#include "seeds.hpp"

namespace fuzz {

template <class Source>
void check(std::uint64_t seed) {
  using program = tenure::program<Source>;
  const sample written = written_of(seed), s = program_of(seed, written);
  const results wanted = reference_of(seed, s.graph.view(), s.arguments);

  spread_arguments memory(s, dice(seed), tenure::memory_pool::alignment);
  const std::vector<std::int64_t> symbols = tenure::reference::bind_symbols(program::value.view(), memory.bound);
  std::vector<const void*> arguments;
  for (const auto& a : memory.bound) arguments.push_back(a.data);

  const auto agrees = [&](const std::string& where, const results& got) {
    const std::string wrong = judge(s.graph.view(), s.arguments, wanted, got).wrong;
    INFO(report(seed, where.c_str(), wrong, s.graph.view(), program::value.view()));
    CHECK(wrong == "");
  };
  results here = host::garbage_like(wanted, tenure::memory_pool::alignment);  // the room behind them that tensors have
  std::vector<void*> to;
  for (array& r : here) to.push_back(r.data.data());
  tenure::cpu_backend::run<program>(arguments.data(), to.data(), symbols.data());
  agrees("on the CPU", here);

  // Results in views or in memory of other code: at any multiple of the element size, between bytes that nobody may write.
  constexpr std::size_t around = 64;
  std::vector<std::vector<std::byte>> rooms;
  std::size_t shift = seed % 8;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t before = around + shift++ % 8 * static_cast<std::size_t>(tenure::size_of(wanted[i].type));
    rooms.emplace_back(before + wanted[i].data.size() + around, std::byte{0xA5});
    to[i] = rooms.back().data() + before;
  }
  tenure::cpu_backend::run<program>(arguments.data(), to.data(), symbols.data());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("seed " << seed << ", result " << i);
    const auto* const first = static_cast<const std::byte*>(to[i]);
    const auto bytes = static_cast<std::int64_t>(wanted[i].data.size());
    CHECK(first_difference(first, here[i].data.data(), bytes));
    const std::vector<std::byte> untouched(rooms[i].size(), std::byte{0xA5});
    CHECK(first_difference(static_cast<const std::byte*>(rooms[i].data()), untouched.data(), first - rooms[i].data()));
    CHECK(first_difference(first + bytes, untouched.data(), static_cast<std::int64_t>(around)));
  }
  for (const auto& limits : host::several_limits) agrees("by the GPU's kernels, " + std::to_string(limits.blocks) + " blocks", host::run<program>(wanted, arguments, symbols, limits));
}

}  // namespace fuzz
