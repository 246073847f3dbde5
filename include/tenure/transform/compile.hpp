// SPDX-License-Identifier: BSL-1.0
// compile(f): a traced function as compiled code. The call binds arguments to buffers, checks what only the run knows
// (extents, labels) before anything is written, and runs the steps. Called with traced values it is f itself, so that
// transforms compose.
// Cost: no allocation but the results; into(results...) makes none at all.
#pragma once

#include <tenure/backend/backend.hpp>
#include <tenure/backend/execution.hpp>
#include <tenure/passes/overwrite.hpp>
#include <tenure/program/bind.hpp>
#include <tenure/tensor/overlap.hpp>
#include <tenure/transform/call_rules.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// Appends an input; run-time extents (and strides, of what is not known to be row-major) become symbols.
template <class T, class S>
constexpr traced<T, S> new_input(ir::builder& g, bool strided) {
  const int index = g.view().input_count;
  extents e = S::value;
  for (int a = 0; a < e.rank; ++a)
    if (!is_static(e[a])) e[a] = g.new_symbol({ir::symbol::kind::argument, index, a, is_named(e[a]) ? e[a] : 0});
  const ir::node_id id = g.input(dtype_v<T>, e, strided);
  if (strided)
    for (int a = 0; a < e.rank; ++a) g.new_symbol({ir::symbol::kind::stride, index, a, 0});
  return {&g, id};
}

/// A traced function over argument types: what a program is compiled from. Bit i of Strided: argument i may have any strides.
template <class F, std::uint64_t Strided, class... Traced>
struct source {
  using result_type = result_of<F, Traced...>;

  static constexpr ir::builder trace() {
    ir::builder g;
    int argument = 0;
    const auto make = [&]<class X>(element_tag<X>) {
      const bool strided = (Strided >> (argument++ & 63)) & 1;
      auto leaf = [&]<class L>(element_tag<L>) { return new_input<typename L::element_type, typename L::shape_type>(g, strided); };
      return build_tree<X>(leaf);
    };
    const called call{make(element_tag<Traced>{})...};
    for_each_leaf(call.results, [&](const auto& r) { g.output(r.id); });
    g.canonicalize();
    return g;
  }

 private:
  // Its braces make the arguments in order. No std::tuple of them: its constructors cost 10 ms of compile time, and std::apply is five
  // calls, which a compiler would list in each message from within F.
  struct called {
    result_type results;
    constexpr explicit called(const Traced&... x) : results(F{}(x...)) {}
  };
};

template <class... X>
constexpr std::uint64_t strided_arguments() {
  static_assert(sizeof...(X) <= 64, "tenure: trace: a function has at most 64 arguments: hand over several as one tuple or one model");
  std::uint64_t mask = 0;
  int i = 0;
  ((mask |= std::uint64_t{!tree<X>::contiguous} << (i++ & 63)), ...);
  return mask;
}

template <class F, class... X>
using source_of = source<F, strided_arguments<X...>(), rebind_kind_t<X, tracing>...>;

// ---- a call --------------------------------------------------------------------------------------------------------

template <class... X>
using device_of_tree = typename device_of_bits<(0u | ... | tree<X>::devices)>::type;

/// The kind of what a call on a device makes.
template <class Device>
using results_on = std::conditional_t<std::is_same_v<Device, cpu_device>, values, values_on<Device>>;

/// Whether a call can run with arguments on these devices; says why not.
template <unsigned Devices>
constexpr bool is_callable() {
  constexpr bool one = !is_mixed(Devices), runs = !one || backend<typename device_of_bits<Devices>::type>::is_included;
  static_assert(one, "tenure: call: the arguments are on different devices: move one with to()");
  static_assert(runs, "tenure: call: functions on a device need its header: #include <tenure/cuda.hpp>, and for the CPU in a .cu file <tenure/cpu.hpp>");
  return one && runs;
}

struct leaf_argument {
  const void* data = nullptr;
  extents shape{};
  extents strides{};
};

