// SPDX-License-Identifier: BSL-1.0
// The code of docs/libtorch.md, and its rows about gates, taps and layouts, beside plain loops in the conventions of the other library.
#include <tenure/tenure.hpp>

#include "../catch.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include <boost/hana/define_struct.hpp>

namespace tn = tenure;

// torch::nn::Linear has weight [outputs, inputs]; so has this, and a state_dict loads under the same names.
template <class Kind, auto In, auto Out>
struct linear_layer {
  using matrix = tn::param<Kind, float, tn::shape<Out, In>, tn::init_linear>;
  using vector = tn::param<Kind, float, tn::shape<Out>>;
  BOOST_HANA_DEFINE_STRUCT(linear_layer, (matrix, weight), (vector, bias));

  constexpr auto operator()(const auto& x) const { return linear(x, weight, bias); }
};
template <class Kind>
struct classifier {
  using first = linear_layer<Kind, 4, 16>;
  using second = linear_layer<Kind, 16, 3>;
  BOOST_HANA_DEFINE_STRUCT(classifier, (first, fc1), (second, fc2));

  constexpr auto operator()(const auto& x) const { return fc2(relu(fc1(x))); }
};

// A matrix of a GRU in the order of Keras and RTNeural, [inputs, 3 units] with update, reset, new, as PyTorch's weight_ih_l0.
constexpr auto gru_of_keras = tn::compile([](auto w) {
  const auto [update, reset, next] = tn::chunk<3, 0>(transpose(w));
  return tn::concat<0>(reset, update, next);
});

// ggml_mul_mat(ctx, w, x) of a w with ne = {inputs, outputs} and an x with ne = {inputs, rows}: the first extent of ggml is our last one.
constexpr auto mul_mat = tn::compile([](auto w, auto x) { return linear(x, w); });

namespace {
constexpr int units = 3;
float sigmoid_of(float x) { return 1 / (1 + std::exp(-x)); }
}  // namespace

TEST_CASE("libtorch: a module, a step of its optimizer, and a call without a gradient") {
  const auto libtorch = [] {
    // auto net = std::make_shared<Net>(); torch::optim::Adam optimizer(net->parameters(), 1e-2);
    tn::engine random(1);
    auto net = tn::init<classifier>(random);
    constexpr auto loss = [](auto model, auto x, auto labels) { return cross_entropy(model(x), labels); };
    auto step = tn::train_step(loss, tn::optim::adam{.learning_rate = 1e-2});
    auto state = step.rule.init(net);

    // optimizer.zero_grad(); auto l = F::cross_entropy(net(x), labels); l.backward(); optimizer.step(); l.item<float>();
    const tn::tensor<float, tn::shape<8, 4>> x = tn::normal<float>(tn::shape<8, 4>{}, random);
    const tn::tensor<std::int64_t, tn::shape<8>> labels{0, 1, 2, 0, 1, 2, 0, 1};
    float first = step(net, state, x, labels).item(), last = first;
    for (int i = 0; i < 200; ++i) last = step(net, state, x, labels).item();

    // net->eval(); torch::InferenceMode guard; auto y = net(x);
    constexpr auto predict = tn::compile([](auto model, auto images) { return softmax(model(images)); });
    tn::tensor<float, tn::shape<8, 3>> y;
    predict.into(y)(net, x);
    return std::array{first, last, y(0, 0)};
  };
  const auto [first, last, chance] = libtorch();
  CHECK(first > 0.9f);
  CHECK(last < 0.2f);
  CHECK(chance > 0.5f);
}

TEST_CASE("libtorch: from_blob, accessors and slices") {
  std::array<float, 6> samples{1, 2, 3, 4, 5, 6};
  // auto t = torch::from_blob(samples.data(), {2, 3}); t[1].mul_(2); t.index({Slice(), 1}); t.data_ptr<float>();
  auto t = tn::from<tn::shape<2, 3>>(samples.data());
  t[1] *= 2.0f;
  const auto column = t.at(tn::all, 1);
  const float* const data = t.data();
  CHECK(samples[4] == 10);
  CHECK(column(1) == 10);
  CHECK(data == samples.data());
}

