// SPDX-License-Identifier: BSL-1.0
// expect: tenure: random numbers from a key: more than 2.31 elements of float32
// lines: 32
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using many = tn::shape<65536, 65536>;
#else
using many = tn::shape<65536, 8>;
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<2>>& key) { return tn::eval(sum(tn::uniform(many{}, key))); }
