// SPDX-License-Identifier: BSL-1.0
// Training steps on the ranks of the job against steps of one process over all samples.
#include "world.hpp"

#include "../catch.hpp"

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../difference.hpp"

namespace {

/// The parameters as one array of bits.
template <class Model>
auto bits(const Model& m) {
  tn::tensor<std::int32_t, tn::shape<20 * 30 + 30 + 30 * 7 + 7>> all;
  auto* at = tn::as_span(all).data();
  tn::for_each_leaf(m, [&](const auto& leaf) { std::memcpy(at, leaf.data(), static_cast<std::size_t>(leaf.size()) * 4), at += leaf.size(); });
  return all;
}
template <class Model>
difference same_bits(const Model& a, const Model& b) {
  const auto x = bits(a), y = bits(b);
  return first_difference(x.data(), y.data(), x.size());
}
template <class Model>
difference are_equal_on_all_ranks(const Model& m) {
  const auto own = bits(m), least = tn::mpi::all_reduce(own, world(), tn::mpi::min), most = tn::mpi::all_reduce(own, world(), tn::mpi::max);
  return first_difference(least.data(), most.data(), least.size());
}

}  // namespace

// Law: models and states that were equal on all ranks before a step are equal after it, bit for bit, and for a fixed number of ranks they do not
// differ from run to run.
TEST_CASE("a step of all ranks is the step of one process over all samples") {
  auto& g = world();
  auto model = new_model(), alone = new_model();
  const samples own = samples::of(g), all(0, rows);
  auto step = tn::train_step(loss, tn::optim::clipped{tn::optim::adam{.learning_rate = 1e-2}, 0.5}, g, tn::mpi::buckets_of<512>{});
  auto plain = tn::train_step(loss, step.rule);
  auto state = step.rule.init(model), state_alone = plain.rule.init(alone);
  for (int i = 0; i < 8; ++i) {
    const float together = step(model, state, own.x, own.y).item(), by_one = plain(alone, state_alone, all.x, all.y).item();
    CHECK(together == Approx(by_one).epsilon(1e-5));
  }
  CHECK(state.steps == 8);
  CHECK(are_equal_on_all_ranks(model));
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 30; ++j) CHECK(model.w1(i, j) == Approx(alone.w1(i, j)).margin(2e-5));

  auto repeated = new_model();
  auto state_again = step.rule.init(repeated);
  for (int i = 0; i < 8; ++i) step(repeated, state_again, own.x, own.y);
  CHECK(same_bits(model, repeated));
}

TEST_CASE("the plan says what a step sends, and when") {
  auto& g = world();
  auto model = new_model();
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::sgd{}, g, tn::mpi::buckets_of<512>{});
  auto state = step.rule.init(model);
  using plan = decltype(step.plan(model, state, own.x, own.y));
  static_assert(plan::buckets() == 4);
  static_assert(plan::arena_bytes() == 64 + 896 + 128 + 2432 + 64);  // b2, w2, b1, w1, each of whole lines, and the loss
  static_assert(plan::messages(1) == 0 && plan::bytes_sent(1) == 0);
  static_assert(plan::messages(2) == 2 * 4 && plan::messages(5) == 6 * 4 && plan::messages(1024) == 20 * 4);
  static_assert(plan::ready(0) < plan::ready(3) && plan::ready(0) < plan::gradients::kernels());  // the first leaves while later steps compute
  static_assert(plan::ready(3) <= plan::gradients::kernels());
  static_assert([] {
    std::int64_t sent = 0, once = 0;
    for (int r = 0; r < 6; ++r) sent += plan::bytes_sent(6, r);
    for (int i = 0; i < plan::buckets(); ++i) once += plan::bytes_of_bucket(i);
    return sent == 2 * 5 * once;
  }());
  const std::int64_t messages = g.messages(), bytes = g.bytes_sent();
  step(model, state, own.x, own.y);
  CHECK(g.messages() - messages == plan::messages(g.size()));
  CHECK(g.bytes_sent() - bytes == plan::bytes_sent(g.size(), g.rank()));

  auto one = tn::train_step(loss, tn::optim::sgd{}, g);
  using one_bucket = decltype(one.plan(model, state, own.x, own.y));
  static_assert(one_bucket::buckets() == 1 && one_bucket::messages(4) == 4);
  static_assert(one_bucket::ready(0) == plan::ready(3));  // the last of its gradients
  static_assert(one_bucket::bytes_of_bucket(0) == one_bucket::arena_bytes() - 60);
}