TEST_CASE("RTNeural and Keras: the gates of a GRU are update, reset, new, and its matrices are transposed") {
  tn::engine random(2);
  const tn::tensor w = tn::normal<float>(tn::shape<1, 3 * units>{}, random);
  const tn::tensor u = tn::normal<float>(tn::shape<units, 3 * units>{}, random);
  const tn::tensor h = tn::normal<float>(tn::shape<units>{}, random);
  const float x = 0.7f;
  // By the formula of RTNeural and of Keras with reset_after.
  std::array<float, units> wanted{};
  for (int j = 0; j < units; ++j) {
    std::array<float, 3> of_x{}, of_h{};
    for (int gate = 0; gate < 3; ++gate) {
      const auto g = static_cast<std::size_t>(gate);
      of_x[g] = w(0, gate * units + j) * x;
      for (int i = 0; i < units; ++i) of_h[g] += u(i, gate * units + j) * h(i);
    }
    const float z = sigmoid_of(of_x[0] + of_h[0]), r = sigmoid_of(of_x[1] + of_h[1]), c = std::tanh(of_x[2] + r * of_h[2]);
    wanted[static_cast<std::size_t>(j)] = (1 - z) * c + z * h(j);
  }
  // By PyTorch's.
  constexpr auto cell = tn::compile([](auto sample, auto before, auto w_ih, auto w_hh) {
    const auto [xr, xz, xn] = tn::chunk<3, -1>(linear(sample, w_ih));
    const auto [hr, hz, hn] = tn::chunk<3, -1>(linear(before, w_hh));
    const auto z = sigmoid(xz + hz), n = tanh(xn + sigmoid(xr + hr) * hn);
    return n + z * (before - n);
  });
  const tn::tensor found = cell(tn::tensor<float, tn::shape<1>>{x}, h, gru_of_keras(w), gru_of_keras(u));
  for (int j = 0; j < units; ++j) CHECK(found(j) == Approx(wanted[static_cast<std::size_t>(j)]).epsilon(1e-5));
}

TEST_CASE("RTNeural: a Conv1D is causal, and its first tap is that of the newest sample") {
  const tn::tensor<float, tn::shape<1, 6>> x{{1, -2, 3, 0.5f, 4, -1}};
  const tn::tensor<float, tn::shape<1, 1, 3>> w{{{0.2f, -0.7f, 1.1f}}};
  const tn::tensor y = tn::conv1d<tn::conv{.padding = tn::causal, .dilation = 2}>(x, w);
  const std::array newest_first{w(0, 0, 2), w(0, 0, 1), w(0, 0, 0)};
  for (int i = 0; i < 6; ++i) {
    float wanted = 0;
    for (int k = 0; k < 3; ++k)
      if (i - 2 * k >= 0) wanted += newest_first[static_cast<std::size_t>(k)] * x(0, i - 2 * k);
    CHECK(y(0, i) == Approx(wanted));
  }
}

TEST_CASE("ggml: mul_mat multiplies rows by rows, and its extents are in the other order") {
  const tn::tensor<float, tn::shape<2, 3>> w{{1, 2, 3}, {4, 5, 6}};               // ne = {3, 2}
  const tn::tensor<float, tn::shape<4, 3>> x{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};  // ne = {3, 4}
  const tn::tensor y = mul_mat(w, x);  // ne = {2, 4}
  STATIC_REQUIRE(std::is_same_v<decltype(y)::shape_type, tn::shape<4, 2>>);
  for (int row = 0; row < 4; ++row)
    for (int output = 0; output < 2; ++output) {
      float wanted = 0;
      for (int i = 0; i < 3; ++i) wanted += w.data()[i + 3 * output] * x.data()[i + 3 * row];
      CHECK(y(row, output) == wanted);
    }
}
