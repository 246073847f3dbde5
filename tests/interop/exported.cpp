// SPDX-License-Identifier: BSL-1.0
// Calls of traced functions on the buffers of another library, without that library: batches along any axes beside single calls, cotangents that are
// sums over a batch, signatures, and buffers that do not fit. tests/peers/xla_ffi.py does the same from JAX.
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/exported.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace {

namespace tn = tenure;
namespace exports = tn::detail::exports;
using tn::dyn;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, double, tn::shape<2, 3>>, w), (tn::param<Kind, double, tn::shape<2>>, b));
};
constexpr auto activated = [](auto net, auto x) { return tanh(matmul(net.w, x) + net.b); };
constexpr auto iterated = [](auto net, auto x) {  // long enough for its directions to share the value
  const auto given = matmul(net.w, x) + net.b;
  return tn::fori_loop(200, [=](auto, auto y) { return tanh(0.5 * y + given); }, given);
};
constexpr auto weighted = [](auto x, auto y, auto factor) { return std::tuple{x * factor, sum(x * y)}; };
constexpr auto table = [](auto x, auto y) { return outer(sin(x), y) * sum(x); };
constexpr auto extended = [](auto x, auto y) { return tn::concat<0>(x, y * y); };

/// A buffer of another library: a batch of arrays, with an extent of 1 along the axes that share the memory.
struct buffer {
  std::vector<std::int64_t> dims;
  std::vector<double> numbers;

  buffer(std::vector<std::int64_t> batch, std::vector<std::int64_t> shape, double seed = 0) : dims(batch) {
    dims.insert(dims.end(), shape.begin(), shape.end());
    numbers.resize(static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>())));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  }
  /// The elements of sample `at` of a batch.
  double* sample(const std::vector<std::int64_t>& batch, std::int64_t at) {
    std::int64_t elements = 1, offset = 0;
    for (std::size_t a = batch.size(); a < dims.size(); ++a) elements *= dims[a];
    for (std::size_t a = batch.size(); a-- > 0;) {
      if (dims[a] != 1) offset += at % batch[a] * elements;
      at /= batch[a];
      elements *= dims[a];
    }
    return numbers.data() + offset;
  }
};

/// Calls on buffers; the results are the last ones. Returns the refusal.
template <class Call>
std::string run(std::vector<buffer*> given, tn::dtype type = tn::dtype::float64) {
  exports::buffer buffers[Call::arguments + Call::results];
  exports::buffer_list list(buffers, Call::leaves.at, Call::arguments, Call::results, Call::has_directions);
  REQUIRE(given.size() == std::size(buffers));
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!list.read(static_cast<int>(i), type, given[i]->numbers.data(), static_cast<std::int64_t>(given[i]->dims.size()), given[i]->dims.data())) return list.refusal().c_str();
  if (!list.find_batch(Call::arguments + Call::results)) return list.refusal().c_str();
  Call::run(list, buffers);
  return "";
}

/// Compares a batch with its calls one by one. shared[i] has a bit for each axis of the batch along which argument i is shared.
template <class Call>
void compare(const std::vector<std::int64_t>& batch, const std::vector<unsigned>& shared, const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<buffer> whole;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<std::int64_t> axes = batch;
    for (std::size_t a = 0; a < axes.size() && i < shared.size(); ++a)
      if (shared[i] >> a & 1) axes[a] = 1;
    whole.emplace_back(axes, shapes[i], static_cast<double>(i));
  }
  std::vector<buffer*> pointers;
  for (buffer& b : whole) pointers.push_back(&b);
  CHECK(run<Call>(pointers) == "");
  const std::int64_t samples = std::accumulate(batch.begin(), batch.end(), std::int64_t{1}, std::multiplies<>());
  for (std::int64_t s = 0; s < samples; ++s) {
    std::vector<buffer> one;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      one.emplace_back(std::vector<std::int64_t>{}, shapes[i]);
      std::copy_n(whole[i].sample(batch, s), one[i].numbers.size(), one[i].numbers.begin());
    }
    pointers.clear();
    std::vector<std::vector<double>> expected;
    for (std::size_t i = 0; i < one.size(); ++i) {
      expected.push_back(one[i].numbers);
      if (i >= shared.size()) std::fill(one[i].numbers.begin(), one[i].numbers.end(), NAN);
      pointers.push_back(&one[i]);
    }
    CHECK(run<Call>(pointers) == "");
    for (std::size_t i = shared.size(); i < one.size(); ++i)
      for (std::size_t k = 0; k < expected[i].size(); ++k) CHECK(one[i].numbers[k] == Approx(expected[i][k]).epsilon(1e-14).margin(1e-14));
  }
}

