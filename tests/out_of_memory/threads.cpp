// SPDX-License-Identifier: BSL-1.0
// Every allocation of a call refused in turn, on one thread and on several: a call takes all its memory before it writes anything.
#include <boost/hana/define_struct.hpp>

#include <stdexcept>

#include "injected.hpp"

#include <tenure/threads.hpp>

namespace {

using tn::shape;
template <class T, std::int64_t... E>
using tensor = tn::tensor<T, shape<E...>>;
constexpr std::int64_t dyn = tn::dyn;

const std::vector<tn::thread_pool>& pools() {
  static const std::vector<tn::thread_pool> all{tn::thread_pool(1), tn::thread_pool(3)};
  return all;
}

/// A world of this many tensors of one shape, which differ.
template <int N, std::int64_t... E>
auto world() {
  tn::engine random(3);
  const auto one = [&] { return tn::uniform<float>(shape<E...>{}, random, -1.f, 1.f); };
  return [&]<int... I>(std::integer_sequence<int, I...>) { return std::tuple{(static_cast<void>(I), one())...}; }(std::make_integer_sequence<int, N>{});
}

/// The call, refused one allocation after the other, on each pool. It makes at least `least` allocations on several threads: on one,
/// scratch for blocks may lie on the stack.
template <class Make, class Call>
void check(const char* name, int least, Make make, Call call) {
  for (const tn::thread_pool& pool : pools()) {
    INFO(name << " on " << pool.threads() << " threads");
    const auto threads = pool.scope();
    const int allocations = check_failures(make, call);
    if (pool.threads() > 1) CHECK(allocations >= least);
  }
}

constexpr auto normalized = [](auto m, auto gain, auto bias) {
  const auto centred = m - mean(m, tn::axis<1>, tn::keepdim);
  return centred * rsqrt(mean(square(centred), tn::axis<1>, tn::keepdim) + 1e-3f) * gain + bias;
};
constexpr auto issue = tn::compile([](auto x, auto a) { return std::tuple{x + sum(x), sum(square(a - sum(a)), tn::axis<0>)}; });
constexpr auto columns = tn::compile([](auto m) { return std::tuple{sum(exp(m), tn::axis<0>), max(m, tn::axis<0>), m * 2.f}; });
constexpr auto layer = tn::compile([](auto x, auto w, auto b) {
  const auto z = tanh(matmul(x, w) + b);
  return std::tuple{z, sum(z, tn::axis<0>), softmax(z, tn::axis<1>)};
});
constexpr auto picked = tn::compile([](auto m, auto i) { return std::tuple{m * 2.f, gather(m, i * 2), sum(square(m), tn::axis<0>)}; });

template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, float, shape<64, 300>>, w1), (tn::param<Kind, float, shape<300>>, b1),
                           (tn::param<Kind, float, shape<300, 10>>, w2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2); }
};
constexpr auto network_loss = [](auto model, auto x) { return mean(square(model(x))); };

}  // namespace

TEST_CASE("eager assignments and updates in place write all or nothing, on any number of threads") {
  const auto make = [] { return world<2, 256, 512>(); };
  check("y = exp(x) + sum(x)", 0, make, [](auto& w) { std::get<1>(w) = exp(std::get<0>(w)) + sum(std::get<0>(w)); });
  check("y += x * sum(y)", 0, make, [](auto& w) { std::get<1>(w) += std::get<0>(w) * sum(std::get<1>(w)); });
  check("y = transpose(y) + x", 1, [] { return world<2, 300, 300>(); }, [](auto& w) { std::get<1>(w) = std::get<1>(w).transpose() + std::get<0>(w); });
  check("y = softmax(x)", 0, make, [](auto& w) { std::get<1>(w) = softmax(std::get<0>(w), tn::axis<1>); });
  check("y = layer_norm(x, g, b)", 0, [] { return std::tuple_cat(world<2, 256, 512>(), world<2, 512>()); },
        [](auto& w) { std::get<1>(w) = layer_norm(std::get<0>(w), std::get<2>(w), std::get<3>(w)); });
  check("s = sum(square(x - sum(x)), axis<0>)", 1, [] { return std::tuple{std::get<0>(world<1, 256, 512>()), std::get<0>(world<1, 512>())}; },
        [](auto& w) { std::get<1>(w) = sum(square(std::get<0>(w) - sum(std::get<0>(w))), tn::axis<0>); });
  check("z = matmul(x, y)", 1, [] { return std::tuple{std::get<0>(world<1, 300, 200>()), std::get<0>(world<1, 200, 300>()), std::get<0>(world<1, 300, 300>())}; },
        [](auto& w) { std::get<2>(w) = matmul(std::get<0>(w), std::get<1>(w)); });
}

