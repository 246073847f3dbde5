// SPDX-License-Identifier: BSL-1.0
// Runs the bodies of loops and branches on the CPU, in the memory and with the executor of the call (program/construct.hpp has the turns).
#pragma once

#include <cstring>

#include <tenure/backend/cpu/memory_plan.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Program, class BeforeWriting>
TENURE_INLINE void execute(const running_call& m, const memory_plan<Program>& plan, const BeforeWriting& before_writing);

namespace detail {

/// What runs the turns.
struct turns_on_host {
  static constexpr bool is_host = true;
  const running_call& around;

  const std::int64_t* symbols() const { return around.symbols; }
  template <class Body>
  decltype(auto) plan_of() const { return plan_of_body<Body>(around.symbols); }
  template <class Body>
  TENURE_INLINE void run(const memory_plan<Body>& plan, const void* const* arguments, void* const* results, void* workspace) const {
    execute<Body>({{arguments, results, workspace, around.symbols}, around.on}, plan, program_detail::no_notice{});
  }
  void copy(void* to, const void* from, std::int64_t bytes) const { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }
  bool flag(const void* at) const { return *static_cast<const bool*>(at); }
  std::int64_t number(const void* at) const { return *static_cast<const std::int64_t*>(at); }
  void write(void* at, std::int64_t number) const { *static_cast<std::int64_t*>(at) = number; }
};

}  // namespace detail
}  // namespace tenure::cpu_backend
