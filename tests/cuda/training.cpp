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
