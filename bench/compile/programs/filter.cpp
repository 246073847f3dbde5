// SPDX-License-Identifier: BSL-1.0
// An extended Kalman filter of six states and three measurements: a step and its scan, two compiled forms.
#include "../../small/kalman.hpp"

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
}  // namespace

auto step(const array<6>& x, const array<6, 6>& p, const array<3>& z, const array<6, 6>& q, const array<3, 3>& r) { return tn::compile(kalman_filter::update)(x, p, z, q, r, 0.01); }
auto steps(const array<6>& x, const array<6, 6>& p, const array<200, 3>& z, const array<6, 6>& q, const array<3, 3>& r) { return tn::compile(kalman_filter::run)(x, p, z, q, r, 0.01); }
