// SPDX-License-Identifier: BSL-1.0
// Trains a policy on the device, runs it, and controls the same cart by a model; each beside the same in C.
#include <cstdint>

#include "board/board.h"
#include "programs.h"

/// The handler of errors: what a device does is its own affair. Here it says so and ends.
extern "C" [[noreturn]] void tenure_failed(const char* message) {
  write_text(message);
  write_text("\n");
  leave(1);
}

namespace {

// A number with six decimals, and the bits of a float: printf would bring malloc.
void write(const char* text) { write_text(text); }
void write(long n) {
  char digits[12], *at = digits + sizeof digits;
  *--at = 0;
  const bool negative = n < 0;
  if (negative) n = -n;
  do *--at = static_cast<char>('0' + n % 10);
  while ((n /= 10) != 0);
  if (negative) *--at = '-';
  write_text(at);
}
void write(float x) {
  if (x < 0) write_text("-");
  const float size = x < 0 ? -x : x;
  const long whole = static_cast<long>(size);
  write(whole);
  char digits[8] = ".";
  float rest = size - static_cast<float>(whole);
  for (int i = 1; i < 7; ++i) {
    rest *= 10;
    const int digit = static_cast<int>(rest);
    digits[i] = static_cast<char>('0' + digit);
    rest -= static_cast<float>(digit);
  }
  digits[7] = 0;
  write_text(digits);
}
template <class... X>
void line(X... x) {
  (write(x), ...);
  write_text("\n");
}

// Numbers in [-1, 1), the same on each machine.
std::uint32_t random_state = 1;
float random_number() {
  random_state = random_state * 1664525u + 1013904223u;
  return static_cast<float>(static_cast<std::int32_t>(random_state) >> 8) * 0x1p-23f;
}

// A crane: a cart pulls a load on a rope. Its state is the position and the speed of the cart, the angle of the rope and its speed; 0.1 s a step.
const plant crane = {{{1, 0.1f, 0, 0}, {0, 1, 0.03f, 0}, {0, 0, 1, 0.1f}, {0, 0, -0.98f, 0.99f}}, {0, 0.1f, 0, -0.1f}, {1, 1, 10, 1}, 0.05f};
constexpr float teacher[inputs] = {-1.11f, -2.18f, 4.32f, 2.39f};  // a linear controller, which the policy learns

policy by_tenure, in_c;
samples lesson;

void start(policy& p, std::uint32_t seed) {
  random_state = seed;
  p = policy();
  for (auto& row : p.w1) for (float& w : row) w = 0.5f * random_number();
  for (auto& row : p.w2) for (float& w : row) w = 0.125f * random_number();
  for (auto& row : p.w3) for (float& w : row) w = 0.125f * random_number();
}
void make_lesson() {
  for (int n = 0; n < batch; ++n) {
    float force = 0;
    for (int i = 0; i < inputs; ++i) force += teacher[i] * (lesson.state[n][i] = 0.5f * random_number());
    lesson.force[n][0] = force < -1 ? -1 : force > 1 ? 1 : force;
  }
}

float difference(const float* a, const float* b, int n) {
  float most = 0;
  for (int i = 0; i < n; ++i) {
    const float d = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
    if (!(d <= most)) most = d;
  }
  return most;
}

float larger(float a, float b) { return a > b ? a : b; }
// How far the crane is from rest.
float size(const float x[inputs]) {
  constexpr float rest[inputs] = {};
  return difference(x, rest, inputs);
}
// A step of the crane with a force in [-1, 1].
void move(float x[inputs], float force) {
  force = force < -1 ? -1 : force > 1 ? 1 : force;
  float next[inputs];
  for (int i = 0; i < inputs; ++i) {
    next[i] = crane.b[i] * force;
    for (int j = 0; j < inputs; ++j) next[i] += crane.a[i][j] * x[j];
  }
  for (int i = 0; i < inputs; ++i) x[i] = next[i];
}

// The instructions of a call, and how many times as many the second is.
template <class F>
long instructions(F f) {
  f();
  constexpr int times = 20;
  const unsigned long before = clock_ticks();
  for (int i = 0; i < times; ++i) f();
  const unsigned long ticks = (before - clock_ticks()) & 0xffffff;
  return static_cast<long>(ticks * instructions_of_tick / times);
}
template <class F, class G>
void compare(const char* name, F tenure, G c) {
  if (instructions_of_tick == 0) return;
  const long by_f = instructions(tenure), by_g = instructions(c);
  line(name, ": ", by_f, " instructions, in C ", by_g, ", ratio ", static_cast<float>(by_f) / static_cast<float>(by_g));
}

volatile float result;

}  // namespace

int main() {
  constexpr int parameters = sizeof(policy) / sizeof(float);
  start(by_tenure, 7);
  start(in_c, 7);
  random_state = 11;
  float first = 0, last = 0;
  for (int step = 0; step < 500; ++step) {
    make_lesson();
    last = learn(&by_tenure, &lesson, 0.1f);
    if (step == 0) first = last;
    learn_by_hand(&in_c, &lesson, 0.1f);
  }
  line("error of the policy: ", first, " before 500 steps, ", last, " after");
  const float apart = difference(by_tenure.w1[0], in_c.w1[0], parameters);
  line("parameters by Tenure and in C: at most ", 1e6f * apart, " millionths apart");

  // Both controllers bring the load from 1 m to 0.
  float x[inputs] = {1, 0, 0, 0}, apart_of_policy = 0;
  for (int t = 0; t < 100; ++t) {
    const float force = act(&by_tenure, x), in_hand = act_by_hand(&by_tenure, x);
    apart_of_policy = larger(apart_of_policy, difference(&force, &in_hand, 1));
    move(x, force);
  }
  const float of_policy = size(x);
  line("the policy: after 10 s the load is ", of_policy, " from its place");
  line("forces of the policy by Tenure and in C: at most ", 1e6f * apart_of_policy, " millionths apart");

  float u[horizon] = {}, u_in_c[horizon] = {}, apart_of_control = 0;
  for (float& e : x) e = 0;
  x[0] = 1;
  for (int t = 0; t < 100; ++t) {
    control(&crane, x, u);
    control_by_hand(&crane, x, u_in_c);
    apart_of_control = larger(apart_of_control, difference(u, u_in_c, horizon));
    move(x, u[0]);
    for (int i = 0; i + 1 < horizon; ++i) u[i] = u[i + 1], u_in_c[i] = u_in_c[i + 1];
  }
  const float of_control = size(x);
  line("the controller: after 10 s the load is ", of_control, " from its place");
  line("forces of the controller by Tenure and in C: at most ", 1e6f * apart_of_control, " millionths apart");

  compare("policy", [&] { result = act(&by_tenure, x); }, [&] { result = act_by_hand(&in_c, x); });
  compare("training step", [&] { result = learn(&by_tenure, &lesson, 0.0f); }, [&] { result = learn_by_hand(&in_c, &lesson, 0.0f); });
  compare("control step", [&] { control(&crane, x, u); }, [&] { control_by_hand(&crane, x, u_in_c); });

  const bool good = last < 0.1f * first && apart < 1e-3f && of_policy < 0.1f && of_control < 0.05f && apart_of_policy < 1e-4f && apart_of_control < 1e-3f;
  return good ? 0 : 1;
}
