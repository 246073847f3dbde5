// SPDX-License-Identifier: BSL-1.0
// Law: a derivative through loops, branches, checkpoints and rules = that of the iterations and branches that run, one after the other. Also where values
// that no result reads have infinite partial derivatives: what has no cotangent or tangent takes part in no product.
#include "../catch.hpp"

#include <tenure/passes/differentiate.hpp>
#include <tenure/passes/verify.hpp>

#include "judge.hpp"

using namespace fuzz;

namespace {

namespace passes = tenure::passes;
using ids = ir::array<ir::node_id>;
enum class kind { scan, fori, while_loop, bounded, cond, checkpoint, rule };
constexpr int kinds = 7;

template <class Op, class... X>
value apply(const X&... x) {
  return ops::pointwise_value<Op>(x...);
}

/// A random program of loops over several carries, most of which nothing reads. As it is written, or unrolled.
class program {
 public:
  program(std::uint64_t seed, bool unrolled) : dice_(seed), unrolled_(unrolled) {
    ids pool;
    for (int i = 0; i < 3; ++i) pool.push_back(input(vector_));
    const ids x = pool;
    stack_ = input({2, {iteration_bound, 2}});
    const ids found = control_flow(static_cast<kind>(seed % kinds), pool);
    ids y;
    y.push_back(found[dice_.below(found.size())]);
    if (dice_.chance(0.3)) y.push_back(found[dice_.below(found.size())]);
    ids w, wrt = x, gradients(4, ir::none);
    wrt.push_back(stack_);
    for (const ir::node_id id : y) w.push_back(input(g.shape_of(id)));
    passes::reverse(g, y.data(), w.data(), y.size(), wrt.data(), wrt.size(), gradients.data());
    ids some, v, tangents(y.size(), ir::none);  // along one or two of the arguments
    for (int i = dice_.below(3); i < 4; i += 2) some.push_back(wrt[i]), v.push_back(input(g.shape_of(wrt[i])));
    passes::forward(g, some.data(), v.data(), some.size(), y.data(), y.size(), tangents.data());
    for (const ir::node_id id : y) g.output(id);
    for (int i = 0; i < y.size(); ++i) g.output(tangents[i] != ir::none ? tangents[i] : value(g, y[i]).like(0).id);
    for (int i = 0; i < wrt.size(); ++i) g.output(gradients[i] != ir::none ? gradients[i] : value(g, wrt[i]).like(0).id);
  }

  ir::builder g;
  std::vector<array> arguments;

 private:
  static constexpr int iteration_bound = 4;

  ir::node_id input(extents shape) {
    array a(dtype::float64, shape);
    for (std::int64_t i = 0; i < a.size(); ++i) a.as<double>()[i] = dice_.between(0.3, 1.2);
    arguments.push_back(a);
    return g.input(dtype::float64, shape);
  }
  value any(const ids& pool) { return {g, pool[pool.size() - 1 - std::min(dice_.below(pool.size()), dice_.below(pool.size()))]}; }
  /// One more value: finite, but the partial derivative of some is infinite.
  value step(const ids& pool) {
    const value a = any(pool), b = any(pool);
    switch (dice_.below(6)) {
      case 0: return apply<ops::sin>(a);
      case 1: return a * b;
      case 2: return a * 0.5 + b;
      case 3: return apply<ops::tanh>(a) * 0.7;
      default: {
        const value zero = a * b - a * b;
        return dice_.chance(0.3) ? apply<ops::abs>(zero) + b : apply<ops::sqrt>(zero) + (dice_.chance(0.5) ? b : zero);
      }
    }
  }
  void grow(ids& pool) {
    for (int i = 2 + dice_.below(4); i > 0; --i) pool.push_back(step(pool).id);
    if (depth_ < 2 && dice_.chance(0.25))
      for (const ir::node_id id : control_flow(static_cast<kind>(dice_.below(kinds)), pool))
        if (g.shape_of(id) == vector_) pool.push_back(id);
    if (dice_.chance(0.5)) pool.push_back(step(pool).id);
  }
  ids chosen(const ids& pool, int count) {
    ids all;
    for (int i = 0; i < count; ++i) all.push_back(any(pool).id);
    return all;
  }
  ids outputs_of(int body, const ids& inputs) {
    const ids nodes = g.inline_body(body, inputs, ir::builder::bounds::as_written);
    const ir::graph_view b = g.view().body_at(body);
    ids all;
    for (int i = 0; i < b.output_count; ++i) all.push_back(nodes[b.outputs[i]]);
    return all;
  }

