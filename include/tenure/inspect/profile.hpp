// SPDX-License-Identifier: BSL-1.0
// profile(f)(x...) shows where the time of a call goes. It lists the time, the bytes and the operations of each step, beside the limits of the
// processor. It also lists the time of each source line, or of each operation if the lines are not known.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iosfwd>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/backend/cpu/limits.hpp>
#include <tenure/inspect/plan.hpp>
#include <tenure/inspect/print.hpp>
#include <tenure/inspect/source_lines.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/gradient.hpp>

namespace TENURE_NAMESPACE {

/// One step of a profiled call.
struct profiled_step {
  std::string name;         ///< its operations, as print(plan) names them
  double seconds = 0;       ///< the least of all runs
  std::int64_t bytes = -1;  ///< as plan::bytes(); -1 if unknown: a while_loop, a branch, an extern_op, a loop with run-time extents
  std::int64_t flops = -1;  ///< as plan::flops()
};

/// The time of the operations of a source line, or of one kind of operation if lines are not known. It is an estimate: the time of a step is
/// divided among its operations by their approximate costs.
struct profiled_place {
  std::string file;          ///< empty: the line is not known, or no function of the user has the operation
  int line = 0;              ///< of the file
  bool is_backward = false;  ///< the operations of its derivative
  std::string operations;    ///< "matmul", "mul x2 tanh"
  double seconds = 0;        ///< of a call
};

/// The profile of a call: the time of each step, and of each source line.
struct call_profile {
  std::vector<profiled_step> steps;
  std::vector<profiled_place> places = {};  ///< the largest time first. The times add up to those of the steps
  std::string no_lines = {};                ///< why there are no source lines; empty if there are
  double seconds = 0;           ///< the least time of a whole call, with its checks
  double bytes_per_second = 0;  ///< of this processor, one core, memory that no cache holds
  double flops_per_second = 0;  ///< of this processor, one core, float
};

namespace detail {

/// Times the steps of a call, and keeps the least time of each step.
struct step_clock {
  double* seconds;
  int current = -1;
  std::chrono::steady_clock::time_point since{};

  void enter(int step) {
    const auto now = std::chrono::steady_clock::now();
    if (current >= 0) {
      double& least = seconds[current];
      const double s = std::chrono::duration<double>(now - since).count();
      least = s < least ? s : least;
    }
    current = step;
    since = std::chrono::steady_clock::now();
  }
};

/// The before_writing of a call whose steps are timed. See watches_steps in backend/execution.hpp.
template <class BeforeWriting>
struct timed {
  const BeforeWriting& before_writing;
  step_clock& clock;

  void operator()() const { before_writing(); }
  void enter(int step) const { clock.enter(step); }
};

/// Names of operations: "mul tanh sum". A repeated name has its count: "mul x3".
class counted_names {
 public:
  void add(const std::string& name) {
    for (auto& [known, count] : names_)
      if (known == name) return void(++count);
    names_.emplace_back(name, 1);
  }
  std::string text() const {
    std::string all;
    for (const auto& [name, count] : names_) all += (all.empty() ? "" : " ") + name + (count > 1 ? " x" + std::to_string(count) : "");
    return all;
  }

