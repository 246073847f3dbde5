// SPDX-License-Identifier: BSL-1.0
// Training steps on the fake runtime: recorded once, launched as a whole, the same bits as on the host.
#include <string>
#include <vector>

#include "fake_device.hpp"

#include "../catch.hpp"

using namespace tenure;

namespace {
using list = std::vector<double>;
template <class X>
list elements(const X& x) {
  const auto here = x.to(cpu).clone();
  return {here.data(), here.data() + here.size()};
}

template <class Kind>
struct affine {
  BOOST_HANA_DEFINE_STRUCT(affine, (param<Kind, double, shape<3, 2>>, w), (param<Kind, double, shape<2>>, b));
  constexpr auto operator()(auto x) const { return tanh(matmul(x, w) + b); }
};
constexpr auto loss = [](auto model, auto x, auto y) { return mean(square(model(x) - y)); };
constexpr auto loss_of_labels = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };

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
    const auto same_run = [](auto rule) {
      engine random{7};
      auto here = init<affine>(random);
      auto there = to(here, cuda);
      auto state = rule.init(here);
      auto far_state = rule.init(there);
      const auto x = uniform<double>(shape<4, 3>{}, random);
      const auto y = uniform<double>(shape<4, 2>{}, random);
      const auto far_x = x.to(cuda);
      const auto far_y = y.to(cuda);
      const auto other_x = x.clone().mul_(2).to(cuda);
      const auto step = train_step(loss, rule);
      const auto both = [&](const auto& there_x, const auto& here_x) {
        const auto got = step(there, far_state, there_x, far_y);
        CHECK(got.item() == step(here, state, here_x, y).item());
      };
      both(far_x, x);  // as it is
      both(far_x, x);  // recorded
      const counted before;
      for (int i = 0; i < 4; ++i) both(far_x, x);
      const counted steady = counted() - before;
      CHECK(steady.launches == 4);
      CHECK(steady.kernels == 0);
      CHECK(steady.made == 0);
      both(other_x, x.clone().mul_(2));
      both(far_x, x);
      const counted changed = counted() - before;
      CHECK(changed.updated == 2);
      CHECK(changed.made == 0);
      CHECK(elements(to(there, cpu).w) == elements(here.w));
      CHECK(elements(there.b) == elements(here.b));
      CHECK(far_state.steps == state.steps);
    };
    same_run(optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
    same_run(optim::adam{.weight_decay = 0.01});
  }
  fake_cuda::eager(0);
}

TEST_CASE("cuda: labels are checked before each step") {
  engine random{7};
  auto model = to(init<affine>(random), cuda);
  const optim::sgd rule{.learning_rate = 0.1};
  auto state = rule.init(model);
  const auto x = uniform<double>(shape<4, 3>{}, random).to(cuda);
  auto labels = tensor<std::int64_t, shape<4>>{0, 1, 1, 0}.to(cuda);
  const auto step = train_step(loss_of_labels, rule);
  for (int i = 0; i < 3; ++i) step(model, state, x, labels);
  const auto before = elements(model.w);
  labels.fill_(2);
  CHECK_THROWS_AS(step(model, state, x, labels), index_error);
  CHECK(elements(model.w) == before);
  CHECK(state.steps == 3);
}

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
