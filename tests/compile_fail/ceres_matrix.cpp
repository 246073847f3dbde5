// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cost_function, residual_blocks: the residuals of a block are one vector, whose length a loss of Ceres takes: tn::reshape<-1>\(r\)
#include <tenure/tenure.hpp>

#include <tenure/interop/ceres.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto error = [](auto x) { return outer(x, x); };
#else
constexpr auto error = [](auto x) { return tn::reshape<-1>(outer(x, x)); };
#endif

auto f() { return tn::cost_function<tn::shape<3>>(error); }
