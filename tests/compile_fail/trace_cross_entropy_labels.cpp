// SPDX-License-Identifier: BSL-1.0
// expect: tenure: cross_entropy: the labels must be class numbers of type int32 or int64
// lines: 17
#include <tenure/tenure.hpp>
namespace tn = tenure;

constexpr auto step = tn::grad([](auto x, auto labels) { return cross_entropy(x, labels); });

#ifdef TENURE_MISUSE
using label = float;
#else
using label = int;
#endif

auto f(const tn::tensor<float, tn::shape<8, 10>>& x, const tn::tensor<label, tn::shape<8>>& labels) { return step(x, labels); }
