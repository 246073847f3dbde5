// SPDX-License-Identifier: BSL-1.0
// expect: tenure: loop: the bound of a while_loop is at_most<N>, where N is not negative
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto most = tn::at_most<-1>;
#else
constexpr auto most = tn::at_most<1>;
#endif

constexpr auto f = tn::compile([](auto x) { return tn::while_loop([](auto c) { return tn::sum(c) < 9.0; }, [](auto c) { return c * 2.0; }, x, most); });

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