 private:
  std::vector<std::pair<std::string, int>> names_;
};

/// `symbols` are the run-time extents of a call: the name of a loop states how many iterations it takes in this call.
inline std::string name_of_operation(const ir::graph_view& g, ir::node_id id, const std::int64_t* symbols = nullptr) {
  passes::writer w;
  if (g.find_control_flow(id) == nullptr) return (w << passes::name_of(g[id])).text();
  ir::control_flow c = g.control_flow_of(g[id]);
  if (symbols != nullptr && !is_static(c.length)) c.length = passes::value_of(passes::symbolic_size_of(c.length), symbols);
  passes::print_control_flow(w, g, c);
  const std::string text = w.text();
  return text.starts_with(": ") ? text.substr(2) : text;  // a printed graph has ": " between the node and this text
}
inline std::string name_of_step(const ir::graph_view& g, const passes::fusion_groups& fused, int group, const std::int64_t* symbols = nullptr) {
  counted_names names;
  for (int id = 0; id < g.count; ++id)
    if (fused.of[id] == group) names.add(name_of_operation(g, id, symbols));
  return names.text();
}

/// The approximate cost of a node relative to the others of its step: the instructions for all its elements, on one lane.
template <class Plan>
double cost_beside_others(const ir::graph_view& g, ir::node_id id) {
  const ir::node& n = g[id];
  const double elements = static_cast<double>(count(g.shape_of(id))), flops = static_cast<double>(Plan::flops_of(g, id));
  if (n.op == ir::opcode::matmul) return flops / 2;  // multiply-adds
  if (!ops::is_pointwise(n.op)) return flops > 0 ? flops : elements;
  switch (ops::effort_of(n.op)) {
    case ops::effort::function: return 25 * elements;
    case ops::effort::division:
    case ops::effort::square_root: return 5 * elements;
    case ops::effort::arithmetic: break;
  }
  return elements;
}

/// Where each node of a graph comes from: its own source location, else that of an operand, else that of a consumer.
inline std::vector<std::int32_t> locations_of([[maybe_unused]] const ir::graph_view& g) {
  std::vector<std::int32_t> locations(static_cast<std::size_t>(g.count), 0);
#if TENURE_PROFILE_LINES
  const auto take = [&](ir::node_id to, ir::node_id from) {
    std::int32_t& location = locations[static_cast<std::size_t>(to)];
    if (location == 0 && !passes::is_source(g[from].op)) location = locations[static_cast<std::size_t>(from)];
  };
  for (ir::node_id id = 0; id < g.count; ++id) {
    locations[static_cast<std::size_t>(id)] = g[id].location;
    for (int k = 0; k < g[id].arity; ++k) take(id, g[id].in[k]);
  }
  for (ir::node_id id = g.count - 1; id >= 0; --id)
    for (int k = 0; k < g[id].arity; ++k) take(g[id].in[k], id);
#endif
  return locations;
}

/// The source of a program.
template <class Program>
struct source_of_program;
template <class Source>
struct source_of_program<program<Source>> { using type = Source; };

/// Runs programs, and keeps the least time of each step.
class profiler {
 public:
  profiler() = default;
  /// For a training step: only its update reads the arguments from number first_of_update on, before number end_of_update.
  profiler(int first_of_update, int end_of_update) : first_of_update_(first_of_update), end_of_update_(end_of_update) {}

  static storage_handle memory_of_numbers(std::size_t) { return {}; }

  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    const bool is_first = least_.empty();
    if (is_first) {
      least_.assign(Program::step_count + 1, never);
      describe<Program>(symbols);
    }
    step_clock clock{.seconds = least_.data()};
    const auto since = std::chrono::steady_clock::now();
    backend<cpu_device>::run<Program>(arguments, results, symbols, timed<BeforeWriting>{before_writing, clock});
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
    profile_.seconds = is_first || s < profile_.seconds ? s : profile_.seconds;
  }

  call_profile result() const {
    call_profile p = profile_;
    for (std::size_t i = 0; i < p.steps.size(); ++i) p.steps[i].seconds = least_[i] == never ? 0 : least_[i];
    const cpu_backend::limits& limits = cpu_backend::measured_limits();
    p.bytes_per_second = limits.bytes_per_second;
    p.flops_per_second = limits.flops_per_second;
    add_places(p);
    return p;
  }

 private:
  static constexpr double never = 1e30;
  static constexpr double min_cost = 1e-9;  // of an operation without elements, so that no step has the cost 0

  /// A part of the time of a step.
  struct charge {
    std::size_t step = 0;
    double cost = 0;
    std::string operation;
    std::int32_t location = 0;
    bool is_backward = false, is_update = false;
  };