[[gnu::noinline]] inline extents bound_extents(const extents& s, const std::int64_t* symbols) {
  extents known = s;
  for (int a = 0; a < s.rank; ++a)
    if (!is_static(s[a])) known[a] = symbols[ir::symbol_of_extent(s[a])];
  return known;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_disagreement(const ir::graph_view& g, const ir::constraint& c, std::int64_t a, std::int64_t b,
                                                                      const std::int64_t* symbols) {
  text what = message(c.call);
  const std::int64_t name = is_static(c.a) || c.lhs >= 0 ? 0 : g.symbols[ir::symbol_of_extent(c.a)].name;
  if (name != 0 && !c.at_least) {
    char spelled[9] = {};
    for (int i = 0; i < 8; ++i) spelled[i] = static_cast<char>(name >> (8 * i) & 0x7f);
    what << "the extents named " << spelled << " disagree: ";
  }
  if (c.lhs >= 0) what << "shapes " << bound_extents(g.shapes[c.lhs], symbols) << " and " << bound_extents(g.shapes[c.rhs], symbols) << " disagree: ";
  throw shape_error(c.at_least ? what << a << " is less than the " << b << " that it takes" : what << a << " is not " << b);
}

/// Fills the run-time extents of a call; throws shape_error where two that must agree do not.
inline void bind_symbols(const ir::graph_view& g, const leaf_argument* arguments, std::int64_t* symbols) {
  const auto value = [&](std::int64_t e) { return is_static(e) ? e : symbols[ir::symbol_of_extent(e)]; };
  for (int i = 0; i < g.symbol_count; ++i) {
    const ir::symbol& s = g.symbols[i];
    const std::int64_t a = value(s.a), b = value(s.b);  // an argument and its axis are what they are
    switch (s.what) {
      case ir::symbol::kind::argument: symbols[i] = arguments[a].shape[static_cast<int>(b)]; break;
      case ir::symbol::kind::stride: symbols[i] = arguments[a].strides[static_cast<int>(b)]; break;
      case ir::symbol::kind::sum: symbols[i] = a + b; break;
      case ir::symbol::kind::product: symbols[i] = a * b; break;
      case ir::symbol::kind::quotient: symbols[i] = b == 0 ? 0 : a / b; break;
    }
  }
  for (int i = 0; i < g.constraint_count; ++i) {
    const ir::constraint& c = g.constraints[i];
    const std::int64_t a = value(c.a), b = value(c.b);
    const bool holds = c.at_least ? a >= b : a == b;
    if (!holds) throw_disagreement(g, c, a, b, symbols);
  }
}

template <class X>
void collect(const X& x, leaf_argument*& at) {
  for_each_leaf(x, [&](const auto& leaf) {
    using L = std::remove_cvref_t<decltype(leaf)>;
    if constexpr (any_tensor<L>) *at++ = {tensor_access::read(leaf, "call"), leaf.extents(), leaf.strides()};
    else *at++ = {&leaf, {}, {}};
  });
}

/// A number of a type that no tensor holds (long double, unsigned, short, ...) as the one that stands for it.
template <class X>
decltype(auto) as_argument(const X& x) {
  if constexpr (scalar<X> && !element<X>) return static_cast<typename leaf_type<X>::element_type>(x);
  else return (x);
}

/// The numbers of a call on a device, which its kernels cannot read from the host: `place(i, pointer)` is told where argument i went.
template <class Device, int Arguments>
class numbers_on {
 public:
  template <class N>
  void keep(int argument, const N& number) {
    std::memcpy(&words_[count_], &number, sizeof number);
    argument_[count_++] = argument;
  }
  /// Into `memory`, where it is given; what is returned keeps them there.
  template <class Place>
  storage_handle upload(Place place, storage_handle memory = {}) const {
    if (count_ == 0) return {};
    if (!memory) memory = device_memory<Device>::allocate(sizeof(words_));
    device_memory<Device>::upload(memory.data(), words_, static_cast<std::size_t>(count_) * sizeof(words_[0]));
    for (int k = 0; k < count_; ++k) place(argument_[k], static_cast<const std::int64_t*>(memory.data()) + k);
    return memory;
  }

 private:
  std::int64_t words_[Arguments + 1];
  int argument_[Arguments + 1];
  int count_ = 0;
};

/// Moves the numbers among x; what is returned keeps them there.
template <class Device, class Place, class... X>
auto place_numbers(const storage_handle& memory, Place place, const X&... x) {
  if constexpr (std::is_same_v<Device, cpu_device>) {
    return 0;
  } else {
    numbers_on<Device, (0 + ... + tree<X>::leaves)> numbers;
    int i = 0;
    const auto visit = [&](const auto& leaf) {
      if constexpr (!any_tensor<std::remove_cvref_t<decltype(leaf)>>) numbers.keep(i, leaf);
      ++i;
    };
    (for_each_leaf(x, visit), ...);
    return numbers.upload(place, memory);
  }
}

/// How a call runs its program: now. Others may keep what it does, to do it again as a whole.
template <class Device>
struct at_once {
  static storage_handle memory_of_numbers(std::size_t) { return {}; }
  template <class Program, class BeforeWriting>
  static TENURE_INLINE void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    backend<Device>::template run<Program>(arguments, results, symbols, before_writing);
  }
};

