// SPDX-License-Identifier: BSL-1.0
// Sorts with Thrust, for index_add with very many indices. Either all translation units of a program include this header,
// before the first use, or none. It is not included by default: the headers of Thrust take nvcc longer than all of Tenure, and up to
// about ten thousand indices the merge sort of steps.hpp is as fast.
#pragma once

#include <vector>

#if defined(__CUDACC__)
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#endif
#include <thrust/sort.h>

#if defined(__CUDACC__)
#include <tenure/backend/cuda/gpu.cuh>
#else
#include <tenure/backend/cuda/steps.hpp>
#endif

namespace TENURE_NAMESPACE::cuda_backend {

/// Sorts rows on any system of Thrust. Equal rows are in the order of their positions.
template <class Policy>
void sort_rows(const Policy& on, const kernels::named_rows& rows, std::int64_t count) {
  thrust::stable_sort_by_key(on, rows.row, rows.row + count, rows.position);
}

#if defined(__CUDACC__)

/// Temporary memory for Thrust: the memory that the call has taken for its sort. Thrust does not promise how much it needs. If it needs
/// more, the rest comes from the pool, in the order of this thread's stream.
class thrust_memory {
 public:
  using value_type = char;

  thrust_memory(void* first, std::int64_t bytes) : free_(static_cast<char*>(first)), end_(free_ + bytes) {}

  char* allocate(std::ptrdiff_t bytes) {
    const std::ptrdiff_t padded = (bytes + 255) / 256 * 256;
    if (padded <= end_ - free_) {
      char* const first = free_;
      free_ += padded;
      return first;
    }
    kept_.push_back(cuda_detail::allocate(static_cast<std::size_t>(bytes)));
    return static_cast<char*>(kept_.back().data());
  }
  void deallocate(char*, std::size_t) {}  // all memory is freed together at the end of the call

 private:
  char *free_, *end_;
  std::vector<tenure::detail::storage_handle> kept_;
};

template <>
struct row_sort<gpu> {
  static constexpr std::int64_t by_merging = 1 << 15;

  /// A radix sort needs a second copy of the rows and positions, and counters: less than half a byte for each index, and 1 MiB.
  static constexpr std::int64_t bytes(std::int64_t count) { return count <= by_merging ? 0 : count * 17 + (std::int64_t{1} << 20); }

  static kernels::named_rows sorted(gpu& device, const kernels::named_rows& rows, const kernels::named_rows& spare, std::int64_t count, void* scratch) {
    if (count <= by_merging) return merge_sorted(device, rows, spare, count);
    thrust_memory memory(scratch, bytes(count));
    try {
      sort_rows(thrust::cuda::par_nosync(memory).on(cuda_detail::current_stream()), rows, count);
    } catch (const thrust::system_error& e) {
      cuda_detail::fail(static_cast<cudaError_t>(e.code().value()), "thrust::stable_sort_by_key");
    }
    return rows;
  }
};

#endif

}  // namespace tenure::cuda_backend
