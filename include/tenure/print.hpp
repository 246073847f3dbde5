// SPDX-License-Identifier: BSL-1.0
// Printing tensors, expressions and plans, in .cu files that do; <tenure/tenure.hpp> brings it everywhere else.
// Cost: <string> and <charconv>, a second of nvcc.
#pragma once

#include <tenure/tenure.hpp>

#include <tenure/transform/print.hpp>
