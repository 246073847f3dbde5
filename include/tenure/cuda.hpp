// SPDX-License-Identifier: BSL-1.0
// Tenure on a GPU, for .cu files: x.to(tn::cuda) copies a tensor to the GPU, and the same expressions, functions and optimizers
// work on tensors there. tn::cuda_stream gives a thread a stream of its own.
#pragma once

#include <tenure/core/letters/hide.hpp>

#if !defined(__CUDACC__)
#error "tenure: <tenure/cuda.hpp> is for .cu files, which nvcc compiles; .cpp files include <tenure/tenure.hpp>"
#elif defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#error "tenure: <tenure/cuda.hpp>: one default stream orders the use of memory: compile without --default-stream per-thread, and open a tn::cuda_stream in each thread"
#endif

#include <tenure/tenure.hpp>

#include <tenure/tensor/cuda.hpp>

#include <tenure/backend/cuda/call.hpp>

#include <tenure/optim/cuda.hpp>

#include <tenure/core/letters/restore.hpp>
