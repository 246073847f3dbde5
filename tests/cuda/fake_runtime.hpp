// SPDX-License-Identifier: BSL-1.0
// A CUDA runtime on the host, as lazy as the real one may be: what is given to a stream runs only when somebody waits for it, and
// then no more than must; or, where eager() says so, in a random order that the streams and events allow. Law: device memory is
// poisoned for the host (seen under AddressSanitizer) and for whatever runs before it is allocated or after it is freed in stream
// order; pinned memory is read when a transfer runs, not when it is given; each call can be made to fail, and its error stays the last one until it is
// asked for, as by the next launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <tenure/storage/cuda.hpp>

namespace fake_cuda {

/// How often each function was called.
extern std::map<std::string, int> calls;
/// Counts down at each call that can fail, and makes the one at 0 fail; below 0 nothing fails.
extern int fail_at;
/// The error of a kernel: returned by every call from when it has run.
extern cudaError_t broken;
/// Blocks of device memory whose release has not run.
int live();
/// With a seed, streams run ahead at random; with 0 not before somebody waits.
void eager(std::uint64_t seed);
/// Runs everything that was given to any stream.
void finish();
/// Gives a kernel to a stream. It may touch all device memory that is allocated when it runs.
cudaError_t launch(cudaStream_t, std::function<void()> kernel);

}  // namespace fake_cuda

namespace tenure::cuda_detail {

/// What nvcc compiles to a kernel: body(i) for each i below n.
template <class Body>
void launch(std::int64_t n, const Body& body, const char* call) {
  check(fake_cuda::launch(current_stream(), [n, body] {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  }), call);
}

}  // namespace tenure::cuda_detail