  ids control_flow(kind what, const ids& pool) {
    ++depth_;
    const ids results = what == kind::cond ? branch(pool) : what == kind::checkpoint ? again(pool) : what == kind::rule ? by_rule(pool) : loop(what, pool);
    --depth_;
    return results;
  }

  ids branch(const ids& pool) {
    const bool which = dice_.chance(0.5);
    ir::control_flow c{.what = ir::control_flow::kind::cond};
    ids operands, taken;
    operands.push_back(g.constant(dtype::boolean, g.intern({}), which));
    for (int b = 0; b < 2; ++b) {
      const ir::node_id first = g.count();
      ids inner = pool;
      grow(inner);
      const ids y = chosen(inner, 2);
      const int before = operands.size();
      ids of_branch;
      c.bodies[b] = g.outline(first, {}, y, of_branch);
      if (unrolled_ && which == (b == 0)) taken = outputs_of(c.bodies[b], of_branch);
      for (const ir::node_id o : of_branch) operands.push_back(o);
      c.captures[b] = operands.size() - before;
    }
    return unrolled_ ? taken : results(c, operands, 2);
  }

  ids again(const ids& pool) {
    ir::control_flow c{.what = ir::control_flow::kind::checkpoint, .carries = 2};
    const ir::node_id first = g.count();
    ids inner = pool, captured;
    grow(inner);
    c.bodies[0] = g.outline(first, {}, chosen(inner, 2), captured);
    ids operands = outputs_of(c.bodies[0], captured);
    if (unrolled_) return operands;
    c.captures[0] = captured.size();
    for (const ir::node_id o : captured) operands.push_back(o);
    return results(c, operands, 2);
  }

  /// A custom_jvp of some arguments, whose rule is its derivative.
  ids by_rule(const ids& pool) {
    const ids arguments = chosen(pool, 3);
    ids own, captured, before;
    ir::node_id first = g.count();
    const auto inputs = [&] {
      for (int i = 0; i < arguments.size(); ++i) own.push_back(g.body_input(dtype::float64, g.intern(vector_)));
    };
    inputs();
    ids inner = own;
    const int depth = std::exchange(depth_, 2);
    grow(inner);
    depth_ = depth;
    const int body = g.outline(first, own, chosen(inner, 2), captured);
    if (unrolled_) return outputs_of(body, arguments);
    for (const ir::node_id id : arguments) before.push_back(ops::stopped({g, id}).id);
    ids operands = outputs_of(body, before);
    for (const ir::node_id id : arguments) operands.push_back(id);
    first = g.count();
    own.resize(0);
    inputs();
    const ids x = own;
    inputs();
    const ids values = outputs_of(body, x);
    ids tangents(values.size(), ir::none);
    passes::forward(g, x.data(), &own[x.size()], x.size(), values.data(), values.size(), tangents.data());
    for (int i = 0; i < values.size(); ++i)
      if (tangents[i] == ir::none) tangents[i] = value(g, values[i]).like(0).id;
    ir::control_flow c{.what = ir::control_flow::kind::custom_jvp, .carries = 2, .scanned = arguments.size()};
    c.bodies[0] = g.outline(first, own, tangents, captured);
    c.captures[0] = captured.size();
    for (const ir::node_id id : captured) operands.push_back(id);
    return results(c, operands, 2);
  }

