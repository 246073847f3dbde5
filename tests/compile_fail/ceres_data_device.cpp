// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function: the data lie in the memory of a device: call to\(tn::cpu\) first
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

constexpr auto error = [](auto x, auto y) { return x - y; };

#ifdef TENURE_MISUSE
using vector = tn::tensor<double, tn::shape<2>, tn::ownership::owning, tn::role::constant, tn::access::read_write, tn::cuda_device>;
#else
using vector = tn::tensor<double, tn::shape<2>>;
#endif

auto f(const vector& y) { return tn::cost_function<tn::shape<2>>(error, y); }
