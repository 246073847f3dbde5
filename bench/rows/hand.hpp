// SPDX-License-Identifier: BSL-1.0
// Softmax, layer norm and cross entropy, forward and backward, by hand: loops over rows that stay in cache, float32 packets.
#pragma once

#include <tenure/math/exponential.hpp>

#include <Eigen/Core>

#include <cmath>
#include <cstdint>

namespace hand {

namespace packets = Eigen::internal;
using packet = packets::packet_traits<float>::type;
inline constexpr int lanes = packets::unpacket_traits<packet>::size;

inline packet load(const float* x) { return packets::ploadu<packet>(x); }
inline packet all(float x) { return packets::pset1<packet>(x); }
inline float across(packet p) {
  alignas(64) float lane[lanes], total = 0;
  packets::pstoreu(lane, p);
  for (const float each : lane) total += each;
  return total;
}

// Four accumulators hide the latency of an addition. Rows here are a multiple of four packets.
template <class F>
inline float sum_over(int n, F f) {
  packet s[4];
  for (packet& each : s) each = packets::pset1<packet>(0.f);
  for (int i = 0; i < n; i += 4 * lanes)
    for (int u = 0; u < 4; ++u) s[u] = packets::padd(s[u], f(i + u * lanes));
  return across(packets::padd(packets::padd(s[0], s[1]), packets::padd(s[2], s[3])));
}
inline float largest(const float* x, int n) {
  packet m[4];
  for (packet& each : m) each = packets::ploadu<packet>(x);
  for (int i = 0; i < n; i += 4 * lanes)
    for (int u = 0; u < 4; ++u) m[u] = packets::pmax(m[u], packets::ploadu<packet>(x + i + u * lanes));
  alignas(64) float lane[lanes];
  packets::pstoreu(lane, packets::pmax(packets::pmax(m[0], m[1]), packets::pmax(m[2], m[3])));
  float most = lane[0];
  for (const float each : lane) most = each > most ? each : most;
  return most;
}

/// The loss sum(softmax(x) * w) and its gradient, softmax * (w - sum(softmax * w)).
[[gnu::noinline]] inline float softmax(int rows, int n, const float* x, const float* w, float* dx) {
  float value = 0;
  for (int r = 0; r < rows; ++r, x += n, w += n, dx += n) {
    const packet most = all(largest(x, n));
    packet weighted[4];
    for (packet& each : weighted) each = all(0);
    const float sum = sum_over(n, [&](int i) {
      const packet e = tenure::math::exp(packets::psub(load(x + i), most));
      packets::pstoreu(dx + i, e);
      packet& along = weighted[i / lanes % 4];
      along = packets::pmadd(e, load(w + i), along);
      return e;
    });
    const packet scale = all(1 / sum);
    const float dot = across(packets::padd(packets::padd(weighted[0], weighted[1]), packets::padd(weighted[2], weighted[3]))) / sum;
    const packet mean = all(dot);
    for (int i = 0; i < n; i += lanes)
      packets::pstoreu(dx + i, packets::pmul(packets::pmul(load(dx + i), scale), packets::psub(load(w + i), mean)));
    value += dot;
  }
  return value;
}

/// The mean of logsumexp(x) - x[label], and (softmax - one_hot) / rows.
[[gnu::noinline]] inline float cross_entropy(int rows, int n, const float* x, const int* labels, float* dx) {
  float value = 0;
  for (int r = 0; r < rows; ++r, x += n, dx += n) {
    const float most = largest(x, n);
    const float sum = sum_over(n, [&](int i) {
      const packet e = tenure::math::exp(packets::psub(load(x + i), all(most)));
      packets::pstoreu(dx + i, e);
      return e;
    });
    const packet scale = all(1 / (sum * static_cast<float>(rows)));
    for (int i = 0; i < n; i += lanes) packets::pstoreu(dx + i, packets::pmul(load(dx + i), scale));
    dx[labels[r]] -= 1 / static_cast<float>(rows);
    value += std::log(sum) + most - x[labels[r]];
  }
  return value / static_cast<float>(rows);
}

/// The loss sum(layer_norm(x, gain, bias) * w) with the gradients of x, gain and bias.
[[gnu::noinline]] inline float layer_norm(int rows, int n, const float* x, const float* gain, const float* bias, const float* w, float* dx,
                                          float* dgain, float* dbias) {
  float value = 0;
  for (int i = 0; i < n; ++i) dgain[i] = dbias[i] = 0;
  const auto count = static_cast<float>(n);
  for (int r = 0; r < rows; ++r, x += n, w += n, dx += n) {
    const packet mean = all(sum_over(n, [&](int i) { return load(x + i); }) / count);
    const float variance = sum_over(n, [&](int i) {
      const packet d = packets::psub(load(x + i), mean);
      return packets::pmul(d, d);
    }) / count;
    const packet scale = all(1 / std::sqrt(variance + 1e-5f));
    packet by_gain = all(0), along = all(0), total = all(0);
    for (int i = 0; i < n; i += lanes) {
      const packet normal = packets::pmul(packets::psub(load(x + i), mean), scale), cotangent = load(w + i);
      const packet weighted = packets::pmul(cotangent, load(gain + i));
      total = packets::padd(total, packets::pmadd(weighted, normal, packets::pmul(cotangent, load(bias + i))));
      by_gain = packets::padd(by_gain, weighted);
      along = packets::pmadd(weighted, normal, along);
      packets::pstoreu(dgain + i, packets::pmadd(cotangent, normal, load(dgain + i)));
      packets::pstoreu(dbias + i, packets::padd(cotangent, load(dbias + i)));
    }
    value += across(total);
    const packet a = all(across(by_gain) / count), b = all(across(along) / count);
    for (int i = 0; i < n; i += lanes) {
      const packet normal = packets::pmul(packets::psub(load(x + i), mean), scale);
      const packet inner = packets::psub(packets::psub(packets::pmul(load(w + i), load(gain + i)), a), packets::pmul(normal, b));
      packets::pstoreu(dx + i, packets::pmul(scale, inner));
    }
  }
  return value;
}

}  // namespace hand
