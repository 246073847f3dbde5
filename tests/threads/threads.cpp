// SPDX-License-Identifier: BSL-1.0
// Calls on several threads: the bits of one thread, whatever their number; several callers at once; nothing allocated, nothing lost.
// Built with ThreadSanitizer.
#include "../catch.hpp"
#include "../difference.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

namespace tn = tenure;

namespace {

template <class T, std::int64_t... E>
using tensor = tn::tensor<T, tn::shape<E...>>;
constexpr std::int64_t dyn = tn::dyn;

template <class X>
difference same_bits(const X& x, const X& y) {
  difference found;
  std::vector<std::vector<unsigned char>> bytes;
  const auto keep = [&](const auto& leaf) {
    const auto* first = reinterpret_cast<const unsigned char*>(leaf.data());
    bytes.emplace_back(first, first + leaf.size() * static_cast<std::int64_t>(sizeof(*leaf.data())));
  };
  tn::detail::for_each_leaf(x, keep);
  std::size_t i = 0;
  tn::detail::for_each_leaf(y, [&](const auto& leaf) {
    const std::vector<unsigned char>& wanted = bytes[i++];
    if (std::memcmp(leaf.data(), wanted.data(), wanted.size()) == 0 || !found) return;
    using element = std::remove_cvref_t<decltype(*leaf.data())>;
    const auto numbers = std::make_unique<element[]>(wanted.size() / sizeof(element));
    std::memcpy(numbers.get(), wanted.data(), wanted.size());
    found = difference_of("result ", i - 1, ", ", first_difference(leaf.data(), numbers.get(), leaf.size()));
  });
  return found;
}

const std::vector<tn::thread_pool>& pools() {
  static const std::vector<tn::thread_pool> all{tn::thread_pool(1), tn::thread_pool(2, 0), tn::thread_pool(3, 0), tn::thread_pool(7, 0)};
  return all;
}

/// f's results on every pool have the bits of one thread.
template <class F, class... X>
void agrees(const char* name, F f, const X&... x) {
  const auto wanted = tn::compile(f)(x...);
  for (const tn::thread_pool& pool : pools()) {
    INFO(name << " on " << pool.threads());
    const auto on_pool = tn::compile(f, pool);
    for (int turn = 0; turn < 2; ++turn) REQUIRE(same_bits(wanted, on_pool(x...)));
  }
}

template <class T, std::int64_t... E, class Engine, class... N>
tensor<T, E...> random(Engine& engine, N... n) {
  return tn::uniform<T>(tn::shape<E...>{}, engine, T(-1), T(1), n...);
}

constexpr auto elementwise = [](auto x, auto y) { return std::tuple{exp(x) * y - tanh(y), x > y}; };
constexpr auto totals = tn::value_and_grad<0, 1>([](auto x, auto y) { return mean(square(sigmoid(x) * y)) + sum(maximum(x, y)); });
constexpr auto broadcast = [](auto m, auto v) { return std::tuple{m * v + sin(m), sum(m * v)}; };
constexpr auto rows = [](auto m) { return std::tuple{softmax(m, tn::axis<1>), sum(exp(m), tn::axis<1>), sum(m * m)}; };
constexpr auto columns = [](auto m) { return std::tuple{sum(exp(m), tn::axis<0>), max(m, tn::axis<0>), m * 2, sum(m)}; };
constexpr auto rows_and_columns = tn::value_and_grad<0, 1, 2>([](auto m, auto gain, auto bias) {
  const auto centred = m - mean(m, tn::axis<1>, tn::keepdim);
  return mean(square(centred * rsqrt(mean(square(centred), tn::axis<1>, tn::keepdim) + 1e-3f) * gain + bias));
});
constexpr auto product = [](auto a, auto b) { return matmul(a, b); };
constexpr auto layer = [](auto x, auto w, auto b) {
  const auto z = tanh(matmul(x, w) + b);
  return std::tuple{z, softmax(matmul(z, w.transpose()), tn::axis<1>), sum(z, tn::axis<0>)};
};
constexpr auto sorted = [](auto m) { return std::tuple{sort(m), argsort(round(m * 8), tn::axis<0>, tn::descending), tn::topk<1>(m, tn::axis<0>)}; };
constexpr auto products = [](auto a, auto b) { return std::tuple{matmul(a, b.transpose()), matmul(a.transpose(), b)}; };

}  // namespace

