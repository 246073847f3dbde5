// SPDX-License-Identifier: BSL-1.0
// debug_nans(f)(x...) finds where a NaN or an infinity comes from. The call runs as always, and then its results are checked. If one is not finite,
// the reference backend computes the call again, one operation after the other, and the exception names the first operation that made such a value.
// debug_nans_scope does so for every call of a thread, if the calls are compiled with -DTENURE_DEBUG_NANS=1.
// Cost: nothing for other calls, whose code is the same. A watched call reads its results once. With TENURE_DEBUG_NANS a call that no scope watches
// reads one thread-local pointer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/inspect/formula.hpp>
#include <tenure/passes/layout.hpp>
#include <tenure/transform/compile.hpp>

namespace TENURE_NAMESPACE {

/// Thrown by debug_nans(f)(x...). The message names the operation, its operands with their ranges, and the result that is not finite.
struct nan_error : error { using error::error; };

namespace detail {

/// Whether row-major elements are finite. Integers and bool always are.
inline bool all_finite(dtype type, const void* elements, std::int64_t count) {
  bool is_other = false;
  if (is_floating(type))
    visit_floating(type, [&]<class T>(element_tag<T>) {
      const T* const x = static_cast<const T*>(elements);
      for (std::int64_t i = 0; i < count; ++i) is_other |= !(std::abs(x[i]) <= std::numeric_limits<T>::max());
    });
  return !is_other;
}

/// Which elements of an array are not finite, and the range of the others.
struct finiteness {
  std::int64_t not_finite = 0, first = -1, first_nan = -1;  // how many, and the places of the first one and of the first NaN
  bool has_nan = false;
  double least = 0, most = 0;  // of the finite elements

  explicit finiteness(const reference::array& x) {
    if (!is_floating(x.type)) return;
    bool any = false;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double v = x[i];
      if (std::isfinite(v)) {
        least = !any || v < least ? v : least;
        most = !any || v > most ? v : most;
        any = true;
        continue;
      }
      if (not_finite++ == 0) first = i;
      if (std::isnan(v) && !has_nan) has_nan = true, first_nan = i;
    }
  }
};

inline std::string number_text(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return std::isnan(x) ? "NaN" : text;
}

/// The index of an element of an array, as "[2,5]".
inline std::string place_text(const extents& shape, std::int64_t at) {
  std::int64_t below = 1;
  for (int a = 0; a < shape.rank; ++a) below *= shape[a];
  std::string text = "[";
  for (int a = 0; a < shape.rank; ++a) {
    below /= shape[a];
    if (a > 0) text += ',';
    text += std::to_string(at / below % shape[a]);
  }
  return text += ']';
}

/// Finds the operation that made the values that are not finite, in a graph or in one of its bodies.
class nan_search {
  using arrays = std::vector<reference::array>;

 public:
  nan_search(const ir::graph_view& g, std::vector<reference::array> inputs, leaf_names names)
      : nan_search(g, std::move(inputs), std::move(names), nullptr) {}

  bool are_results_finite() const {
    for (int i = 0; i < g_.output_count; ++i)
      if (is_bad(g_.outputs[i])) return false;
    return true;
  }
  /// Returns the message. It is empty if each result is finite. With `passes_infinities` it is also empty if the only values that are not finite
  /// are infinities that an operand had.
  std::string find(bool passes_infinities = false) const {
    const std::vector<char> leads = leading_nodes();
    const auto makes_it = [&](ir::node_id id) { return !is_source(id) && none_of_operands(id, &finiteness::not_finite); };
    const auto makes_nan = [&](ir::node_id id) {
      return !is_source(id) && state(id).has_nan && none_of_operands(id, &finiteness::has_nan);
    };
    ir::node_id found = first(leads, makes_it);
    // An infinity can be intended, as in a mask. Then the operation that makes a NaN from it is the mistake.
    if (found == ir::none) found = first(leads, makes_nan);
    if (found == ir::none) found = first(leads, [&](ir::node_id id) { return is_source(id) && (!passes_infinities || state(id).has_nan); });
    return found == ir::none ? "" : describe(found);
  }

 private:
  /// A run of a body: its number among the runs of this body by the same control-flow operation, and its inputs.
  struct body_run {
    int body = -1;
    std::int64_t number = 0;
    std::vector<reference::array> inputs;
  };

