// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: the function returns a carry of another element type, shape or tree than it takes: begin with a value of that type, as 0.0 in place of 0
// lines: 14
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto begin = 0;
#else
constexpr auto begin = 0.0;
#endif

auto f() { return tn::fori_loop(10, [](auto, auto c) { return 0.5 * c + 1.0; }, begin); }