  ids results(const ir::control_flow& c, const ids& operands, int count) {
    const ir::node_id id = g.add_control_flow(c, operands);
    ids all;
    for (int i = 0; i < count; ++i) all.push_back(g.result(id, i));
    return all;
  }
  value number(double x) { return {g, g.constant(dtype::int64, g.intern({}), x)}; }
  value less(ir::node_id iteration, int trip_count) { return apply<ops::less>(value(g, iteration), number(trip_count)); }

  ids loop(kind what, const ids& pool) {
    const int carries = 2 + dice_.below(3), trip_count = dice_.below(iteration_bound), stacked = what == kind::scan ? 1 + dice_.below(2) : 0;
    const bool scans = what == kind::scan, reverse = scans && dice_.chance(0.5);
    const ids init = chosen(pool, carries);
    ids captured;
    const ir::node_id first = g.count();
    ids inner, own;
    for (int i = 0; i < carries; ++i) own.push_back(g.body_input(dtype::float64, g.intern(vector_)));
    if (scans) own.push_back(g.body_input(dtype::float64, g.intern(vector_)));
    for (const ir::node_id id : chosen(pool, 2)) inner.push_back(id);
    for (const ir::node_id id : own) inner.push_back(id);
    grow(inner);
    const ids y = chosen(inner, carries + stacked);
    const int body = g.outline(first, own, y, captured);
    const ir::node_id xs = scans ? ops::sliced({g, stack_}, 0, 0, trip_count, 1).id : ir::none;
    const auto after_own = [&](const ids& from) {
      ids all = from;
      for (const ir::node_id id : captured) all.push_back(id);
      return all;
    };
    if (unrolled_) {
      ids state = init;
      std::vector<ids> rows(static_cast<std::size_t>(trip_count));
      for (int t = 0; t < trip_count; ++t) {
        const int at = reverse ? trip_count - 1 - t : t;
        if (scans) state.push_back(ops::reshape_to(ops::sliced({g, xs}, 0, at, 1, 1), vector_).id);
        const ids next = outputs_of(body, after_own(state));
        state.resize(0);
        for (int i = 0; i < next.size(); ++i) (i < carries ? state : rows[static_cast<std::size_t>(at)]).push_back(next[i]);
      }
      for (int s = 0; s < stacked && trip_count > 0; ++s) {
        value all;
        for (const ids& row : rows) {
          const value one = ops::reshape_to({g, row[s]}, {2, {1, 2}});
          all = all.graph == nullptr ? one : ops::concatenated(all, one, 0);
        }
        state.push_back(all.id);
      }
      return state;
    }
    if (scans) {
      ids operands = init;
      operands.push_back(xs);
      const ir::control_flow c{.what = ir::control_flow::kind::scan, .reverse = reverse, .carries = carries, .scanned = 1, .captures = {captured.size(), 0}, .bodies = {body, -1}, .length = trip_count};
      return results(c, after_own(operands), carries + (trip_count > 0 ? stacked : 0));
    }
    if (what == kind::fori) {
      const ir::control_flow c{.what = ir::control_flow::kind::scan, .carries = carries, .captures = {captured.size(), 0}, .bodies = {body, -1}, .length = trip_count};
      return results(c, after_own(init), carries);
    }
    return what == kind::while_loop ? by_while(body, init, captured, trip_count) : bounded(body, init, captured, trip_count);
  }

  ids by_while(int body, const ids& init, const ids& captured, int trip_count) {
    ir::control_flow c{.what = ir::control_flow::kind::while_loop, .carries = init.size() + 1};
    ids operands = init;
    operands.push_back(number(0).id);
    const auto inputs = [&] {
      ids own;
      for (const ir::node_id o : operands) own.push_back(g.body_input(g[o].type, g[o].shape));
      own.resize(c.carries);
      return own;
    };
    ir::node_id first = g.count();
    ids own = inputs(), out;
    out.push_back(less(own[init.size()], trip_count).id);
    c.bodies[0] = g.outline(first, own, out, operands);
    c.captures[0] = operands.size() - c.carries;
    first = g.count();
    own.resize(0);
    for (int i = 0; i < c.carries; ++i) own.push_back(g.body_input(g[operands[i]].type, g[operands[i]].shape));
    ids given;
    for (int i = 0; i < init.size(); ++i) given.push_back(own[i]);
    for (const ir::node_id id : captured) given.push_back(id);
    ids y = outputs_of(body, given);
    y.push_back((value(g, own[init.size()]) + 1.0).id);
    c.bodies[1] = g.outline(first, own, y, operands);
    c.captures[1] = operands.size() - c.carries - c.captures[0];
    return results(c, operands, init.size());
  }

