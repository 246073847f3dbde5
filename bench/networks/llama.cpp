// SPDX-License-Identifier: BSL-1.0
// One token of a llama with 15 million weights: 288 wide, 6 layers of 6 heads, 768 hidden, 32000 tokens, and a cache of 256 positions that is half full. The
// weights are float32, bfloat16, or int8 with a scale for each row, as PyTorch stores them. "read" adds up their bytes as words, which is the least that a
// token can take, and "hand" is the same step in plain loops, float32. A token counts as so many bytes of weights.
#include <harness.hpp>
#include <tenure/interop/named_leaves.hpp>
#include <tenure/tenure.hpp>

#include <boost/hana/define_struct.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace {

namespace tn = tenure;

constexpr std::int64_t width = 288, layers = 6, heads = 6, hidden = 768, tokens = 32000, capacity = 256, head = width / heads, position = 128;
constexpr double epsilon = 1e-5;

template <class Kind, auto Bytes, auto Out, auto In>
struct matrix {
  using element = std::conditional_t<Bytes == 4, float, std::conditional_t<Bytes == 2, tn::bfloat16, std::int8_t>>;
  using numbers = tn::param<Kind, element, tn::shape<Out, In>>;
  BOOST_HANA_DEFINE_STRUCT(matrix, (numbers, w), (tn::param<Kind, float, tn::shape<Out>>, scale));

  constexpr auto operator()(const auto& x) const {
    if constexpr (Bytes == 1) return tn::quantized_linear(x, w, scale);
    else return matmul(x, transpose(tn::cast<float>(w)));
  }
  constexpr auto row(const auto& i) const {
    if constexpr (Bytes == 1) return tn::cast<float>(w[i]) * scale[i];
    else return tn::cast<float>(w[i]);
  }
};

template <class Kind, auto Bytes>
struct layer {
  using square = matrix<Kind, Bytes, width, width>;
  using to_hidden = matrix<Kind, Bytes, hidden, width>;
  using from_hidden = matrix<Kind, Bytes, width, hidden>;
  using gain = tn::param<Kind, float, tn::shape<width>>;
  BOOST_HANA_DEFINE_STRUCT(layer, (gain, g1), (square, q), (square, k), (square, v), (square, out), (gain, g2), (to_hidden, gate), (to_hidden, up), (from_hidden, down));
};

/// Neighbours are turned by an angle, x[2 j] with x[2 j + 1].
constexpr auto turned = [](const auto& x, const auto& turn) {
  const auto pairs = tn::reshape<heads, head / 2, 2>(x);
  const auto a = tn::select<-1, 0>(pairs), b = tn::select<-1, 1>(pairs), c = turn[0], s = turn[1];
  return tn::reshape<heads, 1, head>(tn::stack<-1>(a * c - b * s, a * s + b * c));
};

template <class Kind, auto Bytes>
struct llama {
  using embedding = matrix<Kind, Bytes, tokens, width>;
  using all_layers = layer<tn::stacked<Kind, layers>, Bytes>;
  using gain = tn::param<Kind, float, tn::shape<width>>;
  using turns = tn::param<Kind, float, tn::shape<capacity, 2, head / 2>>;
  BOOST_HANA_DEFINE_STRUCT(llama, (embedding, table), (all_layers, all), (gain, g), (turns, turn));

  constexpr auto next(const auto& keys, const auto& values, const auto& token, const auto& at) const {
    const auto t = turn[at];
    const auto iteration = [t, at](auto x, auto each) {
      const auto [m, old_keys, old_values] = each;
      const auto h = rms_norm(x, m.g1, epsilon);
      const auto place = std::tuple{0, at, 0};
      const auto k = tn::dynamic_update(old_keys, turned(m.k(h), t), place);
      const auto v = tn::dynamic_update(old_values, tn::reshape<heads, 1, head>(m.v(h)), place);
      const auto y = x + m.out(tn::reshape<width>(tn::attention(turned(m.q(h), t), k, v, tn::causal.from(at))));
      const auto n = rms_norm(y, m.g2, epsilon);
      return std::tuple{y + m.down(silu(m.gate(n)) * m.up(n)), std::tuple{k, v}};
    };
    const auto [last, caches] = tn::scan(iteration, table.row(token), std::tuple{all, keys, values});
    return std::tuple{table(rms_norm(last, g, epsilon)), std::get<0>(caches), std::get<1>(caches)};
  }
};
constexpr auto next_token = tn::compile([](auto model, auto keys, auto values, auto token, auto at) { return model.next(keys, values, token, at); });

