// SPDX-License-Identifier: BSL-1.0
// Random programs with loops, branches, batches and derivatives, at ordinary, large, tiny and special arguments, against the numbers of JAX.
// More of them, where Python has JAX: tests/peers/programs.py.
#include "data_jax.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include "../catch.hpp"

namespace {

using by_jax::number;

bool agrees(double got, const number& n) {
  if (n.tolerance < 0) return std::isfinite(got);
  if (std::isinf(n.tolerance)) return true;
  if (std::isnan(n.wanted)) return std::isnan(got);
  if (n.tolerance == 0) return got == n.wanted && std::signbit(got) == std::signbit(n.wanted);
  return got == n.wanted || std::abs(got - n.wanted) <= n.tolerance;
}

std::string difference(const std::vector<double>& got, const number* wanted, std::size_t count) {
  if (got.size() != count) return "another number of results";
  for (std::size_t i = 0; i < count; ++i)
    if (!agrees(got[i], wanted[i])) {
      std::ostringstream s;
      s.precision(17);
      s << "number " << i << " of " << count << ": " << got[i] << " instead of " << wanted[i].wanted << ", tolerance " << wanted[i].tolerance;
      return s.str();
    }
  return "";
}

struct judge {
  template <class F, std::size_t Given, std::size_t Wanted>
  void operator()(int seed, const double (&given)[Given], const number (&wanted)[Wanted]) const {
    std::vector<double> got;
    for (const double* from = given; from != given + Given;) peers::evaluate<F>(from, got);
    INFO("program " << seed);
    CHECK(difference(got, wanted, Wanted) == "");
  }
};

}  // namespace

TEST_CASE("golden: random programs by JAX") { by_jax::for_each_program(judge{}); }
