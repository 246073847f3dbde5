// SPDX-License-Identifier: BSL-1.0
// Many processes: groups, collectives of tensors and models, and training steps whose samples are spread over the ranks of a group. Not part of
// <tenure/tenure.hpp>: it needs MPI, by the CMake target tenure::mpi or a compiler wrapper (mpicxx).
#pragma once

#include <tenure/core/letters/hide.hpp>

#if !__has_include(<mpi.h>)
#error "tenure: include: <mpi.h> is not on the include path: install libopenmpi-dev, and link tenure::mpi or compile with mpicxx"
#else

#include <tenure/tenure.hpp>

#include <tenure/distributed/collectives.hpp>
#include <tenure/distributed/train_step.hpp>

#endif

#include <tenure/core/letters/restore.hpp>