using vector = tn::tensor<double, tn::shape<3>>;
using in_batches = exports::function_of<decltype(weighted), vector, vector, tn::constant_argument<double>>;
using of_network = exports::function_of<decltype(activated), tn::shared_argument<layer<tn::values>>, vector>;
using of_iterated = exports::function_of<decltype(iterated), tn::shared_argument<layer<tn::values>>, vector>;
static_assert(of_iterated::jvp_call::has_directions && of_iterated::vjp_call::has_directions && !of_network::jvp_call::has_directions && !of_iterated::value_call::has_directions);
using of_sizes = exports::function_of<decltype(table), tn::tensor<double, tn::shape<dyn>>, tn::tensor<double, tn::shape<dyn>>>;
using of_any_size = exports::function_of<decltype(extended), vector, tn::tensor<double, tn::shape<dyn>>>;

// Law: a batch gives what its calls give one by one, whichever arguments are batched.
TEST_CASE("a batch gives what its calls give one by one, whichever arguments are batched") {
  for (const std::vector<std::int64_t>& batch : {std::vector<std::int64_t>{}, {1}, {5}, {0}, {2, 3}, {3, 1, 2}, {2, 0}})
    for (unsigned first = 0; first < 1u << batch.size(); ++first)
      for (unsigned second = 0; second < 1u << batch.size(); ++second) {
        const unsigned third = (first ^ second) & ((1u << batch.size()) - 1);
        compare<in_batches::value_call>(batch, {first, second, third}, {{3}, {3}, {}, {3}, {}});
        compare<in_batches::jvp_call>(batch, {first, second, third, second, first}, {{3}, {3}, {}, {3}, {3}, {3}, {}});
        compare<in_batches::vjp_call>(batch, {first, second, third, 0, first}, {{3}, {3}, {}, {3}, {}, {3}, {3}});
        compare<of_network::value_call>(batch, {first, second, third}, {{2, 3}, {2}, {3}, {2}});
        compare<of_network::vjp_call>(batch, {first, second, third, 0}, {{2, 3}, {2}, {3}, {2}, {2, 3}, {2}, {3}});
        compare<of_any_size::value_call>(batch, {first, second}, {{3}, {4}, {7}});
        compare<of_any_size::vjp_call>(batch, {first, second, 0}, {{3}, {4}, {7}, {3}, {4}});
      }
}

// Law: what does not depend on the direction is computed once for all of them.
int evaluations = 0;
constexpr auto cube = tn::custom_jvp(tn::extern_op([](double x) { return ++evaluations, x * x * x; }, tn::result<double>),
                                     [](auto x, auto t) { return std::tuple{x * x * x, 3.0 * x * x * t}; });
constexpr auto counted = [](auto x, auto w) { return x * cube(sum(x * w)); };
using of_counted = exports::function_of<decltype(counted), vector, tn::shared_argument<vector>>;

template <class Call>
int evaluations_of(const std::vector<std::int64_t>& batch, const std::vector<unsigned>& shared, const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<buffer> buffers;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<std::int64_t> axes = batch;
    for (std::size_t a = 0; a < axes.size() && i < shared.size(); ++a)
      if (shared[i] >> a & 1) axes[a] = 1;
    buffers.emplace_back(axes, shapes[i], static_cast<double>(i));
  }
  std::vector<buffer*> pointers;
  for (buffer& b : buffers) pointers.push_back(&b);
  evaluations = 0;
  CHECK(run<Call>(pointers) == "");
  return evaluations;
}

