// SPDX-License-Identifier: BSL-1.0
// LeNet by windows and products, for a batch of eight images, with the gradients of all weights.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

/// x [images, channels, n, n] by a filter [channels * 25, features]: [images, features, n - 4, n - 4].
constexpr auto convolved = []<class X>(X x, auto filter) {
  constexpr std::int64_t n = X::shape_type::value[2] - 4, images = X::shape_type::value[0], channels = X::shape_type::value[1];
  const auto patches = tn::permute<0, 2, 3, 1, 4, 5>(tn::windows<3, 5>(tn::windows<2, 5>(x)));
  return tn::permute<0, 3, 1, 2>(matmul(tn::reshape<images, n, n, channels * 25>(patches), filter));
};
constexpr auto pooled = []<class X>(X x) {
  constexpr std::int64_t n = X::shape_type::value[2] / 2, images = X::shape_type::value[0], channels = X::shape_type::value[1];
  return amax(tn::reshape<images, channels, n, 2, n, 2>(x), tn::axes<3, 5>);
};
constexpr auto loss = [](auto first, auto second, auto hidden, auto last, auto x, auto labels) {
  const auto a = pooled(relu(convolved(x, first)));
  const auto b = pooled(relu(convolved(a, second)));
  const auto h = relu(matmul(tn::reshape<8, 256>(b), hidden));
  return cross_entropy(matmul(h, last), labels);
};
}  // namespace

auto step(const array<25, 6>& first, const array<150, 16>& second, const array<256, 84>& hidden, const array<84, 10>& last, const array<8, 1, 28, 28>& x,
          const tn::tensor<std::int64_t, tn::shape<8>>& labels) {
  return tn::value_and_grad<0, 1, 2, 3>(loss)(first, second, hidden, last, x, labels);
}
