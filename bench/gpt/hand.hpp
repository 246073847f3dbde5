// SPDX-License-Identifier: BSL-1.0
// A training step of GPT-2's architecture as plain loops, in the way of llm.c: every layer forward, then backward, each operation one
// function over arrays that stay allocated, then Adam over all parameters. The products are written with vectors of eight floats.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hand {

// Eight floats, a vector extension of g++ and clang. A product of plain loops is 8 times as slow: g++ 12 leaves its sums in memory.
typedef float eight __attribute__((vector_size(32), aligned(4)));
inline eight load(const float* from) { return *reinterpret_cast<const eight*>(from); }
inline void store(float* to, eight x) { *reinterpret_cast<eight*>(to) = x; }
inline float sum_of(eight x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

template <int Rows, int Packets>
inline void tile(int k, const float* a, int row, int column, const float* b, int ldb, const float* bias, float* c, int ldc, bool adds) {
  eight sum[Rows][Packets] = {};
  for (int l = 0; l < k; ++l, a += column, b += ldb)
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 8
      for (int p = 0; p < Packets; ++p) sum[r][p] += a[r * row] * load(b + 8 * p);
  for (int r = 0; r < Rows; ++r)
    for (int p = 0; p < Packets; ++p) {
      float* const to = c + r * ldc + 8 * p;
      if (adds) sum[r][p] += load(to);
      if (bias != nullptr) sum[r][p] += load(bias + 8 * p);
      store(to, sum[r][p]);
    }
}

/// C = bias + A B (or C += A B), element (i, l) of A at a[i * row + l * column]. m is a multiple of 4, n of 16.
inline void product(int m, int n, int k, const float* a, int row, int column, const float* b, int ldb, const float* bias, float* c, int ldc,
                    bool adds) {
  for (int j = 0; j < n; j += 16)
    for (int i = 0; i < m; i += 4)
      tile<4, 2>(k, a + i * row, row, column, b + j, ldb, bias != nullptr ? bias + j : nullptr, c + i * ldc + j, ldc, adds);
}

/// The sum of the products of n elements, a multiple of 8.
inline float dot(const float* a, const float* b, int n) {
  eight sum = {};
  for (int i = 0; i < n; i += 8) sum += load(a + i) * load(b + i);
  return sum_of(sum);
}

template <int Vocabulary, int Time, int Width, int Heads, int Layers, int Batch>
class gpt {
 public:
  static constexpr int V = Vocabulary, T = Time, C = Width, H = Heads, L = Layers, B = Batch, N = B * T, D = C / H;
  // The places of the parameters of a layer: in the order in which the model declares them.
  enum { g1, c1, w_qkv, b_qkv, w_out, b_out, g2, c2, w_up, b_up, w_down, b_down, places };
  static constexpr int sizes[places] = {C, C, 3 * C * C, 3 * C, C * C, C, C, C, 4 * C * C, 4 * C, 4 * C * C, C};
  static constexpr int of_layer = 12 * C * C + 13 * C, of_embedding = V * C + T * C, count = of_embedding + L * of_layer + 2 * C;

  std::vector<float> parameters = zeros(count), gradients = zeros(count);
  float loss = 0;

  float step(const std::int64_t* text, const std::int64_t* next, float learning_rate) {
    forward(text, next);
    backward(text, next);
    adam(learning_rate);
    return loss;
  }

  void forward(const std::int64_t* text, const std::int64_t* next) {
    const float *wte = parameters.data(), *wpe = wte + V * C;
    for (int n = 0; n < N; ++n)
      for (int c = 0; c < C; ++c) x_[0][static_cast<std::size_t>(n * C + c)] = wte[text[n] * C + c] + wpe[n % T * C + c];
    for (int l = 0; l < L; ++l) {
      layer& a = at_[static_cast<std::size_t>(l)];
      const float* const x = x_[static_cast<std::size_t>(l)].data();
      float* const y = x_[static_cast<std::size_t>(l) + 1].data();
      normalise(x, w(l, g1), w(l, c1), a.first);
      product(N, 3 * C, C, a.first.y.data(), C, 1, w(l, w_qkv), 3 * C, w(l, b_qkv), a.qkv.data(), 3 * C, false);
      attend(a);
      product(N, C, C, a.mixed.data(), C, 1, w(l, w_out), C, w(l, b_out), a.middle.data(), C, false);
      for (int i = 0; i < N * C; ++i) a.middle[static_cast<std::size_t>(i)] += x[i];
      normalise(a.middle.data(), w(l, g2), w(l, c2), a.second);
      product(N, 4 * C, C, a.second.y.data(), C, 1, w(l, w_up), 4 * C, w(l, b_up), a.up.data(), 4 * C, false);
      for (int i = 0; i < N * 4 * C; ++i) {
        const float u = a.up[static_cast<std::size_t>(i)];
        a.active[static_cast<std::size_t>(i)] = 0.5f * u * (1 + std::tanh(slope * (u + 0.044715f * u * u * u)));
      }
      product(N, C, 4 * C, a.active.data(), 4 * C, 1, w(l, w_down), C, w(l, b_down), y, C, false);
      for (int i = 0; i < N * C; ++i) y[i] += a.middle[static_cast<std::size_t>(i)];
    }
    const float* const last = parameters.data() + of_embedding + L * of_layer;
    normalise(x_[L].data(), last, last + C, last_);
    transpose(wte, V, C);
    product(N, V, C, last_.y.data(), C, 1, turned_.data(), V, nullptr, logits_.data(), V, false);
    double sum = 0;
    for (int n = 0; n < N; ++n) {
      float* const row = &logits_[static_cast<std::size_t>(n * V)];
      const float most = *std::max_element(row, row + V), chosen = row[next[n]];
      float total = 0;
      for (int v = 0; v < V; ++v) total += row[v] = std::exp(row[v] - most);
      for (int v = 0; v < V; ++v) row[v] /= total;
      sum += std::log(total) + most - chosen;
    }
    loss = static_cast<float>(sum / N);
  }

  void backward(const std::int64_t* text, const std::int64_t* next) {
    std::fill(gradients.begin(), gradients.end(), 0.0f);
    float *const dwte = gradients.data(), *const dwpe = dwte + V * C;
    for (int n = 0; n < N; ++n) {
      float* const row = &logits_[static_cast<std::size_t>(n * V)];
      row[next[n]] -= 1;
      for (int v = 0; v < V; ++v) row[v] /= N;
    }
    product(N, C, V, logits_.data(), V, 1, parameters.data(), C, nullptr, dy_.data(), C, false);
    product(V, C, N, logits_.data(), 1, V, last_.y.data(), C, nullptr, dwte, C, true);
    float* const dlast = gradients.data() + of_embedding + L * of_layer;
    std::fill(dx_.begin(), dx_.end(), 0.0f);
    pull_norm(x_[L].data(), parameters.data() + of_embedding + L * of_layer, last_, dy_.data(), dlast, dlast + C, dx_.data());
    for (int l = L - 1; l >= 0; --l) {
      layer& a = at_[static_cast<std::size_t>(l)];
      pull_linear(N, 4 * C, C, a.active.data(), l, w_down, b_down, dx_.data(), dwide_.data());
      for (int i = 0; i < N * 4 * C; ++i) {
        const float u = a.up[static_cast<std::size_t>(i)], t = std::tanh(slope * (u + 0.044715f * u * u * u));
        dwide_[static_cast<std::size_t>(i)] *= 0.5f * (1 + t) + 0.5f * u * (1 - t * t) * slope * (1 + 3 * 0.044715f * u * u);
      }
      pull_linear(N, C, 4 * C, a.second.y.data(), l, w_up, b_up, dwide_.data(), dy_.data());
      pull_norm(a.middle.data(), w(l, g2), a.second, dy_.data(), d(l, g2), d(l, c2), dx_.data());
      pull_linear(N, C, C, a.mixed.data(), l, w_out, b_out, dx_.data(), dy_.data());
      pull_attention(a);
      pull_linear(N, C, 3 * C, a.first.y.data(), l, w_qkv, b_qkv, dwide_.data(), dy_.data());
      pull_norm(x_[static_cast<std::size_t>(l)].data(), w(l, g1), a.first, dy_.data(), d(l, g1), d(l, c1), dx_.data());
    }
    for (int n = 0; n < N; ++n)
      for (int c = 0; c < C; ++c) {
        const float g = dx_[static_cast<std::size_t>(n * C + c)];
        dwte[text[n] * C + c] += g;
        dwpe[n % T * C + c] += g;
      }
  }

  void adam(float rate) {
    ++steps_;
    const float first = 1 - std::pow(0.9f, static_cast<float>(steps_)), second = 1 - std::pow(0.999f, static_cast<float>(steps_));
    for (std::size_t i = 0; i < count; ++i) {
      const float g = gradients[i];
      m_[i] = 0.9f * m_[i] + 0.1f * g;
      v_[i] = 0.999f * v_[i] + 0.001f * g * g;
      parameters[i] -= rate * (m_[i] / first) / (std::sqrt(v_[i] / second) + 1e-8f);
    }
  }

 private:
  static constexpr float slope = 0.7978845608f;
  static std::vector<float> zeros(int n) { return std::vector<float>(static_cast<std::size_t>(n)); }

  struct norm {
    std::vector<float> y = zeros(N * C), mean = zeros(N), scale = zeros(N);
  };
  struct layer {
    norm first, second;
    std::vector<float> qkv = zeros(3 * N * C), weights = zeros(B * H * T * T), mixed = zeros(N * C), middle = zeros(N * C);
    std::vector<float> up = zeros(4 * N * C), active = zeros(4 * N * C);
  };

  // The model keeps a parameter of all layers as one array.
  static constexpr int offset(int l, int place) {
    int at = of_embedding + l * sizes[place];
    for (int i = 0; i < place; ++i) at += L * sizes[i];
    return at;
  }
  const float* w(int l, int place) const { return parameters.data() + offset(l, place); }
  float* d(int l, int place) { return gradients.data() + offset(l, place); }

  void transpose(const float* from, int rows, int columns) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) turned_[static_cast<std::size_t>(j * rows + i)] = from[i * columns + j];
  }

  static void normalise(const float* x, const float* gain, const float* bias, norm& to) {
    for (int n = 0; n < N; ++n, x += C) {
      float mean = 0, square = 0;
      for (int c = 0; c < C; ++c) mean += x[c];
      mean /= C;
      for (int c = 0; c < C; ++c) square += (x[c] - mean) * (x[c] - mean);
      const float scale = 1 / std::sqrt(square / C + 1e-5f);
      for (int c = 0; c < C; ++c) to.y[static_cast<std::size_t>(n * C + c)] = (x[c] - mean) * scale * gain[c] + bias[c];
      to.mean[static_cast<std::size_t>(n)] = mean, to.scale[static_cast<std::size_t>(n)] = scale;
    }
  }
  static void pull_norm(const float* x, const float* gain, const norm& at, const float* dy, float* dgain, float* dbias, float* dx) {
    for (int n = 0; n < N; ++n, x += C, dy += C, dx += C) {
      const float mean = at.mean[static_cast<std::size_t>(n)], scale = at.scale[static_cast<std::size_t>(n)];
      float sum = 0, along = 0;
      for (int c = 0; c < C; ++c) {
        const float h = (x[c] - mean) * scale, g = gain[c] * dy[c];
        sum += g, along += g * h;
        dgain[c] += h * dy[c];
        dbias[c] += dy[c];
      }
      for (int c = 0; c < C; ++c) dx[c] += scale * (gain[c] * dy[c] - sum / C - (x[c] - mean) * scale * (along / C));
    }
  }
  void pull_linear(int rows, int in, int out, const float* x, int l, int weight, int bias, const float* dy, float* dx) {
    transpose(w(l, weight), in, out);
    product(rows, in, out, dy, out, 1, turned_.data(), in, nullptr, dx, in, false);
    product(in, out, rows, x, 1, in, dy, out, nullptr, d(l, weight), out, true);
    float* const db = d(l, bias);
    for (int n = 0; n < rows; ++n)
      for (int o = 0; o < out; ++o) db[o] += dy[n * out + o];
  }

  void attend(layer& a) {
    const float root = 1 / std::sqrt(static_cast<float>(D));
    for (int b = 0; b < B; ++b)
      for (int h = 0; h < H; ++h) {
        const float *const q = &a.qkv[static_cast<std::size_t>(b * T * 3 * C + h * D)], *const k = q + C, *const v = k + C;
        for (int t = 0; t < T; ++t) {
          float* const row = &a.weights[static_cast<std::size_t>(((b * H + h) * T + t) * T)];
          float* const to = &a.mixed[static_cast<std::size_t>((b * T + t) * C + h * D)];
          float most = -1e30f, total = 0;
          for (int s = 0; s <= t; ++s) {
            row[s] = dot(q + t * 3 * C, k + s * 3 * C, D) * root;
            most = std::max(most, row[s]);
          }
          for (int s = 0; s <= t; ++s) total += row[s] = std::exp(row[s] - most);
          std::fill(to, to + D, 0.0f);
          for (int s = 0; s <= t; ++s) {
            row[s] /= total;
            for (int i = 0; i < D; ++i) to[i] += row[s] * v[s * 3 * C + i];
          }
        }
      }
  }
  /// From the cotangents of the mixed values, dy_, to those of q, k and v, in dwide_.
  void pull_attention(const layer& a) {
    const float root = 1 / std::sqrt(static_cast<float>(D));
    std::fill_n(dwide_.begin(), 3 * N * C, 0.0f);
    float dweight[T];
    for (int b = 0; b < B; ++b)
      for (int h = 0; h < H; ++h) {
        const float *const q = &a.qkv[static_cast<std::size_t>(b * T * 3 * C + h * D)], *const k = q + C, *const v = k + C;
        float *const dq = &dwide_[static_cast<std::size_t>(b * T * 3 * C + h * D)], *const dk = dq + C, *const dv = dk + C;
        for (int t = 0; t < T; ++t) {
          const float* const row = &a.weights[static_cast<std::size_t>(((b * H + h) * T + t) * T)];
          const float* const dto = &dy_[static_cast<std::size_t>((b * T + t) * C + h * D)];
          float along = 0;
          for (int s = 0; s <= t; ++s) {
            for (int i = 0; i < D; ++i) dv[s * 3 * C + i] += row[s] * dto[i];
            dweight[s] = dot(dto, v + s * 3 * C, D);
            along += row[s] * dweight[s];
          }
          for (int s = 0; s <= t; ++s) {
            const float g = row[s] * (dweight[s] - along) * root;
            for (int i = 0; i < D; ++i) {
              dq[t * 3 * C + i] += g * k[s * 3 * C + i];
              dk[s * 3 * C + i] += g * q[t * 3 * C + i];
            }
          }
        }
      }
  }

  std::vector<float> x_[L + 1] = {}, logits_ = zeros(N * V), dx_ = zeros(N * C), dy_ = zeros(N * C), dwide_ = zeros(4 * N * C);
  std::vector<float> turned_ = zeros(std::max(4 * C, V) * C), m_ = zeros(count), v_ = zeros(count);
  std::vector<layer> at_ = std::vector<layer>(L);
  norm last_;
  int steps_ = 0;

 public:
  gpt() {
    for (auto& x : x_) x = zeros(N * C);
  }
  /// The bytes of the values that a step keeps, without parameters, gradients and moments.
  static constexpr std::int64_t gradient_bytes() { return std::int64_t{4} * count; }
  static constexpr std::int64_t activation_bytes() {
    constexpr std::int64_t n = N, c = C, of_norm = n * c + 2 * n;
    constexpr std::int64_t of_layer = 2 * of_norm + 13 * n * c + std::int64_t{B} * H * T * T;
    return 4 * (L * of_layer + (L + 1) * n * c + of_norm + n * V + 6 * n * c);
  }
};

}  // namespace hand
