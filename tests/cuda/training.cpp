// SPDX-License-Identifier: BSL-1.0
// Training steps on the fake runtime: recorded once, launched as a whole, the same bits as on the host.
#include <string>

#include "fake_device.hpp"

#include "../device/training.hpp"

using namespace device_tests;

namespace {
struct counted {
  int launches = fake_cuda::calls["cudaGraphLaunch"], kernels = fake_cuda::calls["kernel"], made = fake_cuda::calls["cudaGraphInstantiate"],
      updated = fake_cuda::calls["cudaGraphExecUpdate"];
  counted operator-(const counted& before) const {
    counted d = *this;
    d.launches -= before.launches, d.kernels -= before.kernels, d.made -= before.made, d.updated -= before.updated;
    return d;
  }
};
}  // namespace

// Law: a recorded step has the same effect as its separate launches.
// Law: launch() does the work that f() in record(f) gave to the current stream, on the same addresses.
TEST_CASE("cuda: a training step is one launch, with the host's bits") {
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    fake_cuda::eager(seed);
    train(cuda, [](const auto& there_x, const auto& x, auto both) {
      const auto other = x.clone().mul_(2);
      const auto there_other = other.to(cuda);
      both(there_x, x);  // as it is
      both(there_x, x);  // recorded
      const counted before;
      for (int i = 0; i < 4; ++i) both(there_x, x);
      const counted steady = counted() - before;
      CHECK(steady.launches == 4);
      CHECK(steady.kernels == 0);
      CHECK(steady.made == 0);
      both(there_other, other);
      both(there_x, x);
      const counted changed = counted() - before;
      CHECK(changed.updated == 2);
      CHECK(changed.made == 0);
    });
  }
  fake_cuda::eager(0);
}

TEST_CASE("cuda: labels are checked before each step") { labels_are_checked(cuda); }

TEST_CASE("cuda: a step in which a call fails has changed nothing") {
  engine random{7};
  auto model = to(init<affine>(random), cuda);
  const optim::adam rule{};
  auto state = rule.init(model);
  const auto x = uniform<double>(shape<4, 3>{}, random).to(cuda);
  const auto y = uniform<double>(shape<4, 2>{}, random).to(cuda);
  const auto step = train_step(loss, rule);
  for (int turn = 0; turn < 3; ++turn) {  // as it is, recorded, launched again
    const auto before = elements(model.w);
    int failures = 0;
    for (;; ++failures) {
      fake_cuda::fail_at = failures;
      try {
        step(model, state, x, y);
        break;
      } catch (const cuda_error& e) {
        fake_cuda::fail_at = -1;
        // The loss is copied out last, when the step is given.
        if (std::string(e.what()).find("cudaMemcpyAsync") != std::string::npos && elements(model.w) != before) break;
        CHECK(elements(model.w) == before);
        CHECK(state.steps == turn);
      }
    }
    fake_cuda::fail_at = -1;
    CHECK(failures > 1);
    state.steps = turn + 1;
  }
}

TEST_CASE("cuda: memory of recorded steps is that of the last") {
  engine random{7};
  auto model = to(init<affine>(random), cuda);
  const optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(model);
  const auto step = train_step(loss, rule);
  int live = 0;
  for (int i = 0; i < 8; ++i) {
    const auto x = uniform<double>(shape<4, 3>{}, random).to(cuda);
    const auto y = uniform<double>(shape<4, 2>{}, random).to(cuda);
    step(model, state, x, y);
    fake_cuda::finish();
    if (i == 2) live = fake_cuda::live();
    if (i > 2) CHECK(fake_cuda::live() == live);
  }
}

TEST_CASE("cuda: trainers of one type do not disturb each other: each state has its recording") {
  engine random{7};
  const optim::sgd rule{.learning_rate = 0.1, .momentum = 0.9};
  const auto here_x = uniform<double>(shape<4, 3>{}, random);
  const auto here_y = uniform<double>(shape<4, 2>{}, random);
  const auto x = here_x.to(cuda);
  const auto y = here_y.to(cuda);
  auto here_a = init<affine>(random), here_b = init<affine>(random);
  auto a = to(here_a, cuda), b = to(here_b, cuda);
  auto here_state_a = rule.init(here_a), here_state_b = rule.init(here_b);
  auto state_a = rule.init(a), state_b = rule.init(b);
  const auto step_a = train_step(loss, rule), step_b = train_step(loss, rule);
  const auto turn = [&] {
    CHECK(agrees(step_a(a, state_a, x, y).item(), step_a(here_a, here_state_a, here_x, here_y).item()));
    CHECK(agrees(step_b(b, state_b, x, y).item(), step_b(here_b, here_state_b, here_x, here_y).item()));
  };
  turn(), turn();
  const counted before;
  for (int i = 0; i < 4; ++i) turn();
  const counted steady = counted() - before;
  CHECK(steady.launches == 8);
  CHECK(steady.updated == 0);
  CHECK(steady.made == 0);
  CHECK(steady.kernels == 0);

  // A state that moves takes its recording along.
  auto moved = std::move(state_a);
  CHECK(agrees(step_a(a, moved, x, y).item(), step_a(here_a, here_state_a, here_x, here_y).item()));
  CHECK((counted() - before).launches == 9);
  CHECK((counted() - before).updated == 0);
}

TEST_CASE("cuda: another loss over the same model and state is another recording") {
  engine random{7};
  const optim::sgd rule{.learning_rate = 0.1};
  constexpr auto other = [](auto model, auto x, auto y) { return mean(abs(model(x) - y)); };
  const auto here_x = uniform<double>(shape<4, 3>{}, random);
  const auto here_y = uniform<double>(shape<4, 2>{}, random);
  const auto x = here_x.to(cuda);
  const auto y = here_y.to(cuda);
  auto here = init<affine>(random);
  auto there = to(here, cuda);
  auto here_state = rule.init(here);
  auto state = rule.init(there);
  const auto check = [&](const auto& step) { CHECK(agrees(step(there, state, x, y).item(), step(here, here_state, here_x, here_y).item())); };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) check(train_step(loss, rule));
    for (int j = 0; j < 3; ++j) check(train_step(other, rule));
  }
}
