// SPDX-License-Identifier: BSL-1.0
// attention over rows that a number of the run says, over the last rows, and with a mask.
#include "attention.hpp"

#include "adjoint.hpp"

using namespace laws;

namespace {

constexpr auto over_first = [](auto q, auto k, auto v, auto n) { return tn::attention(q, k, v, tn::first_rows(n)); };
constexpr auto at_position = [](auto q, auto k, auto v, auto p) { return tn::attention(q, k, v, tn::causal.from(p)); };
constexpr auto in_window = [](auto q, auto k, auto v, auto p) { return tn::attention(q, k, v, tn::causal.last<7>().from(p)); };

/// Row i of q sees the rows `first` ... `last` of k and v, by the definition, for positions from p on.
template <std::int64_t Last, bool Causal>
constexpr auto masked = [](auto q, auto k, auto v, auto n) {
  using Q = typename decltype(q)::shape_type;
  const auto scores = matmul(q, tn::transpose<-1, -2>(k)) * (1 / tn::sqrt(static_cast<double>(Q::value[Q::rank - 1])));
  const auto at = tn::index_along<-1>(scores), row = tn::index_along<-2>(scores);
  const auto end = Causal ? row + n : 0 * row + n - 1;
  return matmul(softmax(where(at <= end && at > end - Last, scores, -HUGE_VAL)), v);
};

/// x with NaN in the rows from n on, which do not count.
template <class X>
X with_garbage(const X& x, std::int64_t n) {
  X y = tn::deepcopy(x);
  const auto columns = y.extent(y.rank - 1), rows = y.extent(y.rank - 2);
  for (std::int64_t i = 0; i < y.size(); ++i)
    if (i / columns % rows >= n) tn::as_span(y)[static_cast<std::size_t>(i)] = std::numeric_limits<tn::element_t<X>>::quiet_NaN();
  return y;
}

}  // namespace

// Law: attention over the first n rows is attention over the slice of these rows, in the same bits.
TEMPLATE_TEST_CASE("attention over the first n rows is attention over their slice", "", float, double) {
  using T = TestType;
  constexpr std::int64_t capacity = 300;
  const auto first = tn::compile(over_first);
  const auto whole = tn::compile(attends);
  const auto k = filled<T>(shape<2, capacity, 6>{}, 2);
  const auto v = filled<T>(shape<2, capacity, 5>{}, 3);
  const auto look = [&](const auto& q) {
    for (const std::int64_t n : {0, 1, 2, 7, 16, 17, 119, 120, 121, 240, 299, 300}) {
      INFO(n << " rows");
      const auto slice = [&](const auto& x) { return tn::tensor<T, shape<2, dyn, std::decay_t<decltype(x)>::shape_type::value[2]>>(x.at(tn::all, tn::range(0, n)).clone()); };
      const auto found = first(q, with_garbage(k, n), with_garbage(v, n), n);
      CHECK(elements_of(found) == elements_of(whole(q, slice(k), slice(v))));
      if (n == 0)
        for (const double x : elements_of(found)) CHECK(x == 0);
    }
  };
  look(filled<T>(shape<2, 1, 6>{}, 1));
  look(filled<T>(shape<2, 4, 6>{}, 1));
  look(filled<T>(shape<2, 37, 6>{}, 1));
}

// Law: attention at a position is causal attention over the whole sequence.
TEMPLATE_TEST_CASE("attention at a position is a part of causal attention over the sequence", "", float, double) {
  using T = TestType;
  constexpr std::int64_t length = 260, part = 20;
  const auto q = filled<T>(shape<length, 8>{}, 1);
  const auto k = filled<T>(shape<length, 8>{}, 2);
  const auto v = filled<T>(shape<length, 16>{}, 3);
  const auto whole = tn::compile(attends_causally)(q, k, v);
  const auto windows = tn::compile([](auto q, auto k, auto v) { return tn::attention(q, k, v, tn::causal.last<7>()); })(q, k, v);
  const auto from = tn::compile(at_position);
  const auto last = tn::compile(in_window);
  const double tolerance = sizeof(T) == 4 ? 1e-5 : 1e-13;
  for (const int p : {0, 1, 6, 7, 8, 100, 119, 239, 240}) {
    INFO("position " << p);
    const tn::tensor<T, shape<part, 8>> some = q.at(tn::range(p, p + part)).clone();
    const auto found = from(some, with_garbage(k, p + part), with_garbage(v, p + part), p), seen = last(some, with_garbage(k, p + part), with_garbage(v, p + part), p);
    for (std::int64_t i = 0; i < part; ++i)
      for (std::int64_t c = 0; c < 16; ++c) {
        CHECK(found(i, c) == Approx(whole(p + i, c)).epsilon(tolerance).margin(tolerance));
        CHECK(seen(i, c) == Approx(windows(p + i, c)).epsilon(tolerance).margin(tolerance));
      }
  }
  same([](auto q, auto k, auto v) { return tn::attention(q, k, v, tn::causal.last<7>()); }, [](auto q, auto k, auto v) { return masked<7, true>(q, k, v, 0); }, tolerance, q, k, v);
}