// Law: results do not depend on it, bit for bit.
TEST_CASE("Law: results do not depend on the number of threads, bit for bit") {
  std::mt19937_64 engine(7);
  const auto extent = [&](std::int64_t most) { return static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most)) + 1; };
  for (int turn = 0; turn < 4; ++turn) {
    const std::int64_t n = turn == 0 ? 0 : extent(200000), r = turn == 0 ? 0 : extent(600), c = extent(turn % 2 ? 600 : 40), k = extent(300);
    INFO(n << ' ' << r << 'x' << c << 'x' << k);
    const auto x = random<float, dyn>(engine, n), y = random<float, dyn>(engine, n);
    const auto m = random<float, dyn, dyn>(engine, r, c);
    const auto v = random<float, dyn>(engine, c), w = random<float, dyn>(engine, c);
    agrees("elementwise", elementwise, x, y);
    agrees("totals", totals, x, y);
    agrees("broadcast", broadcast, m, v);
    agrees("rows", rows, m);
    if (r > 0) agrees("columns", columns, m);  // no row has a largest element
    if (r > 0) agrees("sorted", sorted, m);
    agrees("rows and columns", rows_and_columns, m, v, w);
    agrees("transposed", elementwise, m.transpose(), random<float, dyn, dyn>(engine, c, r));
    agrees("product", product, m, random<float, dyn, dyn>(engine, c, k));
    agrees("products", products, random<double, dyn, dyn>(engine, r, c), random<double, dyn, dyn>(engine, r, c));
  }
  agrees("one row", product, random<float, 1, 3000>(engine), random<float, 3000, 2049>(engine));
  agrees("one column", product, random<float, 2049, 3000>(engine), random<float, 3000, 1>(engine));
  agrees("wide", product, random<float, 40, 600>(engine), random<float, 600, 1009>(engine));
  agrees("many", product, random<float, 5, 70, 300>(engine), random<float, 5, 300, 130>(engine));
  for (const std::int64_t rows : {64, 100}) agrees("few rows of a part", products, random<float, dyn, dyn>(engine, rows, 400), random<float, dyn, dyn>(engine, rows, 400));
  agrees("layer", layer, random<float, 3001, 90>(engine), random<float, 90, 100>(engine), random<float, 100>(engine));
  agrees("layers", layer, random<double, dyn, dyn>(engine, 1500, 130), random<double, dyn, dyn>(engine, 130, 99), random<double, dyn>(engine, 99));
  agrees("static", rows_and_columns, random<float, 512, 512>(engine), random<float, 512>(engine), random<float, 512>(engine));
  agrees("narrow", columns, random<float, 60000, 5>(engine));
  agrees("three axes", elementwise, random<float, 3, 5, 40000>(engine), random<float, 40000>(engine));
}

namespace {

/// Runs blocks last to first, each as another worker, and counts.
class backwards final : public tn::executor {
 public:
  int workers() const override { return 5; }
  void run(int count, block_function function, void* context) override {
    ++steps;
    blocks += count;
    for (int b = count - 1; b >= 0; --b) function(context, b, b % workers());
  }
  int steps = 0, blocks = 0;
};

struct on_executor {
  tn::executor* executor;
  auto scope() const { return tn::detail::execution_scope(executor); }
};

template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, float, tn::shape<300, 200>>, w1), (tn::param<Kind, float, tn::shape<200>>, b1),
                           (tn::param<Kind, float, tn::shape<200, 10>>, w2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2); }
};
constexpr auto network_loss = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };

}  // namespace