/// Runs the program of one call after the other, on a device that can launch again as a whole what it was given once.
template <class Device>
struct recorded_step { static constexpr bool exists = false; };

template <class Program>
extents output_extents(int output, const std::int64_t* symbols) {
  const extents& s = Program::value.shapes.at[Program::value.nodes.at[Program::value.outputs.at[output]].shape];
  if constexpr (Program::is_static) return s;
  else return bound_extents(s, symbols);
}

/// Everything between a call's arguments and its results: `make_results` gives the memory of each, after all checks, and
/// before_writing() is told when nothing can be refused any more.
template <class Program, class Device = cpu_device, class MakeResults, class BeforeWriting = program_detail::no_notice>
TENURE_INLINE auto call_bound(const leaf_argument* arguments, int count, const void** pointers, MakeResults make_results, const BeforeWriting& before_writing = {}) {
  constexpr int outputs = Program::value.output_count;
  std::int64_t symbols[Program::symbol_count + 1] = {};
  for (int i = 0; i < count; ++i) pointers[i] = arguments[i].data;
  if constexpr (!Program::is_static) bind_symbols(Program::value.view(), arguments, symbols);
  if constexpr (Program::value.bound_count > 0) backend<Device>::check_arguments(Program::value.view(), pointers, symbols);
  void* results[outputs + 1];
  auto made = make_results(results, symbols);
  backend<Device>::template run<Program>(pointers, results, symbols, before_writing);
  return made;
}

template <class Program, class Device, class MakeResults, class... X>
TENURE_INLINE auto call_program(MakeResults make_results, const X&... x) {
  constexpr int leaves = (0 + ... + tree<X>::leaves);
  leaf_argument arguments[leaves + 1];
  const void* pointers[leaves + 1];
  leaf_argument* at = arguments;
  (collect(x, at), ...);
  [[maybe_unused]] const auto numbers = place_numbers<Device>({}, [&](int i, const void* there) { arguments[i].data = there; }, x...);
  return call_bound<Program, Device>(arguments, leaves, pointers, make_results);
}

}  // namespace detail

template <class F, class Execution = inherited>
struct compiled;
/// The cost of a compiled function, see plan.hpp.
template <class Program, class Device>
struct plan;

namespace detail {

template <class Program, int Arguments>
inline constexpr auto overwrites = passes::find_overwrites<Arguments, Program::value.output_count>(Program::plan.view(Program::value.view()));

/// The bytes through which an argument can share memory with a target. A number shares none; a tensor that owns its memory
/// shares all or none, so its first byte stands for it.
struct memory_range {
  const char* first = nullptr;
  const char* last = nullptr;
};
template <class L>
TENURE_INLINE memory_range range_of(const L& leaf) {
  if constexpr (any_tensor<L>) {
    const auto* const data = reinterpret_cast<const char*>(tensor_access::read(leaf, "call"));
    if constexpr (ownership_of_v<L> == ownership::owning) return {data, data + 1};
    if (leaf.size() == 0) return {};
    return {data, data + reach_in_bytes(tensor_access::layout_of(leaf), sizeof(element_t<L>))};
  } else {
    return {};
  }
}

struct target_memory {
  void* data = nullptr;
  std::int64_t bytes = 0;

