// SPDX-License-Identifier: BSL-1.0
// Prints tensors, expressions and plans with operator<<. <tenure/tenure.hpp> includes this header; a .cu file that prints
// includes it itself. Cost: it includes <string> and <charconv>, which take nvcc a second.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/tenure.hpp>

#include <tenure/eager/print.hpp>
#include <tenure/inspect/print.hpp>

#include <tenure/core/letters/restore.hpp>
