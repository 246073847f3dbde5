// SPDX-License-Identifier: BSL-1.0
// windows: values, gradients and Hessian-vector products of PyTorch's unfold. Windows that overlap, touch and leave gaps; more and fewer than an element is in.
#include "../catch.hpp"
#include "data_windows.hpp"

#include <tenure/ops/exponential.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/ops/trigonometric.hpp>

using namespace golden;

TEST_CASE("golden: windows") {
  check<t_unfold_overlap>([](auto x, auto y) { return sin(windows<1, 4, 2>(x)) * y; });
  check<t_unfold_parts>([](auto x) { return sin(windows<0, 5, 2>(x)) * exp(windows<0, 5, 2>(x)); });
  check<t_unfold_gaps>([](auto x) { return exp(windows<0, 2, 3>(x)); });
  check<t_unfold_many>([](auto x, auto y) { return sin(matmul(windows<0, 10>(sin(x)), y)); });
  check<t_unfold_few>([](auto x, auto y) { return sin(windows<0, 19, 2>(x)) * y; });
  check<t_unfold_images>([](auto x) { return sin(windows<3, 2>(windows<2, 3, 2>(x))); });
}
