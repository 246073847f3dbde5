// SPDX-License-Identifier: BSL-1.0
// train_step(loss, rule, group): a training step in which each rank computes the gradients of its own samples. The step updates the model by the
// mean of all gradients. It is two compiled functions: one computes the loss and the gradients into one arena, the other updates the model.
// Law: models and states that were equal on all ranks before a step are equal after it, bit for bit, and for a fixed number of ranks they
// do not differ from run to run. A step throws on all ranks, and changes nothing, if one rank's call differs or fails.
// Cost: for each bucket of the arena, 2 ceil(log2 p) messages with 2 (p - 1) / p of the bucket's bytes. A bucket is sent while later steps compute.
#pragma once

#include <bit>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <tenure/distributed/arena.hpp>
#include <tenure/distributed/collectives.hpp>
#include <tenure/distributed/sender.hpp>
#include <tenure/distributed/sharded.hpp>
#include <tenure/distributed/step_plan.hpp>
#include <tenure/optim/rule.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/init.hpp>

namespace TENURE_NAMESPACE::mpi {

/// The maximum size of a bucket in bytes, for train_step(loss, rule, group, buckets_of<bytes>{}). Larger buckets need fewer messages; smaller
/// buckets are sent earlier.
template <std::int64_t Bytes>
struct buckets_of {};
using default_buckets = buckets_of<std::int64_t{1} << 20>;

namespace detail {

/// The update of a model. The gradients are sums over ranks, and the update multiplies each by `share`.
template <class Rule>
struct update_of_mean {
  template <class Model, class Gradients, class Moments, class Share, class Hyper>
  constexpr auto operator()(const Model& model, const Gradients& sums, const Moments& moments, const Share& share, const Hyper& hyper) const {
    const auto scaled = [&]<class L>(element_tag<L>, const L& g) { return L(g * cast<typename L::element_type>(share)); };
    const auto means = build_tree<Gradients>(scaled, sums);
    return std::apply([&](const auto&... h) { return optim::detail::step_tree<Rule>(model, means, moments, h...); }, hyper);
  }
};

template <class L>
extents extents_of(const L& leaf) {
  if constexpr (any_tensor<L>) return leaf.extents();
  else return {};
}
template <class L>
inline constexpr dtype dtype_of_leaf = dtype_v<typename leaf_type<L>::element_type>;

/// How the ranks of a group add up the gradients of a step: the class that does it, and the factor for each sum.
template <class Group>
struct sum_of_gradients {
  template <class Program, class Model, std::int64_t BucketBytes>
  using sender = detail::sender<Program, Model, BucketBytes>;
  static double share(const Group& g) { return 1.0 / g.size(); }
};

/// Whether the parameters have static extents and are on the device of the group. If not, a static_assert gives the reason.
template <class Model, class Device>
constexpr bool has_arena() {
  constexpr bool is_of_host = std::is_same_v<Device, cpu_device>;
  constexpr bool is_known = has_static_extents<Model> && std::is_same_v<device_of_tree<Model>, Device>;
  static_assert(is_known || !is_of_host, "tenure: train_step: ranks exchange the gradients of a model on the host whose extents are static");
  static_assert(is_known || is_of_host, "tenure: train_step: ranks of a tn::nccl::group exchange the gradients of a model on the GPU whose extents are static");
  return is_known;
}
/// Whether a state can be sharded in the memory of this device. If not, a static_assert says so.
template <class Device>
constexpr bool has_shards_on() {
  constexpr bool is_of_host = std::is_same_v<Device, cpu_device>;
  static_assert(is_of_host, "tenure: train_step: a state of a tn::nccl::group is not sharded: take step.rule.init(model)");
  return is_of_host;
}

}  // namespace detail

/// What train_step(loss, rule, group) returns.
template <class Loss, class Rule, class Buckets = default_buckets, class Execution = inherited, class Group = group>
class trainer;

template <class Loss, class Rule, std::int64_t BucketBytes, class Execution, class Group>
class trainer<Loss, Rule, buckets_of<BucketBytes>, Execution, Group> {
  using device = typename detail::transport<Group>::device;
  using addition = detail::sum_of_gradients<Group>;
  using gradients_type = tenure::detail::value_and_grad_of<Loss, 0>;
  using update_type = detail::update_of_mean<Rule>;
  template <class Model, class... Data>
  using gradients_source = tenure::detail::source_of<gradients_type, Model, Data...>;
  using numbers = decltype(std::declval<Rule>().hyperparameters(0));
  static constexpr auto moments = static_cast<std::size_t>(Rule::moments);
  template <class Model>
  using update_source = tenure::detail::source_of<update_type, Model, Model, std::array<Model, moments>, double, numbers>;
  template <class X>
  using in_memory = tenure::detail::rebind_kind_t<X, tenure::detail::results_on<device>>;

