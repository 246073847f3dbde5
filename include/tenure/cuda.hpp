// SPDX-License-Identifier: BSL-1.0
// Tenure on a GPU, for .cu files: x.to(tn::cuda), the same expressions, functions and optimizers on tensors there, and streams.
#pragma once

#if !defined(__CUDACC__)
#error "tenure: <tenure/cuda.hpp> is for .cu files, which nvcc compiles; .cpp files include <tenure/tenure.hpp>"
#elif defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "tenure: <tenure/cuda.hpp>: memory is ordered by one default stream: compile without --default-stream per-thread, and open a tn::cuda_stream in each thread"
#endif

#include <tenure/tenure.hpp>

#include <tenure/tensor/cuda.hpp>

#include <tenure/backend/cuda/call.hpp>

#include <tenure/optim/cuda.hpp>
