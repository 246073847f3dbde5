// SPDX-License-Identifier: BSL-1.0
// Training steps on a GPU as one launch: what a step gave to the stream is kept as a CUDA graph. Law: a recorded step does what the
// calls would do; where a step has other tensors than the one before it is recorded anew, which costs what giving its kernels costs.
// The first step of a kind runs as it is, so that libraries and kernels are loaded outside of a recording.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include <tenure/storage/cuda.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE::detail {

template <>
struct recorded_step<cuda_device> {
  static constexpr bool exists = true;

  /// Hyperparameters change with every step, and their place does not.
  storage_handle memory_of_numbers(std::size_t bytes) {
    if (!numbers_ || numbers_.bytes() < bytes) numbers_ = cuda_detail::allocate(bytes);
    return numbers_;
  }
  /// Where each step writes its loss: one element of any type.
  storage_handle memory_of_loss() {
    if (!loss_) loss_ = cuda_detail::allocate(sizeof(double));
    return loss_;
  }

  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    before_writing();  // a step that is launched again runs without it
    constexpr int inputs = Program::value.input_count, outputs = Program::value.output_count, bound = Program::symbol_count;
    addresses now(arguments, arguments + inputs);
    now.insert(now.end(), results, results + outputs);
    const std::vector<std::int64_t> extents(symbols, symbols + bound);
    const auto give = [&] { backend<cuda_device>::run<Program>(arguments, results, symbols, program_detail::no_notice{}); };
    const void* const program = &Program::value;
    const bool is_first = program_ != program;
    if (is_first) is_recorded_ = false, refusals_ = 0;
    if (is_first || refusals_ == most_refusals) {
      program_ = program;
      last_ = now;
      return give();
    }
    if (!graph_) graph_ = std::make_unique<cuda_detail::graph>();
    if (!is_recorded_ || !*graph_ || now != last_ || extents != extents_) {
      try {
        graph_->record(give);
      } catch (const std::exception&) {  // the driver's, cuBLAS's or Thrust's: one that is not about recording comes again
        ++refusals_;
        return give();
      }
      refusals_ = 0;
      is_recorded_ = true;
      last_ = now;
      extents_ = extents;
    }
    graph_->launch();
  }

 private:
  using addresses = std::vector<const void*>;

  storage_handle numbers_, loss_;
  const void* program_ = nullptr;  // of the last step
  bool is_recorded_ = false;       // is the graph of that program?
  addresses last_;
  std::vector<std::int64_t> extents_;
  std::unique_ptr<cuda_detail::graph> graph_;
  // A step that waits for the device, as for an index that it computes, is never recorded; one for which memory was short is, later.
  static constexpr int most_refusals = 3;
  int refusals_ = 0;  // one after the other
};

}  // namespace tenure::detail
