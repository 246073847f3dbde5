// SPDX-License-Identifier: BSL-1.0
// The records of all opaque operations.
#pragma once

#include <tenure/ops/opaque/inverse.hpp>  // first, or messages of inverse would name the four files between

#include <tenure/ops/opaque/attention.hpp>
#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/cholesky_solve.hpp>
#include <tenure/ops/opaque/convolution.hpp>
#include <tenure/ops/opaque/convolution_of_planes.hpp>
#include <tenure/ops/opaque/depthwise.hpp>
#include <tenure/ops/opaque/definite.hpp>
#include <tenure/ops/opaque/determinant.hpp>
#include <tenure/ops/opaque/eigh.hpp>
#include <tenure/ops/opaque/lstsq.hpp>
#include <tenure/ops/opaque/lu.hpp>
#include <tenure/ops/opaque/lu_factor.hpp>
#include <tenure/ops/opaque/matrix_exp.hpp>
#include <tenure/ops/opaque/order.hpp>
#include <tenure/ops/opaque/qr.hpp>
#include <tenure/ops/opaque/solve.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>
#include <tenure/ops/opaque/svd.hpp>