  nan_search(const ir::graph_view& g, std::vector<reference::array> inputs, leaf_names names, const std::vector<std::int64_t>* symbols)
      : g_(g), inputs_(std::move(inputs)), names_(std::move(names)), formula_(g, names_.arguments) {
    constexpr auto how = reference::sums::rounded;  // a sum overflows here if it would overflow in a compiled loop
    using reference::detail::interpreter;
    interpreter run = symbols == nullptr ? interpreter(g_, inputs_, how) : interpreter(g_, inputs_, how, *symbols);
    std::map<std::pair<ir::node_id, int>, std::int64_t> counts;
    run.after_bodies([&](ir::node_id control_flow, int body, const arrays& read, const arrays& gave) {
      note_run(control_flow, {body, counts[{control_flow, body}]++, {}}, read, gave);
    });
    run.run([&](ir::node_id, const reference::array& value) {
      values_.push_back(value);
      states_.emplace_back(value);
    });
    symbols_ = run.symbols();
  }

  static bool any_not_finite(const arrays& all) {
    for (const reference::array& a : all)
      if (!all_finite(a.type, a.data.data(), a.size())) return true;
    return false;
  }
  /// Keeps the first run of a control-flow operation that made a non-finite value from finite inputs. If there is none, keeps the first run that
  /// returned a non-finite value.
  void note_run(ir::node_id control_flow, body_run run, const arrays& read, const arrays& gave) {
    if (!any_not_finite(gave)) return;
    auto& kept = runs_[control_flow];
    const bool makes_it = !any_not_finite(read), is_kept = kept.first.body >= 0;
    if (is_kept && (kept.second || !makes_it)) return;
    run.inputs = read;
    kept = {std::move(run), makes_it};
  }

  const finiteness& state(ir::node_id id) const { return states_[static_cast<std::size_t>(id)]; }
  bool is_source(ir::node_id id) const { return passes::is_source(g_[id].op); }
  bool is_bad(ir::node_id id) const { return state(id).not_finite > 0; }

  /// Calls f(operand) for each operand that the value of a node depends on.
  template <class F>
  void for_each_operand(ir::node_id id, F f) const {
    const ir::node& n = g_[id];
    if (n.op == ir::opcode::result) {
      const ir::control_flow& c = g_.control_flow_of(g_[n.in[0]]);
      const ir::node_id tuple = g_[n.in[0]].in[0];
      if (c.is_custom_derivative()) f(ir::operand_at(g_.nodes, tuple, c.operand_of_result(static_cast<int>(n.attr))));
      else ir::for_each_operand(g_.nodes, tuple, f);
    } else if (n.op != ir::opcode::tuple && g_.find_control_flow(id) == nullptr) {
      for (int k = 0; k < n.arity; ++k) f(n.in[k]);
    }
  }
  template <class T>
  bool none_of_operands(ir::node_id id, T finiteness::*what) const {
    bool none = true;
    for_each_operand(id, [&](ir::node_id operand) { none = none && !(state(operand).*what); });
    return none;
  }

  /// The nodes that have non-finite values and lead to a result that has such values.
  std::vector<char> leading_nodes() const {
    std::vector<char> leads(static_cast<std::size_t>(g_.count), 0);
    for (int i = 0; i < g_.output_count; ++i) leads[static_cast<std::size_t>(g_.outputs[i])] = is_bad(g_.outputs[i]);
    for (ir::node_id id = g_.count - 1; id >= 0; --id)
      if (leads[static_cast<std::size_t>(id)])
        for_each_operand(id, [&](ir::node_id operand) { leads[static_cast<std::size_t>(operand)] |= is_bad(operand); });
    return leads;
  }
  template <class Condition>
  ir::node_id first(const std::vector<char>& leads, Condition condition) const {
    for (ir::node_id id = 0; id < g_.count; ++id)
      if (leads[static_cast<std::size_t>(id)] && condition(id)) return id;
    return ir::none;
  }