  template <class Program>
  void describe(const std::int64_t* symbols) {
    using plan_type = plan<Program, cpu_device>;
    ir::graph_view g = Program::value.view();
    const passes::fusion_groups fused = passes::fuse(g);
    std::vector<extents> shapes;
    if constexpr (!Program::is_static) {
      for (int i = 0; i < g.shape_count; ++i) shapes.push_back(bound_extents(g.shapes[i], symbols));
      g.shapes = shapes.data();
    }
    for (int group = fused.at.size() - 1, s = 0; group >= 0; --group, ++s) {
      profiled_step step{.name = name_of_step(g, fused, group, symbols)};
      const int control_flow = Program::tables.steps[s].control_flow;
      if (control_flow < 0) {
        step.bytes = plan_type::bytes_of_step(s, g, symbols), step.flops = 0;
      } else if constexpr (Program::is_static) {
        // For other control-flow operations the number of iterations, the branch that is taken and the work are not known here.
        if (g.inner.control_flows[control_flow].what == ir::control_flow::kind::scan)
          step.bytes = plan_type::bytes_of_control_flow(s), step.flops = plan_type::flops_of_control_flow(s);
      }
      for (int id = 0; id < g.count && step.flops >= 0; ++id)
        if (fused.of[id] == group) step.flops += plan_type::flops_of(g, id);
      profile_.steps.push_back(std::move(step));
    }
    charge_nodes<Program>(symbols, {}, true);
    lines_.trace<typename source_of_program<Program>::type>(Program::traced.count);
  }

  /// Charges the nodes of a program, or of a body of the step that `outer` describes.
  template <class Program>
  void charge_nodes(const std::int64_t* symbols, const charge& outer, bool is_whole) {
    ir::graph_view g = Program::value.view();
    std::vector<extents> shapes;
    for (int i = 0; i < g.shape_count; ++i) shapes.push_back(bound_extents(g.shapes[i], symbols));
    g.shapes = shapes.data();
    const passes::fusion_groups fused = passes::fuse(Program::value.view());
    const std::vector<std::int32_t> locations = locations_of(g);
    std::vector<char> updates(static_cast<std::size_t>(g.count), outer.is_update);
    for (ir::node_id id = 0; id < g.count; ++id) {
      char& is_update = updates[static_cast<std::size_t>(id)];
      is_update |= is_whole && g[id].op == ir::opcode::input && g[id].attr >= first_of_update_ && g[id].attr < end_of_update_;
      for (int k = 0; k < g[id].arity; ++k) is_update |= updates[static_cast<std::size_t>(g[id].in[k])];
      if (fused.of[id] < 0 || g[id].op == ir::opcode::result) continue;
      const int s = fused.at.size() - 1 - fused.of[id];
      charge c = outer;
      c.step = is_whole ? static_cast<std::size_t>(s) : outer.step;
      if (const std::int32_t location = locations[static_cast<std::size_t>(id)]; location != 0) c.location = location;
      c.is_update = is_update;
      c.is_backward = c.location < 0 || (c.location == 0 && !c.is_update && (outer.is_backward || (g.backward_from > 0 && id >= g.backward_from)));
      const double trip_count = is_whole ? 1 : outer.cost;
      if (!charge_bodies<Program>(s, symbols, c, trip_count)) {
        c.operation = name_of_operation(g, id, symbols);
        c.cost = std::max(trip_count * cost_beside_others<plan<Program, cpu_device>>(g, id), min_cost);
        charges_.push_back(std::move(c));
      }
    }
  }
  /// Charges the bodies of step s. Returns false if the step has no bodies, or nothing is in them.
  template <class Program>
  bool charge_bodies(int s, const std::int64_t* symbols, charge c, double trip_count) {
    const std::size_t before = charges_.size();
    if (Program::tables.steps[s].control_flow < 0) return false;
    program_detail::visit_control_flow<Program>(Program::tables.steps[s], [&]<int C>(std::integral_constant<int, C>) {
      using record = program_detail::control_flow_at<Program, C>;
      constexpr ir::control_flow control_flow = record::value;
      constexpr int bodies = control_flow.printed_bodies();
      c.cost = trip_count * (control_flow.what == ir::control_flow::kind::scan ? static_cast<double>(passes::value_of(passes::symbolic_size_of(control_flow.length), symbols)) : 1);
      if constexpr (bodies > 0) charge_nodes<typename record::template body<0>>(symbols, c, false);
      if constexpr (bodies > 1) charge_nodes<typename record::template body<1>>(symbols, c, false);
    });
    return charges_.size() > before;
  }