 public:
  trainer(Rule r, Group& g, Execution on = {}) : rule(r), execution(on), group_(&g) {}

  /// Updates model and state in place, by the mean of the gradients over all ranks. Returns the mean of the losses before the update. All ranks
  /// must have equal models, states and hyperparameters, and data of equal extents. Then the means are those over all samples. Throws shape_error
  /// on all ranks if the extents or the hyperparameters differ. The first call, and the first step of each state, also compares the values of
  /// models and whole states, and throws tn::error if they differ. A NaN of one rank reaches the loss and the model of every rank.
  template <class Model, class State, class... Data>
  auto operator()(Model& model, State& state, const Data&... data) const {
    constexpr bool captures_nothing = std::is_empty_v<Loss>;
    static_assert(captures_nothing, "tenure: train_step: the loss captures nothing: pass run-time values as arguments");
    if constexpr (captures_nothing && optim::detail::has_parameters<Model>() && has_state<Model, State>() && detail::has_arena<Model, device>()) {
      if constexpr (tenure::detail::is_compilable<gradients_type, Model, Data...>()) return run(model, state, data...);
      else return after_error();
    } else {
      return after_error();
    }
  }

  /// The state before the first step, with all moments zero. Each rank keeps its part of the state. A step takes it in place of rule.init(model).
  /// The rule must update each element by itself, as sgd and adam do.
  template <class Model>
  auto init_sharded(const Model&) const {
    if constexpr (has_shards<Model>()) return sharded_state<Model, Rule::moments, BucketBytes>(*group_);
    else return after_error();
  }
  /// shard() divides a whole state, for example one that another number of ranks has saved. gather() gives the whole state on each rank; all ranks
  /// call it.
  template <class Model, int N>
  auto shard(const optim::state<Model, N>& state) const {
    using made = sharded_state<Model, N, BucketBytes>;
    if constexpr (!has_shards<Model>()) return after_error();
    else if constexpr (!detail::has_moments_of_rule<N, Rule::moments>()) return after_error();
    else return detail::sharded<made>(*group_, state);
  }
  template <class Model, int N, std::int64_t Bytes>
  auto gather(const sharded_state<Model, N, Bytes>& state) const {
    if constexpr (detail::is_state_of_step<Rule, BucketBytes, sharded_state<Model, N, Bytes>>()) {
      const auto make = []<class L>(element_tag<L>) { return L(); };
      const auto make_state = [&]<std::size_t... K>(std::index_sequence<K...>) {
        return optim::state<Model, N>{{{(static_cast<void>(K), tenure::detail::build_tree<Model>(make))...}}, 0};
      };
      return detail::gather_state(*group_, state, [&] { return make_state(std::make_index_sequence<moments>{}); });
    } else {
      return after_error();
    }
  }

  /// The plan of one step. With a sharded state it also has the update of the whole model, of which each rank computes its part.
  template <class Model, class State, class... Data>
  constexpr auto plan(const Model&, const State&, const Data&...) const
      -> step_plan<program<gradients_source<Model, Data...>>, program<update_source<Model>>, Model, BucketBytes, device> {
    return {};
  }

  Rule rule;
  [[no_unique_address]] Execution execution;

 private:
  /// Whether State is a whole or a sharded state of this step that may be written. If not, a static_assert says so.
  template <class Model, class State>
  static constexpr bool has_state() {
    using state_type = std::remove_const_t<State>;
    if constexpr (tenure::detail::is_after_error<state_type>) {
      return false;
    } else if constexpr (!detail::is_sharded_state<state_type>) {
      return optim::detail::is_state_for<Rule, Model, State>();
    } else {
      static_assert(!std::is_const_v<State>, "tenure: optim: the state is read-only");
      if constexpr (std::is_const_v<State> || !detail::has_shards_on<device>()) return false;
      else if constexpr (!detail::is_state_of_step<Rule, BucketBytes, State>()) return false;
      else if constexpr (!detail::is_of_model<typename State::model_type, Model>()) return false;
      else return detail::has_blocks<Model>();
    }
  }
  /// Whether a state for this model can be sharded. If not, a static_assert gives the reason.
  template <class Model>
  static constexpr bool has_shards() {
    if constexpr (!detail::has_shards_on<device>() || !detail::is_shardable<Rule>()) return false;
    else if constexpr (!detail::has_arena<Model, device>()) return false;
    else return detail::has_blocks<Model>();
  }