  std::string describe(ir::node_id id) const {
    const ir::node& n = g_[id];
    if (n.op == ir::opcode::result)
      if (const auto run = runs_.find(n.in[0]); run != runs_.end()) return describe_body(n.in[0], run->second.first);
    const reference::array& value = values_[static_cast<std::size_t>(id)];
    const finiteness& is = state(id);
    // The operands had the infinities already. This operation only made the NaN.
    const bool makes_only_nan = !none_of_operands(id, &finiteness::not_finite) && none_of_operands(id, &finiteness::has_nan) && is.has_nan;
    const std::int64_t place = makes_only_nan ? is.first_nan : is.first;
    const std::string element = number_text(value[place]);
    std::string text = is_source(id) ? formula_.operand(id) : formula_.of(id, 4);
    text += ops::is_pointwise(n.op) ? ": " + spelled(id, place) + " is " + element : ": it is " + element;
    if (value.shape.rank > 0) {
      text += " in element " + place_text(value.shape, place) + " of " + formula_.shape(id);
      text += "; " + std::to_string(is.not_finite) + " of " + std::to_string(value.size()) + " are not finite";
    }
    if (is_source(id)) text += ", and this is no result of an operation";
    if (g_.backward_from > 0 && id >= g_.backward_from) text += "\n  in the derivative";
    std::vector<ir::node_id> shown;
    for_each_operand(id, [&](ir::node_id operand) {
      const bool is_number = g_[passes::below_views(g_, operand)].op == ir::opcode::constant;
      if (is_number || std::find(shown.begin(), shown.end(), operand) != shown.end()) return;
      shown.push_back(operand);
      text += "\n  " + formula_.operand(operand, 3) + ": " + formula_.shape(operand) + ", " + range_text(operand);
    });
    return text + results_text();
  }
  std::string results_text() const {
    std::string results;
    for (int i = 0; i < g_.output_count && !g_.is_body; ++i)
      if (is_bad(g_.outputs[i])) results += (results.empty() ? "\n  not finite: " : ", ") + names_.results[static_cast<std::size_t>(i)];
    return results;
  }
  std::string describe_body(ir::node_id control_flow, const body_run& run) const {
    const ir::control_flow& c = g_.control_flow_of(g_[control_flow]);
    const int b = run.body == c.bodies[0] ? 0 : 1;
    const nan_search inside(g_.body_at(run.body), run.inputs, names_of_body(g_, formula_, control_flow, b), &symbols_);
    const std::string which = c.is_loop() ? "iteration " + std::to_string(run.number) : c.name_of_body(b);
    return inside.find() + "\n  in " + which + " of " + formula_.of(control_flow) + results_text();
  }
  std::string range_text(ir::node_id id) const {
    const finiteness& is = state(id);
    const std::int64_t finite = values_[static_cast<std::size_t>(id)].size() - is.not_finite;
    if (!is_floating(g_[id].type)) return "integers or bool";
    std::string text = finite == 0 ? "" : number_text(is.least);
    if (is.least != is.most) text += " to " + number_text(is.most);
    if (is.not_finite > 0) text += (finite > 0 ? ", and " : "") + std::to_string(is.not_finite) + " not finite";
    return text;
  }
  /// A pointwise operation on the numbers at one place: "log(0)".
  std::string spelled(ir::node_id id, std::int64_t at) const {
    const ir::node& n = g_[id];
    const auto number = [&](int k) { return number_text(values_[static_cast<std::size_t>(n.in[k])][at]); };
    if (formulas::is_infix(n.op)) return number(0) + formulas::sign_of(n.op) + number(1);
    std::string text = passes::name_of(n) + std::string("(");
    for (int k = 0; k < n.arity; ++k) text += (k ? ", " : "") + number(k);
    return text + ')';
  }