TEMPLATE_TEST_CASE("attention over some rows: values and gradients are those of the definition and of the reference", "", float, double) {
  using T = TestType;
  const double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;
  const auto look = [&](const auto& q, const auto& k, const auto& v, std::int64_t n) {
    INFO("n = " << n);
    const auto both = [&](auto f, auto g) {
      using F = decltype(f);
      using G = decltype(g);
      same(tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v, auto n) { return sum(sin(F{}(q, k, v, n))); }),
           tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v, auto n) { return sum(sin(G{}(q, k, v, n))); }), tolerance, q, k, v, n);
      agrees(tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v, auto n) { return sum(sin(F{}(q, k, v, n))); }), 4096, q, k, v, n);
    };
    if (n > 0) both(over_first, masked<100000, false>);
    both(at_position, masked<100000, true>);
    both(in_window, masked<7, true>);
  };
  look(filled<T>(shape<2, 3, 4>{}, 1), filled<T>(shape<2, 9, 4>{}, 2), filled<T>(shape<2, 9, 5>{}, 3), 0);
  look(filled<T>(shape<2, 3, 4>{}, 1), filled<T>(shape<2, 9, 4>{}, 2), filled<T>(shape<2, 9, 5>{}, 3), 4);
  look(filled<T>(shape<2, 3, 4>{}, 1), filled<T>(shape<2, 9, 4>{}, 2), filled<T>(shape<2, 9, 5>{}, 3), 6);
  look(filled<T>(shape<40, 8>{}, 1), filled<T>(shape<290, 8>{}, 2), filled<T>(shape<290, 16>{}, 3), 115);
  look(filled<T>(shape<40, 8>{}, 1), filled<T>(shape<290, 8>{}, 2), filled<T>(shape<290, 16>{}, 3), 250);
}

TEST_CASE("attention over the first rows: each sample of vmap has its own number, also tensors at once and n in a loop") {
  const auto q = filled<double>(shape<3, 2, 4>{}, 1);
  const auto k = filled<double>(shape<3, 9, 4>{}, 2);
  const auto v = filled<double>(shape<3, 9, 5>{}, 3);
  const array<std::int64_t, 3> counts{9, 0, 4};
  const auto batched = tn::vmap(over_first)(q, k, v, counts);
  const auto gradient = tn::vmap(tn::grad<0, 1, 2>([](auto q, auto k, auto v, auto n) { return sum(sin(over_first(q, k, v, n))); }))(q, k, v, counts);
  for (int s = 0; s < 3; ++s) {
    const tn::tensor one = tn::attention(q[s].clone(), k[s].clone(), v[s].clone(), tn::first_rows(counts(s)));
    CHECK(elements_of(batched[s].clone()) == elements_of(one));
    const auto of_one = tn::grad<0, 1, 2>([](auto q, auto k, auto v, auto n) { return sum(sin(over_first(q, k, v, n))); })(q[s].clone(), k[s].clone(), v[s].clone(), counts(s));
    CHECK(elements_of(std::get<1>(gradient)[s].clone()) == elements_of(std::get<1>(of_one)));
  }
  const auto shared = tn::vmap<0, tn::unmapped, tn::unmapped, 0>(over_first)(q, k[0].clone(), v[0].clone(), counts);
  CHECK(elements_of(shared[2].clone()) == elements_of(tn::eval(tn::attention(q[2].clone(), k[0].clone(), v[0].clone(), tn::first_rows(4)))));
  const auto in_loop = tn::compile([](auto q, auto k, auto v) {
    return tn::fori_loop(9, [=](auto i, auto total) { return total + tn::attention(q, k, v, tn::first_rows(i)) * tn::attention(q, k, v, tn::first_rows(9 - i)); }, tn::zeros_like(tn::attention(q, k, v)));
  });
  const auto by_hand = in_loop(q[0].clone(), k[0].clone(), v[0].clone());
  std::vector<double> sums(10);
  for (int i = 0; i < 9; ++i) {
    const auto a = elements_of(tn::eval(tn::attention(q[0].clone(), k[0].clone(), v[0].clone(), tn::first_rows(i)))), b = elements_of(tn::eval(tn::attention(q[0].clone(), k[0].clone(), v[0].clone(), tn::first_rows(9 - i))));
    for (std::size_t c = 0; c < 10; ++c) sums[c] += a[c] * b[c];
  }
  const auto found = elements_of(by_hand);
  for (std::size_t c = 0; c < 10; ++c) CHECK(found[c] == Approx(sums[c]).epsilon(1e-14));
}

