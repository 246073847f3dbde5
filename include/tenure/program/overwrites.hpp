// SPDX-License-Identifier: BSL-1.0
// Which results of a program can be computed over its arguments. passes/overwrite.hpp decides this for steps, this header for loops and branches,
// whose bodies are programs. A loop may write a carry over the carry that it reads, and a row of a result of a scan over the row of xs that it reads, so a
// result may have the memory of an operand of the loop.
#pragma once

#include <type_traits>

#include <tenure/passes/overwrite.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::program_detail {

template <class Program>
struct overwrites_in_control_flow;
template <class Program, int Arguments>
struct finding_overwrites {
  static constexpr int results = Program::value.output_count;
  static constexpr passes::overwrite_sizes guess() { return {Arguments, results, Arguments + results}; }
  static constexpr passes::overwrites run() {
    return {Program::plan.view(Program::value.view()), Arguments, results, overwrites_in_control_flow<Program>{}};
  }
};
/// Which results of a program can be computed over its arguments.
template <class Program, int Arguments>
inline constexpr auto& overwrites_of = frozen_stage<passes::frozen_overwrites, finding_overwrites<Program, Arguments>>::value;
/// Which carries of a body can be computed over the carries that the body reads.
template <class Body>
inline constexpr auto& overwrites = overwrites_of<Body, Body::value.input_count>;

/// Whether a step of a program is a control-flow operation that may write a result over an operand. A cond may if it reads the buffer only as captures,
/// and each branch with such a capture may write the result over it. A loop may if it reads the buffer only as one carry, and its body may write this
/// carry in place. A scan also may if it reads the buffer only as xs, and its body may write the row of the result over the row that it reads: no iteration
/// reads the row of another.
template <class Program>
struct overwrites_in_control_flow {
  constexpr bool operator()(const passes::plan_view& p, const passes::step& s, int argument, int result) const {
    if (p.graph.find_control_flow(s.node) == nullptr) return false;
    bool may = false;
    visit_control_flow<Program>({.op = s.op, .control_flow = static_cast<int>(p.graph[s.node].attr)}, [&]<int C>(std::integral_constant<int, C>) {
      may = by_control_flow<C>(p.accesses + s.first_access, argument, result);
    });
    return may;
  }

 private:
  template <int C>
  static constexpr bool by_control_flow(const passes::access* a, int argument, int result) {
    constexpr ir::control_flow record = control_flow_at<Program, C>::value;
    if constexpr (record.is_loop()) return by_iterations<C>(a, argument, result);
    else if constexpr (record.runs_bodies()) return by_branches<C>(a, argument, result);
    else return false;
  }

  template <int C>
  static constexpr bool by_branches(const passes::access* a, int argument, int result) {
    using record = control_flow_at<Program, C>;
    constexpr ir::control_flow branch = record::value;
    constexpr int results = record::template body<0>::value.output_count;
    int at = -1;
    for (int i = 0; i < results; ++i)
      if (a[branch.operands() + i].buffer == result) at = i;
    bool may = at >= 0 && a[0].buffer != argument;
    const auto look = [&]<class Branch>(std::type_identity<Branch>, int first) {
      for (int k = 0; may && k < Branch::value.input_count; ++k)
        if (a[first + k].buffer == argument) may = passes::same_elements(a[first + k], a[branch.operands() + at]) && overwrites<Branch>.may(k, at);
    };
    look(std::type_identity<typename record::template body<0>>{}, 1);
    look(std::type_identity<typename record::template body<1>>{}, 1 + branch.captures[0]);
    return may;
  }

  template <int C>
  static constexpr bool by_iterations(const passes::access* a, int argument, int result) {
    using record = control_flow_at<Program, C>;
    constexpr ir::control_flow loop = record::value;
    using body = typename record::template body<loop.number_of_results_body()>;
    constexpr int results = body::value.output_count, scanned = loop.what == ir::control_flow::kind::scan ? loop.scanned : 0;
    const auto find = [&](int first, int last, int buffer) {
      for (int i = first; i < last; ++i)
        if (a[i].buffer == buffer) return i;
      return -1;
    };
    const int at = find(loop.operands(), loop.operands() + (scanned > 0 ? results : loop.carries), result) - loop.operands();
    if (at < 0) return false;
    const int from = at < loop.carries ? at : find(loop.carries, loop.carries + scanned, argument);
    bool may = from >= 0 && a[from].buffer == argument && passes::same_elements(a[from], a[loop.operands() + at]) && overwrites<body>.may(from, at);
    if (may && at >= loop.carries) may = are_rows_alike<body>(from, at);
    for (int k = 0; may && k < loop.operands(); ++k) may = k == from || a[k].buffer != argument;
    return may;
  }
  /// Whether the rows of an operand that is scanned follow each other as those of a result do.
  template <class Body>
  static constexpr bool are_rows_alike(int input, int output) {
    const auto &x = sizes_of_body<Body>.input[input], &y = sizes_of_body<Body>.output[output];
    return !x.moves && x.bytes == y.bytes && x.step == y.elements;
  }
};

}  // namespace tenure::program_detail
