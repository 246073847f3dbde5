// SPDX-License-Identifier: BSL-1.0
// vmap of a model with a loop has the kernels and products of the same model that is written for a batch. And the order of numbers, where
// a function has few of them.
// Law: the plan of a vmapped model with whole rows has as many steps as that of the model over the batch, in each body.
#include "../catch.hpp"

#include <string>

#include <tenure/tenure.hpp>

namespace tn = tenure;
namespace ir = tn::ir;

namespace {

constexpr int units = 24;
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

// A gated recurrent unit. The gates are parts of the last axis, for one sample and for a batch.
template <int I, class X>
constexpr auto gate(const X& x) {
  constexpr auto part = tn::range<I * units, (I + 1) * units>();
  if constexpr (X::shape_type::rank == 1) return x.at(part);
  else return x.at(tn::all, part);
}
constexpr auto iteration = [](auto h, auto x, auto w, auto u, auto b) {
  const auto a = matmul(x, w) + b, c = matmul(h, u);
  const auto reset = sigmoid(gate<0>(a) + gate<0>(c)), update = sigmoid(gate<1>(a) + gate<1>(c));
  const auto candidate = tanh(gate<2>(a) + reset * gate<2>(c));
  return (1.0f - update) * candidate + update * h;
};
constexpr auto last_state = [](auto start, auto xs, auto w, auto u, auto b) {
  return std::get<0>(tn::scan([=](auto h, auto x) { return std::tuple{iteration(h, x, w, u, b), tn::nothing}; }, start, xs));
};
constexpr auto of_one = [](auto w, auto u, auto b, auto out, auto xs, auto y) { return square(sum(last_state(tn::zeros_like(out), xs, w, u, b) * out) - y); };
constexpr auto mapped = [](auto w, auto u, auto b, auto out, auto xs, auto y) {
  return mean(tn::vmap<tn::unmapped, tn::unmapped, tn::unmapped, tn::unmapped, 0, 0>(of_one)(w, u, b, out, xs, y));
};
constexpr auto over_batch = [](auto w, auto u, auto b, auto out, auto xs, auto y) {
  const auto start = tn::expand<64, units>(tn::zeros_like(out));
  return mean(square(sum(last_state(start, tn::transpose<0, 1>(xs), w, u, b) * out, tn::axis<1>) - y));
};

struct counts {
  int kernels = 0, products = 0, nodes = 0;
};
// The passes of a program, at run time: compiling the models takes a minute.
counts counts_of(const ir::graph_view& g) {
  const ir::builder live = tn::passes::dead_code(g);
  const ir::builder smaller = tn::passes::algebra(live.view());
  const ir::builder simple = tn::passes::dead_code(smaller.view());
  const ir::builder scalar = tn::passes::scalarize(simple.view());
  const ir::builder joined = tn::passes::join(scalar.view());
  const ir::builder whole = tn::passes::materialize(tn::passes::cse(joined.view()).view());
  const tn::passes::fusion_groups steps = tn::passes::fuse(whole.view());
  counts n;
  for (int i = 0; i < steps.at.size(); ++i) {
    const ir::node_id opaque = steps.at[i].alone;
    n.kernels += opaque == ir::none;
    n.products += opaque != ir::none && whole.view()[opaque].op == ir::opcode::matmul;
    n.nodes += steps.at[i].nodes;
  }
  return n;
}

template <class F>
std::vector<counts> bodies_of(F) {
  const ir::builder traced =
      tn::detail::source_of<F, array<8, 3 * units>, array<units, 3 * units>, array<3 * units>, array<units>, array<64, 10, 8>, array<64>>::trace();
  const ir::graph_view g = traced.view();
  REQUIRE(g.refused.what == ir::diagnostic::kind::nothing);
  std::vector<counts> all{counts_of(g)};
  for (int id = 0; id < g.count; ++id) {
    if (g[id].op != ir::opcode::control_flow) continue;
    all.push_back(counts_of(g.body_at(g.control_flow_of(g[id]).bodies[0])));
  }
  return all;
}

template <class F, class G>
void have_the_same_steps(F f, G g) {
  const std::vector<counts> of_mapped = bodies_of(f), of_batch = bodies_of(g);
  REQUIRE(of_mapped.size() == of_batch.size());
  for (std::size_t i = 0; i < of_batch.size(); ++i) {
    INFO("body " << i << " (0: the program around the loops)");
    CHECK(of_mapped[i].products == of_batch[i].products);
    CHECK(of_mapped[i].kernels <= of_batch[i].kernels);
    // A node for each number of a row would be 24 times as many.
    CHECK(of_mapped[i].nodes <= of_batch[i].nodes + 8);
  }
}

}  // namespace

TEST_CASE("the plan of a vmapped model with whole rows has as many steps as that of the model over the batch, in each body") {
  have_the_same_steps(mapped, over_batch);
  have_the_same_steps(tn::grad<0, 1, 2, 3>(mapped).function, tn::grad<0, 1, 2, 3>(over_batch).function);
}

