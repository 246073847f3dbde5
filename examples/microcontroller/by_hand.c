/* SPDX-License-Identifier: BSL-1.0 */
/* The programs in plain C, with derivatives written by hand, to compare with. */
#include <math.h>
#include <string.h>

#include "programs.h"

enum { rounds = 10 };

/* y = x w + b. The inner loop runs over neighbours in memory. */
static void layer(int in, int out, const float* x, const float* w, const float* b, float* y) {
  for (int j = 0; j < out; ++j) y[j] = b[j];
  for (int i = 0; i < in; ++i)
    for (int j = 0; j < out; ++j) y[j] += x[i] * w[i * out + j];
}

float act_by_hand(const struct policy* p, const float state[inputs]) {
  float h1[hidden], h2[hidden], force;
  layer(inputs, hidden, state, p->w1[0], p->b1, h1);
  for (int j = 0; j < hidden; ++j) h1[j] = tanhf(h1[j]);
  layer(hidden, hidden, h1, p->w2[0], p->b2, h2);
  for (int j = 0; j < hidden; ++j) h2[j] = tanhf(h2[j]);
  layer(hidden, 1, h2, p->w3[0], p->b3, &force);
  return force;
}

static struct policy slope; /* of the error, by the parameters */

float learn_by_hand(struct policy* p, const struct samples* s, float rate) {
  float error = 0;
  memset(&slope, 0, sizeof slope);
  for (int n = 0; n < batch; ++n) {
    float h1[hidden], h2[hidden], d1[hidden], d2[hidden], force;
    layer(inputs, hidden, s->state[n], p->w1[0], p->b1, h1);
    for (int j = 0; j < hidden; ++j) h1[j] = tanhf(h1[j]);
    layer(hidden, hidden, h1, p->w2[0], p->b2, h2);
    for (int j = 0; j < hidden; ++j) h2[j] = tanhf(h2[j]);
    layer(hidden, 1, h2, p->w3[0], p->b3, &force);

    const float miss = force - s->force[n][0], d3 = 2 * miss / batch;
    error += miss * miss / batch;
    slope.b3[0] += d3;
    for (int j = 0; j < hidden; ++j) {
      slope.w3[j][0] += h2[j] * d3;
      d2[j] = p->w3[j][0] * d3 * (1 - h2[j] * h2[j]);
      slope.b2[j] += d2[j];
    }
    for (int i = 0; i < hidden; ++i) {
      float sum = 0;
      for (int j = 0; j < hidden; ++j) {
        slope.w2[i][j] += h1[i] * d2[j];
        sum += p->w2[i][j] * d2[j];
      }
      d1[i] = sum * (1 - h1[i] * h1[i]);
      slope.b1[i] += d1[i];
    }
    for (int i = 0; i < inputs; ++i)
      for (int j = 0; j < hidden; ++j) slope.w1[i][j] += s->state[n][i] * d1[j];
  }
  float* to = p->w1[0];
  const float* from = slope.w1[0];
  for (unsigned i = 0; i < sizeof(struct policy) / sizeof(float); ++i) to[i] -= rate * from[i];
  return error;
}

void control_by_hand(const struct plant* p, const float state[inputs], float u[horizon]) {
  float x[horizon + 1][inputs];
  for (int i = 0; i < inputs; ++i) x[0][i] = state[i];
  for (int round = 0; round < rounds; ++round) {
    for (int t = 0; t < horizon; ++t)
      for (int i = 0; i < inputs; ++i) {
        float sum = p->b[i] * u[t];
        for (int j = 0; j < inputs; ++j) sum += p->a[i][j] * x[t][j];
        x[t + 1][i] = sum;
      }
    float adjoint[inputs] = {0};
    for (int t = horizon - 1; t >= 0; --t) {
      float before[inputs], by_force = 2 * p->r * u[t];
      for (int i = 0; i < inputs; ++i) adjoint[i] += 2 * p->q[i] * x[t + 1][i];
      for (int i = 0; i < inputs; ++i) by_force += p->b[i] * adjoint[i];
      for (int j = 0; j < inputs; ++j) {
        float sum = 0;
        for (int i = 0; i < inputs; ++i) sum += p->a[i][j] * adjoint[i];
        before[j] = sum;
      }
      for (int i = 0; i < inputs; ++i) adjoint[i] = before[i];
      const float next = u[t] - 0.1f * by_force;
      u[t] = next < -1 ? -1 : next > 1 ? 1 : next;
    }
  }
}
