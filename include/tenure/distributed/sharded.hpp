// SPDX-License-Identifier: BSL-1.0
// A state of a rule that is divided among ranks: each rank keeps the moments of its blocks of the arena. A rank updates the parameters of its
// blocks, and then all ranks gather the parameters.
// Law: an update has the bits of an update of the whole model, because the rule computes each element by itself.
// Cost: the memory of the moments divided by the number of ranks. A step sends as much as with a whole state.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <tenure/distributed/agreement.hpp>
#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/exchange.hpp>
#include <tenure/optim/rule.hpp>

namespace TENURE_NAMESPACE::mpi {

namespace detail {

/// Elements of one parameter that belong to the blocks of a rank.
struct piece {
  int leaf = 0;
  dtype type = dtype::float32;
  std::int64_t first = 0, count = 0;  // in the parameter, in elements
  std::int64_t in_arena = 0;          // in bytes
  std::int64_t in_shard = 0;          // in the moments of the rank, in bytes
};

/// Calls f(piece) for each piece of a rank. Returns the bytes of all blocks of the rank.
std::int64_t for_each_piece(const auto& layout, int rank, int ranks, auto f) {
  std::int64_t shard = 0;
  for (int b = 0; b < layout.bucket_count; ++b) {
    const bucket& whole = layout.buckets[b];
    const std::int64_t size = size_of(whole.type);
    const partition cut{whole.elements, 0, block_unit, ranks};
    const std::int64_t begin = cut.begin(rank), end = cut.begin(rank + 1);
    for (int i = 0; i < layout.leaves; ++i) {
      if (layout.at[i].bucket != b) continue;
      const std::int64_t start = (layout.at[i].offset - whole.offset) / size;
      const std::int64_t from = std::max(begin, start), to = std::min(end, start + layout.at[i].elements);
      if (from < to) f(piece{i, whole.type, from - start, to - from, whole.offset + from * size, shard + (from - begin) * size});
    }
    shard += aligned((end - begin) * size);
  }
  return shard;
}

/// The memory of each leaf of a tree.
template <int Leaves>
struct leaf_memory {
  char* at[Leaves + 1] = {};

  template <class X>
  explicit leaf_memory(const X& x) {
    int i = 0;
    for_each_leaf(x, [&](const auto& leaf) { at[i++] = reinterpret_cast<char*>(tensor_access::fresh(leaf)); });
  }
  char* of(const piece& p) const { return at[p.leaf] + p.first * size_of(p.type); }
};

}  // namespace detail

/// The part of a state that this rank keeps. step.init_sharded(model) and step.shard(state) make a sharded state. step.gather(state) gives the
/// whole state, and deepcopy(state) a copy.
template <class Model, int N, std::int64_t BucketBytes>
class sharded_state {
 public:
  using model_type = Model;
  static constexpr int moments = N;
  static constexpr std::int64_t bucket_bytes = BucketBytes;
  static constexpr const auto& layout = detail::layout_of_arena<Model, BucketBytes>;

  /// A state whose moments are all zero.
  explicit sharded_state(const group& g) : rank_(g.rank()), ranks_(g.size()) {
    bytes_of_moment_ = detail::for_each_piece(layout, rank_, ranks_, [](const detail::piece&) {});
    allocate();
    std::memset(memory_.data(), 0, static_cast<std::size_t>(bytes()));
  }
  sharded_state(const sharded_state&) = delete;  // tenure: a sharded state is not copied: call deepcopy()
  sharded_state& operator=(const sharded_state&) = delete;
  sharded_state(sharded_state&&) = default;
  sharded_state& operator=(sharded_state&&) = default;

  /// The bytes of all moments of this rank.
  std::int64_t bytes() const { return N * bytes_of_moment_; }
  std::int64_t steps = 0;