TEST_CASE("what does not depend on the direction is computed once for all of them") {
  const std::vector<std::vector<std::int64_t>> of_jvp{{3}, {3}, {3}, {3}, {3}}, of_vjp{{3}, {3}, {3}, {3}, {3}};
  CHECK(evaluations_of<of_counted::jvp_call>({}, {0, 0, 0, 0}, of_jvp) == 1);
  CHECK(evaluations_of<of_counted::jvp_call>({6}, {1, 1, 0, 0}, of_jvp) == 1);
  CHECK(evaluations_of<of_counted::jvp_call>({6}, {1, 1, 0, 1}, of_jvp) == 1);
  CHECK(evaluations_of<of_counted::jvp_call>({6}, {0, 1, 0, 1}, of_jvp) == 6);
  CHECK(evaluations_of<of_counted::jvp_call>({4, 6}, {3, 3, 0, 0}, of_jvp) == 1);
  for (const unsigned samples : {1u, 2u}) {  // the axis of the samples, the other one is that of the directions
    const int count = samples == 1 ? 4 : 6;
    const unsigned directions = 3 - samples;
    CHECK(evaluations_of<of_counted::jvp_call>({4, 6}, {directions, 3, 0, 3 - directions}, of_jvp) == count);
    CHECK(evaluations_of<of_counted::jvp_call>({4, 6}, {directions, 3, samples, 3 - directions}, of_jvp) == count);
    CHECK(evaluations_of<of_counted::jvp_call>({4, 6}, {directions, directions, 0, 0}, of_jvp) == count);  // a batch of the shared argument
    CHECK(evaluations_of<of_counted::vjp_call>({4, 6}, {directions, 3, 0}, of_vjp) == count);
  }
  CHECK(evaluations_of<of_counted::vjp_call>({6}, {1, 1, 0}, of_vjp) == 1);
}

TEST_CASE("directions give what they give one by one") {
  for (const std::vector<std::int64_t>& batch : {std::vector<std::int64_t>{5}, {2, 3}, {0, 3}, {3, 0}, {3, 1, 2}, {2, 3, 2}}) {
    const unsigned all = (1u << batch.size()) - 1;
    for (unsigned directions = 0; directions <= all; ++directions)
      for (const unsigned tangent : {0u, all & ~directions, directions}) {
        compare<in_batches::jvp_call>(batch, {directions, directions, all, 0, tangent}, {{3}, {3}, {}, {3}, {3}, {3}, {}});
        compare<in_batches::vjp_call>(batch, {directions, all, directions, 0, tangent}, {{3}, {3}, {}, {3}, {}, {3}, {3}});
        compare<of_iterated::jvp_call>(batch, {directions, directions, all, 0, tangent, 0}, {{2, 3}, {2}, {3}, {2, 3}, {2}, {3}, {2}});
        compare<of_iterated::vjp_call>(batch, {all, all, directions, 0}, {{2, 3}, {2}, {3}, {2}, {2, 3}, {2}, {3}});
        compare<of_sizes::jvp_call>(batch, {directions, all, tangent, 0}, {{4}, {3}, {4}, {3}, {4, 3}});
        compare<of_sizes::vjp_call>(batch, {directions, all, 0}, {{4}, {3}, {4, 3}, {4}, {3}});
      }
  }
}

template <class OfNetwork>
void check_sums_in_directions() {
  constexpr std::int64_t n = 5, directions = 4;
  for (const bool directions_first : {true, false}) {
    const std::vector<std::int64_t> batch = directions_first ? std::vector{directions, n} : std::vector{n, directions};
    const auto along = [&](bool has_directions, bool has_samples) {
      const std::int64_t d = has_directions ? directions : 1, s = has_samples ? n : 1;
      return directions_first ? std::vector{d, s} : std::vector{s, d};
    };
    buffer w({1, 1}, {2, 3}), b({1, 1}, {2}), x(along(false, true), {3}, 1), y(batch, {2}, 2);
    buffer dw(along(true, false), {2, 3}), db(along(true, false), {2}), dx(batch, {3}), dws(batch, {2, 3}), dbs(batch, {2}), dxs(batch, {3});
    CHECK(run<typename OfNetwork::vjp_call>({&w, &b, &x, &y, &dw, &db, &dx}) == "");
    CHECK(run<typename OfNetwork::vjp_call>({&w, &b, &x, &y, &dws, &dbs, &dxs}) == "");
    for (std::int64_t d = 0; d < directions; ++d)
      for (std::size_t k = 0; k < 6; ++k) {
        double sum = 0;
        for (std::int64_t s = 0; s < n; ++s) sum += dws.sample(batch, directions_first ? d * n + s : s * directions + d)[k];
        CHECK(dw.numbers[static_cast<std::size_t>(6 * d) + k] == Approx(sum).margin(1e-14));
      }
    for (std::size_t k = 0; k < dx.numbers.size(); ++k) CHECK(dx.numbers[k] == Approx(dxs.numbers[k]).margin(1e-14));
  }
}

