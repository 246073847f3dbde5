// SPDX-License-Identifier: BSL-1.0
// Random graphs that a traced function could have made: every structural operation, pointwise ones by arity and typing,
// all element types, extents 0 and 1, symbols, strided arguments, shared subgraphs, several outputs. A seed is a graph.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tenure/backend/reference/array.hpp>
#include <tenure/ops/derivative.hpp>
#include <tenure/ops/order.hpp>
#include <tenure/passes/print.hpp>

#include "dice.hpp"

namespace fuzz {

using tenure::dtype;
using tenure::extents;
using tenure::reference::array;
namespace ir = tenure::ir;
namespace ops = tenure::ops;
using ops::value;

struct options {
  int nodes = 24;        // how many operations are tried
  bool smooth = false;   // float64, every function differentiable with derivatives of moderate size
  bool floating = false; // float64 only, kinks allowed
  bool symbols = true;
  bool strided = true;
  bool long_rows = false; // an axis of 40 to 99, and more reductions
  bool control_flows = false; // scan and cond, also in each other
  bool whiles = false;     // while_loop too
  bool rules = false;      // what rule_generator adds
  bool no_forward = false; // custom_vjp too
  bool steady = false;     // no condition or index depends on floating values, so that differences do not cross where it changes
  int pair = -1;          // if not -1: a part, times `parts`, and the part that stands in a body of it
  int seldom = -1;        // if not -1: one of `seldom_made` at the end, which the steps make seldom or not at all
  bool narrow = false;     // half of the arguments have a narrow type: bfloat16, float16, int8 or uint8
  bool extreme = false;   // arguments of the largest, the smallest, infinite and NaN elements too
};

/// What a random graph can contain. Those after solve leave no node of their own: they are counted when they are made.
enum class part { scan, while_loop, reverse_while, cond, custom_jvp, custom_vjp, checkpoint, linear_solve, external, update, solve, batch, derivative };
constexpr int parts = 13;
/// Those from gradient on are made by rule_generator.
enum class seldom { index_add, fmax, triangle, class_losses, special, gradient, hessian, lu, eigenvectors };
constexpr int seldom_made = 9;
/// What was made that leaves no node of its own: which, in what, and what in it. -1: in no body.
struct made_parts {
  bool any[parts] = {}, inside[parts][parts] = {};

  void note(int outer, part inner) {
    any[static_cast<int>(inner)] = true;
    if (outer >= 0) inside[outer][static_cast<int>(inner)] = true;
  }
};

/// A graph with arguments that fit it.
struct sample {
  ir::builder graph;
  std::vector<array> arguments;
  std::vector<char> strided;  // which arguments may lie in memory in any way
};

template <class Op>
constexpr int code = static_cast<int>(ops::code_of<Op>());
// Those of random numbers are not drawn. They read bits, of which one rounding changes all. Behind them are the special functions, which special() draws.
constexpr int rounding_operations = code<ops::random_word> - static_cast<int>(ir::opcode::pointwise);
template <class... Op>
constexpr bool is_any_of(int op) { return ((op == code<Op>) || ...); }

class generator {
 public:
  virtual ~generator() = default;
  generator(std::uint64_t seed, const options& o) : dice_(seed), o_(o) {
    static constexpr std::int64_t lengths[] = {0, 1, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17};
    static constexpr char names[3][8] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
      dimension d;
      do d.length = lengths[dice_.below(12)];
      while (d.length == 0 && dice_.chance(0.6));
      if (o.symbols && dice_.chance(0.3)) d.how = dice_.chance(0.5) ? dimension::named : dimension::open;
      if (o.long_rows && i == 0) d.length = 40 + dice_.below(60);
      if (d.how == dimension::named) d.name = tenure::dim(names[i]);
      dimensions_.push_back(d);
    }
  }

  /// Inputs and operations; outputs are still to be chosen.
  void grow() {
    const int inputs = 1 + dice_.below(4);
    for (int i = 0; i < inputs; ++i) add(new_input(random_type(), random_rank()));
    for (int i = 0; i < o_.nodes; ++i) step();
    make_pair();
    const int before = made_.graph.count();
    for (int tries = 0; o_.seldom >= 0 && tries < 8 && made_.graph.count() == before; ++tries) make_seldom(static_cast<seldom>(o_.seldom));
  }

  /// A function of one sample, computed for all samples of a batch: a body on which the pass `batch` has still to be called.
  struct batch {
    int body = -1;
    std::int64_t samples = 0;
    std::vector<ir::node_id> operands;  // of the inputs of the body, outside
    std::vector<char> is_mapped;        // or shared by all samples
  };
  batch grow_batch() {
    ir::builder& g = made_.graph;
    batch b;
    b.samples = dice_.below(4);
    const int inputs = 1 + dice_.below(3), shared = dice_.below(3);
    for (int i = 0; i < shared; ++i) add(new_input(random_type(), random_rank()));
    for (int i = 0; i < inputs; ++i) {
      extents one;
      for (int rank = dice_.below(4); rank > 0; --rank) one.push_back(dimensions_[static_cast<std::size_t>(dice_.below(3))].length % 6);
      extents all{1, {b.samples}};
      for (int a = 0; a < one.rank; ++a) all.push_back(one[a]);
      const value x = input_like(random_type(), all);
      b.operands.push_back(x.id);
      b.is_mapped.push_back(1);
    }
    const ir::node_id first = g.count();
    ir::array<ir::node_id> own, outputs, captured;
    for (const ir::node_id id : b.operands) {
      own.push_back(g.body_input(g[id].type, g.intern(ops::without_axes(extents(g.shape_of(id)), 1))));
      add({{g, own.back()}, 9});
    }
    ++depth_;
    for (int i = 0; i < o_.nodes; ++i) step();
    make_pair();
    for (int i = 1 + dice_.below(3); i > 0; --i) outputs.push_back(recent().x.id);
    --depth_;
    b.body = g.outline(first, own, outputs, captured);
    for (const ir::node_id id : captured) b.operands.push_back(id), b.is_mapped.push_back(0);
    return b;
  }

  void choose_outputs() {
    const int n = 1 + dice_.below(4);
    for (int i = 0; i < n; ++i) made_.graph.output(recent().x.id);
  }
  /// Outputs that a derivative can be taken of.
  std::vector<ir::node_id> floating_outputs() {
    std::vector<ir::node_id> chosen;
    for (int tries = 0; tries < 12 && chosen.size() < 2; ++tries)
      if (const entry e = recent(); tenure::is_floating(e.x.type())) chosen.push_back(e.x.id);
    return chosen;
  }

  made_parts made;  // by rule_generator

  ir::builder& graph() { return made_.graph; }
  dice& rolls() { return dice_; }
  sample take() {
    made_.graph.canonicalize();
    return static_cast<sample&&>(made_);
  }

  /// An argument with the extents of a graph shape; its own symbols, which must agree with those.
  value input_like(dtype type, const extents& wanted) {
    ir::builder& g = made_.graph;
    if (depth_ > 0) return scalars_in_body(type, wanted);
    const int index = g.view().input_count;
    extents e = wanted, actual;
    for (int a = 0; a < wanted.rank; ++a) actual.push_back(actual_of(wanted[a]));
    const bool strided = o_.strided && dice_.chance(0.2);
    add_argument(type, actual, strided);
    for (int a = 0; a < e.rank; ++a)
      if (!tenure::is_static(e[a])) {
        e[a] = g.new_symbol({ir::symbol::kind::argument, index, a, 0});
        g.unify(wanted[a], e[a], "like", -1, -1);
      }
    return finish_input(type, e, strided);
  }

  /// What an extent of the graph is in this sample.
  std::int64_t actual_of(std::int64_t e) const {
    if (tenure::is_static(e)) return e;
    const ir::symbol s = made_.graph.view().symbols[ir::symbol_of_extent(e)];
    switch (s.what) {
      case ir::symbol::kind::argument: return made_.arguments[static_cast<std::size_t>(s.a)].shape[static_cast<int>(s.b)];
      case ir::symbol::kind::sum: return actual_of(s.a) + actual_of(s.b);
      case ir::symbol::kind::difference: return actual_of(s.a) - actual_of(s.b);
      case ir::symbol::kind::product: return actual_of(s.a) * actual_of(s.b);
      case ir::symbol::kind::smaller: return std::min(actual_of(s.a), actual_of(s.b));
      case ir::symbol::kind::quotient: return actual_of(s.b) == 0 ? 0 : actual_of(s.a) / actual_of(s.b);
      default: return 0;
    }
  }
  extents actual_of(const extents& s) const {
    extents r;
    for (int a = 0; a < s.rank; ++a) r.push_back(actual_of(s[a]));
    return r;
  }