  // For train_step, gather and deepcopy.
  void check_alive(const char* call) const {
    if (bytes() > 0 && !memory_) throw ownership_error(tenure::detail::message(call) << "the state was moved from");
  }
  void check_usable(const group& g, const char* call) const {
    check_alive(call);
    if (g.size() == ranks_ && g.rank() == rank_) return;
    throw error(tenure::detail::message(call) << "the state is that of rank " << rank_ << " of " << ranks_ << ", on rank " << g.rank()
                                              << " of " << g.size() << ": shard() the whole state");
  }
  const tenure::detail::storage_handle& memory() { return memory_; }
  char* moment(int k, const detail::piece& p) { return static_cast<char*>(memory_.data()) + place(k, p); }
  const char* moment(int k, const detail::piece& p) const { return static_cast<const char*>(memory_.data()) + place(k, p); }
  void for_each_piece(auto f) const { detail::for_each_piece(layout, rank_, ranks_, f); }
  sharded_state copied() const {
    check_alive("deepcopy");
    return sharded_state(*this, deep{});
  }

 private:
  struct deep {};
  sharded_state(const sharded_state& s, deep) : steps(s.steps), rank_(s.rank_), ranks_(s.ranks_), bytes_of_moment_(s.bytes_of_moment_) {
    allocate();
    if (bytes() > 0) std::memcpy(memory_.data(), s.memory_.data(), static_cast<std::size_t>(bytes()));
  }
  void allocate() { memory_ = tenure::detail::allocate_storage(static_cast<std::size_t>(bytes())); }
  std::int64_t place(int k, const detail::piece& p) const { return k * bytes_of_moment_ + p.in_shard; }

