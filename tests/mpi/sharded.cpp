// SPDX-License-Identifier: BSL-1.0
// States of which each rank keeps a part, and runs that go on with another number of ranks.
#include "world.hpp"

#include "../catch.hpp"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/interop/save.hpp>

#include "../difference.hpp"

namespace {
template <class X>
difference same_leaves(const X& a, const X& b) {
  difference found;
  std::vector<const void*> other;
  tn::for_each_leaf(b, [&](const auto& leaf) { other.push_back(leaf.data()); });
  std::size_t i = 0;
  tn::for_each_leaf(a, [&](const auto& leaf) {
    const difference d = first_difference(leaf.data(), static_cast<const float*>(other[i++]), leaf.size());
    if (!d) found = d;
  });
  return found;
}
}  // namespace

// Law: an update has the bits of an update of the whole model, because the rule computes each element by itself.
TEST_CASE("a step with a sharded state has the bits of a step with a whole one, and each rank keeps its part") {
  auto& g = world();
  auto model = new_model(), other = new_model();
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2, .weight_decay = 0.1}, g, tn::mpi::buckets_of<1024>{});
  auto whole = step.rule.init(model);
  auto part = step.init_sharded(model);
  // Blocks are whole lines, so a rank has its share of each bucket, and a line more at most.
  constexpr int buckets = decltype(step.plan(model, whole, own.x, own.y))::buckets();
  static_assert(buckets == 3);
  CHECK(part.bytes() <= 2 * (847 * 4 / g.size() + buckets * 3 * 64));
  for (int i = 0; i < 5; ++i) {
    const auto a = step(model, whole, own.x, own.y), b = step(other, part, own.x, own.y);
    CHECK(a.item() == b.item());
  }
  CHECK(same_leaves(model, other));
  CHECK(part.steps == 5);

  if (g.size() > 1) {  // the last rank has another kind of state
    const bool is_last = g.rank() == g.size() - 1;
    CHECK_THROWS_AS(is_last ? step(model, whole, own.x, own.y) : step(other, part, own.x, own.y), tn::shape_error);
  }
  tn::mpi::group self(MPI_COMM_SELF);
  auto by_itself = tn::train_step(loss, step.rule, self, tn::mpi::buckets_of<1024>{});
  if (g.size() > 1) {  // a state of another group
    const auto message_of = [&](auto call) -> std::string {
      try {
        call();
      } catch (const tn::error& e) {
        return e.what();
      }
      return "no error";
    };
    const std::string here = std::to_string(g.rank()) + " of " + std::to_string(g.size());
    const auto of_self = by_itself.init_sharded(model);
    CHECK(message_of([&] { step.gather(of_self); }) ==
          "tenure: gather: the state is that of rank 0 of 1, on rank " + here + ": shard() the whole state");
    CHECK(message_of([&] { by_itself.gather(part); }).find("tenure: gather: the state is that of rank " + here) == 0);
    auto kept = std::move(part);
    const bool is_last = g.rank() == g.size() - 1;
    const std::string in_step = message_of([&] { step(other, is_last ? part : kept, own.x, own.y); });
    const std::string in_gather = message_of([&] { step.gather(is_last ? part : kept); });
    CHECK(in_step.find("tenure: train_step: the state was moved from") != std::string::npos);
    CHECK(in_gather.find("tenure: gather: the state was moved from") != std::string::npos);
    part = std::move(kept);
    CHECK(same_leaves(model, other));
  }
  const auto gathered = step.gather(part);
  CHECK(gathered.steps == 5);
  CHECK(same_leaves(gathered.moments, whole.moments));
  auto again = step.shard(gathered);
  step(model, whole, own.x, own.y), step(other, again, own.x, own.y);
  CHECK(same_leaves(model, other));
}

