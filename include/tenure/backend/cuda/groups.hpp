// SPDX-License-Identifier: BSL-1.0
// The groups of a plan (passes/groups.hpp) on a GPU. A gather that waits, and a product whose sums are short, run inside the kernel that reads their rows:
// each thread finds or computes the elements that it loads. So the rows are not written to memory and read again, and there is one launch less.
// cuBLAS computes all other products, and the kernel after such a product is a launch of its own. So are products over the rows of a kernel.
// Law: only the sums of a product can differ from one launch after the other, because cuBLAS may add in another order.
#pragma once

#include <bit>
#include <utility>

#include <tenure/backend/cuda/steps.hpp>
#include <tenure/kernels/fused.hpp>
#include <tenure/kernels/name.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

/// The longest sums of a product that runs inside the kernel that reads it. An element of the product costs two loads from a cache for each term, in place of
/// a write and a read of memory. An estimate for an H100 says that both take as long for 16 terms. This was not measured.
inline constexpr std::int64_t max_terms_in_kernel = 8;

/// Whether step s computes rows inside the kernel that reads them, if the strides of the call allow it (waits).
template <class Program>
constexpr bool may_wait(int s) {
  const passes::row_group& e = Program::groups.at[s];
  if (e.is_of_gather()) return true;
  if (!e.is_of_product() || e.is_read_later || Program::plan.steps[s].op != ir::opcode::matmul) return false;
  const ir::graph_view g = Program::value.view();
  const ir::node& product = g[Program::plan.steps[s].node];
  const std::int64_t terms = g.shape_of(product.in[0])[1];
  if (lane_of(product.type) != product.type || g[product.in[0]].type != product.type || g[product.in[1]].type != product.type || !is_static(terms) || terms < 1 || terms > max_terms_in_kernel) return false;
  const passes::kernel& k = Program::plan.kernels[Program::plan.steps[e.kernel].kernel];
  int times = 0;  // that the kernel loads an element
  for (int i = 0; i < k.instruction_count; ++i)
    if (const passes::instruction& x = Program::plan.instructions[k.first_instruction + i]; x.access >= 0 && (e.accesses >> x.access & 1)) times += std::popcount(x.passes);
  return times == 1;
}

/// For each step, whether it may wait, and whether it is the kernel that reads the rows of such steps.
template <class Program>
struct waiting_steps {
  bool at[Program::step_count + 1] = {}, is_read_by[Program::step_count + 1] = {};
  int readers = 0, reader[Program::step_count + 1] = {};

  constexpr waiting_steps() {
    for (int s = 0; s < Program::step_count; ++s)
      if (may_wait<Program>(s)) at[s] = is_read_by[Program::groups.at[s].kernel] = true;
    for (int t = 0; t < Program::step_count; ++t)
      if (is_read_by[t]) reader[readers++] = t;
  }
  /// Whether kernel K runs without sources in some step.
  constexpr bool runs_alone(int kernel) const {
    for (int t = 0; t < Program::step_count; ++t)
      if (Program::tables.steps[t].kernel == kernel && !is_read_by[t]) return true;
    return false;
  }
};
template <class Program>
inline constexpr waiting_steps<Program> waiting{};

/// Whether step s waits in a call: the rows of a table, and the indices, must be contiguous.
template <class Program>
constexpr bool waits(int s, const opaque_operation& n) {
  return Program::groups.at[s].is_of_product() || (is_dense(n.in[0], 1, n.in[0].rank) && is_dense(n.in[1], 0, n.in[1].rank));
}

/// Kernel step T, which reads the rows of steps that may wait.
template <class Program, int T>
struct reader {
  struct list {
    int at[Program::step_count + 1] = {}, count = 0;
  };
  static constexpr list steps = [] {
    list found;
    for (int s = 0; s < T; ++s)
      if (waiting<Program>.at[s] && Program::groups.at[s].kernel == T) found.at[found.count++] = s;
    return found;
  }();
  static constexpr bool is_product = Program::groups.at[steps.at[0]].is_of_product();
  using alone = kernels::name_of<typename Program::template code_of<Program::tables.steps[T].kernel>>;
  template <int... J>
  static auto named(std::integer_sequence<int, J...>) -> typename kernels::sources_in<alone>::template with<is_product, Program::groups.at[steps.at[J]].accesses...>;
  using name = decltype(named(std::make_integer_sequence<int, steps.count>{}));

  /// The sources of the rows in a call. Moves the pointers of the accesses that read a table.
  template <class Plan>
  static kernels::sources_of<name> sources_of(const program_detail::call_memory& m, const Plan& plan, void** pointer) {
    kernels::sources_of<name> found;
    for (int j = 0; j < steps.count; ++j) {
      const int s = steps.at[j];
      void* p[3];
      for (int i = 0; i < 3; ++i) p[i] = program_detail::pointer_of<Program>(m, plan.offset, Program::tables.bindings[Program::tables.steps[s].first_binding + i]);
      const opaque_operation& n = plan.steps.operation(s);
      if (!waits<Program>(s, n)) continue;
      const operand_view &a = n.in[0], &b = n.in[1];
      if constexpr (!is_product) {
        found.source[j] = {detail::indices_of(n.in[1].type, p[1]), a.stride[0]};
        for (std::uint64_t reads = Program::groups.at[s].accesses; reads != 0; reads &= reads - 1) {
          void*& first = pointer[std::countr_zero(reads)];
          first = static_cast<char*>(p[0]) + (static_cast<char*>(first) - static_cast<char*>(p[2]));
        }
      } else {
        found.source[j] = {p[0], p[1], b.extent[1], a.extent[1], a.stride[0], a.stride[1], b.stride[0], b.stride[1]};
      }
    }
    return found;
  }
};

}  // namespace tenure::cuda_backend