TEST_CASE("compiled functions write all targets or none, on any number of threads") {
  check("x + sum(x), sum(square(a - sum(a)), axis<0>)", 1, [] { return std::tuple_cat(world<3, 256, 512>(), world<1, 512>()); },
        [](auto& w) { issue.into(std::get<2>(w), std::get<3>(w))(std::get<0>(w), std::get<1>(w)); });
  check("the same, x its own target", 1, [] { return std::tuple_cat(world<2, 256, 512>(), world<1, 512>()); },
        [](auto& w) { issue.into(std::get<0>(w), std::get<2>(w))(std::get<0>(w), std::get<1>(w)); });
  check("columns", 1, [] { return std::tuple_cat(world<1, 400, 300>(), world<2, 300>(), world<1, 400, 300>()); },
        [](auto& w) { columns.into(std::get<1>(w), std::get<2>(w), std::get<3>(w))(std::get<0>(w)); });
  check("columns, made", 4, [] { return world<1, 400, 300>(); }, [](auto& w) { return columns(std::get<0>(w)); });
  check("columns of run-time extents", 1, [] {
    return std::tuple{tn::full<float>(shape<dyn, dyn>{}, 0.5f, 400, 300), tn::full<float>(shape<dyn>{}, 1, 300), tn::full<float>(shape<dyn>{}, 1, 300), tn::full<float>(shape<dyn, dyn>{}, 1, 400, 300)};
  }, [](auto& w) { columns.into(std::get<1>(w), std::get<2>(w), std::get<3>(w))(std::get<0>(w)); });
  check("a layer whose rows are computed block by block", 1, [] {
    return std::tuple_cat(world<1, 1024, 40>(), world<1, 40, 300>(), world<1, 300>(), world<1, 1024, 300>(), world<1, 300>(), world<1, 1024, 300>());
  }, [](auto& w) { layer.into(std::get<3>(w), std::get<4>(w), std::get<5>(w))(std::get<0>(w), std::get<1>(w), std::get<2>(w)); });
  check("rows and columns", 1, [] { return std::tuple_cat(world<1, 300, 500>(), world<2, 500>()); },
        [](auto& w) { return tn::value_and_grad<0, 1, 2>([](auto m, auto g, auto b) { return mean(square(normalized(m, g, b))); })(std::get<0>(w), std::get<1>(w), std::get<2>(w)); });
  check("indices that are computed", 2, [] { return std::tuple_cat(world<2, 256, 512>(), std::tuple{tn::tensor<std::int64_t, shape<3>>{0, 5, 100}}, world<1, 3, 512>(), world<1, 512>()); },
        [](auto& w) { picked.into(std::get<1>(w), std::get<3>(w), std::get<4>(w))(std::get<0>(w), std::get<2>(w)); });
}

TEST_CASE("backward() adds to all leaves or to none, on any number of threads") {
  const auto make = [] {
    auto x = std::get<0>(world<1, 256, 200>()).requires_grad_();
    auto w = std::get<0>(world<1, 200, 150>()).requires_grad_();
    auto b = std::get<0>(world<1, 150>()).requires_grad_();
    return std::tuple{std::move(x), std::move(w), std::move(b)};
  };
  const auto again = [=](bool zeros) {
    return [=] {
      auto w = make();
      sum(square(matmul(std::get<0>(w), std::get<1>(w)) + std::get<2>(w))).backward();
      if (zeros) std::get<0>(w).zero_grad(), std::get<1>(w).zero_grad(), std::get<2>(w).zero_grad();
      return w;
    };
  };
  const auto expression = [](auto& w) { sum(square(tanh(matmul(std::get<0>(w), std::get<1>(w)) + std::get<2>(w)))).backward(); };
  const auto nodes = [](auto& w) {
    const tn::tensor z = tanh(matmul(std::get<0>(w), std::get<1>(w)) + std::get<2>(w));
    const tn::tensor s = softmax(z, tn::axis<1>);
    const tn::tensor y = sum(s * z);
    y.backward();
  };
  check("an expression", 4, make, expression);
  check("an expression, onto gradients", 4, again(false), expression);
  check("an expression, into zeros", 1, again(true), expression);
  check("nodes", 4, make, nodes);
  check("nodes, onto gradients", 4, again(false), nodes);
  check("nodes, into zeros", 4, again(true), nodes);
}

