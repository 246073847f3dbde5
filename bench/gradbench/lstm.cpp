// SPDX-License-Identifier: BSL-1.0
// The loss of a network of LSTM layers whose weights are diagonal, on a text of which each character is a vector of bits.
#include "tensors.hpp"

namespace {

/// One layer for the whole text. The rows of p are the weights of the gates forget, in, out and change, and then their biases. Two of the gates
/// do not depend on the state: they are computed for the whole text at once.
constexpr auto layer = [](auto inputs, auto p, auto start) {
  const auto iteration = [=](auto state, auto gates) {
    const auto [hidden, cell] = state;
    const auto [forget, out] = gates;
    const auto in = sigmoid(hidden * p[1] + p[5]);
    const auto change = tanh(hidden * p[3] + p[7]);
    const auto next = in * change + cell * forget;
    const auto shown = out * tanh(next);
    return std::tuple{std::tuple{shown, next}, shown};
  };
  const auto forget = sigmoid(inputs * p[0] + p[4]);
  const auto out = sigmoid(inputs * p[2] + p[6]);
  return std::get<1>(tn::scan(iteration, std::tuple{start[0], start[1]}, std::tuple{forget, out}));
};

constexpr auto loss = [](auto layers, auto extra, auto state, auto text) {
  const auto iteration = [](auto inputs, auto of_layer) {
    const auto [p, start] = of_layer;
    return std::tuple{layer(inputs, p, start), tn::nothing};
  };
  const auto inputs = text[tn::range<0, tn::end - 1>()] * extra[0];
  const auto shown = std::get<0>(tn::scan(iteration, inputs, std::tuple{layers, state}));
  const auto predicted = shown * extra[1] + extra[2];
  const auto norm = log(2.0 + sum(exp(predicted), tn::axis<1>, tn::keepdim));
  return -mean(text[tn::range<1, tn::end>()] * (predicted - norm));
};
constexpr auto value_of = tn::compile(loss);
constexpr auto gradients_of = tn::grad<0, 1>(loss);

struct network {
  gradbench::array<tn::dyn, 8, tn::dyn> layers;
  gradbench::array<3, tn::dyn> extra;
  gradbench::array<tn::dyn, 2, tn::dyn> state;
  gradbench::matrix text;

  explicit network(const gradbench::input& in) : network(in, in.at("/sequence")) {}

 private:
  network(const gradbench::input& in, const gradbench::lists& sequence)
      : layers(gradbench::tensor_of<decltype(layers)>(in.at("/main_params"), in.at("/main_params").extents[0] / 2, sequence.extents[1])),
        extra(gradbench::tensor_of<decltype(extra)>(in.at("/extra_params"), sequence.extents[1])),
        state(gradbench::tensor_of<decltype(state)>(in.at("/state"), layers.extent(0), sequence.extents[1])), text(gradbench::matrix_of(sequence)) {}
};

void objective(const gradbench::input& in) {
  const network n(in);
  gradbench::number y;
  gradbench::measure(in, [&] { gradbench::into(value_of, y)(n.layers, n.extra, n.state, n.text); }, [&] { return gradbench::output_of(y); });
}

void jacobian(const gradbench::input& in) {
  const network n(in);
  const std::int64_t bits = n.text.extent(1);
  gradbench::array<tn::dyn, 8, tn::dyn> layers(n.layers.extent(0), bits);
  gradbench::array<3, tn::dyn> extra(bits);
  gradbench::measure(in, [&] { gradbench::into(gradients_of, layers, extra)(n.layers, n.extra, n.state, n.text); }, [&] {
    gradbench::lists all = gradbench::lists_of(layers);
    const gradbench::lists last = gradbench::lists_of(extra);
    all.values.insert(all.values.end(), last.values.begin(), last.values.end());
    all.extents = {static_cast<std::int64_t>(all.values.size())};
    return gradbench::output{{"", all}};
  });
}

}  // namespace

int main(int argc, char** argv) { return gradbench::run(argc, argv, {{"objective", objective}, {"jacobian", jacobian}}); }
