// SPDX-License-Identifier: BSL-1.0
// Runs a training step on a GPU as a single launch: the work that a step submits to the stream is recorded as a CUDA graph.
// Law: a recorded step has the same effect as its separate launches. If a step has other tensors than the step before, it is recorded
// again. Cost of a recording: about one step of separate launches. The first step of a program is not recorded, so that libraries
// and kernels are loaded outside of a recording.
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

  /// The memory of the hyperparameters. Their values change with every step, but their address stays the same.
  storage_handle memory_of_numbers(std::size_t bytes) {
    if (!numbers_ || numbers_.bytes() < bytes) numbers_ = cuda_detail::allocate(bytes);
    return numbers_;
  }
  /// The memory into which each step writes its loss: one element of any type.
  storage_handle memory_of_loss() {
    if (!loss_) loss_ = cuda_detail::allocate(sizeof(double));
    return loss_;
  }

  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    before_writing();  // called here, because a launch of the recorded graph does not call it
    constexpr int inputs = Program::value.input_count, outputs = Program::value.output_count, bound = Program::symbol_count;
    addresses now(arguments, arguments + inputs);
    now.insert(now.end(), results, results + outputs);
    const std::vector<std::int64_t> extents(symbols, symbols + bound);
    const auto give = [&] { backend<cuda_device>::run<Program>(arguments, results, symbols, program_detail::no_commit{}); };
    const void* const program = &Program::value;
    const bool is_first = program_ != program;
    if (is_first) is_recorded_ = false, refusals_ = 0;
    if (is_first || refusals_ == max_refusals) {
      program_ = program;
      last_ = now;
      return give();
    }
    if (!graph_) graph_ = std::make_unique<cuda_detail::graph>();
    if (!is_recorded_ || !*graph_ || now != last_ || extents != extents_) {
      try {
        graph_->record(give);
      } catch (const std::exception&) {  // from the driver, cuBLAS or Thrust. An error that is not about recording occurs again in the plain run
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
  const void* program_ = nullptr;  // the program of the last step
  bool is_recorded_ = false;       // whether the graph belongs to that program
  addresses last_;
  std::vector<std::int64_t> extents_;
  std::unique_ptr<cuda_detail::graph> graph_;
  // A step that waits for the device, as for a computed index, can never be recorded. After a lack of memory a later recording can succeed.
  static constexpr int max_refusals = 3;
  int refusals_ = 0;  // consecutive failures to record
};

}  // namespace tenure::detail
