// SPDX-License-Identifier: BSL-1.0
// Loops whose body stands once, against C++ loops. rk4 is 10,000 steps of Runge and Kutta for two coupled pendulums, four numbers in
// float64; rk4_gradient is its value and gradients, by hand with a stash of the states; while is a loop of a million iterations over one number.
// while_gradient is the value and gradients of a million iterations over two numbers, by hand with a stash that grows.
// row_update and row_read write and read one of 256 rows of 64 floats in each iteration, at a position that the loop carries; the hand writes in place.
// checkpoint is the gradient of a recurrent network of 256 steps that keeps the state of each 16th step; keep_all keeps all of them. one_iteration
// is an elementwise function in a loop of one iteration, straight the same without the loop. layers is the gradient of 12 layers of width 128 by
// scan; unrolled has a C++ loop, and keeps three values of each layer for the gradient where scan keeps two.
#include <harness.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <tenure/tenure.hpp>

namespace {

namespace tn = tenure;
constexpr std::int64_t steps = 10000;

// ---- two coupled pendulums: angles a and b, speeds c and d ------------------------------------------------------------

constexpr auto slope = [](auto a, auto b, auto c, auto d) { return std::tuple{c, d, sin(b) - a, sin(a) - b}; };
constexpr auto moved = [](auto s, auto h, auto k) {
  auto [a, b, c, d] = s;
  auto [e, f, g, i] = k;
  return std::tuple{a + h * e, b + h * f, c + h * g, d + h * i};
};
constexpr auto rk4_step = [](auto s, auto h) {
  const auto k1 = std::apply(slope, s);
  const auto k2 = std::apply(slope, moved(s, h * 0.5, k1));
  const auto k3 = std::apply(slope, moved(s, h * 0.5, k2));
  const auto k4 = std::apply(slope, moved(s, h, k3));
  return moved(moved(moved(moved(s, h / 6.0, k1), h / 3.0, k2), h / 3.0, k3), h / 6.0, k4);
};
constexpr auto energy = [](auto a, auto b, auto h) {
  const auto last = tn::fori_loop(steps, [=](auto, auto s) { return rk4_step(s, h); }, std::tuple{a, b, a * 0.0, b * 0.0});
  return std::apply([](auto... x) { return ((x * x) + ...); }, last);
};
constexpr auto value = tn::compile(energy);
constexpr auto value_and_gradients = tn::value_and_grad<0, 1>(energy);

struct state {
  double a, b, c, d;

  friend state operator+(state x, state y) { return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d}; }
  friend state operator*(double h, state x) { return {h * x.a, h * x.b, h * x.c, h * x.d}; }
};
inline state slope_by_hand(state s) { return {s.c, s.d, std::sin(s.b) - s.a, std::sin(s.a) - s.b}; }
/// The cotangent of s, given the cotangent of its slope.
inline state pulled(state s, state g) { return {std::cos(s.a) * g.d - g.c, std::cos(s.b) * g.c - g.d, g.a, g.b}; }
inline state step_by_hand(state s, double h) {
  const state k1 = slope_by_hand(s), k2 = slope_by_hand(s + h / 2 * k1), k3 = slope_by_hand(s + h / 2 * k2), k4 = slope_by_hand(s + h * k3);
  return s + h / 6 * k1 + h / 3 * k2 + h / 3 * k3 + h / 6 * k4;
}
inline state step_back(state s, state g, double h) {
  const state k1 = slope_by_hand(s), s2 = s + h / 2 * k1, k2 = slope_by_hand(s2), s3 = s + h / 2 * k2, k3 = slope_by_hand(s3), s4 = s + h * k3;
  const state g4 = pulled(s4, h / 6 * g), g3 = pulled(s3, h / 3 * g + h * g4), g2 = pulled(s2, h / 3 * g + h / 2 * g3), g1 = pulled(s, h / 6 * g + h / 2 * g2);
  return g + g1 + g2 + g3 + g4;
}

struct pendulums {
  double a = 1.0, b = 0.5, h = 0.01;
  tn::tensor<double, tn::shape<>> energy, da, db;
  double energy_by_hand = 0, da_by_hand = 0, db_by_hand = 0;
  std::vector<state> stash = std::vector<state>(steps);