  /// Divides the times of the steps over their operations, and adds them up by line or by operation.
  void add_places(call_profile& p) const {
    std::vector<double> costs(p.steps.size(), 0);
    for (const charge& c : charges_) costs[c.step] += c.cost;
    const std::vector<source_place> written = lines_.places(p.no_lines);
    std::vector<counted_names> operations;
    for (const charge& c : charges_) {
      profiled_place place{.file = "", .line = 0, .is_backward = c.is_backward, .operations = c.operation};
      if (written.empty()) {
        if (c.is_update) place.operations.insert(0, "update rule: ");
      } else {
        const source_place at = c.location == 0 ? source_place{} : written[static_cast<std::size_t>(std::abs(c.location)) - 1];
        place.file = at.file, place.line = at.line;
        place.operations = !at.file.empty() ? "" : at.is_update || c.is_update ? "update rule: " : "tenure: ";
      }
      const auto same = std::find_if(p.places.begin(), p.places.end(), [&](const profiled_place& q) {
        return q.file == place.file && q.line == place.line && q.is_backward == place.is_backward && q.operations == place.operations;
      });
      const auto at = static_cast<std::size_t>(same - p.places.begin());
      if (same == p.places.end()) p.places.push_back(place), operations.emplace_back();
      if (!written.empty()) operations[at].add(c.operation);
      p.places[at].seconds += p.steps[c.step].seconds * (costs[c.step] > 0 ? c.cost / costs[c.step] : 0);
    }
    for (std::size_t i = 0; i < p.places.size(); ++i) p.places[i].operations += operations[i].text();
    std::sort(p.places.begin(), p.places.end(), [](const profiled_place& a, const profiled_place& b) { return a.seconds > b.seconds; });
  }

  call_profile profile_;
  std::vector<double> least_;
  std::vector<charge> charges_;
  source_lines lines_;
  int first_of_update_ = 0, end_of_update_ = 0;
};

template <class Device>
constexpr bool is_profiled_device() {
  constexpr bool is_cpu = std::is_same_v<Device, cpu_device>;
  static_assert(is_cpu, "tenure: profile: only calls on the CPU are profiled: move the arguments by to(tn::cpu)");
  return is_cpu;
}

template <class F, class Execution>
struct profiled {
  compiled<F, Execution> function;
  int runs;

  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr ((is_after_error<X> || ...)) {
      return after_error();
    } else if constexpr ((tree<X>::traces || ...)) {
      static_assert(never<X...>, "tenure: profile: a call inside a trace has no time of its own: profile the function that is compiled");
      return after_error();
    } else if constexpr (is_profiled_device<device_of_tree<X...>>()) {
      auto results = function(x...);
      if constexpr (is_after_error<decltype(results)>) return after_error();
      else return times(results, x...);
    } else {
      return after_error();
    }
  }

 private:
  template <class Results, class... X>
  call_profile times(Results& results, const X&... x) const {
    profiler p;
    for (int i = 0; i < runs; ++i) {
      if constexpr (has_tuple_parts<Results>) std::apply([&](auto&... r) { function.into(r...).through(p, x...); }, results);
      else function.into(results).through(p, x...);
    }
    return p.result();
  }
};