  /// As while_loop with at_most<N> makes it: a checkpoint of a scan whose iterations after the last one do nothing.
  ids bounded(int body, const ids& init, const ids& captured, int trip_count) {
    const ir::node_id outside = g.count();
    ir::control_flow c{.what = ir::control_flow::kind::scan, .counts = true, .carries = init.size(), .length = iteration_bound};
    ids operands = init;
    const ir::node_id first = g.count();
    ids own;
    for (const ir::node_id o : init) own.push_back(g.body_input(g[o].type, g[o].shape));
    ids state = own;
    own.push_back(g.body_input(dtype::int64, g.intern({})));
    ir::control_flow maybe{.what = ir::control_flow::kind::cond};
    ids of_cond;
    of_cond.push_back(less(own[init.size()], trip_count).id);
    const ir::node_id in_branch = g.count();
    ids given = state;
    for (const ir::node_id id : captured) given.push_back(id);
    maybe.bodies[0] = g.outline(in_branch, {}, outputs_of(body, given), of_cond);
    maybe.captures[0] = of_cond.size() - 1;
    maybe.bodies[1] = g.outline(g.count(), {}, state, of_cond);
    maybe.captures[1] = of_cond.size() - 1 - maybe.captures[0];
    c.bodies[0] = g.outline(first, own, results(maybe, of_cond, init.size()), operands);
    c.captures[0] = operands.size() - init.size();
    ids free;
    ir::control_flow kept{.what = ir::control_flow::kind::checkpoint, .carries = init.size()};
    kept.bodies[0] = g.outline(outside, {}, results(c, operands, init.size()), free);
    ids all = by_while(body, init, captured, trip_count);
    for (const ir::node_id id : free) all.push_back(id);
    kept.captures[0] = free.size();
    return results(kept, all, init.size());
  }

  dice dice_;
  bool unrolled_;
  int depth_ = 0;
  ir::node_id stack_ = ir::none;
  const extents vector_{1, {2}};
};

}  // namespace

TEST_CASE("Law: a gradient through a loop, a branch or a rule is that of the iterations and the branch that run, also beside infinite partial derivatives") {
  int finite = 0, infinite = 0;
  for (std::uint64_t seed = 0; seed < 6000 / share * times(); ++seed) {
    const program written(seed, false), unrolled(seed, true);
    const passes::verdict verdict = passes::verify(written.g.view());
    if (!verdict.ok()) FAIL(report(seed, "unread", std::string(verdict.what) + ": %" + std::to_string(verdict.node), written.g.view()));
    const results wanted = reference_of(seed, unrolled.g.view(), unrolled.arguments), got = reference_of(seed, written.g.view(), written.arguments);
    REQUIRE(shape_difference(wanted, got).empty());
    for (std::size_t o = 0; o < wanted.size(); ++o)
      for (std::int64_t i = 0; i < wanted[o].size(); ++i) {
        const double a = wanted[o][i], b = got[o][i];
        ++(std::isfinite(a) ? finite : infinite);
        // NaN: zeros that arrive met an infinite partial. In an iteration they may be taken for a cotangent that is not there.
        const bool same = a == b || std::isnan(a) || std::fabs(a - b) <= 1e-12 * std::fmax(1, std::fabs(a));
        if (!same) FAIL(report(seed, "unread", difference(o, i, a, b), unrolled.g.view(), written.g.view()));
      }
  }
  CHECK(finite > 1000);
  CHECK(infinite > 100);
}