using cache = tn::tensor<float, tn::shape<layers, heads, capacity, head>>;
using scores = tn::tensor<float, tn::shape<tokens>>;

template <class T, class X>
void fill(X& to, double size, unsigned seed) {
  std::vector<float> x(static_cast<std::size_t>(to.size()));
  bench::fill_uniform(x.data(), to.size(), -size, size, seed);
  for (std::int64_t i = 0; i < to.size(); ++i) {
    const float f = x[static_cast<std::size_t>(i)];
    if constexpr (std::is_integral_v<T>) bench::data_of(to)[i] = static_cast<T>(std::lround(f / size * 127));
    else bench::data_of(to)[i] = T(f);
  }
}

/// The same step in plain loops.
struct by_hand {
  const llama<tn::values, 4>& m;
  std::vector<float> x = std::vector<float>(width), h = x, q = x, mixed = x, y = x, gate = std::vector<float>(hidden), up = gate, weights = std::vector<float>(capacity);

  static float dot(const float* a, const float* b, std::int64_t n) {
    float part[16] = {};
    for (std::int64_t i = 0; i < n; i += 16)
      for (int l = 0; l < 16; ++l) part[l] += a[i + l] * b[i + l];
    float sum = 0;
    for (const float p : part) sum += p;
    return sum;
  }
  static void product(const float* w, const float* from, float* to, std::int64_t out, std::int64_t in) {
    for (std::int64_t i = 0; i < out; ++i) to[i] = dot(w + i * in, from, in);
  }
  static void normalize(const std::vector<float>& from, const float* gain, std::vector<float>& to) {
    float sum = 0;
    for (const float f : from) sum += f * f;
    const float by = 1 / std::sqrt(sum / static_cast<float>(width) + static_cast<float>(epsilon));
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] * by * gain[i];
  }
  void turn(float* v, std::int64_t at) const {
    const float* const t = m.turn.data() + at * head;
    for (std::int64_t i = 0; i < width; i += 2) {
      const std::int64_t j = i % head / 2;
      const float a = v[i], b = v[i + 1];
      v[i] = a * t[j] - b * t[head / 2 + j], v[i + 1] = a * t[head / 2 + j] + b * t[j];
    }
  }
  void next(float* keys, float* values, std::int64_t token, std::int64_t at, float* to) {
    const auto of_layer = [](const auto& p, std::int64_t l) { return p.data() + l * (p.size() / layers); };
    std::copy_n(m.table.w.data() + token * width, width, x.data());
    for (std::int64_t l = 0; l < layers; ++l) {
      normalize(x, of_layer(m.all.g1, l), h);
      product(of_layer(m.all.q.w, l), h.data(), q.data(), width, width), turn(q.data(), at);
      product(of_layer(m.all.k.w, l), h.data(), y.data(), width, width), turn(y.data(), at);
      product(of_layer(m.all.v.w, l), h.data(), mixed.data(), width, width);
      for (std::int64_t a = 0; a < heads; ++a) {
        float* const k = keys + (l * heads + a) * capacity * head;
        float* const v = values + (l * heads + a) * capacity * head;
        std::copy_n(y.data() + a * head, head, k + at * head);
        std::copy_n(mixed.data() + a * head, head, v + at * head);
        float most = -1e30f, total = 0;
        for (std::int64_t i = 0; i <= at; ++i) most = std::fmax(most, weights[static_cast<std::size_t>(i)] = dot(q.data() + a * head, k + i * head, head) / std::sqrt(static_cast<float>(head)));
        for (std::int64_t i = 0; i <= at; ++i) total += weights[static_cast<std::size_t>(i)] = std::exp(weights[static_cast<std::size_t>(i)] - most);
        for (std::int64_t c = 0; c < head; ++c) mixed[static_cast<std::size_t>(a * head + c)] = 0;
        for (std::int64_t i = 0; i <= at; ++i)
          for (std::int64_t c = 0; c < head; ++c) mixed[static_cast<std::size_t>(a * head + c)] += weights[static_cast<std::size_t>(i)] / total * v[i * head + c];
      }
      product(of_layer(m.all.out.w, l), mixed.data(), y.data(), width, width);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
      normalize(x, of_layer(m.all.g2, l), h);
      product(of_layer(m.all.gate.w, l), h.data(), gate.data(), hidden, width), product(of_layer(m.all.up.w, l), h.data(), up.data(), hidden, width);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      product(of_layer(m.all.down.w, l), gate.data(), y.data(), width, hidden);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
    }
    normalize(x, m.g.data(), h);
    product(m.table.w.data(), h.data(), to, tokens, width);
  }
};

