// SPDX-License-Identifier: BSL-1.0
// Least squares over rows of tables, with Eigen's sparse Cholesky factorization: bundle adjustment, graphs of poses. It stands alone because Eigen's header
// takes time to compile, and only such programs need it.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/tenure.hpp>

#include <tenure/optim/sparse_least_squares.hpp>

#include <tenure/core/letters/restore.hpp>
