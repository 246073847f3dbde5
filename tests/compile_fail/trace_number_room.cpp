// SPDX-License-Identifier: BSL-1.0
// expect: tenure: trace: a whole number does not fit in the integer type of the value beside it
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto is_small = tn::compile([](auto i) { return i < 3000000000; });
#else
constexpr auto is_small = tn::compile([](auto i) { return tn::cast<std::int64_t>(i) < 3000000000; });
#endif

auto f(const tn::tensor<std::int32_t, tn::shape<4>>& i) { return is_small(i); }
