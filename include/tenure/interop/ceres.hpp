// SPDX-License-Identifier: BSL-1.0
// Residuals for Ceres Solver, as the functions of least_squares() write them: cost_function is one residual block, residual_blocks are all blocks of one kind.
// It is in no other header, because it needs Ceres' headers, and a program that links Ceres: the CMake target tenure::ceres.
#pragma once

#include <tenure/interop/ceres/cost_function.hpp>
#include <tenure/interop/ceres/residual_blocks.hpp>
