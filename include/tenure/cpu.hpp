// SPDX-License-Identifier: BSL-1.0
// Programs on the CPU, in .cu files that run some there too; <tenure/tenure.hpp> brings them everywhere else. nvcc compiles them
// for packets of one lane, so that what must be fast on the CPU belongs in a .cpp file. Cost: Eigen, 2 s of nvcc.
#pragma once

#include <tenure/tenure.hpp>

#include <tenure/backend/cpu.hpp>
