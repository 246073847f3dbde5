// SPDX-License-Identifier: BSL-1.0
// qr, an operation with two results: its equations, its derivatives up to the second, batches in packets, extreme matrices, and its two nodes as one step.
#include "matrices.hpp"

namespace {
constexpr auto factors = tn::compile([](auto a) { return tn::qr(a); });

/// The largest elements of q r - a and of q^T q - 1, divided by the largest element of a and by 1. And whether r is upper triangular with a diagonal >= 0.
template <class T>
void check_factors(const batch<T>& a, const batch<T>& q, const batch<T>& r, double tolerance) {
  const std::int64_t n = a.extent(1), m = a.extent(2), k = std::min(n, m);
  REQUIRE((q.extent(0) == a.extent(0) && q.extent(1) == n && q.extent(2) == k && r.extent(0) == a.extent(0) && r.extent(1) == k && r.extent(2) == m));
  double product = 0, angles = 0, largest = 0;
  bool is_upper = true;
  const auto at = [](const batch<T>& x, std::int64_t s, std::int64_t i, std::int64_t j) { return static_cast<long double>(x.data()[(s * x.extent(1) + i) * x.extent(2) + j]); };
  for (const T x : tn::as_span(a)) largest = std::max(largest, static_cast<double>(std::abs(x)));
  for (std::int64_t s = 0; s < a.extent(0); ++s) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) {
        long double rest = -at(a, s, i, j);
        for (std::int64_t c = 0; c < k; ++c) rest += at(q, s, i, c) * at(r, s, c, j);
        product = std::max(product, static_cast<double>(std::abs(rest)));
        is_upper = is_upper && (i >= k || (j < i ? at(r, s, i, j) == 0 : j > i || at(r, s, i, j) >= 0));
      }
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = 0; j < k; ++j) {
        long double rest = i == j ? -1 : 0;
        for (std::int64_t c = 0; c < n; ++c) rest += at(q, s, c, i) * at(q, s, c, j);
        angles = std::max(angles, static_cast<double>(std::abs(rest)));
      }
  }
  CHECK(is_upper);
  CHECK(product <= tolerance * largest);
  CHECK(angles <= tolerance);
}

template <std::int64_t N, std::int64_t M>
real<N, M> some(unsigned seed) {
  real<N, M> x = tn::zeros<double>(tn::shape<N, M>{});
  const batch<double> from = random<double>(1, N, M, seed);
  std::copy_n(from.data(), N * M, tn::as_span(x).begin());
  return x;
}
constexpr auto of_both = [](auto a) {
  const auto [q, r] = tn::qr(a);
  return tn::sum(tn::sin(q * 2.0)) + tn::sum(r * r * r);
};
constexpr auto of_q = [](auto a) { return tn::sum(tn::sin(std::get<0>(tn::qr(a)) * 2.0)); };
constexpr auto of_r = [](auto a) { return tn::sum(tn::sin(std::get<1>(tn::qr(a)))); };
/// Six matrices in one program, of which each has its own rule: both factors or one of them, tall or wide.
constexpr auto of_six = [](auto a) {
  return of_both(a[0]) + of_q(a[1]) + of_r(a[2]) + of_both(tn::transpose(a[3])) + of_q(tn::transpose(a[4])) + of_r(tn::transpose(a[5]));
};

/// Three results, memory in addition, and an operand that run() writes over. It is in no list of operations.
struct three_parts : tn::ops::sample_operation<three_parts, 1, 3> {
  static constexpr tn::ops::signature takes = "(n,m)->(m,n),(k),() k=min(n,m)";
  static constexpr bool overwrites(int, const tn::ops::sample_sizes&) { return true; }
  static constexpr std::int64_t scratch(const tn::ops::sample_sizes& sizes) { return sizes[2]; }
  static constexpr std::int64_t flops_of_sample(const tn::ops::sample_sizes& sizes) { return sizes[0] * sizes[1]; }
  template <class V>
  static void run(const tn::ops::sample_sizes& sizes, V* const* operand, V* const* to, tn::ops::no_options) {
    const V zero = V(typename V::number(0));
    for (std::int64_t i = 0; i < sizes[2]; ++i) operand[1][i] = operand[0][i * sizes[1] + i];
    for (std::int64_t i = 0; i < sizes[2]; ++i) operand[0][i * sizes[1] + i] = zero;
    for (std::int64_t i = 0; i < sizes[0]; ++i)
      for (std::int64_t j = 0; j < sizes[1]; ++j) to[0][j * sizes[0] + i] = operand[0][i * sizes[1] + j];
    to[2][0] = zero;
    for (std::int64_t i = 0; i < sizes[2]; ++i) to[1][i] = operand[1][i], to[2][0] = to[2][0] + operand[1][i];
  }
};
constexpr bool fits(const char* text) { return tn::ops::signature(text).fits(); }
static_assert(fits("(n,m),(m,k),(k,l)->(n,l)") && fits("(n,h,w,c),(u,v,c,o)->(n,i,j,o)") && !fits("(n,h,w,c),(u,v,c,o)->(n,i,j,k)") && fits("(n)->(n),(n),(n)") && !fits("(n)->(n),(n),(n),(n)"));
static_assert(fits("(n),(n),(n)->()") && fits("(n),(n),(n),(n)->()") && !fits("(n),(n),(n),(n),(n)->()") && fits("(a,b,c,d)->(a)") && !fits("(a,b,c,d,a)->(a)") && !fits("(n)->(n,n,n,n,n)"));
static_assert(three_parts::takes.results() == 3 && three_parts::takes.letters() == 3 && three_parts::takes.result(2).rank == 0);
}  // namespace