  int rank_, ranks_;
  std::int64_t bytes_of_moment_ = 0;
  tenure::detail::storage_handle memory_;
};

namespace detail {

template <class X>
inline constexpr bool is_sharded_state = false;
template <class Model, int N, std::int64_t BucketBytes>
inline constexpr bool is_sharded_state<sharded_state<Model, N, BucketBytes>> = true;

/// Whether a state of the rule can be sharded. If not, a static_assert gives the reason.
template <class Rule>
constexpr bool is_shardable() {
  constexpr bool by_element = requires { requires Rule::elementwise; } && !requires { Rule::prepares; };
  static_assert(by_element, "tenure: train_step: a sharded state needs a rule that updates each element by itself, and says so: elementwise = true");
  return by_element;
}

// The numbers of these messages are template arguments, because compilers print template arguments.
template <int Given, int Wanted>
constexpr bool has_moments_of_rule() {
  static_assert(Given == Wanted,
                "tenure: train_step: a sharded state has another number of moments than the rule: it is the state of another rule");
  return Given == Wanted;
}
template <std::int64_t Given, std::int64_t Wanted>
constexpr bool has_buckets_of_step() {
  static_assert(Given == Wanted, "tenure: train_step: a sharded state was made with buckets of another size than those of this step");
  return Given == Wanted;
}
/// Whether Given and Wanted have the same number of parameters, with the same element types and shapes. If not, a static_assert says so.
template <class Given, class Wanted>
constexpr bool is_of_model() {
  constexpr bool are_alike = [] {
    constexpr int n = tree<Given>::leaves;
    if (n != tree<Wanted>::leaves) return false;
    leaf_description given[n + 1], wanted[tree<Wanted>::leaves + 1], *end = given, *end_of_wanted = wanted;
    tree<Given>::describe(end);
    tree<Wanted>::describe(end_of_wanted);
    for (int i = 0; i < n; ++i)
      if (given[i].type != wanted[i].type || !(given[i].shape == wanted[i].shape)) return false;
    return true;
  }();
  static_assert(are_alike,
                "tenure: train_step: a sharded state is that of another model: the parameters differ in number, element type or shape");
  return are_alike;
}
/// Whether blocks of the parameters can be written. If not, a static_assert says so.
template <class Model>
constexpr bool has_blocks() {
  constexpr bool has = tree<Model>::contiguous && !tree<Model>::tracked;
  static_assert(has,
                "tenure: train_step: a sharded state needs parameters that own their memory and require no gradient: ranks write blocks of it");
  return has;
}
/// Whether a sharded state belongs to a step with this rule and these buckets. If not, a static_assert gives the reason.
template <class Rule, std::int64_t BucketBytes, class State>
constexpr bool is_state_of_step() {
  if constexpr (!is_shardable<Rule>()) return false;
  else if constexpr (!has_moments_of_rule<State::moments, Rule::moments>()) return false;
  else return has_buckets_of_step<State::bucket_bytes, BucketBytes>();
}

/// Whether a parameter has this element type.
constexpr bool has_type(const auto& layout, dtype type) {
  for (int i = 0; i < layout.leaves; ++i)
    if (layout.at[i].type == type) return true;
  return false;
}

template <class State, class Model>
State sharded(const group& g, const Model& whole) {
  State state(g);
  state.steps = whole.steps;
  for (std::size_t k = 0; k < whole.moments.size(); ++k) {
    const leaf_memory<State::layout.leaves> from(whole.moments[k]);
    state.for_each_piece([&](const piece& p) {
      std::memcpy(state.moment(static_cast<int>(k), p), from.of(p), static_cast<std::size_t>(p.count * size_of(p.type)));
    });
  }
  return state;
}

/// Sends the blocks of `count` buckets of an arena, at most Most buckets, to all ranks. at(i) returns bucket i and its partition.
template <int Most, class At>
void gather_buckets(group& g, char* arena, int count, At at) {
  exchange all[Most];
  for (int i = 0; i < count; ++i) {
    const auto [whole, cut] = at(i);
    all[i].prepare(g, 1 + i, arena + whole.offset, whole.type, cut, nullptr, false, true);
  }
  for (int i = 0; i < count; ++i) all[i].start();
  for (int i = 0; i < count; ++i) all[i].wait();
}

/// The whole state. make() allocates it.
template <class State, class Make>
auto gather_state(group& g, const State& state, Make make) {
  constexpr const auto& layout = State::layout;
  storage_handle arena;
  std::optional<decltype(make())> whole;
  const auto sign = [&] {
    state.check_usable(g, "gather");
    arena = allocate_storage(static_cast<std::size_t>(layout.bytes));
    whole.emplace(make());
    signature own;
    own << "gather" << static_cast<std::uint64_t>(state.steps) << static_cast<std::uint64_t>(whole->moments.size());
    for (int b = 0; b < layout.bucket_count; ++b) own << layout.buckets[b];
    return own;
  };
  agree(g, "gather", sign, [&] {
    return "the state after step " + std::to_string(state.steps) + ", in " + std::to_string(layout.bucket_count) + " buckets";
  });
  whole->steps = state.steps;
  relied_on(g, "gather", [&] {
    char* const data = static_cast<char*>(arena.data());
    for (std::size_t k = 0; k < whole->moments.size(); ++k) {
      state.for_each_piece([&](const piece& p) {
        std::memcpy(data + p.in_arena, state.moment(static_cast<int>(k), p), static_cast<std::size_t>(p.count * size_of(p.type)));
      });
      gather_buckets<layout.leaves>(g, data, layout.bucket_count, [&](int b) {
        return std::pair{layout.buckets[b], partition{layout.buckets[b].elements, 0, block_unit, g.size()}};
      });
      const leaf_memory<layout.leaves> to(whole->moments[k]);
      for (int i = 0; i < layout.leaves; ++i)
        std::memcpy(to.at[i], data + layout.at[i].offset, static_cast<std::size_t>(layout.at[i].elements * size_of(layout.at[i].type)));
    }
  });
  return std::move(*whole);
}

}  // namespace detail
}  // namespace tenure::mpi

namespace TENURE_NAMESPACE {

/// A copy of a sharded state. Throws ownership_error if the state was moved from. No rank waits for another.
template <class Model, int N, std::int64_t BucketBytes>
auto deepcopy(const mpi::sharded_state<Model, N, BucketBytes>& s) { return s.copied(); }

}  // namespace tenure