namespace {
/// In place of what sends: notes the steps that it sees, and what stands in each gradient when it would be sent.
struct recorder {
  struct gradient {
    int ready;
    const char* data;
    std::size_t bytes;
    std::vector<char> when_sent{};
  };
  std::vector<int> steps;
  std::vector<gradient> gradients;

  void advance(int step) {
    steps.push_back(step);
    for (gradient& g : gradients)
      if (g.when_sent.empty() && g.ready <= step) g.when_sent.assign(g.data, g.data + g.bytes);
  }
};
}  // namespace

TEST_CASE("what sends is called before each step, and a gradient does not change after the step at which it is ready") {
  auto model = new_model();
  const samples all(0, 4);
  const auto gradients = tn::value_and_grad(loss);
  auto results = gradients(model, all.x, all.y);
  using plan = decltype(gradients.plan(model, all.x, all.y));
  constexpr const auto& order = tn::mpi::detail::order_of_sending<plan::program_type, perceptron<tn::values>, 512>;
  constexpr const auto& layout = tn::mpi::detail::layout_of_arena<perceptron<tn::values>, 512>;
  recorder seen;
  std::size_t leaf = 0;
  tn::for_each_leaf(std::get<1>(results), [&](auto& g) {
    g.fill_(123.0f);
    for (int i = 0; i < order.count; ++i)
      if (order.at[i].what.offset == layout.at[leaf].offset)
        seen.gradients.push_back({order.at[i].ready, reinterpret_cast<const char*>(g.data()), static_cast<std::size_t>(g.size()) * 4});
    ++leaf;
  });
  REQUIRE(seen.gradients.size() == 4);
  std::size_t before_agreement = 99;
  const auto agree = [&] { before_agreement = seen.steps.size(); };
  tn::mpi::detail::sending_run<recorder, decltype(agree)> runner{seen, agree};
  std::apply([&](auto&... r) { gradients.into(r...).through(runner, model, all.x, all.y); }, results);
  CHECK(before_agreement == 0);
  REQUIRE(!seen.steps.empty());
  CHECK(seen.steps.front() == 1);
  CHECK(seen.steps.back() >= plan::kernels() - 2);  // an epilogue is a part of the step before
  int early = 0;
  for (const recorder::gradient& g : seen.gradients) {
    if (g.when_sent.empty()) continue;  // ready at the end only
    ++early;
    CHECK(std::memcmp(g.when_sent.data(), g.data, g.bytes) == 0);
  }
  CHECK(early >= 2);
}

TEST_CASE("a call of the same program within a step does not disturb it: each sender hears of its own steps") {
  auto model = new_model();
  const samples all(0, 4);
  const auto gradients = tn::value_and_grad(loss);
  auto results = gradients(model, all.x, all.y);
  const auto run = [&](recorder& seen, const auto& agree) {
    tn::mpi::detail::sending_run<recorder, std::remove_cvref_t<decltype(agree)>> runner{seen, agree};
    std::apply([&](auto&... r) { gradients.into(r...).through(runner, model, all.x, all.y); }, results);
  };
  // Of one type, so that the calls are of one type too.
  std::function<void()> within;
  const auto agree = [&] {
    if (within) std::exchange(within, nullptr)();
  };
  recorder alone, inner, outer;
  run(alone, agree);
  REQUIRE(!alone.steps.empty());
  SECTION("that returns") {
    within = [&] { run(inner, agree); };
    run(outer, agree);
    CHECK(inner.steps == alone.steps);
    CHECK(outer.steps == alone.steps);
  }
  SECTION("that throws") {
    within = [&] {
      within = [] { throw tn::error("within"); };
      CHECK_THROWS_AS(run(inner, agree), tn::error);
    };
    run(outer, agree);
    CHECK(inner.steps.empty());
    CHECK(outer.steps == alone.steps);
  }
}