namespace {

// The numbers that read the number directly before them.
int waiting_numbers(const ir::graph_view& g) {
  int n = 0;
  for (int id = 1; id < g.count; ++id)
    for (int k = 0; k < g[id].arity; ++k) n += g[id].in[k] == id - 1 && tn::ops::is_pointwise(g[id].op) && tn::ops::is_pointwise(g[id - 1].op);
  return n;
}

}  // namespace

TEST_CASE("a product with a shared matrix: numbers where it is tiny, one product where it is not, whatever the shape of its rows") {
  const auto products_after = []<class F, class X, class W>(F, const X*, const W*) {
    const ir::builder traced = tn::detail::source_of<F, X, W>::trace();
    const ir::builder numbers = tn::passes::scalarize(tn::passes::dead_code(tn::passes::algebra(traced.view()).view()).view());
    int n = 0;
    for (int id = 0; id < numbers.count(); ++id) n += numbers[id].op == ir::opcode::matmul;
    return n;
  };
  constexpr auto layer = tn::vmap<0, tn::unmapped>([](auto p, auto w) { return tanh(matmul(p, w)); });
  constexpr auto folded = tn::vmap<0, tn::unmapped>([](auto p, auto w) { return tanh(tn::reshape<4, 4>(matmul(p, w))); });
  using f = std::remove_cvref_t<decltype(layer.function)>;
  using g = std::remove_cvref_t<decltype(folded.function)>;
  const array<64, 8>* const vectors = nullptr;
  const array<64, 2, 4>* const matrices = nullptr;
  const array<64, 16>* const long_vectors = nullptr;
  const array<8, 8>* const of_vectors = nullptr;
  const array<4, 8>* const of_matrices = nullptr;
  const array<16, 16>* const large = nullptr;
  CHECK(products_after(f{}, vectors, of_vectors) == 0);
  CHECK(products_after(f{}, matrices, of_matrices) == 0);
  CHECK(products_after(f{}, long_vectors, large) == 1);
  CHECK(products_after(g{}, long_vectors, large) == 1);
}

TEST_CASE("Law: in_order_of_latency keeps the meaning, and never adds nodes: of two chains of divisions, each goes on while the other waits") {
  constexpr auto chains = tn::vmap([](auto p) {
    const auto a = p.at(0), b = p.at(1), c = p.at(2), d = p.at(3);
    return tn::stack(a / b / c / d, d / c / b / a);
  });
  const ir::builder traced = tn::detail::source_of<std::remove_cvref_t<decltype(chains.function)>, array<64, 4>>::trace();
  const ir::builder numbers = tn::passes::scalarize(tn::passes::dead_code(tn::passes::algebra(traced.view()).view()).view());
  const ir::builder by_use = tn::passes::in_order_of_use(numbers.view(), 64), by_latency = tn::passes::in_order_of_latency(by_use.view(), 64);
  CHECK(by_latency.count() == by_use.count());
  CHECK(waiting_numbers(by_use.view()) == 4);
  CHECK(waiting_numbers(by_latency.view()) == 0);
}

namespace {

/// So many numbers of samples, each of which waits for a division.
constexpr int count_after_latency(int numbers) {
  ir::builder g;
  const std::int16_t shape = g.intern({2, {8, 1}});
  ir::node_id x = g.input(tn::dtype::float64, {2, {8, 1}}), before = g.input(tn::dtype::float64, {2, {8, 1}});
  for (int i = 0; i < numbers; ++i) {
    const ir::node_id next = g.append({.op = ir::opcode::div, .type = tn::dtype::float64, .arity = 2, .shape = shape, .in = {x, before, ir::none}});
    before = x, x = next;
  }
  g.output(x);
  return tn::passes::in_order_of_latency(g.view(), 8).count();
}

}  // namespace

// clang evaluates 2^20 steps of a constant expression: with a search among all numbers that wait, 600 were too many.
TEST_CASE("in_order_of_latency of a thousand numbers is a constant with the limits of the compilers") {
  static_assert(count_after_latency(1000) == 1002);
  CHECK(count_after_latency(5000) == 5002);
}

TEST_CASE("in_order_of_latency leaves each number in its half of a gradient") {
  // The cosines of the backward half do not need the product. They could be computed while the forward half waits for sines.
  constexpr auto gradients = tn::vmap<0, tn::unmapped>(tn::grad([](auto p, auto w) {
    const auto a = p.at(0), b = p.at(1);
    return sum(square(matmul(tn::stack(sin(a / b), sin(b / a)), w)));
  }));
  using f = std::remove_cvref_t<decltype(gradients.function)>;
  const ir::builder traced = tn::detail::source_of<f, array<64, 2>, array<2, 40>>::trace();
  const ir::builder numbers = tn::passes::scalarize(tn::passes::dead_code(tn::passes::algebra(traced.view()).view()).view());
  const int half = numbers.view().backward_from;
  int cosines = 0;
  for (int id = 0; id < numbers.count(); ++id) {
    if (numbers[id].op != tn::ops::code_of<tn::ops::cos>()) continue;
    INFO("node " << id << ", the first one of the backward half is " << half);
    CHECK(id >= half);
    ++cosines;
  }
  CHECK(half > 0);
  CHECK(cosines == 2);
}