TEMPLATE_TEST_CASE("Law: q r = a, q^T q = 1, and a sample has the same bits in a batch and alone", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const double tolerance = sizeof(T) == 4 ? 3e-6 : 5e-15;
  for (const auto& [samples, n, m] : {std::array{1, 1, 1}, {1, 3, 3}, {4, 5, 3}, {17, 3, 5}, {33, 4, 4}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {2, 40, 7}, {2, 7, 40}, {16, 1, 6}, {16, 6, 1}, {17, 9, 9}, {18, 13, 10}, {9, 10, 15}, {8, 32, 32}}) {
    CAPTURE(samples, n, m, sizeof(T));
    const batch<T> a = random<T>(samples, n, m, static_cast<unsigned>(n + 10 * m));
    const auto [q, r] = factors(a);
    check_factors<T>(a, q, r, tolerance);
    for (std::int64_t s = 0; s < samples; ++s) {
      const auto [q_alone, r_alone] = factors(one_of(a, s));
      CHECK(same_bits(q_alone.data(), q.data() + s * q_alone.size(), q_alone.size()));
      CHECK(same_bits(r_alone.data(), r.data() + s * r_alone.size(), r_alone.size()));
    }
    judged::agree(factors(a), judged::by_reference(factors.function, a), sizeof(T) == 4 ? 2e-5 : 1e-12);
  }
  constexpr auto of_transposed = [](auto a) { return tn::qr(tn::transpose<1, 2>(a)); };
  const batch<T> a = random<T>(19, 3, 5, 1);
  judged::agree(tn::compile(of_transposed)(a), judged::by_reference(of_transposed, a), sizeof(T) == 4 ? 2e-5 : 1e-12);
}

TEST_CASE("qr: both factors are one step, and a factor that nobody reads is not written") {
  const real<4, 3> a = some<4, 3>(1);
  using both = decltype(factors.plan(a));
  CHECK(both::kernels() == 1);
  constexpr auto only_r = tn::compile([](auto a) { return std::get<1>(tn::qr(a)); });
  const auto [q, r] = factors(a);
  const real<3, 3> alone = only_r(a);
  CHECK(decltype(only_r.plan(a))::kernels() == 1);
  CHECK(same_bits(alone.data(), r.data(), 9));
  // A reader of q between the two nodes, and both factors of two matrices.
  constexpr auto mixed = [](auto a, auto b) {
    const auto q = std::get<0>(tn::qr(a));
    const auto c = tn::matmul(tn::exp(q), b);
    const auto [p, s] = tn::qr(c);
    return std::tuple{std::get<1>(tn::qr(a)) + s, p};
  };
  const real<3, 3> b = some<3, 3>(2);
  judged::agree(tn::compile(mixed)(a, b), judged::by_reference(mixed, a, b), 1e-12);
  CHECK(decltype(tn::compile(mixed).plan(a, b))::kernels() <= 5);
  // Without a trace each factor is an expression.
  const real<4, 3> eager = std::get<0>(tn::qr(a));
  CHECK(same_bits(eager.data(), q.data(), 12));
  auto leaf = some<4, 3>(1).requires_grad_();
  const auto [of_leaf, upper] = tn::qr(leaf);
  (tn::sum(tn::sin(of_leaf * 2.0)) + tn::sum(upper * upper * upper)).backward();
  const real<4, 3> wanted = tn::grad<0>(of_both)(a);
  const auto found = leaf.grad();
  for (int e = 0; e < 12; ++e) CHECK(found.data()[e] == Approx(wanted.data()[e]).epsilon(1e-12));
}

