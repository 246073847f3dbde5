// SPDX-License-Identifier: BSL-1.0
// A decoder of the Llama family for one sequence: rotary positions, grouped heads, a gated network, by scan over four layers.
#include <tenure/tenure.hpp>

namespace {
namespace tn = tenure;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
constexpr std::int64_t tokens = 32, width = 64, heads = 4, size = 16, hidden = 128, layers = 4, words = 256;

constexpr auto rotated = [](auto x, auto cosines, auto sines) {  // x [heads, tokens, size]
  const auto left = x.at(tn::all, tn::all, tn::range<0, size / 2>()), right = x.at(tn::all, tn::all, tn::range<size / 2, size>());
  return tn::concat<2>(left * cosines - right * sines, right * cosines + left * sines);
};
constexpr auto by_heads = [](auto x) { return tn::transpose<0, 1>(tn::reshape<tokens, heads, size>(x)); };
constexpr auto decode = [](auto table, auto qs, auto ks, auto vs, auto os, auto gates, auto ups, auto downs, auto gains, auto text, auto cosines, auto sines) {
  const auto layer = [=](auto x, auto weights) {
    const auto [q, k, v, o, gate, up, down, gain] = weights;
    const auto n = tn::rms_norm(x, gain[0]);
    const auto seen = attention(rotated(by_heads(matmul(n, q)), cosines, sines), rotated(by_heads(matmul(n, k)), cosines, sines), by_heads(matmul(n, v)), tn::causal);
    const auto y = x + matmul(tn::reshape<tokens, width>(tn::transpose<0, 1>(seen)), o);
    const auto m = tn::rms_norm(y, gain[1]);
    return std::tuple{y + matmul(silu(matmul(m, gate)) * matmul(m, up), down), tn::nothing};
  };
  const auto x = tn::gather<0>(table, text);
  const auto y = std::get<0>(tn::scan(layer, x, std::tuple{qs, ks, vs, os, gates, ups, downs, gains}));
  return matmul(y, transpose(table));
};
}  // namespace

auto logits(const array<words, width>& table, const array<layers, width, width>& q, const array<layers, width, width>& k, const array<layers, width, width>& v,
            const array<layers, width, width>& o, const array<layers, width, hidden>& gate, const array<layers, width, hidden>& up,
            const array<layers, hidden, width>& down, const array<layers, 2, width>& gains, const tn::tensor<std::int64_t, tn::shape<tokens>>& text,
            const array<tokens, size / 2>& cosines, const array<tokens, size / 2>& sines) {
  return tn::compile(decode)(table, q, k, v, o, gate, up, down, gains, text, cosines, sines);
}
