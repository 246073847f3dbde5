// SPDX-License-Identifier: BSL-1.0
// Programs of the freestanding profile, compiled without exceptions and RTTI, and once more with both. The expected numbers are computed by plain loops in double.
// Law: it has no state but its elements, so it is copied as they are, and lies in flash if it is a constant.
// Law: it allocates nothing, keeps no state, and takes no memory but the workspace and the stack.
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <boost/hana/define_struct.hpp>

#include <tenure/freestanding.hpp>
#if !TENURE_FREESTANDING
#include <tenure/tenure.hpp>
#endif

namespace tn = tenure;

namespace {

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::printf("failed: %s\n", what);
  ++failures;
}
bool is_near(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance; }

// refused(f) runs f, which must fail, and gives the message.
char refusal[512];
#if TENURE_FREESTANDING
std::jmp_buf after_failure;
}  // namespace
extern "C" [[noreturn]] void tenure_failed(const char* message) {
  std::strcpy(refusal, message);
  std::longjmp(after_failure, 1);
}
namespace {
template <class F>
const char* refused(F f) {
  refusal[0] = 0;
  if (setjmp(after_failure) == 0) f();
  return refusal;
}
#else
template <class F>
const char* refused(F f) {
  refusal[0] = 0;
  try {
    f();
  } catch (const tn::error& e) {
    std::strcpy(refusal, e.what());
  }
  return refusal;
}
#endif

// A workspace between words that no call may write.
template <std::int64_t Bytes>
struct guarded {
  std::uint64_t before = 0x0123456789abcdef;
  tn::workspace<Bytes> memory;
  std::uint64_t after = 0xfedcba9876543210;

  guarded() { std::memset(&memory, 0x77, sizeof memory); }
  bool is_whole() const { return before == 0x0123456789abcdef && after == 0xfedcba9876543210; }
};

// ---- arrays ----

using vector = tn::fixed<float, tn::shape<3>>;
using matrix = tn::fixed<float, tn::shape<2, 3>>;
static_assert(sizeof(vector) == 12 && sizeof(matrix) == 24 && std::is_trivially_copyable_v<vector> && std::is_aggregate_v<vector>);
static_assert(matrix::size() == 6 && matrix::rank == 2 && matrix::extents()[1] == 3);
constexpr matrix in_flash = {1, 2, 3, 4, 5};
static_assert(in_flash(1, 1) == 5 && in_flash(1, 2) == 0);

void arrays() {
  matrix a = in_flash, b = a;
  b(0, 2) = 7;
  check(a(0, 2) == 3 && b.elements[2] == 7, "a copy has elements of its own");
  float sum = 0;
  for (const float x : b) sum += x;
  check(sum == 19, "a range over the elements");
}

// ---- a layer ----

constexpr auto layer = tn::compile([](auto x, auto w, auto b) { return tanh(matmul(w, x) + b); });

void a_layer() {
  const vector x = {0.5f, -1, 2};
  const matrix w = {1, 2, 3, -1, 0.5f, 0.25f};
  const tn::fixed<float, tn::shape<2>> b = {0.1f, -0.2f};
  tn::fixed<float, tn::shape<2>> y, again;
  guarded<layer.workspace_bytes(x, w, b)> space;
  layer.in(space.memory).into(y)(x, w, b);
  for (int i = 0; i < 2; ++i) {
    double sum = b(i);
    for (int j = 0; j < 3; ++j) sum += double(w(i, j)) * x(j);
    check(is_near(y(i), std::tanh(sum), 2e-7), "a layer");
  }
  std::memset(&space.memory, 0x11, sizeof space.memory);
  layer.in(space.memory).into(again)(x, w, b);
  check(std::memcmp(&y, &again, sizeof y) == 0, "a call reads nothing of the workspace that it has not written");
  check(space.is_whole(), "a call writes no memory beside its workspace");
#if !TENURE_FREESTANDING  // the same function with tensors
  const auto of_tensors = layer(tn::from<tn::shape<3>>(x.data()), tn::from<tn::shape<2, 3>>(w.data()), tn::from<tn::shape<2>>(b.data()));
  check(of_tensors(0) == y(0) && of_tensors(1) == y(1), "a call with tensors has the same bits");
#endif
}

// ---- a larger product, and its gradient, in a table of steps ----

using large = tn::fixed<float, tn::shape<32, 40>>;
using wide = tn::fixed<float, tn::shape<40, 48>>;
constexpr auto cost = [](auto a, auto b) { return sum(square(matmul(a, b))); };
constexpr auto slopes = tn::compile([](auto a, auto b) { return tn::value_and_grad<0, 1>(cost)(a, b); });
large a, da;
wide b, db;
guarded<slopes.workspace_bytes(a, b)> space_of_slopes;

void a_gradient() {
  for (std::int64_t i = 0; i < a.size(); ++i) a.elements[i] = float(i * 37 % 101) / 101 - 0.5f;
  for (std::int64_t i = 0; i < b.size(); ++i) b.elements[i] = float(i * 53 % 103) / 103 - 0.5f;
  float value = 0;
  slopes.in(space_of_slopes.memory).into(value, da, db)(a, b);
  static double c[32][48];
  double total = 0;
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 48; ++j) {
      double sum = 0;
      for (int k = 0; k < 40; ++k) sum += double(a(i, k)) * b(k, j);
      c[i][j] = sum;
      total += sum * sum;
    }
  check(is_near(value, total, 1e-5 * total), "the value of a cost");
  for (int i = 0; i < 32; i += 5)
    for (int k = 0; k < 40; k += 3) {
      double sum = 0;
      for (int j = 0; j < 48; ++j) sum += 2 * c[i][j] * b(k, j);
      check(is_near(da(i, k), sum, 1e-4), "a gradient");
    }
  for (int k = 0; k < 40; k += 3)
    for (int j = 0; j < 48; j += 5) {
      double sum = 0;
      for (int i = 0; i < 32; ++i) sum += 2 * c[i][j] * a(i, k);
      check(is_near(db(k, j), sum, 1e-4), "a gradient by the second argument");
    }
  check(space_of_slopes.is_whole(), "a table of steps writes no memory beside its workspace");
}