  const char* begin() const { return static_cast<const char*>(data); }
  const char* end() const { return begin() + bytes; }
};

/// Would writing the target spoil the argument? `safe`: not where both begin at the same element.
TENURE_INLINE bool in_the_way(const void* argument, const memory_range& range, const target_memory& target, bool safe) {
  const auto* const begin = static_cast<const char*>(target.data);
  return (range.first < begin + target.bytes) & (begin < range.last) & !(safe & (argument == target.data));
}

/// Memory for the results whose targets are arguments that they may not overwrite; points `results` to it.
template <class Device>
storage_handle keep_apart(const void* const* pointers, const memory_range* ranges, int arguments, const target_memory* targets, int outputs,
                                 const bool* safe, void** results) {
  const auto apart = [&](int j) {
    for (int a = 0; a < arguments; ++a)
      if (in_the_way(pointers[a], ranges[a], targets[j], safe[a * outputs + j])) return true;
    return false;
  };
  const auto padded = [&](int j) { return (targets[j].bytes + 63) / 64 * 64; };
  std::int64_t bytes = 0;
  for (int j = 0; j < outputs; ++j)
    if (apart(j)) bytes += padded(j);
  storage_handle memory = device_memory<Device>::allocate(static_cast<std::size_t>(bytes));
  auto* at = static_cast<char*>(memory.data());
  for (int j = 0; j < outputs; ++j)
    if (apart(j)) {
      results[j] = at;
      at += padded(j);
    }
  return memory;
}

template <class Device>
void copy_bytes(void* to, const void* from, std::int64_t bytes) {
  const extents line{1, {bytes}}, step{1, {1}};
  device_memory<Device>::copy(static_cast<unsigned char*>(to), step, static_cast<const unsigned char*>(from), step, line);
}

/// An empty tensor has no memory of its own to be told by.
template <class Program>
inline constexpr bool has_empty_result = [] {
  for (int i = 0; i < Program::value.output_count; ++i) {
    const extents& s = Program::value.shapes[Program::value.nodes[Program::value.outputs[i]].shape];
    for (int a = 0; a < s.rank; ++a)
      if (s[a] == 0) return true;
  }
  return false;
}();

/// The targets of an allocation-free call. A target may be one of the arguments: where the plan allows it the result is
/// written in place, else it is computed beside and copied when the call is done.
template <class F, class Execution, class... R>
class into_call {
 public:
  explicit into_call(const F& f, const Execution& on, R&... r) : f_(f), on_(on), results_(r...) {}

  /// Computes into the targets given to into(). Throws shape_error where a target has another shape.
  template <class... X>
  void operator()(const X&... x) const {
    at_once<device_of_call<X...>> now;
    through(now, x...);
  }
  /// The same, where `runner` has the program run.
  template <class Runner, class... X>
  void through(Runner& runner, const X&... x) const {
    if constexpr (!is_compilable<F, X...>()) return;
    else if constexpr (!are_targets<result_of<F, rebind_kind_t<X, tracing>...>, R...>()) return;
    else if constexpr (!is_callable<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>()) return;
    else if constexpr (is_traceable<source_of<F, X...>>()) run(runner, as_argument(x)...);
  }

 private:
  template <class... X>
  using device_of_call = typename device_of_bits<(0u | ... | tree<X>::devices) | (0u | ... | tree<R>::devices)>::type;

