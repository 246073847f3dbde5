// SPDX-License-Identifier: BSL-1.0
// The interface of a model: numbers in memory. It includes no header of Tenure, so the files that use the model compile as fast as before.
#pragma once

struct track {
  double state[2] = {};  // position, speed
  double covariance[4] = {1, 0, 0, 1};
};

/// A measured position, `dt` after the one before.
void update(track& t, double measured, double dt);
