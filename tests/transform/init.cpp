// SPDX-License-Identifier: BSL-1.0
// What the parameters of a fresh model are. Law: the declaration of a parameter says what it starts with, nothing else of its type
// changes by it; a matrix that says nothing is taken for the weights of matmul(x, w).
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;

namespace {

struct init_threes {
  template <class T, class S>
  static auto make(S shape, tn::engine&) { return tn::full<T>(shape, T(3)); }
};

template <class Kind, auto Width>
struct block {
  BOOST_HANA_DEFINE_STRUCT(block,
    (tn::param<Kind, float, tn::shape<Width>, tn::init_ones>, gain), (tn::param<Kind, float, tn::shape<Width>>, bias),
    (tn::param<Kind, float, tn::shape<4, Width>, tn::init_linear>, of_linear), (tn::param<Kind, float, tn::shape<Width, 4>>, of_matmul),
    (tn::param<Kind, float, tn::shape<Width, 4>, tn::init_zeros>, none), (tn::param<Kind, double, tn::shape<>, init_threes>, own));
};

template <class Kind>
struct model {
  using several = std::array<block<Kind, 400>, 2>;
  BOOST_HANA_DEFINE_STRUCT(model, (several, blocks), (tn::param<Kind, float, tn::shape<4, 100, 9>, tn::init_linear>, filters), (tn::tensor<float, tn::shape<2>>, plain));
};

// The largest of many uniform values within a bound is close to it.
template <class X>
void requires_bound(const X& x, double bound) {
  const double largest = amax(abs(x)).item();
  CAPTURE(largest, bound);
  REQUIRE(largest <= bound);
  REQUIRE(largest > 0.98 * bound);
}

template <class X>
void requires_all(const X& x, double value) {
  REQUIRE(amax(x).item() == value);
  REQUIRE(amin(x).item() == value);
}

}  // namespace

TEST_CASE("a parameter starts with what its declaration says") {
  tn::engine random(1);
  const auto m = tn::init<model>(random);
  for (const auto& b : m.blocks) {
    requires_all(b.gain, 1);
    requires_all(b.bias, 0);
    requires_bound(b.of_linear, 1 / std::sqrt(400.0));  // (out, in), though it has few rows
    requires_bound(b.of_matmul, 1 / std::sqrt(400.0));  // (in, out)
    requires_all(b.none, 0);
    REQUIRE(b.own.item() == 3);
  }
  requires_bound(m.filters, 1 / std::sqrt(900.0));
  requires_all(m.plain, 0);
  REQUIRE(m.blocks[0].of_linear(0, 0) != m.blocks[1].of_linear(0, 0));
}

TEST_CASE("what a parameter starts with is no part of its type") {
  STATIC_REQUIRE(std::is_same_v<tn::param<tn::values, float, tn::shape<3>, tn::init_ones>, tn::tensor<float, tn::shape<3>>>);
  STATIC_REQUIRE(std::is_same_v<tn::param<tn::tracing, float, tn::shape<3>, init_threes>, tn::param<tn::tracing, float, tn::shape<3>>>);
  tn::engine random(1);
  const auto m = tn::init<block, 4>(random);
  const auto grads = tn::grad([](auto b) { return sum(b.gain * b.gain) + sum(b.of_linear) + cast<float>(b.own); })(m);
  requires_all(grads.gain, 2);
  requires_all(grads.bias, 0);  // nothing depends on it
  REQUIRE(grads.own.item() == 1);
}