  template <class Model, class State, class... Data>
  auto run(Model& model, State& state, const Data&... data) const {
    using result_type = typename gradients_source<Model, Data...>::result_type;
    using loss_type = in_memory<std::tuple_element_t<0, result_type>>;
    using model_type = in_memory<std::tuple_element_t<1, result_type>>;
    using program_type = program<gradients_source<Model, Data...>>;
    using sender_type = typename addition::template sender<program_type, Model, BucketBytes>;
    constexpr const auto& layout = detail::layout_of_arena<Model, BucketBytes>;
    constexpr const auto& order = detail::order_of_sending<program_type, Model, BucketBytes>;
    constexpr bool is_sharded = detail::is_sharded_state<State>;
    struct computed {
      numbers hyper;
      loss_type loss;
      model_type sums;
    };
    group_->check_alive("train_step");
    const bool compares_values = state.steps == 0 || !have_compared_values_;
    sender_type sender(*group_);
    // Everything that can fail on this rank alone is in `compute`, so that a failure reaches the other ranks.
    const auto compute = [&] {
      const auto check_alive = [](const auto& leaf) { tenure::detail::tensor_access::check_alive(leaf, "train_step"); };
      tenure::detail::for_each_leaf(model, check_alive);
      if constexpr (is_sharded) state.check_usable(*group_, "train_step");
      else tenure::detail::for_each_leaf(state.moments, check_alive);

      const numbers hyper = rule.hyperparameters(state.steps + 1);
      detail::signature own = signature_of_step<program_type>(state.steps, hyper, data...);
      for (const auto& sent : order.at) own << sent.what << static_cast<std::uint64_t>(sent.tail);
      own << static_cast<std::uint64_t>(is_sharded) << static_cast<std::uint64_t>(compares_values);
      std::uint64_t values = 0;
      if (compares_values) {
        if constexpr (is_sharded) values = signature_of_values(model);
        else values = signature_of_values(model, state.moments);
      }

      sender.prepare(!is_sharded);
      int leaf = 0;
      const auto in_arena = [&]<class L>(element_tag<L>) {
        const extents& shape = shape_of_t<L>::value;
        auto* const first = reinterpret_cast<element_t<L>*>(sender.data() + layout.at[leaf++].offset);
        return tenure::detail::tensor_access::make<L>(sender.memory(), first, shape, shape);
      };
      computed result{hyper, loss_type(uninitialized), tenure::detail::build_tree<model_type>(in_arena)};
      auto* const loss_in_arena = reinterpret_cast<element_t<loss_type>*>(sender.data() + layout.loss);
      auto sum_of_losses = tenure::detail::tensor_access::make<loss_type>(sender.memory(), loss_in_arena, {}, {});

      const auto agree = [&] { sender.agree(own, values); };
      detail::sending_run<sender_type, decltype(agree), device> runner{sender, agree};
      compiled<gradients_type, Execution>{{}, execution}.into(sum_of_losses, result.sums).through(runner, model, data...);
      return result;
    };
    computed result = report_failure(sender, compute);
    sender.finish("train_step", [&] { return text_of_step<is_sharded>(order, compares_values, state.steps, result.hyper, data...); });
    have_compared_values_ = true;

    const double share = addition::share(*group_);
    [[maybe_unused]] const auto scope = execution.scope();
    detail::relied_on(*group_, "train_step", [&] {
      if constexpr (is_sharded) update_sharded(sender, model, state, share, result.hyper);
      else compiled<update_type>{}.into(model, state.moments)(model, result.sums, state.moments, share, result.hyper);
      using number = element_t<loss_type>;
      const auto* const sum_of_losses = reinterpret_cast<const number*>(sender.data() + layout.loss);
      number* const mean_loss = tenure::detail::tensor_access::fresh(result.loss);
      if constexpr (std::is_same_v<device, cpu_device>) *mean_loss = *sum_of_losses * static_cast<number>(share);
      else tenure::detail::device_memory<device>::copy(mean_loss, {}, sum_of_losses, {}, {});  // the share is 1
    });
    ++state.steps;
    return std::move(result.loss);
  }

  /// Returns compute(). If compute() throws, the other ranks learn of it.
  auto report_failure(auto& sender, auto compute) const {
    const auto fail = [&](const char* what) {
      if (sender.has_agreed()) detail::end_job(*group_, "train_step", what);
      sender.fail("train_step", what);
    };
    try {
      return compute();
    } catch (const std::exception& e) {
      fail(e.what());
      throw;
    } catch (...) {
      fail("an exception of an unknown type");
      throw;
    }
  }