  template <class Runner, class... X>
  void run(Runner& runner, const X&... x) const {
    using program_type = program<source_of<F, X...>>;
    using device_type = device_of_call<X...>;
    constexpr int leaves = (0 + ... + tree<X>::leaves), outputs = program_type::value.output_count;
    const void* pointers[leaves + 1];
    memory_range ranges[leaves + 1];
    int reached = 0;
    const auto reach = [&](const auto& leaf) {
      ranges[reached] = range_of(leaf);
      if constexpr (any_tensor<std::remove_cvref_t<decltype(leaf)>>) pointers[reached++] = tensor_access::read(leaf, "call");
      else pointers[reached++] = &leaf;
    };
    (for_each_leaf(x, reach), ...);
    [[maybe_unused]] const auto numbers = place_numbers<device_type>(runner.memory_of_numbers(sizeof(std::int64_t) * static_cast<std::size_t>(leaves + 1)), [&](int i, const void* there) { pointers[i] = there; }, x...);
    std::int64_t symbols[program_type::symbol_count + 1] = {};
    if constexpr (!program_type::is_static) {
      leaf_argument arguments[leaves + 1];
      leaf_argument* at = arguments;
      (collect(x, at), ...);
      bind_symbols(program_type::value.view(), arguments, symbols);
    }
    if constexpr (program_type::value.bound_count > 0) backend<device_type>::check_arguments(program_type::value.view(), pointers, symbols);

    target_memory targets[outputs + 1];
    void* results[outputs + 1];
    int i = 0;
    const auto check = [&](auto& target) {
      using L = std::remove_cvref_t<decltype(target)>;
      // Targets of the results' own static types fit: nothing is left to ask when the call runs.
      if constexpr (!(program_type::is_static && same_as_results<rebind_kind_t<typename source_of<F, X...>::result_type, results_on<device_type>>>)) {
        const extents wanted = output_extents<program_type>(i, symbols);
        if (!(target.extents() == wanted))
          throw shape_error(detail::message("into") << "a target of shape " << target.extents() << " for a result of shape " << wanted);
      }
      results[i] = tensor_access::fresh(target);
      targets[i++] = {tensor_access::fresh(target), target.size() * static_cast<std::int64_t>(sizeof(element_t<L>))};
    };
    std::apply([&](auto&... target) { (for_each_leaf(target, check), ...); }, results_);
    constexpr const auto& safe = overwrites<program_type, leaves>.safe;
    bool refused = false, shared = false;  // without branches: a small program would notice them
    if constexpr (program_type::is_static && (tree<X>::contiguous && ...) && !has_empty_result<program_type>) {
      // Who owns memory shares all of it or none.
      for (int j = 0; j < outputs; ++j) {
        refused |= results[j] == nullptr;
        for (int k = 0; k < j; ++k) refused |= results[j] == results[k];
        for (int a = 0; a < leaves; ++a) shared |= !safe[a * outputs + j] & (pointers[a] == results[j]);
      }
    } else {
      for (int j = 0; j < outputs; ++j) {
        refused |= results[j] == nullptr;
        for (int k = 0; k < j; ++k) refused |= targets[j].begin() < targets[k].end() && targets[k].begin() < targets[j].end();
        for (int a = 0; a < leaves; ++a) shared |= in_the_way(pointers[a], ranges[a], targets[j], safe[a * outputs + j]);
      }
    }
    if (refused) [[unlikely]] {
      std::apply([](const auto&... target) { (for_each_leaf(target, [](const auto& t) { tensor_access::check_alive(t, "into"); }), ...); }, results_);
      throw overlap_error("tenure: into: two targets share memory");
    }
    [[maybe_unused]] const auto scope = on_.scope();
    storage_handle beside;
    if (shared) [[unlikely]] beside = keep_apart<device_type>(pointers, ranges, leaves, targets, outputs, safe, results);
    // Versions rise before the run: whatever ends it, what was written counts as written.
    runner.template run<program_type>(pointers, results, symbols, [&] {
      std::apply([](auto&... target) { (for_each_leaf(target, [](auto& t) { tensor_access::write(t, "into"); }), ...); }, results_);
    });
    if (shared) [[unlikely]]
      for (int j = 0; j < outputs; ++j)
        if (results[j] != targets[j].data) copy_bytes<device_type>(targets[j].data, results[j], targets[j].bytes);
  }

