// SPDX-License-Identifier: BSL-1.0
// tn::cuda on the fake runtime: Tenure's own memory, streams and graphs over it, and the CPU's kernels as the device's.
#pragma once

#include "fake_runtime.hpp"

#include <exception>
#include <vector>

#include <tenure/tenure.hpp>

#include <tenure/tensor/cuda.hpp>

template <>
struct tenure::backend<tenure::cuda_device> {
  static constexpr bool is_included = true;

  static void check_arguments(const program_detail::index_argument_list& list, const void* const* arguments, const std::int64_t* symbols) {
    std::exception_ptr thrown;
    cuda_detail::check(fake_cuda::launch(cuda_detail::current_stream(), [&] {
      try {
        cpu_backend::check_arguments(list, arguments, symbols);
      } catch (...) {
        thrown = std::current_exception();
      }
    }), "kernel");
    cuda_synchronize();
    if (thrown) std::rethrow_exception(thrown);
  }

  template <class Program, class BeforeWriting>
  static void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    before_writing();
    const auto kept = [](const auto* from, int n) { return std::vector(from, from + n); };
    cuda_detail::check(
        fake_cuda::launch(cuda_detail::current_stream(),
                          [a = kept(arguments, Program::value.input_count), r = kept(results, Program::value.output_count), s = kept(symbols, Program::symbol_count)] {
                            cpu_backend::run<Program>(a.data(), r.data(), s.data());
                          }),
        "kernel");
  }

  template <class Program>
  static constexpr std::int64_t workspace_bytes() { return cpu_backend::static_memory<Program>.total(); }
};

#include <tenure/optim/cuda.hpp>