 protected:
  struct dimension {
    enum kind { fixed, named, open } how = fixed;
    std::int64_t length = 1, name = 0;
  };
  /// A value to build on; bound: for integers, the largest magnitude, so that nothing overflows.
  struct entry {
    value x;
    double bound = 0;
  };
  static constexpr double largest = 1 << 24;  // exact in float32, and its square in int64
  static constexpr std::int64_t max_elements = 1500;

  // ---- inputs ----

  dtype random_type() {
    if (o_.smooth || o_.floating) return dtype::float64;
    static constexpr dtype types[] = {dtype::float64, dtype::float64, dtype::float32, dtype::float32, dtype::float64,
                                      dtype::int32,   dtype::int64,   dtype::boolean, dtype::float32};
    const dtype type = types[dice_.below(9)];
    if (!o_.narrow || type == dtype::boolean || !dice_.chance(0.5)) return type;
    if (tenure::is_floating(type)) return dice_.chance(0.5) ? dtype::bfloat16 : dtype::float16;
    return dice_.chance(0.5) ? dtype::int8 : dtype::uint8;
  }
  int random_rank() {
    static constexpr int ranks[] = {0, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    return ranks[dice_.below(10)];
  }

  double random_number() {
    const int what = dice_.below(o_.smooth ? 20 : 24);
    if (what == 20) return 0;
    if (what == 21) return dice_.chance(0.5) ? 1 : -1;
    if (what == 22) return dice_.between(-40, 40);
    if (what == 23) return -0.0;
    return dice_.between(-2, 2);
  }
  /// Numbers at the edges of a type: what a rewrite that changes the range gets wrong.
  template <class T>
  T extreme_number() {
    using limits = std::numeric_limits<T>;
    const T edges[] = {limits::max(), T(limits::max() / 3), limits::min(), limits::denorm_min(), limits::epsilon(), T(1 / limits::min() / 8), limits::infinity(), limits::quiet_NaN(), T(0), T(1)};
    // Infinities and NaN seldom: what they reach tells nothing more.
    const T edge = edges[dice_.chance(0.8) ? dice_.below(6) : dice_.below(10)];
    return dice_.chance(0.5) ? edge : -edge;
  }
  void add_argument(dtype type, const extents& shape, bool strided) {
    array a(type, shape);
    const double edges = o_.extreme && dice_.chance(0.5) ? dice_.uniform() : 0;
    const bool holds_nan = !o_.smooth && !o_.floating && dice_.chance(0.02);
    tenure::visit_dtype(type, [&]<class T>(tenure::element_tag<T>) {
      for (std::int64_t i = 0; i < a.size(); ++i)
        if constexpr (tenure::number::is_floating<T>)
          a.as<T>()[i] = dice_.chance(edges) ? extreme_number<T>() : holds_nan && dice_.chance(0.1) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(random_number());
        else if constexpr (std::is_same_v<T, bool>) a.as<T>()[i] = dice_.chance(0.5);
        else a.as<T>()[i] = static_cast<T>(dice_.below(19) - 9);
    });
    made_.arguments.push_back(a);
    made_.strided.push_back(strided);
  }
  value finish_input(dtype type, const extents& e, bool strided) {
    ir::builder& g = made_.graph;
    const int index = g.view().input_count;
    const ir::node_id id = g.input(type, e, strided);
    if (strided)
      for (int a = 0; a < e.rank; ++a) g.new_symbol({ir::symbol::kind::stride, index, a, 0});
    return {g, id};
  }
  entry new_input(dtype type, int rank) {
    ir::builder& g = made_.graph;
    const int index = g.view().input_count;
    std::vector<dimension> axes;
    extents actual;
    for (int a = 0; a < rank; ++a) {
      axes.push_back(dice_.chance(0.15) ? dimension{} : dimensions_[static_cast<std::size_t>(dice_.below(3))]);
      if (tenure::count(actual) * axes.back().length > max_elements) axes.back() = dimension{};
      actual.push_back(axes.back().length);
    }
    const bool strided = o_.strided && dice_.chance(0.2);
    add_argument(type, actual, strided);
    extents e;
    for (int a = 0; a < rank; ++a) {
      const dimension& d = axes[static_cast<std::size_t>(a)];
      e.push_back(d.how == dimension::fixed ? d.length : g.new_symbol({ir::symbol::kind::argument, index, a, d.name}));
    }
    return {finish_input(type, e, strided), 9};
  }
  /// Indices into an axis: an argument, or computed from one.
  value new_indices(const extents& shape, std::int64_t extent) {
    if (depth_ > 0) {  // often computed from what the body takes
      value x = scalars_in_body(dtype::int64, shape);
      for (const entry& e : pool_)
        if (e.x.node().shape == x.node().shape && e.x.type() != dtype::boolean && dice_.chance(0.6) &&
            !(o_.steady && tenure::is_floating(e.x.type())))
          x = ops::cast_to(tenure::is_floating(e.x.type()) ? squashed(e.x) * static_cast<double>(extent) : e.x, dtype::int64);
      return apply<ops::minimum>(apply<ops::maximum>(x, constant_like(x, 0)), constant_like(x, static_cast<double>(extent - 1)));
    }
    const value x = input_like(dice_.chance(0.5) ? dtype::int32 : dtype::int64, shape);
    array& a = made_.arguments.back();
    for (std::int64_t i = 0; i < a.size(); ++i)
      if (a.type == dtype::int32) a.as<std::int32_t>()[i] = dice_.below(extent);
      else a.as<std::int64_t>()[i] = dice_.below(extent);
    return dice_.chance(0.4) ? x.like(static_cast<double>(extent - 1)) - x : x;
  }

  /// A body has no arguments of its own.
  value scalars_in_body(dtype type, const extents& shape) {
    ir::builder& g = made_.graph;
    if (shape.rank == 0) return {g, g.constant(type, g.intern({}), type == dtype::boolean ? dice_.below(2) : 0)};
    const value x = ops::counting(g, type == dtype::boolean ? dtype::int64 : type, g.intern(shape), dice_.below(shape.rank));
    if (type == dtype::boolean) return apply<ops::less>(x, constant_like(x, 1));
    return tenure::is_floating(type) ? apply<ops::sin>(x + x.like(dice_.between(0, 3))) : x;
  }

  // ---- the pool ----

  void add(const entry& e) { pool_.push_back(e); }
  entry recent() {
    const int n = static_cast<int>(pool_.size());
    const int window = dice_.chance(0.6) && n > 6 ? 6 : n;
    return pool_[static_cast<std::size_t>(n - 1 - dice_.below(window))];
  }
  std::int64_t elements(const extents& s) const { return tenure::count(actual_of(s)); }
  bool is_integer(const value& x) const { return x.type() == dtype::int32 || x.type() == dtype::int64; }
  double bound_of(const entry& e) const { return e.x.type() == dtype::boolean ? 1 : e.bound; }

  bool may_agree(std::int64_t a, std::int64_t b) const {
    const std::int64_t x = made_.graph.canonical(a), y = made_.graph.canonical(b);
    return x == y || (actual_of(x) == actual_of(y) && !(tenure::is_static(x) && tenure::is_static(y)));
  }
  bool may_broadcast(const extents& a, const extents& b) const {
    const int rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t x = ops::extent_from_right(a, i), y = ops::extent_from_right(b, i);
      if (x != 1 && y != 1 && !may_agree(x, y)) return false;
    }
    return true;
  }
  extents joined(const extents& a, const extents& b) {
    ir::builder& g = made_.graph;
    return ops::broadcast_with(a, b, [&](std::int64_t x, std::int64_t y) { return x == y ? x : g.unify(x, y, "fuzz", g.intern(a), g.intern(b)); });
  }
  /// Something that broadcasts with a, or a number.
  entry partner_of(const entry& a, bool boolean = false) {
    if (dice_.chance(0.15)) return number(boolean ? dtype::boolean : a.x.type());
    for (int tries = 0; tries < 6; ++tries) {
      const entry b = recent();
      const extents s = a.x.shape(), t = b.x.shape();
      const bool fits = may_broadcast(s, t) && elements(s) * elements(t) < 4 * max_elements * max_elements;
      if (fits && (!boolean || b.x.type() == dtype::boolean) && elements_joined(s, t) <= max_elements) return b;
    }
    return number(boolean ? dtype::boolean : a.x.type());
  }
  std::int64_t elements_joined(const extents& a, const extents& b) const {
    std::int64_t n = 1;
    const int rank = a.rank > b.rank ? a.rank : b.rank;
    for (int i = 0; i < rank; ++i) {
      const std::int64_t x = ops::extent_from_right(a, i), y = ops::extent_from_right(b, i);
      n *= actual_of(x == 1 ? y : x);
    }
    return n;
  }
  entry number(dtype type) {
    ir::builder& g = made_.graph;
    static constexpr double simple[] = {0, 1, -1, 2, 0.5, 3, -2.25};
    double c = simple[dice_.below(7)];
    if (type == dtype::boolean) c = c > 0.75 ? 1 : 0;
    if (type == dtype::int32 || type == dtype::int64) c = std::trunc(c);
    return {{g, g.constant(type, g.intern({}), c)}, std::fabs(c)};
  }

