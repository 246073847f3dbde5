// SPDX-License-Identifier: BSL-1.0
// Many processes with a GPU each: tn::nccl::group, for .cu files. It needs NCCL and MPI, by the CMake target tenure::nccl.
#pragma once

#include <tenure/core/letters/hide.hpp>

#if !__has_include(<nccl.h>)
#error "tenure: include: <nccl.h> is not on the include path: install libnccl-dev, and link tenure::nccl"
#else

#include <tenure/cuda.hpp>
#include <tenure/mpi.hpp>

#include <tenure/distributed/nccl.hpp>

#endif

#include <tenure/core/letters/restore.hpp>
