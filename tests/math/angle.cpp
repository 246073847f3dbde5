// SPDX-License-Identifier: BSL-1.0
// The functions of squared angles against long double, at the width of a packet and of one number.
#include <tenure/math/angle.hpp>
#include <tenure/ops/registry.hpp>

#include "../catch.hpp"
#include "ulp.hpp"

namespace {
namespace tn = tenure;
using namespace math_test;

template <class P, class F>
m::scalar_of<P> last_lane(F f, m::scalar_of<P> x) {
  m::scalar_of<P> lanes[m::width<P>];
  m::store<P>(lanes, f(m::set1<P>(x)));
  return lanes[m::width<P> - 1];
}

template <class Op, class P>
void check(double end) {
  using T = m::scalar_of<P>;
  const auto f = [](P x) { return Op::evaluate(x); };
  int exponent = 0;
  std::frexp(Op::reference(0.0), &exponent);
  const double unit = std::ldexp(1.0, exponent - std::numeric_limits<T>::digits);
  double worst = 0;
  for (int i = 0; i <= 4000; ++i) {
    const T x = static_cast<T>(end * (i / 4000.0) * (i / 4000.0));
    const double error = std::abs(static_cast<double>(last_lane<P>(f, x)) - Op::reference(static_cast<double>(x))) / unit;
    worst = error > worst ? error : worst;
  }
  INFO(Op::name << " of " << m::width<P> << " lanes: " << worst << " ulp");
  CHECK(worst <= 4);
  CHECK(std::isnan(last_lane<P>(f, std::numeric_limits<T>::quiet_NaN())));
}
template <class... Op>
void check_all(tn::ops::operation_list<Op...>) {
  const auto end = [](const char* name) { return name[0] == 'a' ? 1.0 : 9.8696; };
  (check<Op, m::packet_of<double>>(end(Op::name)), ...);
  (check<Op, m::packet_of<float>>(end(Op::name)), ...);
  (check<Op, double>(end(Op::name)), ...);
}
}  // namespace

// Law: the error is at most 4 ulp of the value at 0, for z in [0, pi^2] and p in [0, 1].
TEST_CASE("functions of squared angles have at most 4 ulp of the value at 0", "[math]") { check_all(tn::ops::angle_operations{}); }