TEST_CASE("the cotangent of a shared argument in each direction is the sum over the samples") {
  check_sums_in_directions<of_network>();   // without directions of its own
  check_sums_in_directions<of_iterated>();
}

TEST_CASE("the cotangent of a shared argument is is the sum over the batch") {
  for (const std::int64_t n : {0, 1, 6}) {
    buffer w({1}, {2, 3}), b({1}, {2}), x({n}, {3}, 1), y({n}, {2}, 2), dw({1}, {2, 3}), db({1}, {2}), dx({n}, {3});
    CHECK(run<of_network::vjp_call>({&w, &b, &x, &y, &dw, &db, &dx}) == "");
    buffer dws({n}, {2, 3}), dbs({n}, {2}), dxs({n}, {3});
    CHECK(run<of_network::vjp_call>({&w, &b, &x, &y, &dws, &dbs, &dxs}) == "");
    for (std::size_t k = 0; k < 6; ++k) {
      double sum = 0;
      for (std::int64_t s = 0; s < n; ++s) sum += dws.sample({n}, s)[k];
      CHECK(dw.numbers[k] == Approx(sum).margin(1e-14));
    }
    for (std::size_t k = 0; k < dx.numbers.size(); ++k) CHECK(dx.numbers[k] == Approx(dxs.numbers[k]).margin(1e-14));
  }
}

TEST_CASE("signatures name the trees, the types and the extents") {
  CHECK(std::string(of_network::signature()) ==
        R"({"arguments": [{"members": {"w": {"type": "float64", "shape": [2, 3]}, "b": {"type": "float64", "shape": [2]}}}, {"type": "float64", "shape": [3]}], )"
        R"("variables": [true, true], "shared": [true, false], "has_derivatives": true, "results": {"type": "float64", "shape": [2]}})");
  CHECK(std::string(of_any_size::signature()) ==
        R"({"arguments": [{"type": "float64", "shape": [3]}, {"type": "float64", "shape": [null]}], )"
        R"("variables": [true, true], "shared": [false, false], "has_derivatives": true, "results": {"type": "float64", "shape": [["+", 3, ["extent", 1, 0]]]}})");
  CHECK(std::string(in_batches::signature()).find(R"("variables": [true, true, false])") != std::string::npos);
  CHECK(std::string(in_batches::signature()).find(R"("results": [{"type": "float64", "shape": [3]}, {"type": "float64", "shape": []}])") != std::string::npos);
}

TEST_CASE("buffers that do not fit are refused before anything is written") {
  buffer x({4}, {3}), y({4}, {3}), factor({4}, {}), z({4}, {3}), s({4}, {});
  const std::vector<double> before = z.numbers;
  CHECK(run<in_batches::value_call>({&x, &y, &factor, &z, &s}, tn::dtype::float32) == "tenure: call: buffer 0 has another element type than the function's types say");
  buffer narrow({4}, {2}), few({3}, {3}), flat({}, {3}), deep({4, 1}, {3});
  CHECK(run<in_batches::value_call>({&x, &narrow, &factor, &z, &s}) == "tenure: call: buffer 1 has another extent than the function's types say");
  CHECK(run<in_batches::value_call>({&x, &flat, &factor, &z, &s}) == "tenure: call: buffer 1 has another rank than the function's types say");
  CHECK(run<in_batches::value_call>({&x, &deep, &factor, &z, &s}) == "tenure: call: buffer 1 has another rank than the function's types say");
  CHECK(run<in_batches::value_call>({&few, &y, &factor, &z, &s}).find("has another number of samples") != std::string::npos);
  CHECK(z.numbers == before);
}

}  // namespace