  explicit pendulums(std::int64_t) {
    value_of_tenure(), value_of_hand();
    bench::require_agreement("rk4", energy.data(), &energy_by_hand, 1, 1e-9);
    tenure(), by_hand();
    bench::require_agreement("rk4_gradient", da.data(), &da_by_hand, 1, 1e-9);
    bench::require_agreement("rk4_gradient", db.data(), &db_by_hand, 1, 1e-9);
  }
  std::int64_t items() const { return steps; }

  void value_of_tenure() { value.into(energy)(a, b, h); }
  void value_of_hand() {
    state s{a, b, 0, 0};
    for (std::int64_t i = 0; i < steps; ++i) s = step_by_hand(s, h);
    energy_by_hand = s.a * s.a + s.b * s.b + s.c * s.c + s.d * s.d;
    benchmark::ClobberMemory();  // DoNotOptimize(a double) of benchmark 1.7 sets it to 0 with g++: gcc bug 105519
  }
  void tenure() { value_and_gradients.into(energy, da, db)(a, b, h); }
  void by_hand() {
    state s{a, b, 0, 0};
    for (std::int64_t i = 0; i < steps; ++i) {
      stash[static_cast<std::size_t>(i)] = s;
      s = step_by_hand(s, h);
    }
    energy_by_hand = s.a * s.a + s.b * s.b + s.c * s.c + s.d * s.d;
    state g = 2 * s;
    for (std::int64_t i = steps - 1; i >= 0; --i) g = step_back(stash[static_cast<std::size_t>(i)], g, h);
    da_by_hand = g.a;
    db_by_hand = g.b;
    benchmark::ClobberMemory();
  }
};

// ---- a condition after each iteration --------------------------------------------------------------------------------------

constexpr double last = 1e6;
constexpr auto count_up = tn::compile([](auto x) { return tn::while_loop([](auto n) { return n < last; }, [](auto n) { return n + 1.0; }, x); });

struct counting {
  double start = 0, by_hand = 0;
  tn::tensor<double, tn::shape<>> end;

  explicit counting(std::int64_t) {
    tenure(), hand();
    bench::require_agreement("while", end.data(), &by_hand, 1, 0);
  }
  std::int64_t items() const { return static_cast<std::int64_t>(last); }
  void tenure() { count_up.into(end)(start); }
  void hand() {
    double n = start;
    while (n < last) n += 1.0;  // rounded sums: no compiler replaces them by the end
    by_hand = n;
    benchmark::ClobberMemory();
  }
};

// ---- a gradient through iterations whose number is known when they have been taken -------------------------------------------

// x' = a - x x until a time.
constexpr auto goes_on_until = [](auto end) { return [=](auto s) { return std::get<1>(s) < end; }; };
constexpr auto step_of = [](auto a) { return [=](auto s) { return std::tuple{std::get<0>(s) + 1e-6 * (a - std::get<0>(s) * std::get<0>(s)), std::get<1>(s) + 1.0}; }; };
constexpr auto approach = tn::value_and_grad<1, 2>([](auto end, auto a, auto x) { return std::get<0>(tn::while_loop(goes_on_until(end), step_of(a), std::tuple{x, 0.0})); });
constexpr auto bounded_approach =
    tn::value_and_grad<1, 2>([](auto end, auto a, auto x) { return std::get<0>(tn::while_loop(goes_on_until(end), step_of(a), std::tuple{x, 0.0}, tn::at_most<1000000>)); });

struct approaching {
  double a = 2, start = 0.3;
  tn::tensor<double, tn::shape<>> end, da, dx;
  double by_hand[3] = {};