// ---- loops, numbers of several types, results over arguments ----

constexpr auto integrate = tn::compile([](auto x, auto forces, auto dt) {
  const auto step = [=](auto now, auto force) {
    const auto next = now + dt * (force - now);
    return std::tuple{next, sum(square(next))};
  };
  return tn::scan(step, x, forces);
});

void a_loop() {
  tn::fixed<double, tn::shape<2>> x = {1, -2};
  const tn::fixed<double, tn::shape<5>> forces = {1, 2, 3, 4, 5};
  tn::fixed<double, tn::shape<5>> energy;
  guarded<integrate.workspace_bytes(x, forces, 0.25)> space;
  double now[] = {1, -2};
  integrate.in(space.memory).into(x, energy)(x, forces, 0.25);  // over its argument
  for (int t = 0; t < 5; ++t) {
    for (double& e : now) e += 0.25 * (t + 1 - e);
    check(is_near(energy(t), now[0] * now[0] + now[1] * now[1], 1e-12), "a scan");
  }
  check(is_near(x(0), now[0], 1e-12) && is_near(x(1), now[1], 1e-12), "the carry of a scan, over the argument");
  check(space.is_whole(), "a loop writes no memory beside its workspace");
}

constexpr auto rotate = tn::compile([](auto x, auto y, auto n) { return std::tuple{y * n, x + y}; });

void over_arguments() {
  vector x = {1, 2, 3}, y = {4, 5, 6}, other;
  tn::workspace<rotate.workspace_bytes(x, y, 2)> space;
  rotate.in(space).into(x, y)(x, y, 2);  // each result where an argument of the other is
  check(x(0) == 8 && x(2) == 12 && y(0) == 5 && y(2) == 9, "results over arguments that the other result reads");
  check(std::strcmp(refused([&] { rotate.in(space).into(other, other)(x, y, 2); }), "tenure: into: targets 0 and 1 share memory") == 0, "two targets that are one");
}

