// SPDX-License-Identifier: BSL-1.0
// expect: tenure: log_density: another number of parameters behind x: two in normal, log_normal, cauchy, laplace, gamma, inverse_gamma, beta and binomial, three in student_t, one in exponential and poisson: normal.x, mean, deviation.
#include <tenure/tenure.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
constexpr auto f = tn::compile([](auto x) { return sum(tn::log_density::normal(x, 0.0)); });
#else
constexpr auto f = tn::compile([](auto x) { return sum(tn::log_density::normal(x, 0.0, 1.0)); });
#endif

auto g(const tn::tensor<double, tn::shape<3>>& x) { return f(x); }
