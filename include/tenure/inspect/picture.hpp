// SPDX-License-Identifier: BSL-1.0
// What the pictures of a plan show: a card for each step, or one for several equal steps; the values that go from card to card; the temporary
// memory. inspect/dot.hpp and inspect/html.hpp draw it. It is computed at run time, and only if a picture is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenure/inspect/formula.hpp>
#include <tenure/inspect/names.hpp>
#include <tenure/inspect/plan.hpp>
#include <tenure/inspect/profile.hpp>

namespace TENURE_NAMESPACE {

/// What a picture shows besides the plan.
struct picture_text {
  std::string title = "plan";
  std::vector<std::string> arguments = {};  ///< names of the arguments, from the first on. C++ does not know them
  call_profile times = {};                  ///< of profile(f)(x...): the card of a step shows its time
};

namespace detail {

/// The part of a program to which a step belongs.
enum class phase : std::uint8_t { forward, both, backward, update };
inline const char* name_of(phase p) {
  constexpr const char* names[] = {"forward", "forward and backward", "backward", "update"};
  return names[static_cast<int>(p)];
}

/// A value that a card reads: an argument, or what another card computes. `view` says how it is read.
struct card_read {
  int from = -1;  // a card; -1: an argument
  std::int64_t number = 0;  // of the argument, or of the node
  std::string name, shape, view;

  friend bool operator==(const card_read&, const card_read&) = default;
};

struct picture;
struct card_body;

/// A step, or several equal steps.
struct card {
  std::vector<int> steps;
  phase part = phase::forward;
  std::string kind, title;  // "product", "matmul [32,64] [64,96]"
  std::vector<card_read> reads;
  name_list results;             // of the call
  name_list lines;               // a formula for each node
  std::int64_t bytes = 0, flops = 0;  // of all steps; -1: not known
  std::string per;               // "" if bytes and flops are those of the whole step; " an iteration" if they are those of one iteration
  double seconds = 0;
  std::vector<card_body> bodies;
  std::string key;  // equal for equal steps; if empty, no other step is equal
};

/// A temporary buffer.
struct drawn_buffer {
  std::string name;
  std::int64_t offset = 0, bytes = 0;
  int first = 0, last = 0;  // steps
  bool is_kept = false;     // a value of the forward half that the backward half reads
};

struct picture {
  name_list arguments;  // with shapes
  std::vector<card> cards;
  std::vector<drawn_buffer> buffers;
  int steps = 0;
  std::int64_t workspace = -1, kept = 0, bytes = -1, flops = -1;  // -1: not known
  bool has_phases = false;
};

/// What a loop or a branch computes.
struct card_body {
  std::string name;
  picture content;
};

/// What only the type of a program says about a step.
struct step_facts {
  std::int64_t bytes = -1, flops = -1;
  int kernel = -1;
};

/// Fills the cards of a picture from the graph of a program.
class card_maker {
 public:
  card_maker(const ir::graph_view& g, const leaf_names& names, const std::vector<step_facts>& facts)
      : g_(g), fused_(passes::fuse(g)), names_(names), formula_(g, names.arguments), facts_(facts), updates_(find_updates()) {}

  picture make() const {
    picture p;
    p.steps = fused_.at.size();
    p.has_phases = g_.backward_from > 0;
    for (int i = 0; i < g_.count; ++i)
      if (g_[i].op == ir::opcode::input) p.arguments.push_back(formula_.operand(i) + " " + formula_.shape(i));
    std::vector<int> card_of;
    for (int s = 0; s < p.steps; ++s) card_of.push_back(place(p.cards, make_card(s)));
    for (card& c : p.cards) {
      for (card_read& r : c.reads)
        if (r.from >= 0) r.from = card_of[static_cast<std::size_t>(r.from)];
      // A stable sort of a few reads. clang 19 reports the std::stable_sort of libstdc++ 12 as deprecated.
      const auto by_number = [](const card_read& a, const card_read& b) { return a.number < b.number; };
      for (auto r = c.reads.begin(); r != c.reads.end(); ++r) std::rotate(std::upper_bound(c.reads.begin(), r, *r, by_number), r, r + 1);
      unique(c.reads), unique(c.results);
    }
    return p;
  }
  const formulas& formula() const { return formula_; }

  /// The node of a buffer that step s writes first, or none. No node is returned twice.
  ir::node_id node_of_buffer(int s, std::int64_t bytes, std::vector<char>& is_found) const {
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const bool is_it = fused_.of[id] == group_of(s) && fused_.in_memory[id] && !is_found[static_cast<std::size_t>(id)];
      if (!is_it || count(g_.shape_of(id)) * size_of(g_[id].type) != bytes) continue;
      is_found[static_cast<std::size_t>(id)] = 1;
      return id;
    }
    return ir::none;
  }
  const passes::fusion_groups& fused() const { return fused_; }

 private:
  int group_of(int s) const { return fused_.at.size() - 1 - s; }

  template <class T>
  static void unique(std::vector<T>& list) {
    std::vector<T> kept;
    for (T& x : list)
      if (std::find(kept.begin(), kept.end(), x) == kept.end()) kept.push_back(std::move(x));
    list = std::move(kept);
  }

