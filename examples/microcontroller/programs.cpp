// SPDX-License-Identifier: BSL-1.0
// The programs by Tenure: a policy, its training, and a controller, without exceptions, RTTI and a heap.
#include <algorithm>

#include <boost/hana/define_struct.hpp>

#include <tenure/freestanding.hpp>

#include "programs.h"

namespace tn = tenure;

template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network,
    (tn::param<Kind, float, tn::shape<inputs, hidden>>, w1), (tn::param<Kind, float, tn::shape<hidden>>, b1),
    (tn::param<Kind, float, tn::shape<hidden, hidden>>, w2), (tn::param<Kind, float, tn::shape<hidden>>, b2),
    (tn::param<Kind, float, tn::shape<hidden, 1>>, w3), (tn::param<Kind, float, tn::shape<1>>, b3));

  constexpr auto operator()(const auto& x) const { return matmul(tanh(matmul(tanh(matmul(x, w1) + b1), w2) + b2), w3) + b3; }
};
using parameters = network<tn::fixed_values>;
static_assert(sizeof(parameters) == sizeof(policy));

constexpr auto run = tn::compile([](auto model, auto state) { return model(state); });

constexpr auto mean_square_error = [](auto model, auto state, auto force) { return mean(square(model(state) - force)); };
constexpr auto descend = tn::compile([](auto model, auto state, auto force, auto rate) {
  const auto [error, slope] = tn::value_and_grad(mean_square_error)(model, state, force);
  return std::tuple{error, tn::map([&](const auto& w, const auto& d) { return w - rate * d; }, model, slope)};
});

// The cost of the forces u from state x on.
constexpr auto cost = [](auto u, auto x, auto a, auto b, auto q, auto r) {
  const auto advance = [=](auto now, auto force) {
    const auto next = matmul(a, now) + b * force;
    return std::tuple{next, sum(q * square(next)) + r * square(force)};
  };
  return sum(std::get<1>(tn::scan(advance, x, u)));
};
constexpr auto improve = tn::compile([](auto u, auto x, auto a, auto b, auto q, auto r) {
  const auto round = [=](auto, auto forces) { return clamp(forces - 0.1f * tn::grad(cost)(forces, x, a, b, q, r), -1.0f, 1.0f); };
  return tn::fori_loop(10, round, u);
});


namespace {

// The arrays of programs.h are the elements of fixed arrays: both are rows of float.
template <class Fixed, class T>
auto& as(T& array) {
  static_assert(sizeof(Fixed) == sizeof(T));
  if constexpr (std::is_const_v<T>) return reinterpret_cast<const Fixed&>(array);
  else return reinterpret_cast<Fixed&>(array);
}
using state_of = tn::fixed<float, tn::shape<inputs>>;
using forces = tn::fixed<float, tn::shape<horizon>>;
using matrix = tn::fixed<float, tn::shape<inputs, inputs>>;
using states = tn::fixed<float, tn::shape<batch, inputs>>;
using answers = tn::fixed<float, tn::shape<batch, 1>>;
using answer = tn::fixed<float, tn::shape<1>>;

// Programs that run one after the other share a workspace: it has the bytes of the one that needs most.
tn::workspace<std::max(run.workspace_bytes(parameters(), state_of()), improve.workspace_bytes(forces(), state_of(), matrix(), state_of(), state_of(), 0.0f))> memory;
tn::workspace<descend.workspace_bytes(parameters(), states(), answers(), 0.0f)> memory_of_training;

}  // namespace

float act(const policy* p, const float state[inputs]) {
  answer force;
  run.in(memory).into(force)(as<parameters>(*p), *reinterpret_cast<const state_of*>(state));
  return force(0);
}

float learn(policy* p, const samples* s, float rate) {
  float error = 0;
  auto& model = as<parameters>(*p);
  descend.in(memory_of_training).into(error, model)(model, as<states>(s->state), as<answers>(s->force), rate);
  return error;
}

void control(const plant* p, const float state[inputs], float u[horizon]) {
  auto& force = *reinterpret_cast<forces*>(u);
  improve.in(memory).into(force)(force, *reinterpret_cast<const state_of*>(state), as<matrix>(p->a), as<state_of>(p->b), as<state_of>(p->q), p->r);
}
