// SPDX-License-Identifier: BSL-1.0
// An LSTM's forward and backward over fixed-size Eigen matrices, a sample a column: the inputs of all steps go through one
// product, and so do the gradients of the weights; what backward reads is kept where forward computed it.
#pragma once

#define EIGEN_STACK_ALLOCATION_LIMIT 0  // Eigen refuses large fixed sizes even where they stand on the heap

#include <Eigen/Core>

namespace hand {

template <int Steps, int Batch, int Width>
struct lstm {
  template <int R, int C>
  using matrix = Eigen::Matrix<float, R, C>;
  static constexpr int gates = 4 * Width, samples = Batch * Steps;

  matrix<gates, Width> wx, wh, dwx, dwh;
  matrix<gates, 1> bias, dbias;
  matrix<Width, samples> x, bounded;    // bounded: tanh of the cell
  matrix<gates, samples> gate, dgate;   // dgate: of what goes into the gate's function
  matrix<Width, samples + Batch> h, c;  // the first Batch columns are the state before the first step
  float value;

  template <class Z>
  static void sigmoid(Z z) { z = 1 / (1 + (-z).exp()); }

  [[gnu::noinline]] void step() {
    gate.noalias() = wx * x;
    gate.colwise() += bias;
    h.template leftCols<Batch>().setZero();
    c.template leftCols<Batch>().setZero();
    for (int t = 0; t < Steps; ++t) {
      auto z = gate.template middleCols<Batch>(t * Batch);
      if (t > 0) z.noalias() += wh * h.template middleCols<Batch>(t * Batch);
      sigmoid(z.template topRows<2 * Width>().array());
      sigmoid(z.template bottomRows<Width>().array());
      auto in = z.template topRows<Width>().array(), forget = z.template middleRows<Width>(Width).array();
      auto cell = z.template middleRows<Width>(2 * Width).array(), out = z.template bottomRows<Width>().array();
      cell = cell.tanh();
      auto next = c.template middleCols<Batch>((t + 1) * Batch).array();
      auto flat = bounded.template middleCols<Batch>(t * Batch).array();
      next = forget * c.template middleCols<Batch>(t * Batch).array() + in * cell;
      flat = next.tanh();
      h.template middleCols<Batch>((t + 1) * Batch).array() = out * flat;
    }
    const auto last = h.template rightCols<Batch>();
    value = last.squaredNorm() / (Width * Batch);
    matrix<Width, Batch> dh = last * (2.f / (Width * Batch)), dc = matrix<Width, Batch>::Zero();
    for (int t = Steps - 1; t >= 0; --t) {
      const auto z = gate.template middleCols<Batch>(t * Batch);
      const auto in = z.template topRows<Width>().array(), forget = z.template middleRows<Width>(Width).array();
      const auto cell = z.template middleRows<Width>(2 * Width).array(), out = z.template bottomRows<Width>().array();
      const auto flat = bounded.template middleCols<Batch>(t * Batch).array();
      const auto before = c.template middleCols<Batch>(t * Batch).array();
      auto d = dgate.template middleCols<Batch>(t * Batch);
      d.template bottomRows<Width>().array() = dh.array() * flat * out * (1 - out);
      dc.array() += dh.array() * out * (1 - flat * flat);
      d.template topRows<Width>().array() = dc.array() * cell * in * (1 - in);
      d.template middleRows<Width>(Width).array() = dc.array() * before * forget * (1 - forget);
      d.template middleRows<Width>(2 * Width).array() = dc.array() * in * (1 - cell * cell);
      dc.array() *= forget;
      if (t > 0) dh.noalias() = wh.transpose() * d;
    }
    dwx.noalias() = dgate * x.transpose();
    dwh.noalias() = dgate * h.template leftCols<samples>().transpose();
    dbias = dgate.rowwise().sum();
  }
};

}  // namespace hand