  explicit approaching(std::int64_t) {
    hand();
    for (const bool has_bound : {false, true}) {
      has_bound ? bounded() : tenure();
      const double found[] = {end.item(), da.item(), dx.item()};
      bench::require_agreement("while_gradient", found, by_hand, 3, 1e-9);
    }
  }
  std::int64_t items() const { return static_cast<std::int64_t>(last); }
  void tenure() { approach.into(end, da, dx)(last, a, start); }
  void bounded() { bounded_approach.into(end, da, dx)(last, a, start); }
  void hand() {
    std::vector<double> stash;
    double x = start, ga = 0, gx = 1;
    for (double time = 0; time < last; time += 1.0) {
      stash.push_back(x);
      x += 1e-6 * (a - x * x);
    }
    for (; !stash.empty(); stash.pop_back()) {
      ga += 1e-6 * gx;
      gx -= 2e-6 * stash.back() * gx;
    }
    by_hand[0] = x, by_hand[1] = ga, by_hand[2] = gx;
    benchmark::ClobberMemory();
  }
};

// ---- rows at positions that the loop carries -----------------------------------------------------------------------------

constexpr std::int64_t row_count = 256, columns = 64;
using table = tn::tensor<float, tn::shape<row_count, columns>>;

constexpr auto write_rows = tn::compile([](auto cache, auto xs, auto first) {
  const auto iteration = [](auto state, auto x) {
    const auto i = std::get<1>(state);
    return std::tuple{std::tuple{tn::dynamic_update(std::get<0>(state), tn::unsqueeze<0>(x), std::tuple{i, 0}), i + 1}, tn::nothing};
  };
  const auto last = std::get<0>(tn::scan(iteration, std::tuple{cache, first}, xs));
  return std::get<0>(last);
});
constexpr auto read_rows = tn::compile([](auto cache, auto xs, auto first) {
  const auto iteration = [=](auto i, auto x) { return std::tuple{i + 1, cache[i] * x}; };
  return std::get<1>(tn::scan(iteration, first, xs));
});

struct rows_at_positions {
  std::int64_t first = 0;
  table cache, xs, updated, products, updated_by_hand, products_by_hand;

  explicit rows_at_positions(std::int64_t) {
    bench::fill_uniform(bench::data_of(cache), row_count * columns, -1, 1, 1);
    bench::fill_uniform(bench::data_of(xs), row_count * columns, -1, 1, 2);
    update(), update_by_hand(), read(), read_by_hand();
    bench::require_agreement("row_update", bench::data_of(updated), bench::data_of(updated_by_hand), row_count * columns, 0);
    bench::require_agreement("row_read", bench::data_of(products), bench::data_of(products_by_hand), row_count * columns, 0);
  }
  std::int64_t items() const { return row_count; }

  void update() { write_rows.into(updated)(cache, xs, first); }
  void read() { read_rows.into(products)(cache, xs, first); }
  void update_by_hand() {
    float* const to = bench::data_of(updated_by_hand);
    std::copy_n(bench::data_of(cache), row_count * columns, to);
    std::int64_t i = first;
    for (std::int64_t iteration = 0; iteration < row_count; ++iteration, ++i) std::copy_n(bench::data_of(xs) + iteration * columns, columns, to + i * columns);
    benchmark::ClobberMemory();
  }
  void read_by_hand() {
    std::int64_t i = first;
    for (std::int64_t iteration = 0; iteration < row_count; ++iteration, ++i)
      for (std::int64_t c = 0; c < columns; ++c)
        bench::data_of(products_by_hand)[iteration * columns + c] = bench::data_of(cache)[i * columns + c] * bench::data_of(xs)[iteration * columns + c];
    benchmark::ClobberMemory();
  }
};

// ---- what is kept for a gradient -------------------------------------------------------------------------------------------

constexpr std::int64_t recurrent_steps = 256, steps_of_block = 16, samples = 16, units = 64;
using recurrent_inputs = tn::tensor<float, tn::shape<recurrent_steps, samples, units>>;
using recurrent_weights = tn::tensor<float, tn::shape<units, units>>;