  template <class Results>
  static constexpr bool same_as_results = std::is_same_v<std::tuple<R...>, Results> || std::is_same_v<std::tuple<R...>, std::tuple<Results>>;

  const F& f_;
  [[no_unique_address]] Execution on_;
  std::tuple<R&...> results_;
};

}  // namespace detail

/// A traced function, compiled for the argument types it is called with; its calls run as `execution` says.
template <class F, class Execution>
struct compiled {
  using transformed = F;
  template <int Arguments>
  static constexpr int results = 1;
  template <class... X>
  static constexpr bool accepts() { return detail::gives_traced<F, X...>(); }

  [[no_unique_address]] F function{};
  [[no_unique_address]] Execution execution{};

  /// f over tensors, numbers and models: new owning constants. Over traced values: f, inside the other function's graph.
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    if constexpr ((detail::tree<X>::traces || ...)) {
      if constexpr (!(detail::is_argument<true, X>() && ...)) return detail::refused_in_trace<F>(x...);
      else return within(detail::graph_of_arguments(x...), x...);
    } else if constexpr (!detail::is_compilable<F, X...>()) {
      return detail::refused_call<F>(x...);
    } else if constexpr (!detail::is_callable<(0u | ... | detail::tree<X>::devices)>()) {
      return detail::refused_call<F>(x...);
    } else if constexpr (!detail::is_traceable<detail::source_of<F, X...>>()) {
      return detail::refused_call<F>(x...);
    } else {
      [[maybe_unused]] const auto scope = execution.scope();
      return call(x...);
    }
  }

  /// The plan for arguments of these types: using plan = decltype(f.plan(x...)).
  template <class... X>
  constexpr auto plan(const X&...) const {
    if constexpr (detail::is_compilable<F, X...>()) return tenure::plan<program<detail::source_of<F, X...>>, detail::device_of_tree<X...>>{};
    else return tenure::plan<program<detail::refused_source<F>>, cpu_device>{};
  }

  /// f.into(r...)(x...) computes into existing tensors and allocates nothing.
  template <class... R>
  auto into(R&... r) const { return detail::into_call<F, Execution, R...>(function, execution, r...); }

 private:
  template <class... X>
  constexpr auto within(ir::builder& g, const X&... x) const {
    if constexpr (detail::gives_traced<F, detail::rebind_kind_t<X, tracing>...>()) return function(detail::as_traced(g, x)...);
    else return detail::refused_in_trace<F>(x...);
  }

  template <class... X>
  static auto call(const X&... x) {
    using source = detail::source_of<F, X...>;
    using program_type = program<source>;
    using device_type = detail::device_of_tree<X...>;
    using result_type = detail::rebind_kind_t<typename source::result_type, detail::results_on<device_type>>;
    return detail::call_program<program_type, device_type>(
        [](void** results, const std::int64_t* symbols) {
          int i = 0;
          auto make = [&]<class L>(element_tag<L>) {
            L leaf = detail::tensor_access::allocate<L>(detail::output_extents<program_type>(i, symbols));
            results[i++] = detail::tensor_access::fresh(leaf);
            return leaf;
          };
          return detail::build_tree<result_type>(make);
        },
        detail::as_argument(x)...);
  }
};

namespace detail {

/// What is traced of a function: of a compiled one, the function without its execution.
template <class F>
constexpr F traced_function(F f) { return f; }
template <class F, class Execution>
constexpr F traced_function(const compiled<F, Execution>& f) { return f.function; }

template <class Wrapper, class Execution>
constexpr compiled<Wrapper, Execution> compiled_on(Wrapper f, Execution on) { return {f, on}; }

}  // namespace detail

/// The function itself, compiled. All that compiles takes an execution as its last argument: a thread_pool, sequential.
template <class F, class Execution = inherited>
constexpr auto compile(F f, Execution on = {}) { return detail::compiled_on(detail::traced_function(f), on); }

}  // namespace tenure
