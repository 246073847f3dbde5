// SPDX-License-Identifier: BSL-1.0
// A GRU cell of 32 for audio: one sample at a time, with weights as PyTorch stores them, and a block of samples by scan.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
constexpr std::int64_t n = 32;

constexpr auto cell = [](auto h, auto x, auto wx, auto wh, auto bx, auto bh) {
  const auto a = wx.at(tn::all, 0) * x + bx, b = matmul(wh, h) + bh;
  const auto r = sigmoid(a[tn::range<0, n>()] + b[tn::range<0, n>()]);
  const auto z = sigmoid(a[tn::range<n, 2 * n>()] + b[tn::range<n, 2 * n>()]);
  const auto c = tanh(a[tn::range<2 * n, 3 * n>()] + r * b[tn::range<2 * n, 3 * n>()]);
  return (1.0f - z) * c + z * h;
};
constexpr auto block = [](auto h, auto xs, auto wx, auto wh, auto bx, auto bh, auto out) {
  const auto iteration = [=](auto h, auto x) {
    const auto next = cell(h, x, wx, wh, bx, bh);
    return std::tuple{next, sum(next * out) + x};
  };
  return tn::scan(iteration, h, xs);
};
}  // namespace

auto sample(const array<n>& h, float x, const array<3 * n, 1>& wx, const array<3 * n, n>& wh, const array<3 * n>& bx, const array<3 * n>& bh) {
  return tn::compile(cell)(h, x, wx, wh, bx, bh);
}
auto samples(const array<n>& h, const array<64>& xs, const array<3 * n, 1>& wx, const array<3 * n, n>& wh, const array<3 * n>& bx, const array<3 * n>& bh,
             const array<n>& out) {
  return tn::compile(block)(h, xs, wx, wh, bx, bh, out);
}
