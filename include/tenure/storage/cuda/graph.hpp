// SPDX-License-Identifier: BSL-1.0
// CUDA graphs.
#pragma once

#include <utility>
#include <vector>

#include "stream.hpp"

namespace TENURE_NAMESPACE::cuda_detail {

/// A CUDA graph: a recorded sequence of launches that is launched again as a whole. Law: launch() does the work that f() in
/// record(f) gave to the current stream, on the same addresses. Cost: launch() is one call of the driver; record() costs the call
/// of f() and, if the new graph has another structure than the last, its instantiation.
class graph : detail::not_copied {
 public:
  ~graph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  /// Records the work of f() without running it. If f() throws, the exception is passed on and the old recording stays. If the
  /// driver does not accept the graph, it throws cuda_error and the object is empty.
  template <class F>
  void record(F f) {
    if (stream_ == nullptr) check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    std::vector<detail::storage_handle> memory;
    const recorded made{capture(f, memory)};
    if (executable_ != nullptr) {
      cudaGraphExecUpdateResultInfo why{};
      if (cudaGraphExecUpdate(executable_, made.graph, &why) != cudaSuccess) {
        static_cast<void>(cudaGetLastError());
        cudaGraphExecDestroy(std::exchange(executable_, nullptr));
      }
    }
    if (executable_ == nullptr) check(cudaGraphInstantiate(&executable_, made.graph, 0), "cudaGraphInstantiate");
    memory_.swap(memory);  // the memory of the last recording is freed here, after its launches in stream order
  }

  void launch() {
    for (const detail::storage_handle& m : memory_) m.note_use();
    check(cudaGraphLaunch(executable_, current_stream()), "cudaGraphLaunch");
  }
  explicit operator bool() const { return executable_ != nullptr; }

 private:
  struct recorded {
    ~recorded() {
      if (graph != nullptr) cudaGraphDestroy(graph);
    }
    cudaGraph_t graph;
  };
  struct recording_scope : scope {
    recording_scope(stream_t s, std::vector<detail::storage_handle>& memory) : scope{s, innermost, &memory} { innermost = this; }
    ~recording_scope() { innermost = outer; }
  };

  template <class F>
  cudaGraph_t capture(F& f, std::vector<detail::storage_handle>& memory) {
    const recording_scope here(stream_, memory);
    // Relaxed mode, because allocations on other streams are allowed during the recording.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
    cudaGraph_t made = nullptr;
    try {
      f();
    } catch (...) {
      if (cudaStreamEndCapture(stream_, &made) == cudaSuccess) cudaGraphDestroy(made);
      static_cast<void>(cudaGetLastError());
      throw;
    }
    check(cudaStreamEndCapture(stream_, &made), "cudaStreamEndCapture");
    return made;
  }

  stream_t stream_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<detail::storage_handle> memory_;
};

}  // namespace tenure::cuda_detail
