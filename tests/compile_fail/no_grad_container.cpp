// SPDX-License-Identifier: BSL-1.0
// expect: tenure: no_grad: a container of tensors may carry a view out: return tensors, or a tuple, pair or array of them
#include <tenure/tenure.hpp>

#include <optional>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto give = [](auto v) { return std::optional{v.view()}; };
#else
constexpr auto give = [](auto v) { return std::array{v.view()}; };
#endif

auto f(tn::variable<float, tn::shape<2>>& w) { return tn::no_grad(give, w); }
