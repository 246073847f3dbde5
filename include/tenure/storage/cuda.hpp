// SPDX-License-Identifier: BSL-1.0
// The CUDA runtime: the stream on which the calls of this thread run, device memory, transfers and CUDA graphs.
#pragma once

#include "cuda/graph.hpp"
#include "cuda/memory.hpp"
#include "cuda/stream.hpp"
#include "cuda/transfer.hpp"
