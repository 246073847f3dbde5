// SPDX-License-Identifier: BSL-1.0
// A device beyond the host's reach that computes: its kernels are the CPU's, on the real addresses.
#pragma once

#include <tenure/backend/backend.hpp>

#include "far_memory.hpp"

template <>
struct tenure::backend<far_device> {
  static constexpr bool is_included = true;

  static void check_arguments(const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
    const void* here[64] = {};
    for (int i = 0; i < list.count; ++i) here[list.at[i].argument] = memory::near(arguments[list.at[i].argument]);
    cpu_backend::check_arguments(list, here, symbols);
  }

  template <class Program, class BeforeWriting>
  static void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    far_events_so_far.happen();
    ++far_events_so_far.runs;
    const void* here[64];
    void* made[64];
    for (int i = 0; i < Program::value.input_count; ++i) here[i] = memory::near(arguments[i]);
    for (int i = 0; i < Program::value.output_count; ++i) made[i] = memory::near(results[i]);
    cpu_backend::run<Program>(here, made, symbols, before_writing);
  }

  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cpu_backend::static_memory<Program>.total(); }

 private:
  using memory = detail::device_memory<far_device>;
};
