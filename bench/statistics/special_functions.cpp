// SPDX-License-Identifier: BSL-1.0
// Special functions of 10,000 numbers, float64, beside loops of Boost.Math's, where its headers are. Boost is told to stay in double: with its default it
// computes in long double and takes several times as long.
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <string>

#if __has_include(<boost/math/special_functions/gamma.hpp>)
#define TENURE_BENCH_BOOST_MATH 1
#include <boost/math/distributions/normal.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/gamma.hpp>
#else
#define TENURE_BENCH_BOOST_MATH 0
#endif

namespace {

namespace tn = tenure;
constexpr std::int64_t count = 10000;

struct arguments {
  bench::array<double> positive = bench::uniform_array<double>(count, 0.05, 20, 1), real = bench::uniform_array<double>(count, -6, 6, 2);
  bench::array<double> shapes = bench::uniform_array<double>(count, 0.1, 30, 3), ours = positive.clone(), theirs = positive.clone();
};

#if TENURE_BENCH_BOOST_MATH
using in_double = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
#endif
struct of_lgamma {
  static constexpr const char* name = "lgamma";
  static constexpr auto compiled = tn::compile([](auto x) { return lgamma(x); });
  static void tenure(arguments& a) { compiled.into(a.ours)(a.positive); }
#if TENURE_BENCH_BOOST_MATH
  static double boost(const arguments& a, std::int64_t i) { return ::boost::math::lgamma(a.positive.data()[i], in_double()); }
#endif
};
struct of_digamma {
  static constexpr const char* name = "digamma";
  static constexpr auto compiled = tn::compile([](auto x) { return digamma(x); });
  static void tenure(arguments& a) { compiled.into(a.ours)(a.positive); }
#if TENURE_BENCH_BOOST_MATH
  static double boost(const arguments& a, std::int64_t i) { return ::boost::math::digamma(a.positive.data()[i], in_double()); }
#endif
};
struct of_normal_cdf {
  static constexpr const char* name = "normal_cdf";
  static constexpr auto compiled = tn::compile([](auto x) { return normal_cdf(x); });
  static void tenure(arguments& a) { compiled.into(a.ours)(a.real); }
#if TENURE_BENCH_BOOST_MATH
  static double boost(const arguments& a, std::int64_t i) { return cdf(::boost::math::normal_distribution<double, in_double>(), a.real.data()[i]); }
#endif
};
struct of_gammainc {
  static constexpr const char* name = "gammainc";
  static constexpr auto compiled = tn::compile([](auto a, auto x) { return gammainc(a, x); });
  static void tenure(arguments& a) { compiled.into(a.ours)(a.shapes, a.positive); }
#if TENURE_BENCH_BOOST_MATH
  static double boost(const arguments& a, std::int64_t i) { return ::boost::math::gamma_p(a.shapes.data()[i], a.positive.data()[i], in_double()); }
#endif
};

template <class Function>
struct calls : arguments {
  explicit calls(std::int64_t) {
    tenure();
#if TENURE_BENCH_BOOST_MATH
    boost();
    bench::require_agreement(Function::name, ours.data(), theirs.data(), count, 1e-14);
#endif
  }
  std::int64_t items() const { return count; }
  [[gnu::noinline]] void tenure() { Function::tenure(*this); }
#if TENURE_BENCH_BOOST_MATH
  [[gnu::noinline]] void boost() {
    double* const to = bench::data_of(theirs);
    for (std::int64_t i = 0; i < count; ++i) to[i] = Function::boost(*this, i);
  }
#endif
};

template <class Function>
void rows() {
  bench::row<calls<Function>>(std::string("special_") + Function::name, "tenure", count, [](calls<Function>& p) { p.tenure(); });
#if TENURE_BENCH_BOOST_MATH
  bench::row<calls<Function>>(std::string("special_") + Function::name, "boost", count, [](calls<Function>& p) { p.boost(); });
#endif
}
const bool registered = [] {
  rows<of_lgamma>(), rows<of_digamma>(), rows<of_normal_cdf>(), rows<of_gammainc>();
  return true;
}();

}  // namespace
