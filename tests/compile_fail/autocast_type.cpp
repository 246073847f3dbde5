// SPDX-License-Identifier: BSL-1.0
// expect: tenure: autocast: the type of products is bfloat16, float16 or float
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using type = double;
#else
using type = tn::bfloat16;
#endif
constexpr auto f = tn::autocast<type>([](auto x, auto w) { return matmul(x, w); });
auto g(const tn::tensor<float, tn::shape<2, 3>>& x, const tn::tensor<float, tn::shape<3, 2>>& w) { return f(x, w); }