  // ---- operations ----

  value pointwise(int op, std::vector<value> x) {
    ir::builder& g = made_.graph;
    const auto opcode = static_cast<ir::opcode>(op);
    const ops::operation_record& record = ops::record_of(opcode);
    dtype types[3] = {};
    extents shape = x[0].shape();
    for (std::size_t i = 0; i < x.size(); ++i) {
      types[i] = x[i].type();
      if (i > 0) shape = joined(shape, extents(x[i].shape()));
    }
    dtype common = dtype::boolean;
    for (int i = record.types == ops::typing::selection ? 1 : 0; i < record.arity; ++i) common = tenure::promote(common, types[i]);
    if (record.types == ops::typing::floating && !tenure::is_floating(common)) common = dtype::float32;
    ir::node n{.op = opcode, .type = record.types == ops::typing::comparison ? dtype::boolean : common, .arity = static_cast<std::int8_t>(record.arity), .shape = g.intern(shape)};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const bool condition = record.types == ops::typing::selection && i == 0;
      n.in[i] = ops::broadcast_to(ops::cast_to(x[i], condition ? dtype::boolean : common), n.shape).id;
    }
    return {g, g.emit(n)};
  }
  template <class Op, class... X>
  value apply(const X&... x) { return pointwise(code<Op>, {x...}); }
  value constant_like(const value& x, double c) {
    ir::builder& g = made_.graph;
    return {g, g.constant(x.type(), g.intern({}), c)};
  }
  value as_floating(const value& x) { return tenure::is_floating(x.type()) ? x : ops::cast_to(x, dtype::float32); }
  /// Operands on which the operation is smooth and of moderate size.
  value positive(const value& x) { return apply<ops::add>(apply<ops::mul>(x, x), constant_like(x, 0.5)); }
  value squashed(const value& x) { return apply<ops::tanh>(x); }

  virtual void rule_step() {}
  virtual void make(part p) {
    if (p == part::scan) scan();
    else if (p == part::while_loop) while_loop();
    else if (p == part::cond) cond();
    else if (p == part::update) update();
  }
  /// Where a random value is nothing that the part takes, another may be.
  void try_to_make(int p) {
    const int before = made_.graph.count();
    for (int tries = 0; tries < 8 && made_.graph.count() == before; ++tries) make(static_cast<part>(p));
  }
  void make_pair() {
    for (int i = 0; i < 2 && o_.pair >= 0; ++i) {  // in the second one where no output needs the first
      inner_ = o_.pair % parts;
      try_to_make(o_.pair / parts);
    }
    inner_ = -1;
  }

  virtual void make_seldom(seldom what) {
    if (what == seldom::index_add) return scatter(true);
    if (what == seldom::triangle) return triangle();
    if (what == seldom::class_losses) return class_losses();
    if (what == seldom::special) return special();
    const entry a = recent(), b = partner_of(a);
    if (tenure::is_floating(a.x.type()) && !o_.smooth) add({pointwise(code<ops::fmax>, {a.x, b.x}), std::fmax(bound_of(a), bound_of(b))});
  }

  void step() {
    if (o_.rules && depth_ < 3 && dice_.chance(depth_ == 0 ? 0.15 : 0.1)) return rule_step();
    if (o_.long_rows && dice_.chance(0.15)) return reduce();
    if (o_.extreme && dice_.chance(0.3)) return sum_of_structure();
    if (o_.control_flows && depth_ < 3 && dice_.chance(depth_ == 0 ? 0.15 : 0.07)) return o_.whiles && dice_.chance(0.3) ? while_loop() : dice_.chance(0.6) ? scan() : cond();
    if (dice_.chance(0.05)) return special();
    const int what = dice_.below(100);
    if (what < 24) unary();
    else if (what < 46) binary();
    else if (what < 52) select();
    else if (what < 60) reduce();
    else if (what < 65) normalise();
    else if (what < 71) reshape();
    else if (what < 76) permute();
    else if (what < 81) slice();
    else if (what < 84) pad();
    else if (what < 87) dice_.chance(0.5) ? (dice_.chance(0.5) ? concat() : join_behind()) : dice_.chance(0.5) ? put_back() : sum_of_products();
    else if (what < 91) dice_.chance(0.25) ? convolve() : matmul();
    else if (what < 94) dice_.chance(0.3) ? order() : gather();
    else if (what < 96) dice_.chance(0.5) ? scatter() : update();
    else if (what < 98) count_up();
    else if (what < 99) dice_.chance(0.5) ? stop() : cast();
    else broadcast();
  }

  void unary() {
    const entry e = recent();
    value x = e.x;
    if (x.type() == dtype::boolean) return add({apply<ops::logical_not>(x), 0});
    const int position = dice_.below(rounding_operations);
    const ops::operation_record& r = ops::records::value[position];
    if (r.arity != 1 || r.types == ops::typing::logical) return;
    const int op = static_cast<int>(ir::opcode::pointwise) + position;
    if (o_.smooth && is_any_of<ops::abs, ops::sign, ops::floor, ops::round, ops::relu, ops::ceil, ops::trunc>(op)) return;
    if (r.types == ops::typing::floating) {
      x = as_floating(x);
      const bool wild = !o_.smooth && dice_.chance(0.1);
      const bool grows = op == code<ops::exp> || op == code<ops::expm1> || op == code<ops::sinh> || op == code<ops::cosh> || op == code<ops::exp2>;
      const bool needs_positive = op == code<ops::log> || op == code<ops::log2> || op == code<ops::log1p> || op == code<ops::sqrt> || op == code<ops::rsqrt> || op == code<ops::log10> || op == code<ops::acosh>;
      const bool needs_unit = is_any_of<ops::tan, ops::asin, ops::acos, ops::atanh>(op);
      if (grows && !wild) x = squashed(x);
      if (needs_positive && !wild) x = positive(x);
      if (op == code<ops::acosh> && !wild) x = apply<ops::add>(x, constant_like(x, 1.0));
      if (needs_unit && !wild) x = apply<ops::mul>(squashed(x), constant_like(x, 0.75));
    }
    add({pointwise(op, {x}), bound_of(e)});
  }

  void binary() {
    const int position = dice_.below(rounding_operations);
    const ops::operation_record& r = ops::records::value[position];
    if (r.arity != 2) return;
    const int op = static_cast<int>(ir::opcode::pointwise) + position;
    const bool kinked = is_any_of<ops::maximum, ops::minimum, ops::fmax, ops::fmin, ops::fmod, ops::remainder, ops::floor_divide>(op) || r.types == ops::typing::comparison || r.types == ops::typing::logical;
    if (o_.smooth && kinked) return;
    entry a = recent();
    if (r.types == ops::typing::logical && a.x.type() != dtype::boolean) return;
    entry b = partner_of(a, r.types == ops::typing::logical);
    if (dice_.chance(0.3)) std::swap(a, b);
    const bool both_bool = a.x.type() == dtype::boolean && b.x.type() == dtype::boolean;
    if (both_bool && r.types != ops::typing::logical) return;  // a trace spells it as logic
    const bool integer = !tenure::is_floating(tenure::promote(a.x.type(), b.x.type()));
    const double bound = op == code<ops::mul> ? bound_of(a) * bound_of(b) : bound_of(a) + bound_of(b);
    if (integer && bound > largest && r.types == ops::typing::arithmetic) return;
    if (r.types == ops::typing::floating && (o_.smooth || dice_.chance(0.85))) {
      const value x = as_floating(a.x), y = as_floating(b.x);
      if (op == code<ops::div> || op == code<ops::xlogy>) b.x = positive(y);
      if (op == code<ops::pow>) a.x = positive(squashed(x)), b.x = squashed(y);
      if (op == code<ops::exp_of_product>) a.x = squashed(x), b.x = squashed(y);
      if (op == code<ops::atan2>) b.x = positive(y);
    }
    add({pointwise(op, {a.x, b.x}), bound});
  }

  /// A special function of arguments inside its domain. A second derivative by two shapes is refused, and then the graph does not count.
  void special() {
    struct range {
      double low, high;
    };
    struct function {
      int op, arity;
      range of[3];
    };
    static const function drawn[] = {
        {code<ops::lgamma>, 1, {{0.6, 6}}}, {code<ops::digamma>, 1, {{0.6, 6}}}, {code<ops::trigamma>, 1, {{0.6, 6}}}, {code<ops::logit>, 1, {{0.1, 0.9}}},
        {code<ops::log1mexp>, 1, {{0.3, 4}}}, {code<ops::log_normal_cdf>, 1, {{-3, 3}}}, {code<ops::normal_ratio>, 1, {{-3, 3}}}, {code<ops::normal_excess>, 1, {{-3, 3}}},
        {code<ops::erfinv>, 1, {{-0.8, 0.8}}}, {code<ops::normal_icdf>, 1, {{0.1, 0.9}}}, {code<ops::erfcx>, 1, {{-1, 3}}}, {code<ops::sinc_slope<0>>, 1, {{-3, 3}}},
        {code<ops::versine_series<0>>, 1, {{-2, 9}}}, {code<ops::atan_series<0>>, 1, {{-0.4, 3}}}, {code<ops::i0e>, 1, {{0.5, 6}}}, {code<ops::i1e>, 1, {{0.5, 6}}},
        {code<ops::logaddexp>, 2, {{-3, 3}, {-3, 3}}}, {code<ops::hypot>, 2, {{0.5, 3}, {0.5, 3}}}, {code<ops::gammainc>, 2, {{0.6, 6}, {0.3, 6}}},
        {code<ops::gammaincc>, 2, {{0.6, 6}, {0.3, 6}}}, {code<ops::gamma_density>, 2, {{0.6, 6}, {0.3, 6}}}, {code<ops::betainc>, 3, {{0.6, 6}, {0.6, 6}, {0.1, 0.9}}},
        {code<ops::beta_density>, 3, {{0.6, 6}, {0.6, 6}, {0.1, 0.9}}}};
    const function& f = drawn[dice_.below(std::size(drawn))];
    const entry a = recent(), b = f.arity > 1 ? partner_of(a) : a, c = f.arity > 2 ? partner_of(a) : a;
    if (f.arity > 2) {
      const extents joint = joined_actual(a.x.shape(), b.x.shape());
      if (!may_broadcast(a.x.shape(), b.x.shape()) || !may_broadcast(b.x.shape(), c.x.shape()) || !may_broadcast_actual(joint, actual_of(extents(c.x.shape())))) return;
    }
    // Beyond the domain the functions of one number are NaN or infinite. The sums of the others would have a number of terms without bound.
    const bool is_wild = !o_.smooth && f.arity == 1 && dice_.chance(0.1);
    std::vector<value> x;
    for (int i = 0; i < f.arity; ++i) {
      value v = as_floating(i == 0 ? a.x : i == 1 ? b.x : c.x);
      const auto [low, high] = f.of[i];
      if (!is_wild) v = apply<ops::add>(apply<ops::mul>(squashed(v), constant_like(v, (high - low) / 2)), constant_like(v, (high + low) / 2));
      x.push_back(f.arity > 1 && i + 1 < f.arity && !o_.smooth && dice_.chance(0.5) ? ops::stopped(v) : v);  // a shape that is given
    }
    add({pointwise(f.op, x), 0});
  }

  void select() {
    if (o_.smooth) return;
    const entry a = recent(), b = partner_of(a), other = partner_of(a);
    value condition = other.x;
    if (condition.type() != dtype::boolean) condition = apply<ops::less>(other.x, number(other.x.type()).x);
    if (a.x.type() == dtype::boolean && b.x.type() == dtype::boolean) return;
    const extents joint = joined_actual(a.x.shape(), b.x.shape());
    if (!may_broadcast(a.x.shape(), b.x.shape()) || !may_broadcast_actual(joint, actual_of(extents(condition.shape())))) return;
    if (!may_broadcast(a.x.shape(), condition.shape()) || !may_broadcast(b.x.shape(), condition.shape())) return;
    add({pointwise(code<ops::where>, {condition, a.x, b.x}), std::fmax(bound_of(a), bound_of(b))});
  }
  extents joined_actual(const extents& a, const extents& b) const {
    return ops::broadcast_with(actual_of(a), actual_of(b), [](std::int64_t x, std::int64_t) { return x; });
  }
  bool may_broadcast_actual(const extents& a, const extents& b) const { return ops::broadcast_conflict(a, b) < 0 && tenure::count(joined_actual(a, b)) <= max_elements; }

  std::int64_t random_axes(int rank) { return dice_.chance(0.2) ? ops::all_axes(rank) : 1 + dice_.below(ops::all_axes(rank)); }

  void reduce() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0) return;
    const std::int64_t axes = random_axes(s.rank);
    auto kind = dice_.chance(0.6) ? ir::reduction::sum : dice_.chance(0.5) ? ir::reduction::max : ir::reduction::min;
    if (o_.smooth) kind = ir::reduction::sum;
    value x = e.x;
    if (x.type() == dtype::boolean) x = ops::cast_to(x, dtype::int32);
    if (kind == ir::reduction::sum && !tenure::is_floating(x.type())) x = ops::cast_to(x, dtype::int64);
    const double bound = kind == ir::reduction::sum ? bound_of(e) * static_cast<double>(elements(s)) : bound_of(e);
    // The extremum of nothing is an integer's largest: nothing may be computed from it.
    if (is_integer(x) && (bound > largest || elements(s) == 0)) return;
    value r = ops::reduced(x, axes, kind);
    if (dice_.chance(0.5)) r = ops::reshape_to(r, ops::with_ones(s, axes));
    add({r, bound});
  }

  /// Softmax, standardisation and the like: several passes over a row.
  void normalise() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || !tenure::is_floating(e.x.type())) return;
    const std::int64_t axes = dice_.chance(0.7) ? std::int64_t{1} << (s.rank - 1) : random_axes(s.rank);
    const value x = squashed(e.x);
    const auto stretched = [&](value r) { return ops::stretched_like(r, x, axes); };
    switch (dice_.below(3)) {
      case 0: {
        const value shift = o_.smooth ? x : ops::stopped(ops::reduced(x, axes, ir::reduction::max_of_numbers));
        const value z = apply<ops::exp>(o_.smooth ? x : x - stretched(shift));
        return add({z / stretched(ops::reduced(z, axes, ir::reduction::sum)), 0});
      }
      case 1: {
        const value d = x - stretched(ops::reduced(x, axes, ir::reduction::sum) * 0.125);
        const value v = ops::reduced(d * d, axes, ir::reduction::sum) + 0.25;
        return add({d * stretched(apply<ops::rsqrt>(v)), 0});
      }
      default: {
        const value l = apply<ops::log>(ops::reduced(apply<ops::exp>(x), axes, ir::reduction::sum) + 1.0);
        return add({x - stretched(l), 0});
      }
    }
  }

  /// Sums of what an algebra may know more about: products with a number, or a number a row; matrix products; softmax times something;
  /// permuted and stretched operands; one chosen element a row.
  void sum_of_structure() {
    ir::builder& g = made_.graph;
    const entry e = recent();
    value x = e.x;
    const extents s = x.shape();
    if (s.rank == 0 || !tenure::is_floating(x.type()) || elements(s) == 0) return;
    const int last = s.rank - 1;
    const std::int64_t rows = std::int64_t{1} << last;
    const auto stretched = [&](value r) { return ops::stretched_like(r, x, rows); };
    const auto number_a_row = [&] { return input_like(x.type(), ops::without_axes(s, rows)); };
    switch (dice_.below(7)) {
      case 0: x = x * ops::broadcast_to(dice_.chance(0.5) ? number(x.type()).x : input_like(x.type(), {}), x.node().shape); break;
      case 1: x = (dice_.chance(0.5) ? x : apply<ops::exp>(x)) * stretched(dice_.chance(0.5) ? number_a_row() : apply<ops::exp>(number_a_row())); break;
      case 2: {
        const value most = ops::reduced(x, rows, dice_.chance(0.5) ? ir::reduction::max_of_numbers : ir::reduction::max);
        const value grown = apply<ops::exp>(x - stretched(dice_.chance(0.8) ? ops::stopped(most) : most));
        const value total = ops::reduced(grown, rows, ir::reduction::sum);
        const value part = grown * stretched(total.like(1) / total), factor = input_like(x.type(), s);
        x = dice_.chance(0.5) ? factor * part : dice_.chance(0.5) ? part * factor * factor : part * part;
        break;
      }
      case 3: {
        if (s.rank != 2 || !o_.smooth) {
          std::int64_t axes = 0;
          for (int i = 0; i < s.rank; ++i) axes = ir::pack_axis(axes, i, (i + 1) % s.rank);
          x = ops::permuted(x, axes);
          break;
        }
        [[fallthrough]];
      }
      case 4: {
        if (s.rank != 2) break;
        extents t{2, {s[1], 3}};
        value y = input_like(x.type(), dice_.chance(0.5) ? t : extents{});
        if (y.shape().rank == 0) y = ops::broadcast_to(y, g.intern(t));
        x = dice_.chance(0.5) ? ops::matrix_product(x, y) : ops::transposed(ops::matrix_product(ops::transposed(y), ops::transposed(x)));
        break;
      }
      case 5: {
        if (!tenure::is_static(s[last])) return;
        const value indices = new_indices(ops::without_axes(s, rows), s[last]);
        g.check_bound({indices.id, s[last], "pick"});
        const value mask = apply<ops::equal>(ops::counting(g, x.type(), x.node().shape, last), stretched(ops::cast_to(indices, x.type())));
        if (dice_.chance(0.6)) x = x - stretched(number_a_row());
        return add({ops::reduced(apply<ops::where>(mask, x, x.like(0)), rows, ir::reduction::sum), 0});
      }
      default: x = dice_.chance(0.5) ? -x : x + ops::broadcast_to(number(x.type()).x, x.node().shape);
    }
    const int rank = x.shape().rank;
    add({ops::reduced(x, dice_.chance(0.6) ? std::int64_t{1} << (rank - 1) : random_axes(rank), dice_.chance(0.9) ? ir::reduction::sum : ir::reduction::max), 0});
  }

  void reshape() {
    ir::builder& g = made_.graph;
    const entry e = recent();
    const extents s = e.x.shape();
    extents to;
    const int at = s.rank > 0 ? dice_.below(s.rank) : 0;
    switch (dice_.below(5)) {
      case 0: {
        std::int64_t all = 1;
        for (int a = 0; a < s.rank; ++a) all = g.derived(ir::symbol::kind::product, all, s[a]);
        to.push_back(all);
        break;
      }
      case 1:
        if (s.rank < 2) return;
        for (int a = 0; a < s.rank; ++a)
          if (a == at && a + 1 < s.rank) to.push_back(g.derived(ir::symbol::kind::product, s[a], s[a + 1])), ++a;
          else to.push_back(s[a]);
        break;
      case 2:
        if (s.rank == 0 || s.rank > 4) return;
        for (int a = 0; a < s.rank; ++a) {
          std::int64_t factor = 1;
          if (a == at && tenure::is_static(s[a]) && s[a] > 1)
            for (const std::int64_t f : {2, 3, 4, 5, 7})
              if (s[a] % f == 0 && dice_.chance(0.5)) factor = f;
          if (factor > 1) to.push_back(s[a] / factor), to.push_back(factor);
          else to.push_back(s[a]);
        }
        break;
      case 3:
        if (s.rank > 5) return;
        for (int a = 0; a <= s.rank; ++a) {
          if (a == at) to.push_back(1);
          if (a < s.rank) to.push_back(s[a]);
        }
        break;
      default:
        for (int a = 0; a < s.rank; ++a)
          if (s[a] != 1) to.push_back(s[a]);
    }
    add({ops::reshape_to(e.x, to), e.bound});
  }

  void permute() {
    const entry e = recent();
    const int rank = e.x.shape().rank;
    int order[tenure::max_rank] = {};
    for (int i = 0; i < rank; ++i) order[i] = i;
    for (int i = rank - 1; i > 0; --i) std::swap(order[i], order[dice_.below(i + 1)]);
    std::int64_t axes = 0;
    for (int i = 0; i < rank; ++i) axes = ir::pack_axis(axes, i, order[i]);
    add({ops::permuted(e.x, axes), e.bound});
  }

  void slice() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0) return;
    const int axis = dice_.below(s.rank);
    const std::int64_t n = actual_of(s[axis]);
    if (n == 0) return add({ops::sliced(e.x, axis, 0, 0, 1), e.bound});
    if (s.rank < tenure::max_rank && dice_.chance(0.3)) return windows(e, axis, n);
    const std::int64_t step = dice_.chance(0.7) ? 1 : dice_.chance(0.5) ? 2 : -1 - dice_.below(2), start = dice_.below(n);
    const std::int64_t most = step > 0 ? (n - start + step - 1) / step : start / -step + 1;
    add({ops::sliced(e.x, axis, start, dice_.chance(0.1) ? 0 : dice_.below(most) + 1, step), e.bound});
  }

  /// Windows that overlap, touch or leave gaps; sometimes each is computed further, and all are added at their places again.
  void windows(const entry& e, int axis, std::int64_t n) {
    const std::int64_t size = 1 + dice_.below(n), step = 1 + dice_.below(dice_.chance(0.5) ? 2 : static_cast<int>(size) + 2);
    extents to = e.x.shape();
    to[axis] = (n - size) / step + 1;
    to.push_back(size);
    if (elements(to) > max_elements) return;
    const value x = ops::windowed(e.x, axis, size, step);
    if (x.type() == dtype::boolean || dice_.chance(0.6)) return add({x, e.bound});
    const std::int64_t extent = e.x.shape()[axis];
    add({ops::overlap_added(dice_.chance(0.7) ? -x : x, axis, extent, step), static_cast<double>(size) * bound_of(e)});
  }

  void pad() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0) return;
    const int axis = dice_.below(s.rank);
    const std::int64_t n = actual_of(s[axis]), step = 1 + dice_.below(2), start = dice_.below(3);
    const std::int64_t length = start + (n == 0 ? 0 : (n - 1) * step + 1) + dice_.below(3);
    extents to = s;
    to[axis] = length;
    if (elements(to) <= max_elements) add({ops::padded(e.x, axis, start, length, step), e.bound});
  }

  void concat() {
    const entry a = recent();
    const extents s = a.x.shape();
    if (s.rank == 0) return;
    const int axis = dice_.below(s.rank);
    if (!tenure::is_static(s[axis])) return;  // only the last may have a run-time extent there
    entry b = recent();
    const auto fits = [&](const value& y) {
      if (y.type() != a.x.type() || y.shape().rank != s.rank) return false;
      for (int i = 0; i < s.rank; ++i)
        if (i != axis && y.shape()[i] != s[i]) return false;
      return true;
    };
    if (!fits(b.x)) b = a;
    extents to = s;
    to[axis] = actual_of(s[axis]) + actual_of(b.x.shape()[axis]);
    if (elements(to) <= max_elements) add_joined(ops::concatenated(a.x, b.x, axis), std::fmax(a.bound, b.bound));
  }

  /// Often joined further along any axis, as blocks of a matrix are: parts in parts, and slices of them.
  void add_joined(value x, double bound) {
    while (x.type() != dtype::boolean && dice_.chance(0.5)) {
      const int axis = dice_.below(x.shape().rank);
      extents s = x.shape();
      const bool behind = !tenure::is_static(s[axis]);  // only the second may have a run-time extent there
      if (behind || dice_.chance(0.5)) s[axis] = 1 + dice_.below(3);
      const value other = -input_like(x.type(), s);
      extents to = x.shape();
      to[axis] = actual_of(to[axis]) + s[axis];
      if (elements(to) > max_elements) break;
      if (dice_.chance(0.4)) x = -x;
      x = behind || dice_.chance(0.5) ? ops::concatenated(other, x, axis) : ops::concatenated(x, other, axis);
      if (const std::int64_t n = actual_of(to[axis]); dice_.chance(0.3) && n > 1) x = ops::sliced(x, axis, 1, n - 1, 1);
    }
    add({x, std::fmax(bound, 9)});  // what input_like() draws
  }

  /// Joined along an axis of run-time extent: what lies before that axis steps by a sum then.
  void join_behind() {
    const entry e = recent();
    extents s = e.x.shape();
    if (s.rank == 0 || e.x.type() == dtype::boolean) return;
    const int axis = dice_.below(s.rank);
    if (tenure::is_static(s[axis])) return concat();
    s[axis] = 1 + dice_.below(3);
    const value front = input_like(e.x.type(), s);
    extents to = s;
    to[axis] = s[axis] + actual_of(e.x.shape()[axis]);
    const auto computed = [&](const value& x) { return dice_.chance(0.7) ? -x : x; };
    if (elements(to) <= max_elements) add_joined(ops::concatenated(computed(front), computed(e.x), axis), bound_of(e));
  }

  /// Slices of an axis, each computed further, put back beside each other in any order, as the gradient of slices is.
  void put_back() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || e.x.type() == dtype::boolean) return;
    const int axis = dice_.below(s.rank);
    if (!tenure::is_static(s[axis])) return shifts(e, axis);
    if (s[axis] < 2) return;
    if (dice_.chance(0.6)) return picks(e, axis);
    const std::int64_t cut[] = {0, 1 + dice_.below(s[axis] - 1), s[axis] - dice_.below(2)};
    const int first = dice_.below(2);
    value sum;
    for (int k = 0; k < 2; ++k) {
      const int i = (first + k) % 2;
      if (cut[i + 1] <= cut[i]) return;
      value part = ops::sliced(e.x, axis, cut[i], cut[i + 1] - cut[i], 1);
      if (dice_.chance(0.7)) part = -part;
      const value whole = ops::padded(part, axis, cut[i], s[axis], 1);
      sum = k == 0 ? whole : sum + whole;
      if (k == 0 && dice_.chance(0.4)) sum = sum + e.x;
    }
    add({sum, 2 * bound_of(e)});
  }

  /// Slices of an axis of run-time extent that leave out a few elements at its ends, computed further or not, put back where they were.
  void shifts(const entry& e, int axis) {
    const extents s = e.x.shape();
    value sum;
    for (int k = 1 + dice_.below(3); k > 0; --k) {
      const std::int64_t left_out = dice_.below(3), n = actual_of(s[axis]);
      if (left_out > n) return;
      const std::int64_t length = made_.graph.derived(ir::symbol::kind::difference, s[axis], left_out);
      const std::int64_t start = dice_.below(static_cast<int>(left_out) + 1);
      value part = ops::sliced(dice_.chance(0.5) ? e.x : -e.x, axis, start, length, 1);
      if (dice_.chance(0.5)) part = -part;
      const value whole = ops::padded(part, axis, start, s[axis], 1);
      sum = sum.graph == nullptr ? whole : sum + whole;
    }
    add({sum, 4 * bound_of(e)});
  }

  /// Elements and slices, which may overlap, leave gaps, come twice or have a step, put back where they were: the gradient of what reads them.
  void picks(const entry& e, int axis) {
    const extents s = e.x.shape();
    const int n = 1 + dice_.below(5), max_step = 1 + dice_.below(3);
    const bool are_elements = dice_.chance(0.5);
    value sum;
    for (int k = 0; k < n; ++k) {
      const std::int64_t step = 1 + dice_.below(max_step), start = dice_.below(dice_.chance(0.3) ? std::min(step, s[axis]) : s[axis]);
      const std::int64_t most = (s[axis] - start + step - 1) / step, length = are_elements ? 1 : dice_.chance(0.3) ? most : 1 + dice_.below(most);
      value part = ops::sliced(e.x, axis, start, length, step);
      if (dice_.chance(0.7)) part = -part;
      if (are_elements && s.rank > 1) {  // an element of a matrix: one of a row, which is one of the rows
        const int other = axis == 0 ? s.rank - 1 : 0, below = axis == 0 ? other - 1 : 0;
        if (tenure::is_static(s[other]) && s[other] > 0) {
          const extents row = part.shape();
          const std::int64_t at = dice_.below(s[other]);
          value one = ops::sliced(ops::reshape_to(part, ops::without_axes(row, std::int64_t{1} << axis)), below, at, 1, 1);
          if (dice_.chance(0.5)) one = -one;
          part = ops::reshape_to(ops::padded(one, below, at, s[other], 1), row);
        }
      }
      const value whole = ops::padded(part, axis, start, s[axis], step);
      sum = k == 0 ? whole : sum + whole;
      if (k == 0 && dice_.chance(0.2)) sum = sum + e.x;
    }
    add({sum, 6 * bound_of(e)});
  }

  /// As the gradient of a weight that is used in several steps is; the operands computed, or not.
  void sum_of_products() {
    const extents left{2, {4 + dice_.below(2), 2}}, right{2, {2, 4 + dice_.below(2)}};
    const bool turned = dice_.chance(0.5);
    const auto operand = [&](const extents& s, bool flip) {
      const value x = input_like(o_.smooth || o_.floating ? dtype::float64 : dtype::float32, flip ? extents{2, {s[1], s[0]}} : s), y = dice_.chance(0.6) ? squashed(x) : x;
      return flip ? ops::transposed(y) : y;
    };
    value sum;
    for (int k = 2 + dice_.below(2); k > 0; --k) {
      const value product = ops::matrix_product(operand(left, turned), operand(right, dice_.chance(0.1)));
      sum = sum.id == ir::none ? product : sum + product;
    }
    add({sum, 1000});
  }

  void matmul() {
    ir::builder& g = made_.graph;
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank < 2 || e.x.type() == dtype::boolean) return;
    const std::int64_t depth = s[s.rank - 1];
    const double bound = bound_of(e) * 9 * static_cast<double>(actual_of(depth));
    if (is_integer(e.x) && (bound > largest || bound_of(e) * bound_of(e) * static_cast<double>(actual_of(depth)) > largest)) return;
    extents t = s;
    t[t.rank - 2] = depth;
    t[t.rank - 1] = dimensions_[0].how == dimension::fixed ? dimensions_[0].length : 1 + dice_.below(4);
    if (elements(t) > max_elements) return;
    value y;
    switch (dice_.below(5)) {
      case 0: y = ops::transposed(e.x); break;
      case 1: {  // constant along an axis
        extents thin = t;
        thin[t.rank - 1 - dice_.below(2)] = 1;
        y = ops::broadcast_to(input_like(e.x.type(), thin), g.intern(t));
        break;
      }
      default: y = input_like(e.x.type(), t);
    }
    extents to = s;
    to[to.rank - 1] = y.shape()[to.rank - 1];
    if (elements(to) > max_elements) return;
    const bool flipped = dice_.chance(0.3);
    const value product = flipped ? ops::matrix_product(ops::transposed(y), ops::transposed(e.x)) : ops::matrix_product(e.x, y);
    add({product, std::fmax(bound, bound_of(e) * bound_of(e) * static_cast<double>(actual_of(depth)))});
  }

  /// A convolution of images [n, h, w, c], which are a value with axes of extent 1 in addition, in any order of memory. The axes of h and w are static.
  void convolve() {
    const entry e = recent();
    if (!tenure::is_floating(e.x.type()) || tenure::lane_of(e.x.type()) != e.x.type() || e.x.shape().rank > 4) return;
    extents image = e.x.shape();
    while (image.rank < 4) {
      image.push_back(1);
      if (dice_.chance(0.5))
        for (int a = image.rank - 1; a > 0; --a) std::swap(image[a], image[a - 1]);
    }
    value x = ops::reshape_to(e.x, image);
    std::int64_t axes = 0;
    const int first = dice_.below(4);
    for (int a = 0; a < 4; ++a) axes = ir::pack_axis(axes, a, (first + a) % 4);
    if (first > 0) x = ops::permuted(x, axes);
    if (dice_.chance(0.3)) return convolve_by_channels(x);
    ops::convolution_options o;
    if (dice_.chance(0.3))
      for (int a = 0; a < 2; ++a)
        if (const std::int64_t n = x.shape()[1 + a], before = dice_.below(3); tenure::is_static(n)) x = ops::padded(x, 1 + a, before, before + n + dice_.below(3), 1);
    extents taps = x.shape();
    for (int a = 0; a < 2; ++a) {
      if (!tenure::is_static(x.shape()[1 + a])) return;
      o.stride[a] = 1 + dice_.below(3), o.dilation[a] = 1 + dice_.below(2);
      taps[a] = 1 + dice_.below(3);
    }
    taps[2] = x.shape()[3], taps[3] = 1 + dice_.below(4);
    extents to = x.shape();
    for (int a = 0; a < 2; ++a) to[1 + a] = ops::convolved_extent(x.shape()[1 + a], taps[a], o.stride[a], o.dilation[a]);
    to[3] = taps[3];
    if (elements(to) > max_elements || elements(taps) > max_elements) return;
    value w = input_like(e.x.type(), taps);
    if (dice_.chance(0.3)) w = ops::sliced(w, 0, taps[0] - 1, taps[0], -1);
    value y = ops::convolved(x, w, o);
    if (dice_.chance(0.4))
      for (int axis = 1; axis < 3; ++axis)
        if (const int n = static_cast<int>(to[axis]); n > 0) {
          const int start = dice_.below(n);
          y = ops::sliced(y, axis, start, 1 + dice_.below(n - start), 1);
        }
    add({y, 0});
  }

  void convolve_by_channels(const value& x) {
    ops::padded_options o;
    extents taps{3, {1, 1, x.shape()[3]}}, to = x.shape();
    for (int a = 0; a < 2; ++a) {
      if (!tenure::is_static(x.shape()[1 + a])) return;
      o.stride[a] = 1 + dice_.below(3), o.dilation[a] = 1 + dice_.below(2), o.zeros[a] = dice_.below(3);
      taps[a] = 1 + dice_.below(3);
      to[1 + a] = ops::convolved_extent(x.shape()[1 + a] + o.zeros[a] + dice_.below(3), taps[a], o.stride[a], o.dilation[a]);
    }
    if (elements(to) > max_elements || elements(taps) > max_elements) return;
    const extents of_each{4, {x.shape()[0], taps[0], taps[1], taps[2]}};
    add({ops::nodes::depthwise::with_shape(o, &to, x, ops::broadcast_to(input_like(x.type(), taps), x.graph->intern(of_each))), 0});
  }

  void gather() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || s.rank > 4) return;
    const int axis = dice_.below(s.rank);
    if (actual_of(s[axis]) == 0) return;
    extents which;
    for (int i = dice_.below(3); i > 0; --i) which.push_back(dice_.below(5));
    if (const extents other = recent().x.shape(); depth_ > 0 && other.rank <= 2 && elements(other) <= 24 && dice_.chance(0.7)) which = actual_of(other);
    extents to = ops::without_axes(s, std::int64_t{1} << axis);
    if (elements(to) * tenure::count(which) > max_elements) return;
    const value indices = new_indices(which, actual_of(s[axis]));
    made_.graph.check_bound({indices.id, s[axis], "gather"});
    add({ops::gathered(e.x, indices, axis), e.bound});
  }

  /// Only of what is exact: where two elements are close, the rounding of a rewritten graph would change their order.
  void order() {
    const entry e = recent();
    const extents s = e.x.shape();
    const bool is_argument = e.x.node().op == ir::opcode::input && depth_ == 0;
    if (o_.smooth || s.rank == 0 || e.x.type() == dtype::boolean || (!is_argument && !is_integer(e.x))) return;
    const int axis = dice_.below(s.rank);
    const std::int64_t length = s[axis], count = tenure::is_static(length) ? dice_.below(static_cast<int>(length) + 1) : length;
    const value first = ops::detail::order_along(e.x, axis, dice_.chance(0.5), dice_.chance(0.5) ? count : length);
    add({first, static_cast<double>(actual_of(length))});
    if (dice_.chance(0.8)) add({ops::detail::taken_along(e.x, first, axis, "sort", true), e.bound});
  }

  /// The elements on one side of a diagonal, and zeros: triu and tril.
  void triangle() {
    ir::builder& g = made_.graph;
    const entry e = recent();
    const int rank = e.x.shape().rank;
    if (rank < 2 || e.x.type() == dtype::boolean) return;
    const value row = ops::counting(g, dtype::int64, e.x.node().shape, rank - 2), column = ops::counting(g, dtype::int64, e.x.node().shape, rank - 1);
    const value diagonal = row + static_cast<double>(dice_.below(3) - 1);
    const value is_kept = dice_.chance(0.5) ? apply<ops::greater_equal>(column, diagonal) : apply<ops::less_equal>(column, diagonal);
    add({pointwise(code<ops::where>, {is_kept, e.x, constant_like(e.x, 0)}), bound_of(e)});
  }

  /// The cross entropy of each row, with a weight a class, smoothed labels and rows that are ignored; its mean.
  void class_losses() {
    ir::builder& g = made_.graph;
    const entry e = recent();
    const extents s = e.x.shape();
    const int last = s.rank - 1;
    if (s.rank == 0 || !tenure::is_floating(e.x.type()) || !tenure::is_static(s[last]) || s[last] == 0) return;
    const std::int64_t rows = std::int64_t{1} << last;
    const auto stretched = [&](const value& r) { return ops::stretched_like(r, e.x, rows); };
    const value shifted = e.x - stretched(ops::stopped(ops::reduced(e.x, rows, ir::reduction::max)));
    const value scores = shifted - stretched(apply<ops::log>(ops::reduced(apply<ops::exp>(shifted), rows, ir::reduction::sum)));
    const value label = new_indices(ops::without_axes(s, rows), s[last]);
    const value is_label = apply<ops::equal>(ops::counting(g, dtype::int64, e.x.node().shape, last), ops::stretched_like(ops::cast_to(label, dtype::int64), e.x, rows));
    const value weights = ops::stretched_like(squashed(input_like(e.x.type(), {1, {s[last]}})) + 1.5, e.x, rows - 1);
    const value share = apply<ops::where>(is_label, e.x.like(0.9), e.x.like(0)) + 0.1 / static_cast<double>(s[last]);
    const value losses = -ops::reduced(share * weights * scores, rows, ir::reduction::sum);
    const value counts = apply<ops::not_equal>(label, constant_like(label, 0)), none = losses.like(0);
    const value read = apply<ops::where>(counts, losses, none);
    const std::int64_t all = ops::all_axes(last);
    const value total = ops::reduced(apply<ops::where>(counts, losses.like(1), none), all, ir::reduction::sum);
    add({dice_.chance(0.5) ? read : ops::reduced(read, all, ir::reduction::sum) / (total + 0.5), 0});
  }

  void scatter(bool adds = false) {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || e.x.type() == dtype::boolean) return;
    const int axis = dice_.below(s.rank), rank = 1 + (axis + 1 < s.rank && dice_.chance(0.2));
    const std::int64_t extent = 1 + dice_.below(6);
    const double bound = bound_of(e) * static_cast<double>(elements(s));
    if (is_integer(e.x) && bound > largest) return;
    extents which, to;
    for (int a = 0; a < s.rank; ++a)
      if (a >= axis && a < axis + rank) {
        which.push_back(s[a]);
        if (a == axis) to.push_back(extent);
      } else {
        to.push_back(s[a]);
      }
    if (elements(to) > max_elements) return;
    const value indices = new_indices(which, extent);
    made_.graph.check_bound({indices.id, extent, "scatter"});
    if (!adds && dice_.chance(0.5)) return add({ops::scattered(indices, e.x, axis, made_.graph.intern(to)), bound});
    entry onto{input_like(e.x.type(), to), 8};  // or another value of this shape, or one that nothing else reads, or zeros
    for (const entry& other : pool_)
      if (other.x.type() == e.x.type() && other.x.shape() == to && dice_.chance(0.5)) onto = other;
    if (tenure::is_floating(e.x.type()) && dice_.chance(0.5)) onto = {squashed(onto.x), 1};
    if (dice_.chance(0.1)) onto = {onto.x.like(0), 0};
    if (is_integer(e.x) && bound + bound_of(onto) > largest) return;
    add({ops::added_at(onto.x, e.x, indices, axis), bound + bound_of(onto)});
  }

  /// x with a block along an axis replaced by numbers, by a part of x, or by what is computed from one. x has elements.
  value with_block(const value& x) {
    ir::builder& g = made_.graph;
    const extents s = x.shape();
    const int axis = dice_.below(s.rank);
    const std::int64_t n = actual_of(s[axis]), length = dice_.chance(0.1) ? 0 : dice_.chance(0.5) ? 1 : 1 + dice_.below(n);
    extents of_block = s;
    of_block[axis] = length;
    value block = dice_.chance(0.5) ? input_like(x.type(), of_block) : ops::sliced(x, axis, dice_.below(n - length + 1), length, 1);
    for (const entry& e : pool_)
      if (e.x.type() == x.type() && e.x.shape() == of_block && dice_.chance(0.2)) block = e.x;
    if (tenure::is_floating(x.type()) && dice_.chance(0.7)) block = squashed(block);
    const value start = new_indices({}, n - length + 1);
    const std::int64_t starts = length == 0 ? g.derived(ir::symbol::kind::sum, s[axis], 1) : g.derived(ir::symbol::kind::difference, s[axis], length - 1);
    g.check_bound({start.id, starts, "update"});
    return ops::updated(x, block, start, axis);
  }
  bool may_have_block(const value& x) const { return x.shape().rank > 0 && elements(x.shape()) > 0; }

  void update() {
    const entry e = recent();
    if (!may_have_block(e.x)) return;
    double bound = bound_of(e);
    for (const entry& other : pool_) bound = std::fmax(bound, bound_of(other));
    if (is_integer(e.x) && bound > largest) return;
    add({with_block(e.x), bound});
  }

  void stop() {
    const entry e = recent();
    if (!o_.smooth) add({ops::stopped(e.x), e.bound});
  }

  void count_up() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank == 0 || e.x.type() == dtype::boolean) return;
    const int axis = dice_.below(s.rank);
    if (dice_.chance(0.5)) return add({ops::number_of_extent(made_.graph, e.x.type(), s[axis]), static_cast<double>(actual_of(s[axis]))});
    add({ops::counting(made_.graph, e.x.type(), e.x.node().shape, axis), static_cast<double>(actual_of(s[axis]))});
  }

  void cast() {
    if (o_.smooth || o_.floating) return;
    const entry e = recent();
    const dtype to = random_type();
    const bool to_integer = to == dtype::int32 || to == dtype::int64;
    value x = e.x;
    double bound = bound_of(e);
    if (tenure::is_floating(x.type()) && to_integer) {
      bound = 100;  // what does not fit, and NaN, becomes 0 first
      const value small = apply<ops::less>(apply<ops::abs>(x), constant_like(x, bound));
      x = apply<ops::where>(small, x, constant_like(x, 0));
    }
    add({ops::cast_to(x, to), bound});
  }

  void broadcast() {
    const entry e = recent();
    const extents s = e.x.shape();
    if (s.rank > 4 || elements(s) > max_elements / 5) return;
    const int at = dice_.below(s.rank + 1);
    extents to;
    std::int64_t axes = 0;
    for (int a = 0; a <= s.rank; ++a) {
      if (a == at) to.push_back(1 + dice_.below(4));
      if (a == s.rank) break;
      axes = ir::pack_axis(axes, a, to.rank);
      to.push_back(s[a]);
    }
    add({ops::broadcast_along(e.x, made_.graph.intern(to), axes), e.bound});
  }

  // ---- loops and branches ----

  using ids = ir::array<ir::node_id>;

  /// Grows a body of `what` from its inputs and from values around it. f() takes what it needs of the pool and is called before the pool
  /// is as it was.
  template <class F>
  void grow_body(part what, std::vector<entry> inputs, F f) {
    for (int i = dice_.below(4); i > 0; --i) inputs.push_back(recent());
    std::swap(pool_, inputs);
    const int around = around_;
    around_ = static_cast<int>(what);
    ++depth_;
    for (int i = 1 + dice_.below(5); i > 0; --i) step();
    if (inner_ >= 0) {
      const std::size_t before = pool_.size();
      try_to_make(std::exchange(inner_, -1));
      if (pool_.size() > before) pool_.erase(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(before));  // the body returns the inner part
    }
    f();
    --depth_;
    around_ = around;
    std::swap(pool_, inputs);
  }
  /// A value of the type and shape of x, of moderate size: one of the pool, or x.
  value fitted(const value& x) {
    value found = x;
    for (const entry& e : pool_)
      if (e.x.type() == x.type() && e.x.node().shape == x.node().shape && dice_.chance(0.7)) found = e.x;
    return dice_.chance(0.2) ? squashed(found) : squashed(found) + x * 0.25;
  }
  /// The next value of a carry, or the result of a branch: often with the same memory as x, where nothing else reads x. It has a block replaced, or
  /// two, or is a branch that does this or nothing.
  value next(const value& x) {
    if (!may_have_block(x) || dice_.chance(0.6)) return fitted(x);
    if (dice_.chance(0.3)) return with_block(with_block(x));
    if (depth_ > 2 || dice_.chance(0.5)) return with_block(x);
    ir::builder& g = made_.graph;
    value flag = scalars_in_body(dtype::boolean, {});
    for (const entry& e : pool_)
      if (e.x.type() == dtype::int64 && e.x.shape().rank == 0 && dice_.chance(0.5)) flag = apply<ops::less>(e.x, constant_like(e.x, 1));
    ir::control_flow branch{.what = ir::control_flow::kind::cond};
    ids operands;
    operands.push_back(flag.id);
    ++depth_;
    for (int b = 0; b < 2; ++b) {
      const ir::node_id first = g.count();
      const int before = operands.size();
      ids outputs;
      outputs.push_back(dice_.chance(0.3) ? x.id : next(x).id);
      branch.bodies[b] = g.outline(first, {}, outputs, operands);
      branch.captures[b] = operands.size() - before;
    }
    --depth_;
    return {g, g.result(g.add_control_flow(branch, operands), 0)};
  }
  bool may_carry(const entry& e) const { return tenure::is_floating(e.x.type()) && elements(e.x.shape()) <= 300; }
  double bound_of_result(const entry& e) const { return is_integer(e.x) ? std::fmax(bound_of(e), 64) : bound_of(e); }

  void scan() {
    ir::builder& g = made_.graph;
    const entry c = recent(), all = recent();
    const extents s = all.x.shape();
    if (!may_carry(c) || s.rank == 0 || elements(s) > 300) return;
    const value xs = actual_of(s[0]) > 5 ? ops::sliced(all.x, 0, 0, 1 + dice_.below(4), 1) : all.x;
    const std::int64_t length = xs.shape()[0];
    ir::control_flow loop{.what = ir::control_flow::kind::scan, .reverse = dice_.chance(0.5), .counts = dice_.chance(0.3), .carries = 1, .scanned = 1, .length = length};
    ids operands, inputs, outputs;
    operands.push_back(c.x.id);
    operands.push_back(xs.id);
    const ir::node_id first = g.count();
    inputs.push_back(g.body_input(c.x.type(), c.x.node().shape));
    inputs.push_back(g.body_input(xs.type(), g.intern(ops::without_axes(extents(xs.shape()), 1))));
    std::vector<entry> own{{{g, inputs[0]}, 0}, {{g, inputs[1]}, all.bound}};
    if (loop.counts) {
      inputs.push_back(g.body_input(dtype::int64, g.intern({})));
      own.push_back({{g, inputs[2]}, 8});
    }
    double bound = 0;
    grow_body(part::scan, own, [&] {
      const entry y = recent();
      outputs.push_back(next({g, inputs[0]}).id);
      const bool fits = elements(y.x.shape()) * actual_of(length) <= max_elements;
      outputs.push_back(fits ? y.x.id : inputs[0]);
      bound = bound_of_result(y);
    });
    loop.bodies[0] = g.outline(first, inputs, outputs, operands);
    loop.captures[0] = operands.size() - 2;
    const ir::node_id node = g.add_control_flow(loop, operands);
    add({{g, g.result(node, 0)}, 0});
    if (dice_.chance(0.8)) add({{g, g.result(node, 1)}, bound});
    // What a loop reads is often a part of a concat too: the gradient of picks is one.
    const entry read = dice_.chance(0.5) ? c : entry{xs, all.bound};
    if (read.x.shape().rank > 0 && dice_.chance(0.4)) add_joined(read.x, bound_of(read));
  }

  void while_loop() {
    ir::builder& g = made_.graph;
    const entry c = recent();
    if (!may_carry(c)) return;
    ir::control_flow loop{.what = ir::control_flow::kind::while_loop, .carries = 2};
    ids operands, inputs, outputs;
    operands.push_back(g.constant(dtype::int64, g.intern({}), 0));
    operands.push_back(c.x.id);
    value most;
    if (o_.rules && dice_.chance(0.4)) {
      most = input_like(dtype::int64, {});
      for (const entry& e : pool_)
        if (e.x.type() == dtype::int64 && e.x.shape().rank == 0 && dice_.chance(0.5)) most = e.x;
      most = apply<ops::minimum>(most, constant_like(most, 3));
    }
    const auto begin = [&] {
      inputs.clear(), outputs.clear();
      const ir::node_id first = g.count();
      for (int i = 0; i < 2; ++i) inputs.push_back(g.body_input(g[operands[i]].type, g[operands[i]].shape));
      return first;
    };
    ir::node_id first = begin();
    const value iteration{g, inputs[0]};
    if (most.graph == nullptr) most = constant_like(iteration, dice_.below(4));
    value goes_on = apply<ops::less>(iteration, most);
    if (!o_.steady && dice_.chance(0.4)) {
      const value x = ops::cast_to({g, inputs[1]}, dtype::float64), total = ops::reduced(x, ops::all_axes(x.shape().rank), ir::reduction::sum);
      goes_on = apply<ops::logical_and>(goes_on, apply<ops::less>(total, constant_like(total, dice_.between(-1, 3))));
    }
    outputs.push_back(goes_on.id);
    loop.bodies[0] = g.outline(first, inputs, outputs, operands);
    loop.captures[0] = operands.size() - 2;
    first = begin();
    const value at{g, inputs[0]}, x{g, inputs[1]};
    grow_body(part::while_loop, {{x, 0}, {at, 8}}, [&] {
      outputs.push_back((at + 1.0).id);
      outputs.push_back(next(x).id);
    });
    loop.bodies[1] = g.outline(first, inputs, outputs, operands);
    loop.captures[1] = operands.size() - 2 - loop.captures[0];
    const ir::node_id node = g.add_control_flow(loop, operands);
    add({{g, g.result(node, 0)}, 8});
    add({{g, g.result(node, 1)}, 0});
  }

  void cond() {
    ir::builder& g = made_.graph;
    const entry like = recent();
    if (!may_carry(like)) return;
    value flag = input_like(dtype::boolean, {});
    if (const entry e = recent(); (o_.rules ? !o_.steady : !o_.smooth) && tenure::is_floating(e.x.type()) && dice_.chance(0.6))
      flag = apply<ops::less>(ops::reduced(e.x, ops::all_axes(e.x.shape().rank), ir::reduction::sum), number(e.x.type()).x);
    ir::control_flow branch{.what = ir::control_flow::kind::cond};
    ids operands;
    operands.push_back(flag.id);
    for (int b = 0; b < 2; ++b) {
      const ir::node_id first = g.count();
      const int before = operands.size();
      ids outputs;
      grow_body(part::cond, {like}, [&] { outputs.push_back(next(like.x).id); });
      branch.bodies[b] = g.outline(first, {}, outputs, operands);
      branch.captures[b] = operands.size() - before;
    }
    add({{g, g.result(g.add_control_flow(branch, operands), 0)}, 0});
  }

  int depth_ = 0;  // of bodies
  int around_ = -1;  // the part whose body grows
  int inner_ = -1;   // the part that the next body contains
  dice dice_;
  options o_;
  std::vector<dimension> dimensions_;
  std::vector<entry> pool_;
  sample made_;
};

template <class Generator>
sample grown(Generator&& g) {
  g.grow();
  g.choose_outputs();
  return g.take();
}
inline sample random_sample(std::uint64_t seed, const options& o = {}) { return grown(generator(seed, o)); }

}  // namespace fuzz
