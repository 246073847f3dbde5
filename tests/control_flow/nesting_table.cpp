// SPDX-License-Identifier: BSL-1.0
// Law: each nests in each. Of every pair of the table the value, the gradient and the tangent, by the reference backend before and after
// the passes, against central differences. A gradient or a tangent that does not exist is refused, and the table says which these are.
#include "nesting_table.hpp"

namespace tn = tenure;
using table::kind;
using tn::ir::builder, tn::ir::node_id;
using arrays = std::vector<tn::reference::array>;
using refusal = tn::ir::diagnostic::kind;

namespace {

struct cell {
  int outer, inner;
  builder (*trace)(bool has_tangent, refusal (&refused)[3]);
};

/// The number, its gradients in w and xs, and its tangent along the last two arguments. refused: by the function, forward and reverse mode.
template <kind Outer, kind Inner>
builder trace(bool has_tangent, refusal (&refused)[3]) {
  builder g;
  const tn::traced<double, tn::shape<3>> w{&g, g.input(tn::dtype::float64, {1, {3}})};
  const tn::traced<double, tn::shape<4, 3>> xs{&g, g.input(tn::dtype::float64, {2, {4, 3}})};
  const node_id wrt[] = {w.id, xs.id}, along[] = {g.input(tn::dtype::float64, {1, {3}}), g.input(tn::dtype::float64, {2, {4, 3}})};
  const node_id y = table::pair<Outer, Inner>(w, xs).id, one = tn::ops::value(g, y).like(1).id;
  refused[0] = g.take_refused_derivative();
  node_id tangent = tn::ir::none, gradients[] = {tn::ir::none, tn::ir::none};
  g.output(y);
  tn::passes::forward(g, wrt, along, 2, &y, 1, &tangent);
  refused[1] = g.take_refused_derivative();
  tn::passes::reverse(g, &y, &one, 1, wrt, 2, gradients);
  refused[2] = g.take_refused_derivative();
  if (has_tangent) g.output(tangent);
  for (int i = 0; i < 2; ++i) g.output(gradients[i] != tn::ir::none ? gradients[i] : tn::ops::value(g, wrt[i]).like(0).id);
  g.canonicalize();
  return g;
}

template <int Outer, int... Inner>
void add_row(std::vector<cell>& cells, std::integer_sequence<int, Inner...>) {
  (cells.push_back({Outer, Inner, trace<static_cast<kind>(Outer), static_cast<kind>(Inner)>}), ...);
}
template <int... Outer>
std::vector<cell> all_cells(std::integer_sequence<int, Outer...> all) {
  std::vector<cell> cells;
  (add_row<Outer>(cells, all), ...);
  return cells;
}

// ---- what does not exist, each with its message in docs/errors.md ----------------------------------------------------------

bool is(int k, kind wanted) { return k == static_cast<int>(wanted); }
/// jvp_of_custom_vjp: forward mode goes through no custom_vjp. A gradient has taken the rule, and is an ordinary function.
bool is_no_function(const cell& c) { return is(c.outer, kind::jvp) && is(c.inner, kind::custom_vjp); }
bool has_no_tangent(const cell& c) { return is(c.outer, kind::custom_vjp) || (is(c.inner, kind::custom_vjp) && !is(c.outer, kind::grad)); }

/// w, xs, and a tangent of each; w and xs are moved by `by` in element `at`, or along the tangents for -1.
arrays arguments(int at, double by) {
  double moved[15];
  for (int i = 0; i < 15; ++i) moved[i] = table::numbers[i] + (at < 0 ? by * table::along[i] : i == at ? by : 0);
  return {{{1, {3}}, moved}, {{2, {4, 3}}, moved + 3}, {{1, {3}}, table::along}, {{2, {4, 3}}, table::along + 3}};
}

void judge(const cell& c) {
  INFO(table::names[c.inner] << " in " << table::names[c.outer]);
  const bool has_tangent = !has_no_tangent(c);
  refusal refused[3] = {};
  const builder g = c.trace(has_tangent, refused);
  CHECK(refused[0] == (is_no_function(c) ? refusal::forward_custom_vjp : refusal::nothing));
  if (is_no_function(c)) return;
  CHECK(refused[1] == (has_tangent ? refusal::nothing : refusal::forward_custom_vjp));
  CHECK(refused[2] == refusal::nothing);
  const arrays found = judged::same_after_passes(g, arguments(0, 0));
  REQUIRE(found.size() == 3 + std::size_t{has_tangent});
  const auto difference = [&](int at) {
    const double step = 1e-5;
    const auto value = [&](double by) { return tn::reference::run(g.view(), arguments(at, by))[0][0]; };
    return (value(step) - value(-step)) / (2 * step);
  };
  CHECK(std::fabs(found[0][0]) > 0.01);
  if (has_tangent) {
    CHECK(std::fabs(found[1][0]) > 0.001);
    CHECK(found[1][0] == Approx(difference(-1)).epsilon(1e-7).margin(1e-8));
  }
  for (int i = 0; i < 15; ++i) {
    INFO("gradient " << i);
    const std::size_t first = found.size() - 2;
    CHECK((i < 3 ? found[first][i] : found[first + 1][i - 3]) == Approx(difference(i)).epsilon(1e-7).margin(1e-8));
  }
}

}  // namespace

TEST_CASE("Law: each of grad, jvp, vmap, scan, while_loop, cond, checkpoint and custom_vjp nests in each") {
  const std::vector<cell> cells = all_cells(std::make_integer_sequence<int, table::kinds>());
  REQUIRE(cells.size() == 81);
  for (const cell& c : cells) judge(c);
}
