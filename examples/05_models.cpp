// SPDX-License-Identifier: BSL-1.0
// Models are structs whose members Boost.Hana enumerates. The same struct holds parameters, gradients and moments.
#include <array>
#include <cstdio>
#include <tuple>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/save.hpp>
#include <tenure/optim/groups.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

// Kind selects the members: traced values inside a traced function, tensors outside. The extents follow it as values.
template <class Kind, auto In, auto Out>
struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense,
    (tn::param<Kind, float, tn::shape<In, Out>>, w), (tn::param<Kind, float, tn::shape<Out>>, b));

  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};

// Models may contain models, and arrays of models.
template <class Kind, auto Width>
struct network {
  using input = dense<Kind, 1, Width>;
  using output = dense<Kind, Width, 1>;
  using middle = std::array<dense<Kind, Width, Width>, 2>;
  BOOST_HANA_DEFINE_STRUCT(network, (input, first), (middle, between), (output, last));

  constexpr auto operator()(const auto& x) const {
    auto h = tn::eval(tanh(first(x)));  // the loop assigns to h, with tensors too
    for (const auto& layer : between) h = tanh(layer(h));
    return last(h);
  }
};

// Many equal layers: tn::stacked gives each of their parameters a first axis for the layers. scan computes them with one body.
template <class Kind, auto Width, auto Depth>
struct deep_network {
  using layers = dense<tn::stacked<Kind, Depth>, Width, Width>;
  BOOST_HANA_DEFINE_STRUCT(deep_network, (layers, all));

  constexpr auto operator()(const auto& x) const {
    return std::get<0>(tn::scan([](auto h, auto layer) { return std::tuple{h + tanh(layer(h)), tn::nothing}; }, x, all));
  }
};

// What a parameter starts with stands in its declaration.
struct small_normal {
  template <class T, class S>
  static auto make(S shape, tn::engine& random) { return tn::normal<T>(shape, random, 0.0, 0.02); }
};
template <class Kind>
struct classifier {
  BOOST_HANA_DEFINE_STRUCT(classifier,
    (tn::param<Kind, float, tn::shape<8>, tn::init_ones>, gain), (tn::param<Kind, float, tn::shape<8, 3>, small_normal>, w));

  constexpr auto operator()(const auto& x) const { return matmul(rms_norm(x, gain), w); }
};

// A loss takes the model like any other argument.
constexpr auto loss = [](auto model, auto x, auto y) { return mse(model(x), y); };