  /// Which nodes depend on an argument that only the update reads.
  std::vector<char> find_updates() const {
    std::vector<char> marks(static_cast<std::size_t>(g_.count), 0);
    for (ir::node_id id = 0; id < g_.count; ++id) {
      const ir::node& n = g_[id];
      const auto argument = static_cast<std::size_t>(n.attr);
      bool is_one = n.op == ir::opcode::input && argument < names_.for_update.size() && names_.for_update[argument];
      for (int k = 0; k < n.arity; ++k) is_one = is_one || marks[static_cast<std::size_t>(n.in[k])];
      marks[static_cast<std::size_t>(id)] = is_one;
    }
    return marks;
  }

  /// Adds a card to an equal card, or to the end of the list. Returns its position.
  static int place(std::vector<card>& cards, card made) {
    for (std::size_t i = 0; i < cards.size() && !made.key.empty(); ++i) {
      card& c = cards[i];
      if (c.key != made.key) continue;
      c.steps.push_back(made.steps[0]);
      c.reads.insert(c.reads.end(), made.reads.begin(), made.reads.end());
      c.results.insert(c.results.end(), made.results.begin(), made.results.end());
      c.bytes = c.bytes < 0 || made.bytes < 0 ? -1 : c.bytes + made.bytes;
      c.flops = c.flops < 0 || made.flops < 0 ? -1 : c.flops + made.flops;
      return static_cast<int>(i);
    }
    cards.push_back(std::move(made));
    return static_cast<int>(cards.size()) - 1;
  }

  card make_card(int s) const {
    const int group = group_of(s);
    card c;
    c.steps = {s};
    c.bytes = facts_[static_cast<std::size_t>(s)].bytes, c.flops = facts_[static_cast<std::size_t>(s)].flops;
    bool is_forward = false, is_backward = false, is_update = false;
    std::string operations;
    for (ir::node_id id = 0; id < g_.count; ++id) {
      if (fused_.of[id] != group || g_[id].op == ir::opcode::result) continue;
      const bool follows = g_.backward_from > 0 && id >= g_.backward_from;
      is_update = is_update || (follows && updates_[static_cast<std::size_t>(id)]);
      is_backward = is_backward || (follows && !updates_[static_cast<std::size_t>(id)]);
      is_forward = is_forward || !follows;
      c.lines.push_back(formula_.line(id));
      operations += passes::name_of(g_[id]) + std::string(" ");
      for (int k = 0; k < g_[id].arity; ++k)
        ir::for_each_operand(g_.nodes, g_[id].in[k], [&](ir::node_id operand) { read(c, group, operand, ""); });
    }
    c.part = is_update ? phase::update : is_forward && is_backward ? phase::both : is_backward ? phase::backward : phase::forward;
    const ir::node_id alone = fused_.at[group].alone;
    if (alone == ir::none) {
      c.kind = "one loop";
      c.title = short_list(name_of_step(g_, fused_, group));
      const bool is_by_parameter = c.part == phase::update;
      c.key = name_of(c.part);
      c.key += is_by_parameter ? " " + operations : " kernel " + std::to_string(facts_[static_cast<std::size_t>(s)].kernel);
    } else if (const ir::found_control_flow x = g_.find_control_flow(alone); x != nullptr) {
      using kind = ir::control_flow::kind;
      c.kind = x->is_loop() ? "loop" : x->what == kind::cond ? "branch" : "function";
      c.per = x->what == kind::cond ? " at most" : x->is_loop() && x->what != kind::scan ? " an iteration" : "";
      c.title = formula_.of(alone);
    } else {
      c.kind = g_[alone].op == ir::opcode::matmul ? "product" : "operation";
      c.title = passes::name_of(g_[alone]);
      for (int k = 0; k < g_[alone].arity; ++k) {
        passes::writer w;
        passes::print_shape(w, g_, g_.shape_of(g_[alone].in[k]));
        c.title += (k ? " × " : " ") + w.text();
      }
      c.key = name_of(c.part);
      c.key += " " + formula_.shape(alone) + c.title;
    }
    for (int i = 0; i < g_.output_count; ++i) add_result(c, group, g_.outputs[i], i);
    return c;
  }
  static std::string short_list(const std::string& names) {
    std::string text;
    int count = 0;
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      const bool is_count = names[at] == 'x' && end > at + 1 && names.find_first_not_of("0123456789", at + 1) >= end;
      if (is_count) text += " ×" + names.substr(at + 1, end - at - 1);
      else if (++count <= 8) text += (count > 1 ? " · " : "") + names.substr(at, end - at);
      at = end + 1;
    }
    return count > 8 ? text + " · …" : text;
  }

  void add_result(card& c, int group, ir::node_id id, int i) const {
    const ir::node_id root = passes::below_views(g_, id);
    if (g_[root].op == ir::opcode::concat) {
      for (int k = 0; k < 2; ++k) add_result(c, group, g_[root].in[k], i);
    } else if (fused_.of[root] == group) {
      const auto at = static_cast<std::size_t>(i);
      c.results.push_back(at < names_.results.size() ? names_.results[at] : "result " + std::to_string(i));
    }
  }

