/* SPDX-License-Identifier: BSL-1.0 */
/* The two programs of this example, as the rest of the firmware sees them: plain C. programs.cpp has them by Tenure, by_hand.c in C written by hand. */
#ifndef PROGRAMS_H
#define PROGRAMS_H

enum { inputs = 4, hidden = 64, batch = 16, horizon = 20 };

/* A policy of two layers of 64: tanh(x w1 + b1), tanh(h w2 + b2), h w3 + b3. */
struct policy {
  float w1[inputs][hidden], b1[hidden];
  float w2[hidden][hidden], b2[hidden];
  float w3[hidden][1], b3[1];
};
/* Samples to learn from: states, and the forces of a teacher. */
struct samples {
  float state[batch][inputs], force[batch][1];
};
/* A cart with a pole as a linear system, x' = A x + B u, and what an error and a force cost. */
struct plant {
  float a[inputs][inputs], b[inputs], q[inputs], r;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The force in a state. */
float act(const struct policy* p, const float state[inputs]);
/* One step of gradient descent on the mean square error. Returns the error before the step. */
float learn(struct policy* p, const struct samples* s, float rate);
/* One step of model predictive control: ten projected gradient steps on the forces `u` of the horizon, which are in [-1, 1], from the last forces. */
void control(const struct plant* p, const float state[inputs], float u[horizon]);

float act_by_hand(const struct policy* p, const float state[inputs]);
float learn_by_hand(struct policy* p, const struct samples* s, float rate);
void control_by_hand(const struct plant* p, const float state[inputs], float u[horizon]);

#ifdef __cplusplus
}
#endif
#endif
