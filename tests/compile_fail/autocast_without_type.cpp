// SPDX-License-Identifier: BSL-1.0
// expect: tenure: autocast: the type of products is a template argument: write autocast<bfloat16>.f.
#include <tenure/tenure.hpp>
namespace tn = tenure;

auto f(const tn::tensor<float, tn::shape<3, 3>>& x) {
#ifdef TENURE_MISUSE
  auto g = tn::autocast([](auto v) { return matmul(v, v); });
#else
  auto g = tn::autocast<tn::bfloat16>([](auto v) { return matmul(v, v); })(x);
#endif
}