/// "main.cpp:12: matmul add", "main.cpp:12, backward: matmul", "backward: mul".
inline std::string place_text(const profiled_place& place) {
  std::string where;
  if (!place.file.empty()) where = place.file.substr(place.file.rfind('/') + 1) + ':' + std::to_string(place.line);
  if (place.is_backward) where += where.empty() ? "backward" : ", backward";
  return where + (where.empty() ? "" : ": ") + place.operations;
}

}  // namespace detail

/// profile(f)(x...) calls a compiled function `runs` times and returns the least time of each step, on the CPU. The times hold for warm caches: a
/// step that reads what the previous step wrote finds it in a cache. Cost: two readings of the clock for each step, some 50 ns, so a step of less
/// than a microsecond is shown longer than it is.
template <class F, class Execution>
auto profile(const compiled<F, Execution>& f, int runs = 20) { return detail::profiled<F, Execution>{f, runs}; }
template <class F>
  requires(!detail::any_value<F> && !requires(F f) { f.rule; })
auto profile(F f, int runs = 20) { return profile(compile(f), runs); }

// Values in place of a function or beside it, and training steps of several ranks. They do not compile and give a message.
template <class F, class... X>
  requires(detail::any_value<F> || sizeof...(X) > 1 || (!scalar<X> || ...))
auto profile(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: profile: it takes a function and gives a function: write profile(f)(x)");
  return after_error();
}
template <class Trainer>
  requires requires(const Trainer& t) { t.rule; }
auto profile(const Trainer&, int = 20) {
  static_assert(detail::never<Trainer>, "tenure: profile: a training step with a group is not profiled: take train_step(loss, rule), without the group");
  return after_error();
}

/// The table of a profile: a line for each step, in the order of the program; then a line for each source line or operation, the largest time
/// first.
inline std::string to_text(const call_profile& p) {
  std::string text;
  char line[256];
  const auto add = [&](auto... values) {
    std::snprintf(line, sizeof line, values...);
    text += line;
  };
  double total = 0;
  for (const profiled_step& s : p.steps) total += s.seconds;
  add("%5s %12s %6s %10s %10s  %s\n", "step", "us", "%", "GB/s", "GFLOP/s", "operations");
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const profiled_step& s = p.steps[i];
    add("%5zu %12.2f %6.1f ", i, 1e6 * s.seconds, total > 0 ? 100 * s.seconds / total : 0.0);
    if (s.bytes >= 0 && s.seconds > 0) add("%10.1f %10.1f  ", 1e-9 * static_cast<double>(s.bytes) / s.seconds, 1e-9 * static_cast<double>(s.flops) / s.seconds);
    else add("%10s %10s  ", s.seconds > 0 ? "?" : "with", s.seconds > 0 ? "?" : "another");
    text += s.name + '\n';
  }
  add("%5s %12.2f %6s %10.1f %10.1f  most of one core: memory past the caches, float\n", "call", 1e6 * p.seconds, "", 1e-9 * p.bytes_per_second, 1e-9 * p.flops_per_second);
  if (p.places.empty()) return text;
  const bool is_by_line = p.no_lines.empty();
  if (!is_by_line) text += '\n' + p.no_lines + '\n';
  add("%s%18s %6s  %s\n", is_by_line ? "\n" : "", "about us", "%", is_by_line ? "source line: operations" : "operation");
  for (const profiled_place& q : p.places) {
    add("%18.2f %6.1f  ", 1e6 * q.seconds, total > 0 ? 100 * q.seconds / total : 0.0);
    text += detail::place_text(q) + '\n';
  }
  return text;
}
inline void print(const call_profile& p) { std::fputs(to_text(p).c_str(), stdout); }
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const call_profile& p) { return out << to_text(p); }

}  // namespace tenure