constexpr auto recurrent_iteration = [](auto w) { return [=](auto h, auto x) { return std::tuple{tanh(matmul(h, w) + x), tn::nothing}; }; };
constexpr auto keep_all = tn::value_and_grad<0, 1>([](auto w, auto xs) {
  return sum(square(std::get<0>(tn::scan(recurrent_iteration(w), tn::zeros<float>(tn::shape<samples, units>{}), xs))));
});
constexpr auto keep_blocks = tn::value_and_grad<0, 1>([](auto w, auto xs) {
  const auto block = tn::checkpoint([=](auto h, auto rows) { return std::get<0>(tn::scan(recurrent_iteration(w), h, rows)); });
  const auto iteration = [=](auto h, auto rows) { return std::tuple{block(h, rows), tn::nothing}; };
  const auto rows = tn::reshape<recurrent_steps / steps_of_block, steps_of_block, samples, units>(xs);
  return sum(square(std::get<0>(tn::scan(iteration, tn::zeros<float>(tn::shape<samples, units>{}), rows))));
});

struct recurrent {
  recurrent_inputs xs, dxs, dxs_of_all;
  recurrent_weights w, dw, dw_of_all;
  tn::tensor<float, tn::shape<>> value;

  explicit recurrent(std::int64_t) {
    bench::fill_uniform(bench::data_of(xs), xs.size(), -1, 1, 1);
    bench::fill_uniform(bench::data_of(w), w.size(), -0.125, 0.125, 2);
    tenure(), all();
    bench::require_agreement("checkpoint", bench::data_of(dw), bench::data_of(dw_of_all), dw.size(), 1e-5);
    bench::require_agreement("checkpoint", bench::data_of(dxs), bench::data_of(dxs_of_all), dxs.size(), 1e-5);
  }
  std::int64_t items() const { return recurrent_steps; }
  void tenure() { keep_blocks.into(value, dw, dxs)(w, xs); }
  void all() { keep_all.into(value, dw_of_all, dxs_of_all)(w, xs); }
};

// ---- a loop of one iteration ------------------------------------------------------------------------------------------------------

constexpr auto elementwise = [](auto a, auto b, auto x) { return tanh(a * x + b) * x; };
constexpr auto in_one_iteration = tn::compile([](auto a, auto b, auto x) { return tn::fori_loop(1, [=](auto, auto c) { return elementwise(a, b, c); }, x); });
constexpr auto straight = tn::compile(elementwise);

struct one_iteration {
  bench::array<double> x, y, expected;

  explicit one_iteration(std::int64_t n) : x(bench::uniform_array<double>(n, -1, 1, 1)), y(tn::uninitialized, n), expected(tn::uninitialized, n) {
    without();
    std::copy_n(bench::data_of(y), n, bench::data_of(expected));
    tenure();
    bench::require_agreement("one_iteration", bench::data_of(y), bench::data_of(expected), n, 0);
  }
  std::int64_t items() const { return x.size(); }
  // Both write one array: of two arrays that do not fit into the second cache together with x, one took 1.07 times as long as the other.
  void tenure() { in_one_iteration.into(y)(0.7, 0.1, x); }
  void without() { straight.into(y)(0.7, 0.1, x); }
};

// ---- layers --------------------------------------------------------------------------------------------------------------------

constexpr std::int64_t layer_count = 12, layer_width = 128, layer_rows = 64;
template <std::int64_t... L>
struct layer_types {
  using up = tn::tensor<float, tn::shape<L..., layer_width, 4 * layer_width>>;
  using down = tn::tensor<float, tn::shape<L..., 4 * layer_width, layer_width>>;
};
constexpr auto layer = [](auto x, auto up, auto down) { return x + matmul(gelu_tanh(matmul(x, up)), down); };
constexpr auto by_scan = tn::value_and_grad<0, 1>([](auto up, auto down, auto x) {
  const auto iteration = [](auto h, auto w) { return std::tuple{layer(h, std::get<0>(w), std::get<1>(w)), tn::nothing}; };
  return mean(square(std::get<0>(tn::scan(iteration, x, std::tuple{up, down}))));
});
constexpr auto unrolled = tn::value_and_grad<0, 1>([](auto up, auto down, auto x) {
  for (std::size_t i = 0; i < up.size(); ++i) x = layer(x, up[i], down[i]);
  return mean(square(x));
});