TEST_CASE("a bucket is sent when it is ready, and no earlier") {
  auto& g = world();
  if (g.size() == 1) return;
  auto model = new_model();
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::sgd{}, g, tn::mpi::buckets_of<512>{});
  auto state = step.rule.init(model);
  using plan = decltype(step.plan(model, state, own.x, own.y));
  tn::mpi::detail::sender<typename plan::gradients::program_type, perceptron<tn::values>, 512> sender(g);
  sender.prepare(true);
  const std::int64_t before = g.messages();
  sender.advance(plan::ready(3));
  CHECK(g.messages() == before);  // no agreement yet
  sender.agree(tn::mpi::detail::signature() << "test");
  for (int i = 0; i < 1000; ++i) sender.advance(plan::ready(0) - 1);
  CHECK(g.messages() == before);
  MPI_Barrier(g.communicator());  // so that all have agreed
  // A number of calls would not do: with more ranks than cores another rank may have to wait for its iteration.
  const auto since = std::chrono::steady_clock::now();
  while (g.messages() == before && std::chrono::steady_clock::now() - since < std::chrono::seconds(60)) {
    sender.advance(plan::ready(0));
    std::this_thread::yield();
  }
  CHECK(g.messages() > before);
  CHECK(g.messages() <= before + plan::messages(g.size()) / plan::buckets());
  sender.finish("test", [] { return std::string(); });
  CHECK(g.messages() == before + plan::messages(g.size()));
}

TEST_CASE("a loss of another type than the parameters travels alone") {
  auto& g = world();
  auto w = tn::ones<float>(tn::shape<5>{});
  constexpr auto in_double = [](auto p, auto x) { return sum(tn::cast<double>(p * x)); };
  auto step = tn::train_step(in_double, tn::optim::sgd{.learning_rate = 1}, g);
  auto state = step.rule.init(w);
  const auto x = tn::full<float>(tn::shape<5>{}, static_cast<float>(g.rank()));
  using plan = decltype(step.plan(w, state, x));
  static_assert(plan::buckets() == 2 && plan::bytes_of_bucket(0) == 8);
  const float mean = static_cast<float>(g.size() - 1) / 2;
  CHECK(step(w, state, x).item() == 5.0 * static_cast<double>(mean));
  CHECK(w(4) == 1 - mean);

  if (g.size() == 1) return;
  const auto wide = tn::ones<double>(tn::shape<5>{});
  std::string said;
  try {
    if (g.rank() == 0) step(w, state, x);
    else step(w, state, wide);
  } catch (const tn::shape_error& e) {
    said = e.what();
  }
  CHECK(said.find("rank 0: step 1 with data float32 5 and") != std::string::npos);
  CHECK(said.find("rank 1: step 1 with data float64 5 and") != std::string::npos);
}

namespace {
/// A rule that can fail.
struct refusing : tn::optim::sgd {
  bool refuses = false;
  auto hyperparameters(std::int64_t step) const {
    if (refuses) throw tn::error("this rule refuses");
    return tn::optim::sgd::hyperparameters(step);
  }
};
}  // namespace