  ir::graph_view g_;
  std::vector<reference::array> inputs_;
  leaf_names names_;
  formulas formula_;
  std::vector<reference::array> values_;
  std::vector<finiteness> states_;
  std::vector<std::int64_t> symbols_;
  std::map<ir::node_id, std::pair<body_run, bool>> runs_;  // the bool: whether all inputs of the run were finite
};

/// A row-major copy of elements with strides.
inline reference::array copied(dtype type, const extents& shape, const extents& strides, const void* first) {
  reference::array to(type, shape);
  const std::size_t bytes = static_cast<std::size_t>(size_of(type));
  std::size_t at = 0;
  reference::for_each_index(shape, [&](const extents& i) {
    std::int64_t from = 0;
    for (int a = 0; a < shape.rank; ++a) from += i[a] * strides[a];
    std::memcpy(to.data.data() + at, static_cast<const std::byte*>(first) + from * static_cast<std::int64_t>(bytes), bytes);
    at += bytes;
  });
  return to;
}

/// The place of the traced function of a program, as "file.cpp:12:20". clang has it in the name of a lambda's type. g++ does not: then it is empty.
template <class Program>
std::string_view place_of_function() {
  constexpr std::string_view before = "(lambda at ";
  const std::string_view name = __PRETTY_FUNCTION__;
  const std::size_t at = name.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view place = name.substr(at + before.size());
  return place.substr(0, place.find(')'));
}

/// Which infinities are an error: all infinities in a result, or only those that the call makes.
enum class infinities { all, made };

/// Throws the nan_error of a call of Program whose results are not finite. The arguments are as they were before the call. Returns if only infinities
/// are passed on and `which` allows that. `scope` is the last line of the message.
template <class Program>
void throw_nan(const void* const* arguments, const std::int64_t* symbols, const name_list& given, infinities which = infinities::all, const std::string& scope = "") {
  const ir::graph_view g = Program::traced.view();
  std::vector<reference::array> inputs;
  for (ir::node_id id = 0; id < g.count; ++id) {
    if (g[id].op != ir::opcode::input) continue;
    const extents shape = bound_extents(g.shape_of(id), symbols);
    extents strides = reference::row_major_strides(shape);
    for (int a = 0; a < shape.rank && g[id].start != 0; ++a) strides[a] = passes::value_of(passes::argument_stride(g, g[id], a), symbols);
    const auto at = static_cast<std::size_t>(g[id].attr);
    if (inputs.size() <= at) inputs.resize(at + 1);
    inputs[at] = copied(g[id].type, shape, strides, arguments[at]);
  }
  leaf_names names = names_of_program<Program>::get(given);
  for (int i = static_cast<int>(names.results.size()); i < g.output_count; ++i) names.results.push_back("result " + std::to_string(i));
  const nan_search search(g, std::move(inputs), std::move(names));
  std::string text = search.find(which == infinities::made);
  if (text.empty() && !search.are_results_finite()) return;
  if (text.empty())
    text = "a result is not finite, and the operations one after the other give only finite numbers: another order of a sum overflows";
  if (const std::string_view place = place_of_function<Program>(); !place.empty()) text += "\n  in the function of " + std::string(place);
  throw nan_error("tenure: debug_nans: " + text + scope);
}

/// Runs a program into separate memory, and copies its results to the targets if they are finite.
class nan_watch {
 public:
  explicit nan_watch(const name_list& names) : names_(names) {}
  nan_watch(const name_list& names, infinities which, std::string scope) : names_(names), which_(which), scope_(std::move(scope)) {}
  static storage_handle memory_of_numbers(std::size_t) { return {}; }

  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) const {
    constexpr int outputs = Program::value.output_count;
    const ir::graph_view g = Program::value.view();
    std::vector<reference::array> written;
    void* to[outputs + 1];
    for (int i = 0; i < outputs; ++i) written.emplace_back(g[g.outputs[i]].type, output_extents<Program>(i, symbols));
    for (int i = 0; i < outputs; ++i) to[i] = written[static_cast<std::size_t>(i)].data.data();
    backend<cpu_device>::run<Program>(arguments, to, symbols, program_detail::no_commit{});
    bool is_finite = true;
    for (const reference::array& w : written) is_finite = is_finite && all_finite(w.type, w.data.data(), w.size());
    if (!is_finite) throw_nan<Program>(arguments, symbols, names_, which_, scope_);
    before_writing();
    for (int i = 0; i < outputs; ++i)
      if (const auto& data = written[static_cast<std::size_t>(i)].data; !data.empty()) std::memcpy(results[i], data.data(), data.size());
  }

 private:
  const name_list& names_;
  infinities which_ = infinities::all;
  std::string scope_;
};

#if TENURE_DEBUG_NANS
template <class Program, class BeforeWriting>
void run_watched(const nan_watch& watch, const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
  watch.run<Program>(arguments, results, symbols, before_writing);
}
/// Makes `watch` the watcher of the calls of this thread; null ends the watch. Returns the previous watcher.
inline const nan_watch* watch_calls(const nan_watch* watch) { return std::exchange(current_nan_watch, watch); }
#else
inline const nan_watch* watch_calls(const nan_watch*) { return nullptr; }
#endif
inline const name_list no_names;

template <class Device>
constexpr bool is_watched_device() {
  constexpr bool is_cpu = std::is_same_v<Device, cpu_device>;
  static_assert(is_cpu, "tenure: debug_nans: only calls on the CPU are watched: move the arguments by to(tn::cpu)");
  return is_cpu;
}

template <class F, class Execution>
struct watched {
  compiled<F, Execution> function;
  name_list names;