struct layers {
  using stack = layer_types<layer_count>;
  using one = layer_types<>;
  template <class X>
  using each = std::array<X, static_cast<std::size_t>(layer_count)>;
  stack::up up, dup;
  stack::down down, ddown;
  each<one::up> ups, dups;
  each<one::down> downs, ddowns;
  tn::tensor<float, tn::shape<layer_rows, layer_width>> x;
  tn::tensor<float, tn::shape<>> value;

  explicit layers(std::int64_t) {
    bench::fill_uniform(bench::data_of(up), up.size(), -0.1, 0.1, 1);
    bench::fill_uniform(bench::data_of(down), down.size(), -0.1, 0.1, 2);
    bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, 3);
    for (std::size_t i = 0; i < ups.size(); ++i) {
      std::copy_n(bench::data_of(up) + static_cast<std::int64_t>(i) * ups[i].size(), ups[i].size(), bench::data_of(ups[i]));
      std::copy_n(bench::data_of(down) + static_cast<std::int64_t>(i) * downs[i].size(), downs[i].size(), bench::data_of(downs[i]));
    }
    tenure(), by_hand();
    for (std::size_t i = 0; i < ups.size(); ++i) {
      bench::require_agreement("layers", bench::data_of(dup) + static_cast<std::int64_t>(i) * ups[i].size(), bench::data_of(dups[i]), ups[i].size(), 1e-4);
      bench::require_agreement("layers", bench::data_of(ddown) + static_cast<std::int64_t>(i) * downs[i].size(), bench::data_of(ddowns[i]), downs[i].size(), 1e-4);
    }
  }
  std::int64_t items() const { return layer_count; }
  void tenure() { by_scan.into(value, dup, ddown)(up, down, x); }
  void by_hand() { unrolled.into(value, dups, ddowns)(ups, downs, x); }
};

const bool registered = [] {
  bench::keep_heap_warm();
  bench::row<pendulums>("rk4", "tenure", steps, [](pendulums& p) { p.value_of_tenure(); });
  bench::row<pendulums>("rk4", "hand", steps, [](pendulums& p) { p.value_of_hand(); });
  bench::row<pendulums>("rk4_gradient", "tenure", steps, [](pendulums& p) { p.tenure(); });
  bench::row<pendulums>("rk4_gradient", "hand", steps, [](pendulums& p) { p.by_hand(); });
  bench::row<counting>("while", "tenure", static_cast<std::int64_t>(last), [](counting& p) { p.tenure(); });
  bench::row<counting>("while", "hand", static_cast<std::int64_t>(last), [](counting& p) { p.hand(); });
  bench::row<approaching>("while_gradient", "tenure", static_cast<std::int64_t>(last), [](approaching& p) { p.tenure(); });
  bench::row<approaching>("while_gradient", "tenure_bounded", static_cast<std::int64_t>(last), [](approaching& p) { p.bounded(); });
  bench::row<approaching>("while_gradient", "hand", static_cast<std::int64_t>(last), [](approaching& p) { p.hand(); });
  bench::row<rows_at_positions>("row_update", "tenure", row_count, [](rows_at_positions& p) { p.update(); });
  bench::row<rows_at_positions>("row_update", "hand", row_count, [](rows_at_positions& p) { p.update_by_hand(); });
  bench::row<rows_at_positions>("row_read", "tenure", row_count, [](rows_at_positions& p) { p.read(); });
  bench::row<rows_at_positions>("row_read", "hand", row_count, [](rows_at_positions& p) { p.read_by_hand(); });
  bench::row<recurrent>("checkpoint", "tenure", recurrent_steps, [](recurrent& p) { p.tenure(); });
  bench::row<recurrent>("checkpoint", "keep_all", recurrent_steps, [](recurrent& p) { p.all(); });
  for (const std::int64_t n : {16, 1000, 100000}) {
    bench::row<one_iteration>("one_iteration", "tenure", n, [](one_iteration& p) { p.tenure(); });
    bench::row<one_iteration>("one_iteration", "straight", n, [](one_iteration& p) { p.without(); });
  }
  bench::row<layers>("layers", "tenure", layer_count, [](layers& p) { p.tenure(); });
  bench::row<layers>("layers", "unrolled", layer_count, [](layers& p) { p.by_hand(); });
  return true;
}();

}  // namespace
