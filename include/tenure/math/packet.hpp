// SPDX-License-Identifier: BSL-1.0
// Packets: the functions on SIMD registers with which every loop in the library is written.
// Law: each function does in each lane what the scalar function of the same name does, also for NaN. Integers wrap around
// (core/number.hpp).
// Cost: one or two instructions for each call. across() is slower and belongs after a loop.
#pragma once

#include <tenure/math/packet/across.hpp>
#include <tenure/math/packet/arithmetic.hpp>
#include <tenure/math/packet/bits.hpp>
#include <tenure/math/packet/bools.hpp>
#include <tenure/math/packet/comparison.hpp>
#include <tenure/math/packet/exponent.hpp>
#include <tenure/math/packet/interleave.hpp>
#include <tenure/math/packet/memory.hpp>
#include <tenure/math/packet/minimum.hpp>
#include <tenure/math/packet/narrow.hpp>
#include <tenure/math/packet/polynomial.hpp>
#include <tenure/math/packet/rounding.hpp>
#include <tenure/math/packet/types.hpp>
