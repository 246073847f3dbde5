// SPDX-License-Identifier: BSL-1.0
// Expressions over a few numbers that run at once, float64: a new tensor, an assignment, an update, and tensors over memory of a user. `eigen` has fixed
// sizes, and `heap` is Eigen's vector with a run-time size: it takes memory for a new result, as a tensor does.
#include "small.hpp"

namespace {

using namespace bench::small;

constexpr auto sum_of_products = tn::compile([](auto x, auto y) { return sum(x * y); });

template <int N>
struct expressions {
  array<N> a, b, c;
  struct {
    vector<N> a, b, c;
  } hand;
  struct {
    Eigen::VectorXd a, b, c;
  } heap;
  double number = 0;

  explicit expressions(std::int64_t) {
    fill(1, a, b);
    hand.a = as<vector<N>>(a), hand.b = as<vector<N>>(b);
    heap.a = hand.a, heap.b = hand.b, heap.c = hand.a;
    require_equal("a * 2 + b", twice_and_add(a, b), (hand.a * 2 + hand.b).eval());
    require_equal("exp(a)", exponential(a), hand.a.array().exp().matrix().eval());
    assign(c, a, b), require_equal("a + b", c, (hand.a + hand.b).eval());
    update(c, a), require_equal("c += a", c, (hand.a + hand.b + hand.a).eval());
    chain(c, a, b), require_equal("chain", c, (hand.a + hand.b).cwiseProduct(hand.a) - hand.b * 0.5);
    const double wanted = hand.a.dot(hand.b);
    for (const double found : {product(a, b), borrowed(a.data(), b.data()), call(a.data(), b.data())}) bench::require_agreement("a . b", &found, &wanted, 1, 1e-9);
  }
  std::int64_t items() const { return 1; }

  // Tenure and Eigen share the text of most expressions.
  template <class X>
  [[gnu::noinline]] static X add(const X& x, const X& y) { return X(x + y); }
  template <class X>
  [[gnu::noinline]] static X twice_and_add(const X& x, const X& y) { return X(x * 2 + y); }
  template <class X>
  [[gnu::noinline]] static void assign(X& to, const X& x, const X& y) { to = x + y; }
  template <class X>
  [[gnu::noinline]] static void update(X& to, const X& x) { to += x; }

  [[gnu::noinline]] static auto exponential(const array<N>& x) { return tn::eval(exp(x)); }
  [[gnu::noinline]] static double product(const array<N>& x, const array<N>& y) { return sum(x * y).item(); }
  [[gnu::noinline]] static void chain(array<N>& to, const array<N>& x, const array<N>& y) { to = (x + y) * x - y * 0.5; }
  template <class M>
  [[gnu::noinline]] static M exponential(const M& x) { return x.array().exp(); }
  template <class M>
  [[gnu::noinline]] static double product(const M& x, const M& y) { return x.dot(y); }
  template <class M>
  [[gnu::noinline]] static void chain(M& to, const M& x, const M& y) { to = (x + y).cwiseProduct(x) - y * 0.5; }

  // Over memory that a pointer names.
  [[gnu::noinline]] static double borrowed(const double* x, const double* y) { return sum(tn::from<tn::shape<N>>(x) * tn::from<tn::shape<N>>(y)).item(); }
  [[gnu::noinline]] static double call(const double* x, const double* y) {
    double number = 0;
    sum_of_products.into(tn::from<tn::shape<>>(&number))(tn::from<tn::shape<N>>(x), tn::from<tn::shape<N>>(y));
    return number;
  }
  [[gnu::noinline]] static auto handle(const double* x) { return tn::from<tn::shape<N>>(x); }
  [[gnu::noinline]] static double mapped(const double* x, const double* y) {
    return Eigen::Map<const vector<N>>(x).dot(Eigen::Map<const vector<N>>(y));
  }
};

template <int N>
void rows() {
  using all = expressions<N>;
  const auto each = [](const char* name, auto run) {
    bench::row<all>(name, "tenure", N, [run](all& p) { run(p, p); });
    bench::row<all>(name, "eigen", N, [run](all& p) { run(p, p.hand); });
    bench::row<all>(name, "heap", N, [run](all& p) { run(p, p.heap); });
  };
  each("eager_new", [](all&, auto& x) { benchmark::DoNotOptimize(all::add(x.a, x.b)); });
  each("eager_new_2", [](all&, auto& x) { benchmark::DoNotOptimize(all::twice_and_add(x.a, x.b)); });
  each("eager_exp", [](all&, auto& x) { benchmark::DoNotOptimize(all::exponential(x.a)); });
  each("eager_dot", [](all& p, auto& x) { p.number = all::product(x.a, x.b); });
  each("eager_assign", [](all&, auto& x) { all::assign(x.c, x.a, x.b); });
  each("eager_chain", [](all&, auto& x) { all::chain(x.c, x.a, x.b); });
  each("eager_update", [](all&, auto& x) { all::update(x.c, x.a); });
  bench::row<all>("borrowed_new", "tenure", N, [](all& p) { benchmark::DoNotOptimize(all::handle(p.a.data())); });
  bench::row<all>("borrowed_call", "tenure", N, [](all& p) { p.number = all::call(p.a.data(), p.b.data()); });
  bench::row<all>("borrowed_call", "eigen", N, [](all& p) { p.number = all::mapped(p.a.data(), p.b.data()); });
  bench::row<all>("borrowed_dot", "tenure", N, [](all& p) { p.number = all::borrowed(p.a.data(), p.b.data()); });
  bench::row<all>("borrowed_dot", "eigen", N, [](all& p) { p.number = all::mapped(p.a.data(), p.b.data()); });
}

const bool registered = [] {
  rows<3>(), rows<4>(), rows<8>(), rows<16>();
  return true;
}();

}  // namespace