TEST_CASE("work is handed over where it is worth it, in blocks of any order") {
  std::mt19937_64 engine(1);
  const auto m = random<float, dyn, dyn>(engine, 700, 300);
  const auto v = random<float, 300>(engine), w = random<float, 300>(engine);
  const auto check = [&](auto f, bool is_handed_over, const auto&... x) {
    backwards counted;
    const auto wanted = tn::compile(f)(x...);
    CHECK(same_bits(wanted, tn::compile(f, on_executor{&counted})(x...)));
    CHECK((counted.steps > 0) == is_handed_over);
    CHECK(counted.blocks >= 2 * counted.steps);
  };
  check(elementwise, true, m, m);
  check(totals, true, m, m);
  check(rows, true, m);
  check(columns, true, m);
  check(product, true, m, random<float, 300, 100>(engine));
  check(elementwise, false, v, w);
  check(totals, false, v, w);
  check(product, false, random<float, 30, 40>(engine), random<float, 40, 30>(engine));
  check(rows_and_columns, true, m, v, w);
}

/// Runs all blocks itself, and counts the steps that came.
class counting final : public tn::executor {
 public:
  int steps = 0;

  explicit counting(std::int64_t min_work) : executor(min_work) {}
  int workers() const override { return 2; }
  void run(int count, block_function function, void* context) override {
    ++steps;
    for (int b = 0; b < count; ++b) function(context, b, 0);
  }
};

TEST_CASE("a step with less work than the least stays on the caller's thread") {
  std::mt19937_64 engine(1);
  const auto steps = [](std::int64_t min_work, auto f, const auto&... x) {
    counting on(min_work);
    const tn::detail::execution_scope scope(&on);
    tn::compile(f)(x...);
    return on.steps;
  };
  const auto weights = random<float, 784, 128>(engine);
  const auto x = random<float, 784, 32>(engine);
  const auto d = random<float, 32, 128>(engine);
  const auto large_x = random<float, 784, 512>(engine);
  const auto large_d = random<float, 512, 128>(engine);
  const auto update = [](auto w, auto v) { return w - 0.1f * v; };
  constexpr std::int64_t usual = tn::thread_pool::usual_least_work;
  INFO("w - 0.1f * v of [784,128]");
  CHECK(steps(0, update, weights, weights) == 1);
  CHECK(steps(usual, update, weights, weights) == 0);
  INFO("matmul of [784,32][32,128] and [784,512][512,128]");
  CHECK(steps(0, product, x, d) == 1);
  CHECK(steps(usual, product, x, d) == 0);
  CHECK(steps(usual, product, large_x, large_d) == 1);
}

TEST_CASE("all that compiles takes an execution") {
  std::mt19937_64 engine(2);
  const auto x = random<double, dyn>(engine, 300000), y = random<double, dyn>(engine, 300000);
  constexpr auto f = [](auto a, auto b) { return sum(tanh(a) * b); };
  const tn::tensor<double, tn::shape<>> one = 1;
  for (const tn::thread_pool& pool : pools()) {
    CHECK(same_bits(tn::grad<0, 1>(f)(x, y), tn::grad<0, 1>(f, pool)(x, y)));
    CHECK(same_bits(tn::grad(f)(x, y), tn::grad(tn::compile(f, pool), pool)(x, y)));
    CHECK(same_bits(tn::value_and_grad<1>(f)(x, y), tn::value_and_grad<1>(f, pool)(x, y)));
    CHECK(same_bits(tn::vjp(f)(x, y, one), tn::vjp(f, pool)(x, y, one)));
    CHECK(same_bits(tn::jvp(f)(x, y, y, x), tn::jvp(f, pool)(x, y, y, x)));
    tensor<double, dyn> into(300000);
    tn::compile([](auto a, auto b) { return exp(a) * b; }, pool).into(into)(x, y);
    CHECK(same_bits(tn::compile([](auto a, auto b) { return exp(a) * b; })(x, y), into));
  }
}

// Law: the results have the same bits as with one thread.
TEST_CASE("training on threads has the bits of training on one") {
  std::mt19937_64 engine(3);
  const auto x = random<float, 300, 300>(engine);
  tn::tensor<std::int32_t, tn::shape<300>> labels;
  for (std::int64_t i = 0; i < 300; ++i) labels[i].fill_(static_cast<std::int32_t>(i % 10));
  const tn::optim::adam rule{.learning_rate = 1e-2f};
  const auto train = [&](const auto& execution) {
    tn::engine fresh(4);
    auto model = tn::init<network>(fresh);
    auto state = rule.init(model);
    const auto step = tn::train_step(network_loss, rule, execution);
    for (int i = 0; i < 4; ++i) step(model, state, x, labels);
    return model;
  };
  const auto wanted = train(tn::sequential{});
  for (const tn::thread_pool& pool : pools()) CHECK(same_bits(wanted, train(pool)));
}

