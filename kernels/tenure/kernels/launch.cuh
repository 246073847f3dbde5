// SPDX-License-Identifier: BSL-1.0
// The __global__ functions and their launches. The kernels are templates over the name of a code, because nvcc does not accept a
// __global__ template whose arguments name a lambda or hold a value of class type. One more kernel runs a function for each
// element.
#pragma once

#include <cuda_runtime.h>

#include <tenure/kernels/fused.hpp>
#include <tenure/kernels/name.hpp>

namespace TENURE_NAMESPACE::kernels {

/// The current thread and its block, with the interface of block.hpp.
class device_block {
 public:
  int index, thread;

  __device__ explicit device_block(void* shared) : index(static_cast<int>(blockIdx.x)), thread(static_cast<int>(threadIdx.x)), shared_(shared) {}

  __device__ __forceinline__ void sync() { __syncthreads(); }
  __device__ __forceinline__ void sync_warp() { __syncwarp(); }
  template <class T, class Combine>
  __device__ __forceinline__ T exchange(int distance, T mine, Combine combine) {
    const T theirs = static_cast<T>(__shfl_xor_sync(0xffffffffu, mine, distance));
    return (thread & distance) == 0 ? combine(mine, theirs) : combine(theirs, mine);
  }
  template <class T>
  __device__ __forceinline__ T* warp_results() {
    __shared__ T results[warp];
    return results;
  }
  __device__ __forceinline__ void* shared() { return shared_; }

  /// Counts this block as done. Everything that its thread 0 wrote before is then visible to the last block. Returns true in
  /// every thread of the block that comes last.
  __device__ __forceinline__ bool arrives_last(unsigned* arrived, int blocks) {
    __shared__ bool is_last;
    if (thread == 0) {
      __threadfence();
      is_last = atomicAdd(arrived, 1u) == static_cast<unsigned>(blocks - 1);
      __threadfence();
    }
    __syncthreads();
    return is_last;
  }
  /// Reads a value that another block wrote. It does not read from the cache of this multiprocessor, which may be out of date.
  template <class T>
  static __device__ __forceinline__ T published(const T* at) { return *static_cast<const volatile T*>(at); }

 private:
  void* shared_;
};

// The type of the arguments contains all that the signature needs, because g++ compiles the signature before the code of a name
// is defined.
template <std::uint64_t A, std::uint64_t B, class T, int Pointers, int Numbers, std::uint64_t... Sources>
__global__ void __launch_bounds__(max_threads) fused_kernel(const __grid_constant__ fused_arguments<T, Pointers, Numbers, sources<Sources...>> args) {
  using kernel = fused<code_name<A, B, Sources...>>;
  extern __shared__ uint4 shared[];
  device_block block(shared);
  kernel::run(block, args);
}

template <std::uint64_t A, std::uint64_t B, class T, int Pointers, int Numbers, std::uint64_t... Sources>
__global__ void __launch_bounds__(max_threads) fold_kernel(const __grid_constant__ fused_arguments<T, Pointers, Numbers, sources<Sources...>> args) {
  using kernel = fused<code_name<A, B, Sources...>>;
  extern __shared__ uint4 shared[];
  device_block block(shared);
  kernel::fold_columns(block, args);
}

template <class F>
__global__ void __launch_bounds__(max_threads) element_kernel(const __grid_constant__ F f, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) f(i);
}

/// Launches the fused kernel. `max_shared` is the shared_bytes of the device_limits from which the shape was computed.
template <std::uint64_t A, std::uint64_t B, class T, int Pointers, int Numbers, std::uint64_t... Sources>
void launch(code_name<A, B, Sources...>, const fused_arguments<T, Pointers, Numbers, sources<Sources...>>& args, int max_shared, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(args.shape.blocks()), threads = static_cast<unsigned>(args.shape.threads);
  using kernel = fused<code_name<A, B, Sources...>>;
  const std::int64_t shared = kernel::shared_bytes(args.shape);
  if constexpr (kernel::kept_rows + kernel::column_sums > 0)
    if (shared > device_limits{}.shared_bytes)  // if this call fails, the launch fails too and reports it
      cudaFuncSetAttribute(fused_kernel<A, B, T, Pointers, Numbers, Sources...>, cudaFuncAttributeMaxDynamicSharedMemorySize, max_shared);
  fused_kernel<A, B><<<blocks, threads, static_cast<std::size_t>(shared), stream>>>(args);
}
template <std::uint64_t A, std::uint64_t B, class T, int Pointers, int Numbers, std::uint64_t... Sources>
void launch_fold(code_name<A, B, Sources...>, const fused_arguments<T, Pointers, Numbers, sources<Sources...>>& args, cudaStream_t stream) {
  using kernel = fused<code_name<A, B, Sources...>>;
  const auto blocks = static_cast<unsigned>(kernel::fold_blocks(args.shape));
  if (blocks > 0) fold_kernel<A, B><<<blocks, max_threads, kernel::fold_bytes, stream>>>(args);
}
template <class F>
void launch_elements(const F& f, std::int64_t n, int max_blocks, cudaStream_t stream) {
  const std::int64_t wanted = ceil_div(n, max_threads);
  if (n > 0) element_kernel<<<static_cast<unsigned>(wanted < max_blocks ? wanted : max_blocks), max_threads, 0, stream>>>(f, n);
}

}  // namespace tenure::kernels