// ---- models and trees ----

template <class Kind>
struct dense {
  BOOST_HANA_DEFINE_STRUCT(dense, (tn::param<Kind, float, tn::shape<3, 2>>, w), (tn::param<Kind, float, tn::shape<2>>, b));
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};
constexpr auto error = [](auto model, auto x) { return mean(square(model(x))); };
constexpr auto descend = tn::compile([](auto model, auto x) { return model - 0.5f * tn::grad(error)(model, x); });
constexpr auto span = tn::compile([](auto points) { return std::get<1>(points) - std::get<0>(points); });

void trees() {
  dense<tn::fixed_values> model = {{1, 2, 3, 4, 5, 6}, {0.5f, -1}};
  const vector x = {1, -1, 2};
  tn::workspace<descend.workspace_bytes(model, x)> space;
  double y[2];
  for (int j = 0; j < 2; ++j) y[j] = double(model.b(j)) + model.w(0, j) - model.w(1, j) + 2.0 * model.w(2, j);
  descend.in(space).into(model)(model, x);
  check(is_near(model.w(2, 1), 6 - 0.5 * y[1] * 2, 1e-5) && is_near(model.b(0), 0.5 - 0.5 * y[0], 1e-5), "a model is updated in place");

  const std::array<vector, 2> points = {vector{1, 2, 3}, vector{4, 6, 8}};
  vector apart;
  tn::workspace<span.workspace_bytes(points)> of_span;
  span.in(of_span).into(apart)(points);
  check(apart(0) == 3 && apart(2) == 5, "an array of arrays");
}

// ---- a constant of a trace, a factorization, branches ----

constexpr auto steered = tn::compile([](auto m, auto v) {
  const auto damped = m + tn::eye<float>(tn::shape<3, 3>{});
  const auto x = solve(damped, v);
  return where(x > 0.0f, x, tn::zeros_like(x)) + tn::tensor<float, tn::shape<3>>{1, 2, 3};
});

void a_factorization() {
  const tn::fixed<float, tn::shape<3, 3>> m = {3, 1, 0, 1, 3, 1, 0, 1, 3};
  const vector v = {1, -2, 3};
  vector x;
  tn::workspace<steered.workspace_bytes(m, v)> space;
  steered.in(space).into(x)(m, v);
  // (4 1 0; 1 4 1; 0 1 4) x = (1, -2, 3): x = (26, -48, 54) / 56
  check(is_near(x(0), 1 + 26.0 / 56, 1e-6) && x(1) == 2 && is_near(x(2), 3 + 54.0 / 56, 1e-6), "solve, where, and a tensor as a constant of a trace");
}

// ---- a mistake at run time ----

// The sum is a result that an earlier step computes.
constexpr auto row = tn::compile([](auto table, auto i) {
  const auto total = sum(table);
  return std::tuple{table[i + tn::cast<std::int64_t>(total / 21.0f)] * 2.0f, total};
});

void a_refusal() {
  const matrix table = {1, 2, 3, 4, 5, 6};
  vector y = {-1, -1, -1};
  float total = -1;
  guarded<row.workspace_bytes(table, std::int64_t{0})> space;
  row.in(space.memory).into(y, total)(table, std::int64_t{0});
  check(y(0) == 8 && y(2) == 12 && total == 21, "a computed row");
  y = {-1, -1, -1};
  total = -1;
  const char* said = refused([&] { row.in(space.memory).into(y, total)(table, std::int64_t{1}); });
  check(std::strstr(said, "tenure: at: index 2 is outside an axis of 2") == said, said);
  check(y(0) == -1 && y(2) == -1 && total == -1, "a refused call has written nothing");
  check(space.is_whole(), "a refused call writes no memory beside its workspace");
}

}  // namespace

int main() {
  arrays();
  a_layer();
  a_gradient();
  a_loop();
  over_arguments();
  trees();
  a_factorization();
  a_refusal();
  if (failures == 0) std::puts("all hold");
  return failures == 0 ? 0 : 1;
}
