// SPDX-License-Identifier: BSL-1.0
// Laws of shapes: broadcasting, movement that feeds arithmetic, products, indexing.
#include "agree.hpp"

using namespace laws;

TEMPLATE_TEST_CASE("broadcasting agrees with the reference", "", TENURE_LAW_TYPES) {
  const auto a = filled<TestType>(shape<4, 1, 9>{}, 1);
  const auto b = filled<TestType>(shape<5, 1>{}, 2);
  const auto c = filled<TestType>(shape<>{}, 3);
  agrees(tn::value_and_grad<0, 1, 2>([](auto x, auto y, auto z) { return sum(tanh(x * y + z) / (square(y) + 1.0)); }), a, b, c);
  agrees(tn::compile([](auto x, auto y, auto z) { return std::tuple{x + y, maximum(x, z), minimum(y, z) * 3.0, pow(x * x + 0.5, z)}; }), a, b, c);
}

TEMPLATE_TEST_CASE("movement that feeds arithmetic agrees with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<6, 10>{}, 4);
  const auto y = filled<TestType>(shape<10, 6>{}, 5);
  agrees(tn::compile([](auto a, auto b) {
           return std::tuple{transpose(a) * b, transpose(a), tn::reshape<4, 15>(transpose(a) + b), tn::permute<1, 0>(a)};
         }),
         x, y);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) { return sum(sin(transpose(a)) * b * tn::reshape<10, 6>(a)); }), x, y);
}

TEMPLATE_TEST_CASE("slices and joins agree with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<6, 11>{}, 6);
  const auto y = filled<TestType>(shape<6, 4>{}, 7);
  agrees(tn::compile([](auto a, auto b) {
           return std::tuple{tn::slice<1, 2, 5>(a), tn::slice<1, 10, 4, -3>(a) * b, tn::slice<0, 1, 3, 2>(tn::slice<1, 3, 6>(a)),
                             tn::concat<1>(a, b), tn::concat<0>(a, exp(a)), tn::select<0, -1>(a), tn::stack<0>(a, a * 2.0)};
         }),
         x, y);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto b) {
           return sum(square(tn::concat<1>(tn::slice<1, 1, 4, 2>(a), b))) + sum(exp(tn::slice<0, 5, 6, -1>(a)) * a);
         }),
         x, y);
}

// A part of a concat is computed in its place there, with the strides of the whole: but not where something else needs it in one piece.
TEMPLATE_TEST_CASE("a part of a concat that is also reshaped agrees with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<2, 3>{}, 8);
  const auto y = filled<TestType>(shape<2, 4>{}, 9);
  agrees(tn::compile([](auto a, auto b) {
           const auto c = exp(a);
           return std::tuple{tn::concat<1>(c, b), tn::reshape<3, 2>(c) * 2.0};
         }),
         x, y);
  agrees(tn::compile([](auto a, auto b) {
           const auto c = exp(a);
           return std::tuple{tn::concat<1>(sin(b), c), matmul(tn::reshape<3, 2>(c), a), tn::reshape<6>(c)};
         }),
         x, y);
  agrees(tn::compile([](auto a, auto b) {
           const auto c = exp(a);
           return std::tuple{tn::concat<1>(tn::reshape<1, 2, 3>(c), tn::reshape<1, 2, 3>(b)), tn::reshape<6>(tn::slice<0, 1, 2>(tn::concat<0>(c, b))) * 2.0};
         }),
         x, filled<TestType>(shape<2, 3>{}, 16));
  agrees(tn::compile([](auto a, auto b) {
           const auto c = exp(a);
           return std::tuple{tn::concat<1>(c, b), tn::reshape<3, 4>(tn::slice<0, 1, 2>(c)) * 2.0};
         }),
         filled<TestType>(shape<4, 6>{}, 17), filled<TestType>(shape<4, 2>{}, 18));
  // Below each other they lie in one piece.
  agrees(tn::compile([](auto a, auto b) {
           const auto c = exp(a);
           const auto d = tn::concat<0>(c, sin(a));
           return std::tuple{tn::reshape<3, 2>(c) + 1.0, tn::concat<1>(tn::concat<1>(d, d), tn::concat<0>(b, b)), tn::reshape<2, 6>(d) * 3.0};
         }),
         x, y);
}