  template <class... X>
  auto operator()(const X&... x) const {
    if constexpr ((is_after_error<X> || ...)) {
      return after_error();
    } else if constexpr ((tree<X>::traces || ...)) {
      static_assert(never<X...>, "tenure: debug_nans: a call inside a trace computes no numbers yet: watch the function that is compiled");
      return after_error();
    } else if constexpr (!is_watched_device<device_of_tree<X...>>()) {
      return after_error();
    } else {
      auto results = function(x...);
      if constexpr (!is_after_error<decltype(results)>) {
        bool is_finite = true;
        for_each_leaf(results, [&]<class L>(const L& leaf) {
          is_finite = is_finite && all_finite(dtype_v<element_t<L>>, tensor_access::read(leaf, "debug_nans"), leaf.size());
        });
        if (!is_finite) explain(as_argument(x)...);
      }
      return results;
    }
  }

 private:
  template <class... X>
  void explain(const X&... x) const {
    using program_type = program<source_of<F, X...>>;
    constexpr int leaves = (0 + ... + tree<X>::leaves);
    leaf_argument arguments[leaves + 1];
    leaf_argument* at = arguments;
    (collect(x, at), ...);
    const void* pointers[leaves + 1];
    for (int i = 0; i < leaves; ++i) pointers[i] = arguments[i].data;
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    bind_symbols(program_type::value.view(), arguments, symbols);
    throw_nan<program_type>(pointers, symbols, names);
  }
};

}  // namespace detail

/// While an object `const tn::debug_nans_scope scope;` lives, a computation of this thread that makes a NaN or an infinity throws nan_error before it
/// writes anything. The scope watches expressions, in-place operators, compiled functions, training steps and backward(), on the CPU, with all threads
/// of the call. The error has the message of debug_nans(f), and the line of the scope. An operand may already hold an infinity, such as -inf in a
/// mask, and a result may repeat it. A NaN may not be repeated. Compile all units of the program with -DTENURE_DEBUG_NANS=1: without it calls do not look for a scope, and this class
/// does not compile. Not watched: calls on a GPU and in .cu files, training steps with a group, fill_ and factories. Scopes end in the reverse order
/// of their beginning, on the thread where they began.
class [[nodiscard]] debug_nans_scope {
 public:
  // clang 14 has no std::source_location.
  template <class Nothing = void>
  [[nodiscard]] explicit debug_nans_scope(const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : watch_(detail::no_names, detail::infinities::made, std::string("\n  in the scope of ") + file + ':' + std::to_string(line)),
        outer_(detail::watch_calls(&watch_)) {
    constexpr bool do_calls_look = TENURE_DEBUG_NANS || !std::is_void_v<Nothing>;
    static_assert(do_calls_look, "tenure: debug_nans_scope: calls look for a scope only where all units are compiled with -DTENURE_DEBUG_NANS=1");
  }
  debug_nans_scope(const debug_nans_scope&) = delete;
  debug_nans_scope& operator=(const debug_nans_scope&) = delete;
  ~debug_nans_scope() { detail::watch_calls(outer_); }

 private:
  detail::nan_watch watch_;
  const detail::nan_watch* outer_;
};

/// debug_nans(f)(x...) is f(x...), but throws nan_error if a result has a NaN or an infinity. The message has the first operation that made such a
/// value from finite operands, as a formula, with the ranges of these operands, and in a loop the iteration. `names` are names of the arguments for
/// the message, from the first argument on. A NaN that does not reach a result is not an error, and so a mask may have -inf.
/// Cost: the results are read once. If one is not finite, the slow reference backend computes the call again, and an extern_op is called again.
template <class F, class Execution>
auto debug_nans(const compiled<F, Execution>& f, std::vector<std::string> names = {}) {
  return detail::watched<F, Execution>{f, std::move(names)};
}
template <class F>
  requires(!detail::any_value<F> && !requires(F f) { f.rule; })
auto debug_nans(F f, std::vector<std::string> names = {}) { return debug_nans(compile(f), std::move(names)); }

// Values in place of a function or beside it, and training steps of several ranks. They do not compile and give a message.
template <class F, class... X>
  requires(detail::any_value<F> || sizeof...(X) > 1 || (!std::is_convertible_v<X, std::vector<std::string>> || ...))
auto debug_nans(const F&, const X&...) {
  static_assert(detail::never<F>, "tenure: debug_nans: it takes a function and gives a function: write debug_nans(f)(x)");
  return after_error();
}
template <class Trainer>
  requires requires(const Trainer& t) { t.rule; }
auto debug_nans(const Trainer&, const std::vector<std::string>& = {}) {
  static_assert(detail::never<Trainer>, "tenure: debug_nans: a training step with a group is not watched: take train_step(loss, rule), without the group");
  return after_error();
}

}  // namespace tenure