int main() {
  constexpr std::int64_t n = 64;
  bool right = true;
  tn::engine random(7);
  const auto x = tn::uniform(tn::shape<n, 1>{}, random, -2.0, 2.0);
  const tn::tensor y = sin(2.0f * x);

  // The gradients have the same struct.
  auto model = tn::init<network, 16>(random);
  const auto [value, grads] = tn::value_and_grad(loss)(model, x, y);
  right &= value.item() > 0.1f && grads.between[1].w.size() == 256;

  // Arithmetic of whole models: a gradient with a norm of at most 1, and a step along it.
  const auto clipped = tn::clip_by_global_norm(grads, 1.0f);
  const auto ahead = model - 0.1f * clipped;
  const auto blended = tn::map([](auto old, auto now) { return lerp(old, now, 0.5); }, model, ahead);
  right &= norm(clipped).item() < 1.001f && blended.last.b(0) != model.last.b(0);

  // A rule has moments for each parameter. It updates the model and the moments in place.
  tn::optim::sgd rule{.learning_rate = 0.1f, .momentum = 0.9f};
  auto velocity = rule.init(model);
  rule.update(model, grads, velocity);
  right &= tn::compile(loss)(model, x, y).item() < value.item();

  // Micro-batches that come one by one: a call adds the gradients of one to their sum, in place.
  constexpr auto add_gradients = tn::compile([](auto sum, auto m, auto at, auto target) { return sum + tn::grad(loss)(m, at, target); });
  auto total = tn::map([](auto g) { return tn::zeros_like(g); }, grads);
  for (int part = 0; part < 4; ++part)
    add_gradients.into(total)(total, model, x.reshape<4, n / 4, 1>()[part], y.reshape<4, n / 4, 1>()[part]);
  rule.update(model, total / 4.0f, velocity);

  // Hyperparameters by group: no decay for biases, a smaller step for the last layer. The names are those in a file.
  constexpr auto last_layer = [](std::string_view name, const tn::extents&) { return name.starts_with("last."); };
  using tn::optim::group, tn::optim::sgd;
  tn::optim::groups by_group{sgd{.learning_rate = 0.1, .weight_decay = 1e-2}, group{last_layer, sgd{.learning_rate = 0.01}},
                             group{tn::optim::vectors, sgd{.learning_rate = 0.1}}};
  by_group.for_each_rule([](sgd& each) { each.learning_rate *= 0.5; });
  by_group.update(model, grads, velocity);

  // train_step: forward, backward and update as one compiled function. Hyperparameters may change between steps.
  const tn::flush_denormals scope;  // moments that decay into denormals would slow it down
  auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2f});
  auto state = step.rule.init(model);
  float last = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i == 800) step.rule.learning_rate = 1e-3f;
    last = step(model, state, x, y).item();
  }
  std::printf("loss %.4f\n", static_cast<double>(last));

  // Results beside the loss: the function returns both, and the gradients are those of the loss.
  constexpr auto with_predictions = [](auto m, auto at, auto target) {
    const auto found = m(at);
    return std::tuple{mse(found, target), found};
  };
  const auto [both, of_both] = tn::value_and_grad(with_predictions, tn::has_aux)(model, x, y);
  auto watched = tn::train_step(with_predictions, tn::optim::adam{.learning_rate = 1e-3f}, tn::has_aux);
  const auto [before, predicted] = watched(model, state, x, y);
  right &= std::get<0>(both).item() == before.item() && predicted.size() == y.size();

  // Products in bfloat16, forward and backward, which sum in float32. The parameters and the state of the rule stay float32.
  auto narrow = tn::train_step(tn::autocast<tn::bfloat16>(loss), tn::optim::adam{.learning_rate = 1e-3f});
  for (int i = 0; i < 100; ++i) last = narrow(model, state, x, y).item();
  right &= last < 0.01f;

  // L-BFGS, for a smooth function of all data: here the rate and the size of a decay, from measurements.
  constexpr auto misfit = [](auto p, auto t, auto measured) { return mean(square(p[0] * exp(-p[1] * t) - measured)); };
  const auto times = tn::linspace<double>(tn::shape<20>{}, 0.0, 4.0);
  const tn::tensor measured = 3.0 * exp(-0.7 * times);
  tn::tensor<double, tn::shape<2>> p{1, 1};
  const auto reached = tn::minimize(misfit, tn::optim::lbfgs{.gradient_tolerance = 1e-10})(p, times, measured);
  right &= reached.converged() && reached.iterations < 30 && p(0) > 2.999 && p(0) < 3.001 && p(1) > 0.6999 && p(1) < 0.7001;

  // Random numbers in a compiled function come from a key.
  constexpr auto noisy = tn::compile([](auto at, auto key) {
    const auto kept = tn::dropout(at, 0.5, key);
    return kept + 0.1f * tn::normal_like(at, tn::fold_in(key, 1));
  });
  const tn::tensor key = tn::random_key(0);
  const tn::tensor of_step = tn::fold_in(key, state.steps);
  right &= noisy(x, of_step)(0, 0) == noisy(x, of_step)(0, 0) && noisy(x, of_step)(0, 0) != noisy(x, key)(0, 0);

  const auto fresh = tn::init<classifier>(random);
  right &= fresh.gain(7) == 1 && fresh.w(0, 0) != 0 && fresh.w(0, 0) < 0.1f;
  right &= last < 1e-2f;

  // NumPy can read the file. Its arrays are first.w, first.b, between.0.w, ...
  tn::save("network.npz", model);
  auto other = tn::init<network, 16>(random);
  tn::load("network.npz", other);
  constexpr auto predict = tn::compile([](auto m, auto at) { return m(at); });
  right &= predict(other, x)(5, 0) == predict(model, x)(5, 0);
  const tn::tensor eager = model(x);
  right &= eager(5, 0) - predict(model, x)(5, 0) < 1e-5f && predict(model, x)(5, 0) - eager(5, 0) < 1e-5f;
  const auto deep = tn::init<deep_network, 16, 24>(random);
  right &= deep.all.w.size() == 24 * 16 * 16 && deep(tn::zeros(tn::shape<4, 16>{}))(3, 15) == 0;
  return right ? 0 : 1;
}
