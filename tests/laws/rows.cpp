// SPDX-License-Identifier: BSL-1.0
// Laws of what walks rows: softmax, normalization, losses, reductions along every kind of axis.
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("softmax and its relatives agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<5, 19>{}, 1);
  const auto w = filled<TestType>(shape<5, 19>{}, 2);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(softmax(a) * b); }), x, w);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(log_softmax(a, tn::axis<0>) * b); }), x, w);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(logsumexp(a, tn::axis<1>)) + logsumexp(a); }), x);
}

TEMPLATE_TEST_CASE("layer normalization agrees with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<6, 13>{}, 3);
  const auto scale = filled<TestType>(shape<13>{}, 4), shift = filled<TestType>(shape<13>{}, 5);
  agrees(tn::value_and_grad<0, 1, 2>([](auto a, auto s, auto t) {
           const auto centred = a - mean(a, tn::axis<1>, tn::keepdim);
           const auto v = mean(square(centred), tn::axis<1>, tn::keepdim);
           return sum(tanh(centred * rsqrt(v + 1e-3) * s + t));
         }),
         x, scale, shift);
}

TEMPLATE_TEST_CASE("cross entropy agrees with the reference", "", double, float) {
  const auto logits = filled<TestType>(shape<7, 10>{}, 6);
  const auto labels = filled<std::int64_t>(shape<7>{}, 7, 0.0, 10.0);
  agrees(tn::value_and_grad<0>([](auto x, auto y) { return cross_entropy(x, y); }), logits, labels);
}

TEMPLATE_TEST_CASE("reductions over any axes agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<3, 5, 9>{}, 8);
  agrees(tn::compile([](auto a) {
           return std::tuple{sum(a), sum(a, tn::axis<0>), sum(a, tn::axis<1>), sum(a, tn::axis<2>), sum(a, tn::axes<0, 1>), sum(a, tn::axes<0, 2>),
                             sum(a, tn::axes<1, 2>)};
         }),
         x);
  agrees(tn::compile([](auto a) {
           return std::tuple{amax(a), amin(a, tn::axis<0>), amax(a, tn::axis<1>), amin(a, tn::axis<2>), mean(a, tn::axes<0, 2>, tn::keepdim)};
         }),
         x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(amax(exp(a), tn::axis<1>) * sum(a * a, tn::axis<1>)); }), x);
}

TEMPLATE_TEST_CASE("columns and rows of one matrix agree with the reference", "", double, float) {
  const auto x = filled<TestType>(shape<11, 7>{}, 9);
  agrees(tn::compile([](auto a) { return std::tuple{sum(exp(a), tn::axis<0>), sum(exp(a), tn::axis<1>), sum(exp(a)), exp(a)}; }), x);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(square(a + b)); }), x, filled<TestType>(shape<7>{}, 10));
}

TEMPLATE_TEST_CASE("whatever is left of a packet agrees with the reference", "", double, float) {
  const auto f = tn::value_and_grad<0>([](auto a) { return sum(sigmoid(a) * log1p(exp(a))); });
  agrees(f, filled<TestType>(shape<1>{}, 1));
  agrees(f, filled<TestType>(shape<2>{}, 2));
  agrees(f, filled<TestType>(shape<3>{}, 3));
  agrees(f, filled<TestType>(shape<15>{}, 4));
  agrees(f, filled<TestType>(shape<16>{}, 5));
  agrees(f, filled<TestType>(shape<33>{}, 6));
}

TEST_CASE("extents of 0 agree with the reference") {
  const auto none = tn::zeros<double>(shape<0, 4>{});
  const auto columns = tn::zeros<double>(shape<4, 0>{});
  const auto f = tn::compile([](auto a) {
    return std::tuple{sum(a), sum(a, tn::axis<0>), sum(a, tn::axis<1>), logsumexp(a), logsumexp(a, tn::axis<0>), exp(a) * 2.0};
  });
  agrees(f, none);
  agrees(f, columns);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(a * a); }), none);
  agrees(tn::compile([](auto a, auto b) { return std::tuple{matmul(a, b), matmul(b, a)}; }), none, columns);
}