TEST_CASE("qr: extreme matrices") {
  for (const double scale : {1e-300, 1e-150, 1e150, 1e300}) {
    CAPTURE(scale);
    batch<double> a = random<double>(9, 4, 3, 5);
    for (double& x : tn::as_span(a)) x *= scale;
    const auto [q, r] = factors(a);
    check_factors<double>(a, q, r, 5e-15);
  }
  // Dependent columns: the factors are still factors. A zero matrix has the columns of the identity.
  batch<double> a = random<double>(9, 4, 3, 6);
  for (int i = 0; i < 4; ++i) tn::as_span(a)[static_cast<std::size_t>(2 * 12 + 3 * i + 2)] = 2 * a.data()[2 * 12 + 3 * i], tn::as_span(a)[static_cast<std::size_t>(3 * 12 + 3 * i)] = 0;
  for (int e = 0; e < 12; ++e) tn::as_span(a)[static_cast<std::size_t>(4 * 12 + e)] = 0;
  const auto [q, r] = factors(a);
  check_factors<double>(a, q, r, 5e-15);
  for (int e = 0; e < 12; ++e) CHECK(q.data()[4 * 12 + e] == (e % 4 == 0 && e < 12 ? 1 : 0));
  for (int e = 0; e < 9; ++e) CHECK(r.data()[4 * 9 + e] == 0);
  // NaN in one sample stays there, wherever it stands.
  for (const int place : {0, 5, 11}) {
    batch<double> bad = a.clone();
    tn::as_span(bad)[static_cast<std::size_t>(5 * 12 + place)] = not_a_number;
    const auto [p, s] = factors(bad);
    for (std::int64_t i = 0; i < 9; ++i)
      if (i != 5) CHECK((same_bits(p.data() + i * 12, q.data() + i * 12, 12) && same_bits(s.data() + i * 9, r.data() + i * 9, 9)));
    CHECK(std::isnan(s.data()[5 * 9 + (place == 5 || place == 11 ? 8 : 0)]));
  }
}

TEST_CASE("qr: derivatives of first and second order by differences, of one factor and of both, tall and wide") {
  constexpr auto gradient = tn::grad<0>(of_six);
  constexpr auto loss = tn::compile(of_six);
  using six = real<6, 4, 3>;
  const auto some_of = [](unsigned seed, int matrix) {  // zeros but for one matrix, or all six
    six x = tn::zeros<double>(tn::shape<6, 4, 3>{});
    const batch<double> from = random<double>(6, 4, 3, seed);
    for (int i = 0; i < x.size(); ++i) tn::as_span(x)[static_cast<std::size_t>(i)] = matrix < 0 || i / 12 == matrix ? from.data()[i] : 0;
    return x;
  };
  const six a = some_of(3, -1), da = gradient(a);
  constexpr double h = 1e-5;
  for (int matrix = 0; matrix < 6; ++matrix) {
    CAPTURE(matrix);
    const six v = some_of(4, matrix), up = a + h * v, down = a - h * v;
    double along = 0;
    for (int i = 0; i < a.size(); ++i) along += da.data()[i] * v.data()[i];
    CHECK(along == Approx((loss(up).item() - loss(down).item()) / (2 * h)).epsilon(1e-7));
    CHECK(judged::results(tn::jvp(of_six), a, v)[1][0] == Approx(along).epsilon(1e-11));
    const auto second = judged::results(tn::jvp(gradient), a, v)[1];
    const six above = gradient(up), below = gradient(down);
    for (int i = 0; i < a.size(); ++i) CHECK(second[i] == Approx((above.data()[i] - below.data()[i]) / (2 * h)).epsilon(1e-5).margin(1e-6));
  }
  judged::agree(da, judged::by_reference(gradient, a), 1e-10);
}