template <int Bytes>
struct decode {
  llama<tn::values, Bytes> model;
  cache keys, values, other_keys, other_values;
  scores to, by_hand_to;
  std::vector<std::pair<const char*, std::int64_t>> weights;
  std::uint64_t sum = 0;

  explicit decode(std::int64_t) {
    unsigned seed = 0;
    tn::for_each_named_leaf(model, [&](const std::string& name, auto& leaf) {
      using T = tn::element_t<std::remove_reference_t<decltype(leaf)>>;
      if (name.ends_with(".w")) {
        fill<T>(leaf, 0.06, ++seed);
        weights.emplace_back(reinterpret_cast<const char*>(leaf.data()), leaf.size() * static_cast<std::int64_t>(sizeof(T)));
      } else if (name.ends_with("scale")) {
        leaf = tn::full_like(leaf, 0.06f / 127);
      } else if (name != "turn") {
        leaf = tn::ones_like(leaf);
      }
    });
    for (std::int64_t p = 0; p < capacity; ++p)
      for (std::int64_t j = 0; j < head / 2; ++j) {
        const double angle = static_cast<double>(p) * std::pow(1e4, -2.0 * static_cast<double>(j) / static_cast<double>(head));
        model.turn.at(p, 0, j) = static_cast<float>(std::cos(angle)), model.turn.at(p, 1, j) = static_cast<float>(std::sin(angle));
      }
    for (std::int64_t p = 0; p < position; ++p) next_token.into(to, keys, values)(model, keys, values, p * 77 % tokens, p);
    value();
    if constexpr (Bytes == 4) {
      by_hand hand{model};
      for (std::int64_t p = 0; p < position; ++p) hand.next(bench::data_of(other_keys), bench::data_of(other_values), p * 77 % tokens, p, bench::data_of(by_hand_to));
      by_loops();
      bench::require_agreement("a token by hand", by_hand_to.data(), to.data(), tokens, 1e-3);
    }
  }
  std::int64_t items() const {
    std::int64_t bytes = 0;
    for (const auto& [at, n] : weights) bytes += n;
    return bytes;
  }
  [[gnu::noinline]] void value() { next_token.into(to, keys, values)(model, keys, values, 5, position); }
  [[gnu::noinline]] void by_loops() {
    if constexpr (Bytes == 4) by_hand{model}.next(bench::data_of(other_keys), bench::data_of(other_values), 5, position, bench::data_of(by_hand_to));
  }
  [[gnu::noinline]] void read() {
    std::uint64_t found = 0;
    for (const auto& [at, n] : weights)
      for (std::int64_t i = 0; i + 8 <= n; i += 8) {
        std::uint64_t word;
        std::memcpy(&word, at + i, 8);
        found += word;
      }
    sum += found;
  }
};

const bool registered = [] {
  const auto of = []<int Bytes>(const std::string& name, std::integral_constant<int, Bytes>) {
    bench::row<decode<Bytes>>(name, "tenure", 15, [](decode<Bytes>& d) { d.value(); });
    bench::row<decode<Bytes>>(name, "read", 15, [](decode<Bytes>& d) { d.read(); });
    if constexpr (Bytes == 4) bench::row<decode<Bytes>>(name, "hand", 15, [](decode<Bytes>& d) { d.by_loops(); });
  };
  of("llama_token_f32", std::integral_constant<int, 4>{});
  of("llama_token_bf16", std::integral_constant<int, 2>{});
  of("llama_token_int8", std::integral_constant<int, 1>{});
  return true;
}();

}  // namespace