TEST_CASE("within a scope, expressions, backward() and functions without an execution of their own run on the pool") {
  std::mt19937_64 engine(5);
  const auto x = random<float, dyn>(engine, 500000);
  const auto run = [&] {
    std::mt19937_64 same(6);
    auto w = random<float, dyn>(same, 500000).requires_grad_();
    auto loss = sum(square(tanh(w * x)));
    loss.backward();
    tn::tensor y = exp(x) + 1.f;
    return std::tuple{w.grad().clone(), totals(x, y), std::move(y)};
  };
  const auto wanted = run();
  backwards counted;
  {
    const tn::detail::execution_scope scope(&counted);
    CHECK(same_bits(wanted, run()));
    const int before = counted.steps;
    CHECK(before >= 2);
    CHECK(same_bits(tn::compile(elementwise, tn::sequential{})(x, x), tn::compile(elementwise)(x, x)));
    CHECK(counted.steps == before + 1);
  }
  CHECK(tn::detail::current_executor == nullptr);
  for (const tn::thread_pool& pool : pools()) {
    const auto threads = pool.scope();
    CHECK(same_bits(wanted, run()));
  }
}

TEST_CASE("several threads call one compiled function at once, each with its workspace") {
  std::mt19937_64 engine(8);
  const auto m = random<float, dyn, dyn>(engine, 400, 256);
  const auto v = random<float, 256>(engine), w = random<float, 256>(engine);
  const auto b = random<float, 256, 200>(engine);
  const auto wanted = rows_and_columns(m, v, w);
  const auto wanted_product = tn::compile(product)(m, b);
  for (const tn::thread_pool& pool : pools()) {
    const auto gradients = tn::compile(rows_and_columns, pool);
    const auto products_on_pool = tn::compile(product, pool);
    std::vector<int> wrong(4);
    std::vector<std::thread> callers;
    for (std::size_t t = 0; t < 4; ++t)
      callers.emplace_back([&, t] {
        for (int i = 0; i < 5; ++i) wrong[t] += !same_bits(wanted, gradients(m, v, w)) + !same_bits(wanted_product, products_on_pool(m, b));
      });
    for (std::thread& t : callers) t.join();
    for (const int n : wrong) CHECK(n == 0);
  }
}

TEST_CASE("a pool of somebody else, and calls from within its threads") {
  std::mt19937_64 engine(9);
  const auto x = random<float, dyn>(engine, 300000);
  const auto wanted = tn::compile(elementwise)(x, x);
  Eigen::ThreadPool theirs(2);
  std::atomic<int> right{0}, ended{0};
  {
    const tn::thread_pool pool(theirs);
    CHECK(pool.threads() == 3);
    const auto f = tn::compile(elementwise, pool);
    CHECK(same_bits(wanted, f(x, x)));
    for (int i = 0; i < 6; ++i)
      theirs.Schedule([&] {
        right += static_cast<bool>(same_bits(wanted, f(x, x)));
        ++ended;
      });
    while (ended < 6) std::this_thread::yield();
  }
  CHECK(right == 6);
}

TEST_CASE("a pool whose threads are busy keeps no caller waiting") {
  Eigen::ThreadPool theirs(1);
  std::atomic<bool> is_busy{true};
  theirs.Schedule([&] {
    while (is_busy) std::this_thread::yield();
  });
  tn::detail::pool_executor pool(theirs);
  int ran = 0;
  for (int i = 0; i < 100; ++i) pool.run(3, [](void* c, int, int) { ++*static_cast<int*>(c); }, &ran);
  CHECK(ran == 300);
  is_busy = false;
}

TEST_CASE("what a block throws reaches the caller") {
  tn::detail::pool_executor pool(3);
  std::atomic<int> ran{0};
  const auto run = [&](bool throws) {
    struct work {
      std::atomic<int>& ran;
      bool throws;
    } context{ran, throws};
    pool.run(50, [](void* c, int b, int) {
      auto& w = *static_cast<work*>(c);
      ++w.ran;
      if (w.throws && b % 7 == 3) throw std::runtime_error("block");
    }, &context);
  };
  CHECK_THROWS_AS(run(true), std::runtime_error);
  CHECK(ran == 50);
  run(false);
  CHECK(ran == 100);
}