TEST_CASE("a training step changes model and state, or neither, on any number of threads") {
  const auto train = [](const char* name, auto rule) {
    const auto make = [=] {
      tn::engine random(1);
      auto m = tn::init<network>(random);
      auto state = rule.init(m);
      return std::tuple(std::move(m), std::move(state.moments), tn::uniform<float>(shape<500, 64>{}, random, -1.f, 1.f));
    };
    check(name, 1, make, [=](auto& w) {
      tn::optim::state<network<tn::values>, decltype(rule)::moments> state{std::move(std::get<1>(w)), 0};
      const hand_back at_end(std::get<1>(w), state);
      return tn::train_step(network_loss, rule)(std::get<0>(w), state, std::get<2>(w)).item();
    });
  };
  train("sgd with momentum", tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
  train("adam", tn::optim::adam{});
}

TEST_CASE("4096 x 512 on two threads: a refused allocation leaves both results, and a second call succeeds") {
  const auto at_start = [](auto& t) { return std::vector<float>(t.data(), t.data() + t.size()); };
  const auto differ = [](auto& t, const std::vector<float>& before) {
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < t.size(); ++i) n += t.data()[i] != before[static_cast<std::size_t>(i)];
    return n;
  };
  auto [x, a, r] = world<3, 4096, 512>();
  auto [s] = world<1, 512>();
  const tn::thread_pool pool(2);
  const auto threads = pool.scope();
  tensor<float, 4096, 512> wanted_r;
  tensor<float, 512> wanted_s;
  issue.into(wanted_r, wanted_s)(x, a);
  for (int k = 0;; ++k) {
    INFO("after " << k << " allocations");
    const auto r_before = at_start(r), s_before = at_start(s);
    const auto versions = std::pair(r.version(), s.version());
    bool failed = false;
    allocations_left = k + 1;
    try {
      issue.into(r, s)(x, a);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_left = -1;
    if (!failed) break;
    REQUIRE(differ(r, r_before) == 0);
    REQUIRE(differ(s, s_before) == 0);
    REQUIRE(versions == std::pair(r.version(), s.version()));
  }
  CHECK(differ(r, at_start(wanted_r)) == 0);
  CHECK(differ(s, at_start(wanted_s)) == 0);
}

namespace {

/// Runs half of the blocks of its last step, then gives up.
class gives_up final : public tn::executor {
 public:
  int workers() const override { return 2; }
  void run(int count, block_function function, void* context) override {
    const int runs = --steps_left == 0 ? count / 2 : count;
    for (int b = 0; b < runs; ++b) function(context, b, b % 2);
    if (runs < count) throw std::runtime_error("gave up");
  }
  int steps_left = 1;
};

}  // namespace

TEST_CASE("what an executor leaves half done counts as written: a graph that saved it notices") {
  auto [x, a, r] = world<3, 256, 512>();
  auto [s] = world<1, 512>();
  const tensor<float, 256, 512> ones = tn::ones_like(x);
  auto w = std::get<0>(world<1, 256, 512>()).requires_grad_();
  const tn::tensor saved_r = w * r;  // reads r
  gives_up executor;
  const auto into = [&, &x = x, &a = a, &r = r, &s = s] {
    const tn::detail::execution_scope scope(&executor);
    issue.into(r, s)(x, a);
  };
  CHECK_THROWS_AS(into(), std::runtime_error);
  CHECK(r.version() == 1);
  CHECK(s.version() == 1);
  CHECK_THROWS_AS(saved_r.backward(ones), tn::ownership_error);

  const tn::tensor saved_a = w * a;
  executor.steps_left = 1;
  const auto update = [&, &x = x, &a = a] {
    const tn::detail::execution_scope scope(&executor);
    a += x;
  };
  CHECK_THROWS_AS(update(), std::runtime_error);
  CHECK(a.version() == 1);
  CHECK_THROWS_AS(saved_a.backward(ones), tn::ownership_error);
}
