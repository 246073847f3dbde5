// SPDX-License-Identifier: BSL-1.0
// Runs loops, branches and external functions on the CPU. A body is a program of its own, and a turn runs it with the pointers of this turn. A carry is written
// over the last one where the body reads it before (passes/overwrite.hpp). Otherwise it is written to two places in turn.
// Cost: a turn allocates nothing and copies nothing.
#pragma once

#include <cstring>
#include <type_traits>

#include <tenure/backend/cpu/memory_plan.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Program, class BeforeWriting>
void execute(const running_call& m, const memory_plan<Program>& plan, const BeforeWriting& before_writing);

namespace detail {

template <class Body>
TENURE_INLINE void run_body(const running_call& around, const void* const* arguments, void* const* results, void* workspace, const memory_plan<Body>& plan) {
  execute<Body>({{arguments, results, workspace, around.symbols}, around.on}, plan, program_detail::no_notice{});
}

template <class Program, int C>
void run_scan(const running_call& m, const bound_step& s, void* const* pointer, std::int64_t turns, char* scratch) {
  using frame = construct_frame<Program, C>;
  using body = typename frame::body;
  constexpr ir::construct loop = frame::record;
  constexpr int inputs = body::value.input_count, carries = loop.carries, own = loop.own_operands();
  const frame memory(s, m.symbols);
  const memory_plan<body>& plan = plan_of_body<body>(m.symbols);
  void* const* const given = pointer + loop.operands();
  const void* argument[inputs + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  std::int64_t step[frame::results + loop.scanned + 1];
  std::int64_t turn = loop.reverse ? turns - 1 : 0;
  const std::int64_t forward = loop.reverse ? -1 : 1;
  for (int i = 0; i < frame::results; ++i) result[i] = home[i] = memory.home(i, given, scratch);
  for (int i = 0; i < carries; ++i) argument[i] = pointer[i];
  for (int i = 0; i < loop.scanned; ++i) {
    const std::int64_t bytes = program_detail::bytes_of_input<body>(carries + i, m.symbols);
    step[i] = forward * bytes;
    argument[carries + i] = static_cast<const char*>(pointer[carries + i]) + turn * bytes;
  }
  for (int i = carries; i < frame::results; ++i) {
    const std::int64_t bytes = given[i] != nullptr ? program_detail::bytes_of_output<body>(i, m.symbols) : 0;
    step[loop.scanned + i] = forward * bytes;
    result[i] = static_cast<char*>(result[i]) + turn * bytes;
  }
  if constexpr (loop.counts) argument[own] = &turn;
  for (int i = 0; i < loop.captures[0]; ++i) argument[own + loop.counts + i] = pointer[own + i];
  void* const workspace = scratch + memory.bytes();
  if (turns == 0)
    for (int i = 0; i < carries; ++i) std::memcpy(home[i], pointer[i], static_cast<std::size_t>(program_detail::bytes_of_output<body>(i, m.symbols)));
  for (std::int64_t left = turns; left > 0; --left, turn += forward) {
    for (int i = 0; i < carries; ++i)  // the last turn writes to the result
      if (!frame::stays_in_place(i)) result[i] = left % 2 == 1 ? home[i] : memory.other(i, scratch);
    run_body<body>(m, argument, result, workspace, plan);
    for (int i = 0; i < carries; ++i) argument[i] = result[i];
    for (int i = 0; i < loop.scanned; ++i) argument[carries + i] = static_cast<const char*>(argument[carries + i]) + step[i];
    for (int i = carries; i < frame::results; ++i) result[i] = static_cast<char*>(result[i]) + step[loop.scanned + i];
  }
}

template <class Program, int C>
void run_while(const running_call& m, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = construct_frame<Program, C>;
  using test = typename program_detail::construct_at<Program, C>::template body<0>;
  using body = typename frame::body;
  constexpr ir::construct loop = frame::record;
  constexpr int carries = loop.carries;
  const frame memory(s, m.symbols);
  const memory_plan<body>& plan = plan_of_body<body>(m.symbols);
  const memory_plan<test>& test_plan = plan_of_body<test>(m.symbols);
  const void* argument[body::value.input_count + 1];
  const void* tested[test::value.input_count + 1];
  void* result[frame::results + 1];
  void* home[frame::results + 1];
  bool goes_on = false;
  void* const verdict[] = {&goes_on};
  for (int i = 0; i < carries; ++i) {
    argument[i] = tested[i] = pointer[i];
    result[i] = home[i] = memory.home(i, pointer + loop.operands(), scratch);
  }
  for (int i = 0; i < loop.captures[0]; ++i) tested[carries + i] = pointer[carries + i];
  for (int i = 0; i < loop.captures[1]; ++i) argument[carries + i] = pointer[carries + loop.captures[0] + i];
  void* const workspace = scratch + memory.bytes();
  while (run_body<test>(m, tested, verdict, workspace, test_plan), goes_on) {
    for (int i = 0; i < carries; ++i)
      if (!frame::stays_in_place(i)) result[i] = argument[i] == home[i] ? memory.other(i, scratch) : home[i];
    run_body<body>(m, argument, result, workspace, plan);
    for (int i = 0; i < carries; ++i) argument[i] = tested[i] = result[i];
  }
  for (int i = 0; i < carries; ++i)
    if (argument[i] != home[i]) std::memcpy(home[i], argument[i], static_cast<std::size_t>(program_detail::bytes_of_output<body>(i, m.symbols)));
}

template <class Program, int C>
void run_cond(const running_call& m, const bound_step& s, void* const* pointer, char* scratch) {
  using frame = construct_frame<Program, C>;
  using record = program_detail::construct_at<Program, C>;
  constexpr ir::construct branch = frame::record;
  const frame memory(s, m.symbols);
  void* result[frame::results + 1];
  for (int i = 0; i < frame::results; ++i) result[i] = memory.home(i, pointer + branch.operands(), scratch);
  void* const workspace = scratch + memory.bytes();
  const auto run = [&]<class Body>(std::type_identity<Body>, void* const* captures) {
    const void* argument[Body::value.input_count + 1];
    for (int i = 0; i < Body::value.input_count; ++i) argument[i] = captures[i];
    const memory_plan<Body>& plan = plan_of_body<Body>(m.symbols);
    run_body<Body>(m, argument, result, workspace, plan);
  };
  if (*static_cast<const bool*>(pointer[0])) run(std::type_identity<typename record::template body<0>>{}, pointer + 1);
  else run(std::type_identity<typename record::template body<1>>{}, pointer + 1 + branch.captures[0]);
}

template <class Program, int C>
void run_external(const running_call& m, const bound_step& s, void* const* pointer, char* scratch) {
  constexpr const auto& shapes = program_detail::shapes_of_external<Program, C>;
  const program_detail::unread_results<Program, C> unread(s, m.symbols);
  std::int64_t extent[shapes.count + 1];
  void* result[shapes.results + 1];
  for (int i = 0; i < shapes.count; ++i) extent[i] = passes::value_of(shapes.extent[i], m.symbols);
  void* const* const given = pointer + shapes.record.operands();
  for (int i = 0; i < shapes.results; ++i) result[i] = given[i] != nullptr ? given[i] : scratch + unread.offset[i];
  shapes.record.function.call(result, pointer, extent);
}

template <class Program>
void run_construct(const running_call& m, const bound_step& s, void* const* pointer, const std::int64_t* number, void* scratch) {
  program_detail::visit_construct<Program>(s, [&]<int C>(std::integral_constant<int, C>) {
    using kind = ir::construct::kind;
    constexpr kind what = program_detail::construct_at<Program, C>::value.what;
    char* const memory = static_cast<char*>(scratch);
    if constexpr (what == kind::scan) run_scan<Program, C>(m, s, pointer, number[0], memory);
    else if constexpr (what == kind::while_loop) run_while<Program, C>(m, s, pointer, memory);
    else if constexpr (what == kind::external) run_external<Program, C>(m, s, pointer, memory);
    else run_cond<Program, C>(m, s, pointer, memory);
  });
}

}  // namespace detail
}  // namespace tenure::cpu_backend