  /// Updates the parameters of this rank's blocks and writes them to the arena. Gathers all blocks there, and copies them to the model.
  template <class Sender, class Model, class State>
  static void update_sharded(Sender& sender, Model& model, State& state, double share, const numbers& hyper) {
    constexpr const auto& layout = State::layout;
    using tenure::detail::tensor_access;
    const detail::leaf_memory<layout.leaves> parameters(model);
    const auto update = [&]<class T>(element_tag<T>, const detail::piece& p) {
      if constexpr (detail::has_type(layout, dtype_v<T>)) {
        using flat = tensor<T, shape<dyn>>;
        const auto flat_at = [&](const tenure::detail::storage_handle& memory, char* data) {
          return tensor_access::make<flat>(memory, reinterpret_cast<T*>(data), {1, {p.count}}, {1, {p.count}});
        };
        // The version of the parameter rises below, where the whole parameter is written.
        flat gradient = flat_at(sender.memory(), sender.data() + p.in_arena), parameter = flat_at(sender.memory(), parameters.of(p));
        [&]<std::size_t... K>(std::index_sequence<K...>) {
          std::array<flat, moments> of_rule{flat_at(state.memory(), state.moment(static_cast<int>(K), p))...};
          compiled<update_type>{}.into(parameter, of_rule)(parameter, gradient, of_rule, share, hyper);
        }(std::make_index_sequence<moments>{});
        std::memcpy(sender.data() + p.in_arena, parameters.of(p), static_cast<std::size_t>(p.count) * sizeof(T));
      }
    };
    state.for_each_piece([&](const detail::piece& p) { visit_floating(p.type, [&](auto tag) { update(tag, p); }); });
    sender.gather();
    int i = 0;
    tenure::detail::for_each_leaf(model, [&]<class L>(L& leaf) {
      const auto& from = layout.at[i++];
      const auto bytes = static_cast<std::size_t>(from.elements) * sizeof(element_t<L>);
      std::memcpy(tensor_access::write(leaf, "train_step"), sender.data() + from.offset, bytes);
    });
  }

  template <class Program, class... Data>
  static detail::signature signature_of_step(std::int64_t steps, const numbers& hyper, const Data&... data) {
    detail::signature s;
    s << "train_step" << static_cast<std::uint64_t>(Program::step_count) << static_cast<std::uint64_t>(steps);
    for (const double h : hyper) s << std::bit_cast<std::uint64_t>(h);
    const auto add = [&]<class L>(const L& leaf) { s << static_cast<std::uint64_t>(detail::dtype_of_leaf<L>) << detail::extents_of(leaf); };
    (tenure::detail::for_each_leaf(data, add), ...);
    return s;
  }
  /// The signature of the elements of models.
  static std::uint64_t signature_of_values(const auto&... models) {
    detail::signature s;
    std::vector<char> copy;
    const auto add = [&]<class L>(const L& leaf) {
      const void* elements = tenure::detail::tensor_access::read(leaf, "train_step");
      const std::size_t bytes = static_cast<std::size_t>(leaf.size()) * sizeof(element_t<L>);
      if constexpr (!std::is_same_v<device, cpu_device>) {
        copy.resize(bytes);
        tenure::detail::device_memory<device>::download(copy.data(), elements, bytes);
        elements = copy.data();
      }
      s.add(elements, bytes);
    };
    (tenure::detail::for_each_leaf(models, add), ...);
    return s.value();
  }
  template <bool Sharded, class Order, class... Data>
  static std::string text_of_step(const Order& order, bool is_first, std::int64_t steps, const numbers& hyper, const Data&... data) {
    std::string s = "step " + std::to_string(steps) + " with data ";
    const char* before = "";
    const auto add = [&]<class L>(const L& leaf) {
      s += std::string(std::exchange(before, ", ")) + name_of(detail::dtype_of_leaf<L>);
      if constexpr (any_tensor<L>) s += std::string(" ") + tenure::detail::spell(leaf.extents()).c_str();
    };
    (tenure::detail::for_each_leaf(data, add), ...);
    s += Sharded ? ", a sharded state" : "";
    s += is_first ? ", the first call" : "";
    s += " and hyperparameters";
    for (const double h : hyper) {
      char digits[32];
      std::snprintf(digits, sizeof digits, " %.9g", h);
      s += digits;
    }
    s += ", sent as";
    for (const auto& sent : order.at) s += ' ' + std::to_string(sent.what.elements + sent.tail);
    return s + " elements";
  }

  Group* group_;
  mutable bool have_compared_values_ = false;
};

}  // namespace tenure::mpi

namespace TENURE_NAMESPACE {

/// A training step that all ranks of a group run together. The group must outlive the step.
template <class Loss, class Rule, class Execution = inherited>
auto train_step(Loss, Rule rule, mpi::group& g, Execution on = {}) {
  return mpi::trainer<Loss, Rule, mpi::default_buckets, Execution>(rule, g, on);
}
template <class Loss, class Rule, std::int64_t Bytes, class Execution = inherited>
auto train_step(Loss, Rule rule, mpi::group& g, mpi::buckets_of<Bytes>, Execution on = {}) {
  return mpi::trainer<Loss, Rule, mpi::buckets_of<Bytes>, Execution>(rule, g, on);
}

}  // namespace tenure
