// SPDX-License-Identifier: BSL-1.0
// Runs programs on the CPU. <tenure/tenure.hpp> includes this header; a .cu file that also computes on the CPU includes it
// itself. nvcc compiles these programs without SIMD (packets of one lane), so code that must be fast on the CPU belongs in a .cpp
// file.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/tenure.hpp>

#include <tenure/backend/cpu.hpp>

#include <tenure/core/letters/restore.hpp>