TEST_CASE("attention over rows: tangents and second derivatives") {
  const auto q = filled<double>(shape<2, 4>{}, 1);
  const auto k = filled<double>(shape<6, 4>{}, 2);
  const auto v = filled<double>(shape<6, 3>{}, 3);
  const auto adjoint_of = [](auto f) {
    using F = decltype(f);
    return [](auto q, auto k, auto v, auto n) { return F{}(q, k, v, n); };
  };
  for (const std::int64_t at : {0, 1, 3}) {
    INFO("n = " << at);
    const tn::tensor<std::int64_t, shape<>> n = at;
    derivatives_agree<double>(adjoint_of(at_position), q, k, v, n);
    derivatives_agree<double>(adjoint_of(over_first), q, k, v, n);
    const auto twice = [](auto f) {
      using F = decltype(f);
      return tn::grad<0, 1, 2>([](auto q, auto k, auto v, auto n) {
        return sum(square(tn::grad<0>([](auto a, auto b, auto c, auto m) { return sum(sin(F{}(a, b, c, m))); })(q, k, v, n)));
      });
    };
    if (at > 0) same(twice(over_first), twice(masked<100000, false>), 1e-11, q, k, v, n);
    else
      for (const double x : elements_of(twice(over_first)(q, k, v, n))) CHECK(x == 0);
    same(twice(in_window), twice(masked<7, true>), 1e-11, q, k, v, n);
  }
}

TEST_CASE("attention refuses rows that are not there, before anything is written") {
  const auto q = filled<float>(shape<2, 4>{}, 1);
  const auto k = filled<float>(shape<6, 4>{}, 2);
  const auto v = filled<float>(shape<6, 3>{}, 3);
  const auto first = tn::compile(over_first);
  auto to = tn::full<float>(shape<2, 3>{}, 7.0f);
  for (const int n : {-1, 7, 100}) {
    const std::string says = "tenure: attention: first_rows(n): the first " + std::to_string(n) + " of 6 rows";
    CHECK_THROWS_AS(first.into(to)(q, k, v, n), tn::index_error);
    CHECK_THROWS_WITH(first.into(to)(q, k, v, n), says);
    CHECK_THROWS_WITH(tn::attention(q, k, v, tn::first_rows(n)), says);
  }
  const auto from = tn::compile(at_position);
  for (const int p : {-1, 5, 6}) CHECK_THROWS_AS(from.into(to)(q, k, v, p), tn::index_error);
  CHECK_THROWS_WITH(from.into(to)(q, k, v, 5), "tenure: attention: causal.from(p): a block of 2 at index 5 is outside an axis of 6");
  CHECK(to(0, 0) == 7);
  CHECK_NOTHROW(from.into(to)(q, k, v, 4));
  CHECK_NOTHROW(first.into(to)(q, k, v, 6));
}

TEST_CASE("attention with a mask") {
  const auto q = filled<double>(shape<2, 3, 4>{}, 1);
  const auto k = filled<double>(shape<2, 5, 4>{}, 2);
  const auto v = filled<double>(shape<2, 5, 3>{}, 3);
  array<bool, 3, 5> mask{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) mask.at(i, j) = j <= i;
  const auto with_mask = [](auto q, auto k, auto v, auto mask) { return tn::attention(q, k, v, mask); };
  same(with_mask, [](auto q, auto k, auto v, auto) { return attends_causally(q, k, v); }, 1e-14, q, k, v, mask);
  const tn::tensor added = where(mask, 0.0, -HUGE_VAL);
  same(with_mask, [](auto q, auto k, auto v, auto) { return attends_causally(q, k, v); }, 1e-14, q, k, v, added);
  for (int j = 0; j < 5; ++j) mask.at(1, j) = false;
  const auto pulled = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v, auto mask) { return sum(sin(tn::attention(q, k, v, mask))); });
  const auto found = tn::compile(with_mask)(q, k, v, mask);
  const auto slopes = pulled(q, k, v, mask);
  for (int s = 0; s < 2; ++s)
    for (int c = 0; c < 3; ++c) {
      CHECK(found(s, 1, c) == 0);
      CHECK(std::get<1>(slopes)(s, 1, c) == 0);
    }
  agrees(pulled, q, k, v, mask);
  CHECK(elements_of(tn::eval(tn::attention(q, k, v, mask))) == elements_of(found));
}

TEST_CASE("attention over rows of bfloat16 is that of float32, rounded once") {
  const auto q = tn::eval(tn::cast<tn::bfloat16>(filled<float>(shape<2, 3, 8>{}, 1)));
  const auto k = tn::eval(tn::cast<tn::bfloat16>(filled<float>(shape<2, 9, 8>{}, 2)));
  const auto wide_q = tn::eval(tn::cast<float>(q));
  const auto wide_k = tn::eval(tn::cast<float>(k));
  const auto narrow = tn::eval(tn::attention(q, k, k, tn::causal.from(4)));
  const auto wide = tn::eval(tn::cast<tn::bfloat16>(tn::attention(wide_q, wide_k, wide_k, tn::causal.from(4))));
  CHECK(elements_of(narrow) == elements_of(wide));
}
