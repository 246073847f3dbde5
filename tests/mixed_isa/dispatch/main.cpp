// SPDX-License-Identifier: BSL-1.0
#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "engine.hpp"

int main() {
  float x[8 * 32], w[32 * 16], b[16], y[8 * 16];
  for (int i = 0; i < 8 * 32; ++i) x[i] = static_cast<float>(i % 7 - 3) / 8;
  for (int i = 0; i < 32 * 16; ++i) w[i] = static_cast<float>(i % 5 - 2) / 8;
  for (int i = 0; i < 16; ++i) b[i] = static_cast<float>(i) / 16;

  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  int wrong = 0;
  for (const auto layer : {engine_baseline::layer, has_avx2 ? engine_avx2::layer : engine_baseline::layer}) {
    layer(x, w, b, y);
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 16; ++j) {
        double sum = b[j];
        for (int k = 0; k < 32; ++k) sum += double(x[i * 32 + k]) * double(w[k * 16 + j]);
        if (std::abs(double(y[i * 16 + j]) - std::tanh(sum)) > 1e-5 && wrong++ == 0)
          std::printf("tanh(matmul(x, w) + b): (%d,%d) is %.9g for %.9g\n", i, j, double(y[i * 16 + j]), std::tanh(sum));
      }
  }
  return wrong == 0 ? 0 : 1;
}