TEST_CASE("a step that differs or fails on one rank throws on all and changes nothing") {
  auto& g = world();
  const bool is_last = g.rank() == g.size() - 1;
  auto model = new_model();
  samples own = samples::of(g);
  auto step = tn::train_step(loss, refusing{{.learning_rate = 0.1}}, g);
  auto state = step.rule.init(model);
  step(model, state, own.x, own.y);
  const auto before = bits(model);
  const auto message_with = [&](auto& with, const samples& s) -> std::string {
    try {
      step(model, with, s.x, s.y);
    } catch (const tn::error& e) {
      return e.what();
    }
    return "no error";
  };
  const auto message_of = [&](const samples& s) { return message_with(state, s); };

  samples wrong = samples::of(g);
  if (is_last) tn::as_span(wrong.y)[0] = 7;
  const std::string label = message_of(wrong);
  CHECK(label.find("index 7 is outside an axis of 7") != std::string::npos);
  if (!is_last) CHECK(label.find("tenure: train_step: rank " + std::to_string(g.size() - 1) + " failed: ") == 0);

  if (g.size() > 1) {
    const samples fewer(0, is_last ? 1 : 2);
    const std::string begin =
        "tenure: train_step: the ranks differ: rank 0: step 1 with data float32 2x20, int32 2 and hyperparameters 0.1 0 0, sent as";
    CHECK(message_of(fewer).find(begin) == 0);
    step.rule.learning_rate = is_last ? 0.2 : 0.1;
    CHECK(message_of(own).find("the ranks differ") != std::string::npos);
    step.rule.learning_rate = 0.1;

    auto small = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1}, g, tn::mpi::buckets_of<512>{});
    CHECK_THROWS_AS(g.rank() == 0 ? small(model, state, own.x, own.y) : step(model, state, own.x, own.y), tn::shape_error);
  }
  step.rule.refuses = is_last;
  CHECK(message_of(own).find("this rule refuses") != std::string::npos);
  step.rule.refuses = false;
  // What the update alone reads: the other ranks must not have made theirs.
  auto taken = step.rule.init(model);
  taken.steps = state.steps;
  const auto w2 = is_last ? std::move(taken.moments[0].w2) : tn::deepcopy(taken.moments[0].w2);
  CHECK(message_with(taken, own).find("the tensor is empty") != std::string::npos);
  const auto after = bits(model);
  CHECK(first_difference(after.data(), before.data(), before.size()));
  CHECK(state.steps == 1);
  CHECK(message_of(own) == "no error");
  CHECK(state.steps == 2);
  CHECK(are_equal_on_all_ranks(model));
}

TEST_CASE("the first step of a model or of a trainer throws on all ranks if the models or states differ") {
  auto& g = world();
  tn::engine random(static_cast<std::uint64_t>(g.rank() == 1 ? 8 : 3));
  auto model = tn::init<perceptron>(random);
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, g);
  auto state = step.rule.init(model);
  const auto message_of = [&](auto& with) -> std::string {
    try {
      with(model, state, own.x, own.y);
    } catch (const tn::error& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string differ = g.size() == 1 ? "no error"
                                           : "tenure: train_step: the values of the model or of its state on rank 0 are not those on rank 1: begin with one seed or "
                                             "one file, or call tn::mpi::broadcast_(model, group)";
  const auto before = bits(model);
  CHECK(message_of(step) == differ);
  if (g.size() > 1) {
    const auto after = bits(model);
    CHECK(first_difference(after.data(), before.data(), before.size()));
    CHECK(state.steps == 0);
  }
  tn::mpi::broadcast_(model, g);
  CHECK(message_of(step) == "no error");
  // A state that is not the first one, as from a file: the first call of a trainer compares it, and no later call pays for it.
  auto resumed = tn::train_step(loss, step.rule, g);
  if (g.rank() == 1) state.moments[0].b2.fill_(0.25f);
  CHECK(message_of(resumed) == differ);
  CHECK(message_of(step) == "no error");
}

TEST_CASE("a NaN of one rank is in the loss of every rank, so each can stop") {
  auto& g = world();
  auto model = new_model();
  samples own = samples::of(g);
  if (g.rank() == g.size() - 1) tn::as_span(own.x)[0] = std::numeric_limits<float>::quiet_NaN();
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1}, g);
  auto state = step.rule.init(model);
  CHECK(std::isnan(step(model, state, own.x, own.y).item()));
}
