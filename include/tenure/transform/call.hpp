// SPDX-License-Identifier: BSL-1.0
// One call of a program: the device, the checks, the run.
#pragma once

#include <type_traits>

#include <tenure/backend/backend.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/transform/arguments.hpp>
#include <tenure/transform/call_rules.hpp>
#include <tenure/transform/device_numbers.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class... X>
using device_of_tree = typename device_of_bits<(0u | ... | tree<X>::devices)>::type;

/// The kind of the results of a call on a device.
template <class Device>
using results_on = std::conditional_t<std::is_same_v<Device, cpu_device>, values, values_on<Device>>;

/// True if a call can run with arguments on these devices. Otherwise it gives the reason as a compile error.
template <unsigned Devices>
constexpr bool is_callable() {
  constexpr bool one = !is_mixed(Devices), runs = !one || backend<typename device_of_bits<Devices>::type>::is_included;
  static_assert(one, "tenure: call: the arguments are on different devices: move one with to()");
  static_assert(runs, "tenure: call: functions on a device need its header: #include <tenure/cuda.hpp>, and for the CPU in a .cu file <tenure/cpu.hpp>");
  return one && runs;
}

#if TENURE_DEBUG_NANS
class nan_watch;
/// Watches the calls of this thread, or is null.
inline constinit thread_local const nan_watch* current_nan_watch = nullptr;
/// Runs a program and checks that its results are finite, see debug_nans.hpp.
template <class Program, class BeforeWriting>
void run_watched(const nan_watch& watch, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing);
#endif

/// Runs the program of a call at once. Another runner may record the steps and launch them again as a whole.
template <class Device>
struct at_once {
  static storage_handle memory_of_numbers(std::size_t) { return {}; }
  template <class Program, class BeforeWriting>
  static TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
#if TENURE_DEBUG_NANS && !defined(__CUDACC__)
    if constexpr (std::is_same_v<Device, cpu_device>)
      if (const nan_watch* const watch = current_nan_watch) return run_watched<Program>(*watch, arguments, results, symbols, before_writing);
#endif
    backend<Device>::template run<Program>(arguments, results, symbols, before_writing);
  }
};

/// A runner for a device that can launch all steps of an earlier call again as a whole.
template <class Device>
struct recorded_step { static constexpr bool exists = false; };

template <class Program>
extents output_extents(int output, const std::int64_t* symbols) {
  const extents& s = program_detail::output_extents<Program>.at[output];
  if constexpr (Program::is_static) return s;
  else return bound_extents(s, symbols);
}

/// Checks the arguments of a call and runs its program. `make_results` returns the memory of the results; it is called after all checks.
/// `before_writing()` is called when nothing can fail any more.
template <class Program, class Device = cpu_device, class MakeResults, class BeforeWriting = program_detail::no_commit>
TENURE_INLINE auto call_bound(const leaf_argument* arguments, int count, const void** pointers, MakeResults make_results, const BeforeWriting& before_writing = {}) {
  constexpr int outputs = Program::value.output_count;
  std::int64_t symbols[Program::symbol_count + 1] = {};
  for (int i = 0; i < count; ++i) pointers[i] = arguments[i].data;
  if constexpr (!Program::is_static) bind_symbols(Program::value.view(), arguments, symbols);
  if constexpr (Program::value.bound_count > 0) backend<Device>::check_arguments(program_detail::index_arguments<Program>, pointers, symbols);
  void* results[outputs + 1];
  auto made = make_results(results, symbols);
  at_once<Device>::template run<Program>(pointers, results, symbols, before_writing);
  return made;
}

template <class Program, class Device, class MakeResults, class... X>
TENURE_INLINE auto call_program(MakeResults make_results, const X&... x) {
  constexpr int leaves = (0 + ... + tree<X>::leaves);
  leaf_argument arguments[leaves + 1];
  const void* pointers[leaves + 1];
  leaf_argument* at = arguments;
  row_major_copies<X...> copies;
  (collect(x, at, copies), ...);
  [[maybe_unused]] const auto numbers = place_numbers<Device>({}, [&](int i, const void* there) { arguments[i].data = there; }, x...);
  return call_bound<Program, Device>(arguments, leaves, pointers, make_results);
}

}  // namespace detail
}  // namespace tenure
