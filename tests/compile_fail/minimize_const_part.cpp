// SPDX-License-Identifier: BSL-1.0
// expect: tenure: optim: the model is read-only
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto f = [](auto model) { return sum(square(std::get<0>(model))) + sum(square(std::get<1>(model))); };
using vector = tn::tensor<double, tn::shape<3>>;
#ifdef TENURE_MISUSE
using both = std::tuple<vector, const vector>;
#else
using both = std::tuple<vector, vector>;
#endif

auto g(both& x) { return tn::minimize(f, tn::optim::lbfgs{})(x); }