  /// Notes that a card reads a value. Looks through views, and through the parts of a concat.
  void read(card& c, int group, ir::node_id id, std::string view) const {
    ir::node_id seen = id;
    for (; passes::is_view(g_[id].op); id = g_[id].in[0])
      if (const std::string step = formula_.view(id); !step.empty()) view = view.empty() ? step : step + ", " + view;
    const bool is_repeated_number = count(g_.shape_of(id)) == 1 && g_[seen].op == ir::opcode::broadcast;
    if (is_repeated_number) view.clear();
    if (g_[id].op == ir::opcode::input) {
      c.reads.push_back({-1, g_[id].attr, formula_.operand(id), formula_.shape(id), view});
    } else if (g_[id].op == ir::opcode::concat) {
      for (int k = 0; k < 2; ++k) read(c, group, g_[id].in[k], view.empty() ? "joined" : "joined, " + view);
    } else if (!passes::is_source(g_[id].op) && fused_.of[id] >= 0 && fused_.of[id] != group) {
      c.reads.push_back({fused_.at.size() - 1 - fused_.of[id], id, formula_.operand(id), formula_.shape(id), view});
    }
  }

  ir::graph_view g_;
  passes::fusion_groups fused_;
  const leaf_names& names_;
  formulas formula_;
  const std::vector<step_facts>& facts_;
  std::vector<char> updates_;
};

/// The picture of a program.
template <class Program, class Device>
picture picture_of(const leaf_names& names, const call_profile& times = {}) {
  using plan_type = plan<Program, Device>;
  const ir::graph_view g = Program::value.view();
  std::vector<step_facts> facts(static_cast<std::size_t>(Program::step_count));
  const passes::fusion_groups groups = passes::fuse(g);
  for (int s = 0; s < Program::step_count; ++s) {
    step_facts& f = facts[static_cast<std::size_t>(s)];
    f.kernel = Program::tables.steps[s].kernel;
    if constexpr (Program::is_static) {
      f.bytes = plan_type::bytes_of_control_flow(s) + plan_type::bytes_of_step(s, g, nullptr);
      f.flops = plan_type::flops_of_control_flow(s);
      for (ir::node_id id = 0; id < g.count; ++id)
        if (groups.of[id] == Program::step_count - 1 - s) f.flops += plan_type::flops_of(g, id);
    }
  }
  const card_maker maker(g, names, facts);
  picture p = maker.make();
  const bool has_times = times.steps.size() == static_cast<std::size_t>(Program::step_count);
  for (card& c : p.cards) {
    for (const int s : c.steps) c.seconds += has_times ? times.steps[static_cast<std::size_t>(s)].seconds : 0;
    if (Program::tables.steps[c.steps[0]].control_flow < 0) continue;
    const ir::node_id control_flow = groups.at[Program::step_count - 1 - c.steps[0]].alone;
    program_detail::visit_control_flow<Program>(Program::tables.steps[c.steps[0]], [&]<int C>(std::integral_constant<int, C>) {
      using record = program_detail::control_flow_at<Program, C>;
      constexpr int bodies = record::value.printed_bodies();
      const auto add = [&]<int B>(std::integral_constant<int, B>) {
        using body = typename record::template body<B>;
        const leaf_names inside = names_of_body(g, maker.formula(), control_flow, B);
        c.bodies.push_back({record::value.name_of_body(B), picture_of<body, Device>(inside)});
      };
      if constexpr (bodies > 0) add(std::integral_constant<int, 0>{});
      if constexpr (bodies > 1) add(std::integral_constant<int, 1>{});
    });
  }
  if constexpr (Program::is_static) {
    p.bytes = p.flops = 0;
    for (const step_facts& f : facts) p.bytes += f.bytes, p.flops += f.flops;
    const auto& place = program_detail::static_placement<Program>;
    const ir::array<ir::node_id> kept = passes::residuals_of_backward(g, maker.fused().view());
    std::vector<char> is_found(static_cast<std::size_t>(g.count), 0);
    for (int i = 0; i < Program::buffer_count; ++i) {
      const passes::buffer& b = Program::tables.buffers[i];
      if (b.where != passes::buffer::place::workspace || b.first >= Program::step_count) continue;
      const int last = b.last - b.is_passed_on;  // in its last step another buffer is written over it
      drawn_buffer d{.name = "", .offset = place.offset[i], .bytes = b.elements.factor * size_of(b.type), .first = b.first, .last = last};
      const ir::node_id id = maker.node_of_buffer(b.first, d.bytes, is_found);
      d.name = id == ir::none ? tenure::name_of(b.type) : maker.formula().line(id);
      for (const ir::node_id k : kept) d.is_kept = d.is_kept || k == id;
      p.buffers.push_back(std::move(d));
    }
    p.workspace = place.bytes;
    for (const ir::node_id id : kept) p.kept += plan_type::bytes_of(g, id);
  }
  return p;
}

}  // namespace detail
}  // namespace tenure
