// SPDX-License-Identifier: BSL-1.0
// profile(f)(x...) shows where the time of a call goes. It lists the time, the bytes and the operations of each step, beside the limits
// of the processor.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tenure/backend/cpu/limits.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/plan.hpp>
#include <tenure/transform/print.hpp>

namespace TENURE_NAMESPACE {

/// One step of a profiled call.
struct profiled_step {
  std::string name;         ///< its operations, as print(plan) names them
  double seconds = 0;       ///< the least of all runs
  std::int64_t bytes = -1;  ///< what it reads and writes, as plan::bytes(); -1 if unknown: a while_loop, a branch, an external function, a loop with run-time extents
  std::int64_t flops = -1;  ///< as plan::flops()
};

/// The profile of a call: the time of each step.
struct call_profile {
  std::vector<profiled_step> steps;
  double seconds = 0;           ///< the least time of a whole call, with its checks
  double bytes_per_second = 0;  ///< of this processor, one core, memory that no cache holds
  double flops_per_second = 0;  ///< of this processor, one core, float
};

namespace detail {

/// A program whose steps are timed. The steps of a call write to `times` of the thread.
template <class Program>
struct timed : Program {
  static void enter(int step) {
    const auto now = std::chrono::steady_clock::now();
    if (times.current >= 0) {
      double& least = times.seconds[times.current];
      const double s = std::chrono::duration<double>(now - times.since).count();
      least = s < least ? s : least;
    }
    times.current = step;
    times.since = std::chrono::steady_clock::now();
  }

  struct clock {
    double* seconds = nullptr;
    int current = -1;
    std::chrono::steady_clock::time_point since{};
  };
  static inline thread_local clock times{};

  /// While it lives, the steps of this thread write to `seconds`. At its end, also by an exception, they write to where they wrote before.
  class scope {
   public:
    explicit scope(double* seconds) : before_(std::exchange(times, {.seconds = seconds})) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() { times = before_; }

   private:
    clock before_;
  };
};

/// The names of the nodes of a step: "matmul", "mul tanh sum". What occurs again has its count: "mul x3".
inline std::string name_of_step(const ir::graph_view& g, const passes::clusters& fused, int cluster) {
  std::vector<std::pair<std::string, int>> names;
  for (int id = 0; id < g.count; ++id) {
    if (fused.of[id] != cluster) continue;
    passes::writer w;
    if (g[id].op == ir::opcode::construct) passes::print_construct(w, g, g.construct_of(g[id]));
    else w << passes::name_of(g[id]);
    bool is_known = false;
    for (auto& [name, count] : names)
      if (name == w.text()) ++count, is_known = true;
    if (!is_known) names.emplace_back(w.text(), 1);
  }
  std::string text;
  for (const auto& [name, count] : names) text += (text.empty() ? "" : " ") + name + (count > 1 ? " x" + std::to_string(count) : "");
  return text;
}

/// Runs programs, and keeps the least time of each step.
class profiler {
 public:
  static storage_handle memory_of_numbers(std::size_t) { return {}; }

  template <class Program, class BeforeWriting>
  void run(const void* const* arguments, void* const* results, const std::int64_t* symbols, const BeforeWriting& before_writing) {
    using program_type = timed<Program>;
    const bool is_first = least_.empty();
    if (is_first) {
      least_.assign(Program::step_count + 1, never);
      describe<Program>(symbols);
    }
    const typename program_type::scope writes(least_.data());
    const auto since = std::chrono::steady_clock::now();
    backend<cpu_device>::run<program_type>(arguments, results, symbols, before_writing);
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
    profile_.seconds = is_first || s < profile_.seconds ? s : profile_.seconds;
  }

  call_profile result() const {
    call_profile p = profile_;
    for (std::size_t i = 0; i < p.steps.size(); ++i) p.steps[i].seconds = least_[i] == never ? 0 : least_[i];
    const cpu_backend::limits& limits = cpu_backend::measured_limits();
    p.bytes_per_second = limits.bytes_per_second;
    p.flops_per_second = limits.flops_per_second;
    return p;
  }

 private:
  static constexpr double never = 1e30;

  template <class Program>
  void describe(const std::int64_t* symbols) {
    using plan_type = plan<Program, cpu_device>;
    ir::graph_view g = Program::value.view();
    const passes::clusters fused = passes::fuse(g);
    std::vector<extents> shapes;
    if constexpr (!Program::is_static) {
      for (int i = 0; i < g.shape_count; ++i) shapes.push_back(bound_extents(g.shapes[i], symbols));
      g.shapes = shapes.data();
    }
    for (int cluster = fused.at.size() - 1, s = 0; cluster >= 0; --cluster, ++s) {
      profiled_step step{.name = name_of_step(g, fused, cluster)};
      const int construct = Program::tables.steps[s].construct;
      if (construct < 0) {
        step.bytes = plan_type::bytes_of_step(s, g, symbols), step.flops = 0;
      } else if constexpr (Program::is_static) {
        // For other constructs the number of turns, the branch that is taken and the work are not known here.
        if (g.inner.constructs[construct].what == ir::construct::kind::scan)
          step.bytes = plan_type::bytes_of_construct(s), step.flops = plan_type::flops_of_construct(s);
      }
      for (int id = 0; id < g.count && step.flops >= 0; ++id)
        if (fused.of[id] == cluster) step.flops += plan_type::flops_of(g, id);
      profile_.steps.push_back(std::move(step));
    }
  }

  call_profile profile_;
  std::vector<double> least_;
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
      if constexpr (requires { std::tuple_size<Results>::value; }) std::apply([&](auto&... r) { function.into(r...).through(p, x...); }, results);
      else function.into(results).through(p, x...);
    }
    return p.result();
  }
};

}  // namespace detail

/// profile(f)(x...) calls a compiled function `runs` times and returns the least time of each step, on the CPU. The times hold for the arguments
/// as they are: a step that reads what the step before wrote finds it in a cache. Cost: two readings of the clock for each step, some 50 ns, so
/// a step of less than a microsecond is shown longer than it is.
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

/// The table of a profile: a line for each step, in the order of the program.
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
  return text;
}
inline void print(const call_profile& p) { std::fputs(to_text(p).c_str(), stdout); }
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const call_profile& p) { return out << to_text(p); }

}  // namespace tenure
