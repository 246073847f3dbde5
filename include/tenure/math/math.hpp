// SPDX-License-Identifier: BSL-1.0
// Vector math: every function takes packets and returns packets of one to sixteen lanes, with an error of at most 2 ulp, and the special functions of 4.
// docs/math.md has the measurements.
#pragma once

#include <tenure/math/bessel.hpp>
#include <tenure/math/error_function.hpp>
#include <tenure/math/exponential.hpp>
#include <tenure/math/gamma.hpp>
#include <tenure/math/hyperbolic.hpp>
#include <tenure/math/incomplete_beta.hpp>
#include <tenure/math/incomplete_gamma.hpp>
#include <tenure/math/inverse_hyperbolic.hpp>
#include <tenure/math/inverse_trigonometric.hpp>
#include <tenure/math/log10.hpp>
#include <tenure/math/logarithm.hpp>
#include <tenure/math/normal.hpp>
#include <tenure/math/normal_inverse.hpp>
#include <tenure/math/normal_tail.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/math/power.hpp>
#include <tenure/math/random.hpp>
#include <tenure/math/remainder.hpp>
#include <tenure/math/sinc.hpp>
#include <tenure/math/slopes.hpp>
#include <tenure/math/trigonometric.hpp>
