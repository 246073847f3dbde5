// SPDX-License-Identifier: BSL-1.0
// Every kind of kernel from tensors on a GPU, with run-time extents and a model: what a user's file compiles to.
#include <boost/hana/define_struct.hpp>

#include <tenure/cuda.hpp>

namespace tn = tenure;

inline constexpr auto batch = tn::dim("batch");

template <class T, std::int64_t... E>
auto on_gpu() {
  return tn::tensor<T, tn::shape<E...>>{}.to(tn::cuda);
}

template <class Kind>
struct mlp {
  BOOST_HANA_DEFINE_STRUCT(mlp, (tn::param<Kind, float, tn::shape<20, 16>>, w1), (tn::param<Kind, float, tn::shape<16>>, b1),
                           (tn::param<Kind, float, tn::shape<16, 10>>, w2), (tn::param<Kind, float, tn::shape<10>>, b2));
  constexpr auto operator()(auto x) const { return matmul(relu(matmul(x, w1) + b1), w2) + b2; }
};

int main() {
  const auto x = tn::tensor<float, tn::shape<batch, 20>>(32).to(tn::cuda);
  const auto labels = tn::tensor<std::int64_t, tn::shape<batch>>(32).to(tn::cuda);
  const auto row = on_gpu<float, 20>();
  const auto wide = on_gpu<double, 64, 300>();

  constexpr auto elements = tn::compile([](auto a, auto r) { return std::tuple{sigmoid(a * r) + 1.0, a < r}; });
  const auto [near, below] = elements(x, row);
  constexpr auto strided = tn::compile([](auto a) { return tn::flip<1>(a) + transpose(transpose(a)); });
  const auto turned = strided(wide);
  constexpr auto rows = tn::compile([](auto a) { return std::tuple{softmax(a), sum(a, tn::axis<0>), amax(a)}; });
  const auto [probabilities, columns, largest] = rows(wide);
  constexpr auto norm = tn::value_and_grad<0, 1, 2>([](auto a, auto scale, auto shift) { return sum(square(tn::layer_norm(a, scale, shift))); });
  const auto normed = norm(x, row, row);
  constexpr auto named = tn::compile([](auto a, auto i) { return gather(a, i) + gather(a, i * 2); });
  const auto picked = named(on_gpu<float, 64, 3>(), labels);
  // Rows that a kernel looks up by index, and a product of three terms that it computes.
  constexpr auto looked_up = tn::compile([](auto a, auto i) { return tn::vmap([](auto r) { return tn::stack(r.at(0) * r.at(2), r.at(1) + r.at(0)); })(gather(a, i)); });
  const auto found = looked_up(on_gpu<float, 64, 3>(), labels);
  constexpr auto layer = tn::compile([](auto a, auto w) { return relu(matmul(a, w)); });
  const auto hidden = layer(on_gpu<float, 8192, 3>(), on_gpu<float, 3, 64>());
  constexpr auto joined = tn::compile([](auto a) { return tn::pad<0, 2>(tn::concat<1>(a, a)); });
  const auto padded = joined(wide);

  constexpr auto attended = tn::grad<0>([](auto a) { return sum(sin(tn::attention(a, a, a, tn::causal))); });
  const auto pulled = attended(on_gpu<float, 2, 9, 4>());

  constexpr auto convolved = tn::grad<0, 1>([](auto a, auto w) { return sum(tn::max_pool2d<2>(tn::conv2d<tn::conv{.stride = 2, .padding = 1}>(a, w))); });
  const auto of_image = std::get<0>(convolved(on_gpu<float, 2, 3, 9, 9>(), on_gpu<float, 4, 3, 3, 3>()));

  constexpr auto loss = [](auto m, auto a, auto i) { return cross_entropy(m(a), i); };
  const mlp<tn::values> host{};
  const auto model = tn::to(host, tn::cuda);
  const auto [value, gradients] = tn::value_and_grad(loss)(model, x, labels);

  const auto eager = tn::tensor(exp(x) * row);
  return value.item() == largest.item() ? 1 : 0;
}