TEST_CASE("qr: derivatives with run-time extents are those with static ones, under vmap and in loops") {
  constexpr auto gradient = tn::grad<0>(of_both);
  constexpr auto loss = tn::compile(of_both);
  for (const auto& [n, m] : {std::array{4, 3}, {3, 3}, {3, 5}, {1, 1}}) {
    CAPTURE(n, m);
    const batch<double> all = random<double>(11, n, m, 3);
    const batch<double> found = gradient(all);
    judged::agree(found, judged::by_reference(gradient, all), 1e-9);
    const batch<double> a = one_of(all, 7), alone = gradient(a);
    for (std::int64_t e = 0; e < alone.size(); ++e) {
      CHECK(alone.data()[e] == Approx(found.data()[7 * alone.size() + e]).epsilon(1e-13).margin(1e-14));
      constexpr double h = 1e-5;
      batch<double> up = a.clone(), down = a.clone();
      tn::as_span(up)[static_cast<std::size_t>(e)] += h, tn::as_span(down)[static_cast<std::size_t>(e)] -= h;
      CHECK(alone.data()[e] == Approx((loss(up).item() - loss(down).item()) / (2 * h)).epsilon(1e-6).margin(1e-7));
    }
  }
  using matrices = tn::tensor<double, tn::shape<tn::dyn, 4, 3>>;
  const batch<double> all = random<double>(37, 4, 3, 11);
  matrices xs(37);
  std::copy_n(all.data(), all.size(), tn::as_span(xs).begin());
  const auto [q, r] = tn::vmap([](auto a) { return tn::qr(a); })(xs);
  const auto [q_called, r_called] = factors(all);
  CHECK((same_bits(q.data(), q_called.data(), q.size()) && same_bits(r.data(), r_called.data(), r.size())));
  constexpr auto loop = [](auto xs) {
    const auto [last, stacked] = tn::scan([](auto c, auto x) {
      const auto [q, r] = tn::qr(x + 0.25 * c);
      return std::tuple{q, r};
    }, xs[0], xs);
    return tn::sum(stacked * stacked) + tn::sum(tn::sin(last));
  };
  constexpr auto of_loop = tn::grad<0>(loop);
  const tn::tensor<double, tn::shape<5, 4, 3>> few = [&] {
    tn::tensor<double, tn::shape<5, 4, 3>> x = tn::zeros<double>(tn::shape<5, 4, 3>{});
    std::copy_n(all.data(), x.size(), tn::as_span(x).begin());
    return x;
  }();
  judged::agree(of_loop(few), judged::by_reference(of_loop, few), 1e-9);
}

TEST_CASE("an operation with several results finds its memory, in packets and alone, also for results that nobody reads") {
  using step = tn::cpu_backend::step_of_tasks<tn::cpu_backend::detail::samples<three_parts, double>>;
  for (const auto& [samples, n, m] : {std::array{1, 3, 5}, {19, 3, 5}, {19, 5, 3}, {0, 3, 5}, {19, 0, 5}, {3, 40, 40}})
    for (int read = 0; read < 8; ++read) {
      CAPTURE(samples, n, m, read);
      tn::program_detail::opaque_operation o;
      o.in[0].rank = 3;
      const std::int64_t extent[] = {samples, n, m}, stride[] = {n * m, m, 1}, k = std::min(n, m);
      for (int d = 0; d < 3; ++d) o.in[0].extent[d] = extent[d], o.in[0].stride[d] = stride[d];
      std::vector<double> x(static_cast<std::size_t>(samples * n * m)), part[3];
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 97);
      const std::vector<double> given = x;
      void* pointers[4] = {x.data()};
      for (int r = 0; r < 3; ++r) {
        part[r].assign(static_cast<std::size_t>(samples * (r == 0 ? n * m : r == 1 ? k : 1)), -1);
        pointers[1 + r] = (read >> r & 1) != 0 ? part[r].data() : nullptr;
      }
      std::vector<char> memory(static_cast<std::size_t>(step::memory(o).bytes));
      step::run({pointers, o, memory.data()});
      CHECK(x == given);  // an operand that run() writes over was copied
      bool is_right = true;
      for (std::int64_t s = 0; s < samples; ++s) {
        double sum = 0;
        for (std::int64_t i = 0; i < k; ++i) {
          const double on_diagonal = x[static_cast<std::size_t>((s * n + i) * m + i)];
          sum += on_diagonal;
          is_right = is_right && part[1][static_cast<std::size_t>(s * k + i)] == ((read & 2) != 0 ? on_diagonal : -1);
        }
        is_right = is_right && part[2][static_cast<std::size_t>(s)] == ((read & 4) != 0 ? sum : -1);
        for (std::int64_t e = 0; e < n * m; ++e) {
          const double wanted = e / m == e % m ? 0 : x[static_cast<std::size_t>(s * n * m + e)];
          is_right = is_right && part[0][static_cast<std::size_t>(s * n * m + e % m * n + e / m)] == ((read & 1) != 0 ? wanted : -1);
        }
      }
      CHECK(is_right);
    }
}