// A product is written in its part of a concat where the part is one row-major piece, also below a reshape.
TEMPLATE_TEST_CASE("products that are parts of concats agree with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<7, 13>{}, 11);
  const auto w = filled<TestType>(shape<13, 13>{}, 12);
  agrees(tn::compile([](auto a, auto u) {
           const auto p = matmul(a, u);
           const auto q = matmul(u, u);
           const auto both = tn::concat<0>(p, q);
           return std::tuple{matmul(both, u), tn::concat<0>(matmul(sin(a), u), exp(a)), tn::concat<1>(matmul(a, cos(u)), a), tn::slice<0, 2, 3>(q) + 1.0};
         }),
         x, w);
  agrees(tn::compile([](auto a, auto u) {
           const auto p = tn::reshape<7, 1, 13>(matmul(a, u));
           const auto q = tn::reshape<13, 1, 13>(matmul(u, u));
           const auto both = tn::concat<0>(q, p);
           return std::tuple{tn::concat<1>(both, both), tn::reshape<260>(both) * 2.0, tn::slice<2, 3, 4>(p), sum(q, tn::axis<0>)};
         }),
         x, w);
  agrees(tn::compile([](auto a, auto u) {
           const auto flat = tn::concat<0>(tn::reshape<91>(matmul(a, u)), tn::reshape<91>(tanh(matmul(a, cos(u)) + 1.0)));
           return tn::concat<0>(flat, tn::reshape<169>(matmul(u, u))) + 0.5;
         }),
         x, w);
  const auto large = filled<TestType>(shape<150, 96>{}, 13);
  const auto square = filled<TestType>(shape<96, 96>{}, 14);
  agrees(tn::value_and_grad<0, 1>([](auto a, auto u) { return sum(sin(tn::concat<0>(matmul(a, u), matmul(u, u), matmul(cos(a), u)))); }), large, square);
  const auto rows = filled<TestType>(shape<dyn, 13>{}, 15, 5);
  agrees(tn::compile([](auto a, auto u) { return std::tuple{tn::concat<0>(matmul(u, u), matmul(a, u)), tn::stack<0>(matmul(a, u), matmul(a, sin(u)))}; }), rows, w);
}

// Sums of slices put back are joined where they lie beside each other: along the same axis, and one where the other ends.
TEMPLATE_TEST_CASE("derivatives of slices along several axes agree with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<4, 4>{}, 10);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(exp(tn::slice<0, 0, 2>(a))) + sum(sin(tn::slice<1, 2, 2>(a))); }), x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(exp(tn::slice<0, 2, 2>(a))) + sum(sin(tn::slice<1, 0, 2>(a))); }), x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(exp(tn::slice<1, 0, 2>(a))) + sum(sin(tn::slice<1, 2, 2>(a))) + sum(tanh(tn::slice<0, 2, 1>(a))); }), x);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(exp(tn::slice<0, 0, 2>(a))) + sum(sin(tn::slice<0, 1, 2>(a))) + sum(tanh(tn::slice<0, 3, 1>(a))); }), x);
}

TEMPLATE_TEST_CASE("products agree with the reference", "", TENURE_LAW_TYPES) {
  const auto x = filled<TestType>(shape<7, 13>{}, 8);
  const auto w = filled<TestType>(shape<13, 9>{}, 9);
  const auto b = filled<TestType>(shape<9>{}, 10);
  agrees(tn::value_and_grad<0, 1, 2>([](auto a, auto u, auto v) { return mean(square(tanh(matmul(a, u) + v))); }), x, w, b);
  agrees(tn::compile([](auto a, auto u, auto v) {
           return std::tuple{matmul(transpose(u), transpose(a)), matmul(matmul(a, u), v), matmul(v, v), matmul(a, exp(u) * 0.5)};
         }),
         x, w, b);
  const auto batch = filled<TestType>(shape<3, 4, 5>{}, 11);
  const auto right = filled<TestType>(shape<3, 5, 2>{}, 12);
  const auto one = filled<TestType>(shape<5, 2>{}, 13);
  agrees(tn::value_and_grad<0, 1, 2>([](auto p, auto q, auto r) { return sum(matmul(p, q) * matmul(p, r)); }), batch, right, one);
}

TEMPLATE_TEST_CASE("indexing agrees with the reference", "", TENURE_LAW_TYPES) {
  const auto table = filled<TestType>(shape<8, 5>{}, 14);
  const auto rows = filled<std::int32_t>(shape<2, 3>{}, 15, 0.0, 8.0);
  agrees(tn::value_and_grad<0>([](auto t, auto i) { return sum(square(tn::gather<0>(t, i))); }), table, rows);
  agrees(tn::compile([](auto t, auto i) { return tn::gather<1>(t, i); }), table, filled<std::int64_t>(shape<4>{}, 16, 0.0, 5.0));
  agrees(tn::compile([](auto t, auto i) { return pick(t, i); }), table, filled<std::int64_t>(shape<8>{}, 17, 0.0, 5.0));
}