/// The products of two floats on both threads of a pool at once, each taken on its thread.
struct products_on_two {
  float x, y, of_caller = -1, of_helper = -1;
  std::atomic<int> here{0};
  bool throws = false;

  products_on_two(float left, float right) : x(left), y(right) {}

  void run(tn::detail::pool_executor& pool) {
    here = 0;
    pool.run(2, [](void* c, int block, int) {
      auto& w = *static_cast<products_on_two*>(c);
      for (++w.here; w.here < 2;) std::this_thread::yield();  // so that no thread takes both
      const volatile float left = w.x, right = w.y;
      (block == 0 ? w.of_caller : w.of_helper) = left * right;
      if (w.throws) throw std::runtime_error("block");
    }, this);
  }
};

// Law: the settings of the thread after the scope are those before it, also if an exception ends it.
TEST_CASE("flush_denormals holds in its scope only, on the threads of a pool too") {
  if (tn::detail::float_mode::flush == 0) return;  // a processor on which the scope does nothing
  const float denormal = 1e-20f * 1e-20f;
  tn::detail::pool_executor pool(2);
  products_on_two product(1e-20f, 1e-20f), of_denormal(denormal, 1e20f);
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };  // inside the scope a denormal compares as zero
  const auto on_both = [&](float want, float want_of_denormal) {
    product.run(pool), of_denormal.run(pool);
    INFO("bits of 1e-20f * 1e-20f, then of 1e-40f * 1e20f");
    CHECK(bits(product.of_caller) == bits(want));
    CHECK(bits(product.of_helper) == bits(want));
    CHECK(bits(of_denormal.of_caller) == bits(want_of_denormal));
    CHECK(bits(of_denormal.of_helper) == bits(want_of_denormal));
  };
  on_both(denormal, denormal * 1e20f);
  {
    const tn::flush_denormals scope;
    {
      const tn::flush_denormals inner;
      on_both(0, 0);
    }
    on_both(0, 0);
  }
  on_both(denormal, denormal * 1e20f);

  const auto leave = [&] {
    const tn::flush_denormals scope;
    product.throws = true;
    product.run(pool);
  };
  CHECK_THROWS_AS(leave(), std::runtime_error);
  product.throws = false;
  on_both(denormal, denormal * 1e20f);
}

TEST_CASE("flush_denormals changes what calls give, with the same bits on any number of threads") {
  if (tn::detail::float_mode::flush == 0) return;
  const tensor<float, 1 << 20> x = tn::full<float>(tn::shape<1 << 20>{}, 1e-20f);
  const auto count = [&](const tn::thread_pool& pool) {
    const auto threads = pool.scope();
    const tensor<float, 1 << 20> y = x * x;
    return std::count_if(y.data(), y.data() + y.size(), [](float value) { return std::bit_cast<std::uint32_t>(value) == 0; });
  };
  for (const tn::thread_pool& pool : pools()) {
    INFO("zeros of 1e-20f * 1e-20f on " << pool.threads());
    CHECK(count(pool) == 0);
    const tn::flush_denormals scope;
    CHECK(count(pool) == 1 << 20);
  }
}

TEST_CASE("threads of a pool round as the caller does") {
  tn::detail::pool_executor pool(2);
  products_on_two product(1 + 0x1p-12f, 1 + 0x1p-13f);
  const int outer = std::fegetround();
  std::fesetround(FE_UPWARD);
  product.run(pool);
  std::fesetround(outer);
  CHECK(product.of_caller > 1 + 0x1p-12f + 0x1p-13f);
  CHECK(product.of_helper == product.of_caller);
  product.run(pool);
  CHECK(product.of_helper == 1 + 0x1p-12f + 0x1p-13f);
}

TEST_CASE("a pool has a thread at least") {
  CHECK_THROWS_WITH(tn::thread_pool(0), "tenure: thread_pool: 0 threads: the caller's is one of them");
  CHECK(tn::thread_pool().threads() >= 1);
}