TEST_CASE("a sharded state is moved and not copied, and a deep copy has memory of its own") {
  auto& g = world();
  auto model = new_model(), other = new_model();
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2}, g);
  auto state = step.init_sharded(model);
  using sharded = decltype(state);
  static_assert(!std::is_copy_constructible_v<sharded> && !std::is_copy_assignable_v<sharded>);
  static_assert(std::is_nothrow_move_constructible_v<sharded> && std::is_nothrow_move_assignable_v<sharded>);
  static_assert(std::is_same_v<decltype(std::declval<const sharded&>().moment(0, {})), const char*>);
  step(model, state, own.x, own.y), step(other, state, own.x, own.y);  // two steps of the state
  const auto kept = tn::deepcopy(state);
  CHECK(kept.steps == 2);
  CHECK(kept.bytes() == state.bytes());
  const auto before = step.gather(state);
  step(model, state, own.x, own.y);
  const auto after = step.gather(kept);
  CHECK(after.steps == 2);
  CHECK(same_leaves(before.moments, after.moments));
  CHECK(!same_leaves(before.moments, step.gather(state).moments));
  // A rule without moments.
  auto plain = tn::train_step(loss, tn::optim::sgd{.learning_rate = 1e-2}, g);
  auto velocity = plain.init_sharded(model);
  auto copy = tn::deepcopy(velocity);
  plain(model, copy, own.x, own.y);
  CHECK(velocity.steps == 0);
  CHECK(copy.steps == 1);
  const auto taken = std::move(state);
  CHECK_THROWS_WITH(tn::deepcopy(state), "tenure: deepcopy: the state was moved from");
}

TEST_CASE("a step with a sharded state sends what its plan says") {
  auto& g = world();
  auto model = new_model();
  const samples own = samples::of(g);
  auto step = tn::train_step(loss, tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9}, g);
  auto state = step.init_sharded(model);
  using plan = decltype(step.plan(model, state, own.x, own.y));
  const std::int64_t messages = g.messages(), bytes = g.bytes_sent();
  step(model, state, own.x, own.y);
  CHECK(g.messages() - messages == plan::messages(g.size()));
  CHECK(g.bytes_sent() - bytes == plan::bytes_sent(g.size(), g.rank()));
}

TEST_CASE("parameters of two element types are sharded each by itself") {
  auto& g = world();
  auto model = std::tuple{tn::ones<float>(tn::shape<40>{}), tn::ones<double>(tn::shape<50>{})};
  constexpr auto mixed = [](auto m, auto x) { return sum(std::get<0>(m)) * 2.0f + tn::cast<float>(sum(std::get<1>(m) * x)); };
  auto step = tn::train_step(mixed, tn::optim::sgd{.learning_rate = 0.5}, g);
  auto state = step.init_sharded(model);
  step(model, state, static_cast<double>(g.rank()));
  const double mean = (g.size() - 1) / 2.0;
  CHECK(std::get<0>(model)(0) == 0);
  CHECK(std::get<0>(model)(39) == 0);
  CHECK(std::get<1>(model)(0) == 1 - 0.5 * mean);
  CHECK(std::get<1>(model)(49) == 1 - 0.5 * mean);
}

TEST_CASE("a run goes on with another number of ranks") {
  auto& g = world();
  const std::string file = "resumed_" + std::to_string(g.size()) + ".npz";
  auto model = new_model(), alone = new_model();
  const samples own = samples::of(g), all(0, rows);
  const tn::optim::adam rule{.learning_rate = 1e-2};
  auto plain = tn::train_step(loss, rule);
  auto state_alone = rule.init(alone);
  for (int i = 0; i < 6; ++i) plain(alone, state_alone, all.x, all.y);

  auto step = tn::train_step(loss, rule, g);
  auto state = step.init_sharded(model);
  for (int i = 0; i < 3; ++i) step(model, state, own.x, own.y);
  const auto whole = step.gather(state);
  if (g.rank() == 0) tn::save(file, model, whole);

  // The first half of the ranks goes on, or the only one.
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(g.communicator(), g.rank() < (g.size() + 1) / 2 ? 0 : 1, g.rank(), &half);  // also waits for the file
  {
    tn::mpi::group fewer(half);
    CHECK(fewer.size() == (g.rank() < (g.size() + 1) / 2 ? (g.size() + 1) / 2 : g.size() / 2));
    auto resumed = new_model();
    auto loaded = rule.init(resumed);
    tn::load(file, resumed, loaded);
    CHECK(loaded.steps == 3);
    const samples part = samples::of(fewer);
    auto further = tn::train_step(loss, rule, fewer);
    auto state_of_part = further.shard(loaded);
    if (g.size() > 1) CHECK_THROWS_AS(further(resumed, state, part.x, part.y), tn::error);  // a state of other ranks
    for (int i = 0; i < 3; ++i) further(resumed, state_of_part, part.x, part.y);
    CHECK(state_of_part.steps == 6);
    for (std::int64_t i = 0; i < 20; ++i)
      for (std::int64_t j = 0; j < 30; ++j) CHECK(resumed.w1(i, j) == Approx(alone.w1(i, j)).margin(2e-5));
  }
  MPI_Comm_free(&half);
}
