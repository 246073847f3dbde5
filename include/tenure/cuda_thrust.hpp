// SPDX-License-Identifier: BSL-1.0
// index_add of very many indices on a GPU sorts by Thrust: for .cu files, beside <tenure/cuda.hpp>, in all units of a program or none.
// Cost: Thrust, 6 s of nvcc.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/cuda.hpp>

#include <tenure/backend/cuda/thrust.cuh>

#include <tenure/core/letters/restore.hpp>
