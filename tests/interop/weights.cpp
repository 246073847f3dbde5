// SPDX-License-Identifier: BSL-1.0
// Models from files that were written elsewhere: names, slices, transposed and converted weights, and models over a mapped file.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
#include <tenure/optim/adam.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"
#include "difference.hpp"

namespace tn = tenure;
namespace st = tenure::interop;
using Catch::Matchers::EndsWith;
using tn::load_options;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<2, 3>>, w), (tn::param<Kind, float, tn::shape<2>>, b));
  constexpr auto operator()(const auto& x) const { return linear(x, w, b); }
};
template <class Kind>
struct net {
  using stack = layer<tn::stacked<Kind, 3>>;
  using pair = std::array<layer<Kind>, 2>;
  BOOST_HANA_DEFINE_STRUCT(net, (layer<Kind>, first), (stack, layers), (pair, last));
  constexpr auto operator()(const auto& x) const { return first(x); }
};
template <class Kind>
struct square {
  BOOST_HANA_DEFINE_STRUCT(square, (tn::param<Kind, float, tn::shape<2, 2>>, w));
};
template <class Kind, auto N>
struct counted {
  BOOST_HANA_DEFINE_STRUCT(counted, (tn::param<Kind, std::int64_t, tn::shape<N>>, n), (tn::param<Kind, tn::bfloat16, tn::shape<2>>, h));
};

namespace {

using matrix = tn::tensor<float, tn::shape<2, 3>>;
using vector = tn::tensor<float, tn::shape<2>>;

/// Arrays that a test writes to a file.
struct file {
  template <class T>
  file& add(const std::string& name, std::string_view dtype, std::vector<std::int64_t> shape, const std::vector<T>& elements) {
    const auto bytes = std::as_bytes(std::span(elements));
    arrays.push_back({name, std::string(dtype), std::move(shape), {bytes.begin(), bytes.end()}});
    return *this;
  }
  /// float32 elements first, first + 1, ...
  file& add(const std::string& name, std::vector<std::int64_t> shape, float first) {
    std::size_t count = 1;
    for (const std::int64_t e : shape) count *= static_cast<std::size_t>(e);
    std::vector<float> elements(count);
    for (std::size_t i = 0; i < count; ++i) elements[i] = first + static_cast<float>(i);
    return add(name, "<f4", std::move(shape), elements);
  }
  const char* write(const char* path) const {
    std::vector<st::array_view> views;
    for (const st::array& a : arrays) views.push_back({a.name, a.dtype, a.shape, a.bytes});
    if (std::string_view(path).ends_with(".npz")) st::write_npz(path, views);
    else st::write_safetensors(path, views);
    return path;
  }
  std::vector<st::array> arrays;
};

std::vector<std::byte> content_of(const char* path) {
  return st::detail::input(path, {"load", path}).read(0, std::filesystem::file_size(path));
}

}  // namespace

// Law: the leaves come in the order of for_each_leaf, each with the name of its array in a file of save().
TEST_CASE("law: for_each_named_leaf gives the names in files, in the order of for_each_leaf") {
  tn::engine random(3);
  auto model = tn::init<net>(random);
  const tn::optim::adam rule;
  auto state = rule.init(model);
  std::vector<std::string> names;
  std::vector<const void*> of_names, of_leaves;
  tn::for_each_named_leaf(model, [&](const std::string& name, auto& leaf) {
    names.push_back(name);
    of_names.push_back(&leaf);
  });
  tn::for_each_leaf(model, [&](auto& leaf) { of_leaves.push_back(&leaf); });
  CHECK(names == std::vector<std::string>{"first.w", "first.b", "layers.w", "layers.b", "last.0.w", "last.0.b", "last.1.w", "last.1.b"});
  CHECK(of_names == of_leaves);
  const auto both = std::tie(model, state);
  names.clear();
  tn::for_each_named_leaf(both, [&](const std::string& name, auto&) { names.push_back(name); });
  for (const char* path : {"named.npz", "named.safetensors"}) {
    tn::save(path, both);
    std::vector<std::string> in_file;
    const st::detail::arrays_of_file read{std::string(path)};
    for (const st::array_view& a : read.views()) in_file.emplace_back(a.name);
    CHECK(std::is_permutation(names.begin(), names.end(), in_file.begin(), in_file.end()));
    CHECK(std::find(names.begin(), names.end(), "1.moments.1.last.0.b") != names.end());
    CHECK(std::find(names.begin(), names.end(), "1.steps") != names.end());
  }
  names.clear();
  tn::for_each_named_leaf(std::as_const(model.first.w), [&](const std::string& name, const auto&) { names.push_back(name); });
  CHECK(names == std::vector<std::string>{"array"});
}

TEST_CASE("a .safetensors file of save is read back, with the state of a rule, from the disk and from memory") {
  tn::engine random(5);
  auto model = tn::init<net>(random);
  const tn::optim::adam rule;
  auto state = rule.init(model);
  state.steps = 7;
  for (const char* path : {"run.safetensors", "run.npz"}) {
    tn::save(path, model, state);
    auto other = tn::init<net>(random);
    auto other_state = rule.init(other);
    tn::load(path, other, other_state);
    CHECK(other_state.steps == 7);
    CHECK(first_difference(other.layers.w.data(), model.layers.w.data(), 18));
    const auto bytes = content_of(path);
    auto third = tn::init<net>(random);
    tn::load(bytes, third, load_options{.strict = false});
    CHECK(first_difference(third.last[1].w.data(), model.last[1].w.data(), 6));
    tn::load(std::span<const std::byte>(bytes), third, other_state);
  }
  // The first bytes tell the format, whatever the name says.
  std::filesystem::rename("run.safetensors", "run.weights");
  tn::load("run.weights", model, state);
  std::filesystem::copy_file("run.npz", "zip.safetensors", std::filesystem::copy_options::overwrite_existing);
  tn::load("zip.safetensors", model, state);
  CHECK_THROWS_WITH(tn::load("run.weights", model), EndsWith("for 'moments.0.first.b', 'moments.0.first.w', 'moments.0.last.0.b', 'moments.0.last.0.w', 'moments.0.last.1.b' and 12 more of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out"));
  std::ofstream("nothing.safetensors");
  CHECK_THROWS_WITH(tn::load("nothing.safetensors", model), "tenure: load: nothing.safetensors: empty");
  const std::vector<std::byte> none;
  CHECK_THROWS_WITH(tn::load(none, model), "tenure: load: memory: empty");
}

TEST_CASE("names are changed word by word") {
  const auto renamed = [](const tn::renaming& rename, const char* name) { return rename(name); };
  CHECK(renamed({}, "a..b.") == "a..b.");
  CHECK(renamed({{"model.layers.", "layers."}}, "model.layers.3.w") == "layers.3.w");
  CHECK(renamed({{"model.", ""}}, "model.layers.3.w") == "layers.3.w");
  CHECK(renamed({{"model", ""}}, "model.layers.3.w") == "layers.3.w");
  CHECK(renamed({{"weight", ""}}, "fc.weight") == "fc");
  CHECK(renamed({{"mid", ""}}, "a.mid.b") == "a.b");
  CHECK(renamed({{"proj.weight", "w"}}, "h.out_proj.weight") == "h.out_proj.weight");
  CHECK(renamed({{"proj.weight", "w"}}, "h.proj.weight_g") == "h.proj.weight_g");
  CHECK(renamed({{"proj.weight", "w"}}, "proj.weight") == "w");
  CHECK(renamed({{"a", "a.a"}}, "a.b.a") == "a.a.b.a.a");
  CHECK(renamed({{"a", "b"}, {"b", "c"}}, "a.b") == "c.c");
  CHECK(renamed({{"", "x"}}, "a") == "a");
  CHECK(renamed([](std::string name) { return "m/" + name; }, "a") == "m/a");
}

TEST_CASE("a model of PyTorch is loaded under other names, transposed, converted and in slices") {
  const char* const path = file()
      .add("model.fc.weight", {3, 2}, 0)
      .add("model.fc.bias", "<f2", {2}, std::vector<std::uint16_t>{0x3c00, 0xc000})
      .add("model.layers.0.weight", {2, 3}, 10).add("model.layers.1.weight", {2, 3}, 20).add("model.layers.2.weight", {2, 3}, 30)
      .add("model.layers.0.bias", {2}, 1).add("model.layers.1.bias", "<f8", {2}, std::vector<double>{3, 4}).add("model.layers.2.bias", {2}, 5)
      .add("head.0.weight", {2, 3}, 40).add("head.0.bias", {2}, 50).add("head.1.weight", {2, 3}, 60).add("head.1.bias", {2}, 70)
      .add("bn.num_batches_tracked", "<i8", {}, std::vector<std::int64_t>{3})
      .write("pytorch.safetensors");
  tn::engine random(1);
  auto model = tn::init<net>(random);
  const load_options options{.rename = {{"model.", ""}, {"fc", "first"}, {"head", "last"}, {"weight", "w"}, {"bias", "b"}}, .transposed = {"first.w"}, .ignore = {"num_batches_tracked"}, .convert = true};
  tn::load(path, model, options);
  CHECK(model.first.w(0, 1) == 2);
  CHECK(model.first.w(1, 0) == 1);
  CHECK(model.first.w(1, 2) == 5);
  CHECK(model.first.b(1) == -2);
  for (std::int64_t i = 0; i < 3; ++i) {
    CHECK(model.layers.w(i, 1, 2) == static_cast<float>(10 + 10 * i + 5));
    CHECK(model.layers.b(i, 1) == static_cast<float>(2 + 2 * i));
  }
  CHECK(model.last[1].b(1) == 71);

  // Each cure is needed, and the message names it. Nothing is written.
  model.first.w.fill_(-9);
  const float before = -9;
  const auto refused = [&](auto change) {
    load_options fewer = options;
    change(fewer);
    std::string message = "loaded";
    try {
      tn::load(path, model, fewer);
    } catch (const tn::io_error& error) {
      message = error.what();
    }
    CHECK(model.first.w(0, 0) == before);
    return message.substr(std::min(message.size(), std::string("tenure: load: pytorch.safetensors: ").size()));
  };
  CHECK(refused([](auto& o) { o.convert = false; }) == "array 'first.b': has element type float16, the model has float32: load() with load_options{.convert = true} converts it");
  CHECK(refused([](auto& o) { o.transposed = {}; }) == "array 'first.w': has shape 3x2, the model has 2x3: load_options{.transposed = {...}} names parameters whose axes are exchanged");
  CHECK(refused([](auto& o) { o.transposed = {"first.w", "layers.w"}; }) == "array 'layers.0.w': has shape 2x3, the model has in the file 3x2: load_options{.transposed = {...}} names parameters whose axes are exchanged");
  CHECK(refused([](auto& o) { o.transposed = {"first.w", "frist.w"}; }) == "no parameter of the model has the words 'frist.w' of load_options{.transposed}");
  CHECK(refused([](auto& o) { o.transposed = {"first"}; }) == "array 'first.b': an array with less than two axes is not transposed");
  CHECK(refused([](auto& o) { o.ignore = {}; }) == "the model has no parameter for 'bn.num_batches_tracked' of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out");
  CHECK(refused([](auto& o) { o.rename = {{"bias", "w"}, {"weight", "w"}}; }) == "arrays 'model.layers.1.bias' and 'model.layers.1.weight' have one name after renaming: 'model.layers.1.w'");
  CHECK(refused([](auto& o) { o.rename = [](const std::string& name) { return name == "model.fc.weight" ? std::string("firsd.w") : name; }; }) == "array 'first.w': the file has no such array; it has 'firsd.w', 'head.0.bias', 'head.1.bias', 'head.0.weight', 'head.1.weight' and 8 more");
  tn::load(path, model, options);
}

TEST_CASE("slices are all there, of one shape") {
  using stack = layer<tn::stacked<tn::values, 3>>;
  stack model{tn::zeros<float>(tn::shape<3, 2, 3>{}), tn::zeros<float>(tn::shape<3, 2>{})};
  const auto names = [](const char* w, const char* b, int count) {
    file f;
    for (int i = 0; i < count; ++i) f.add((w + std::to_string(i)) + ".w", {2, 3}, static_cast<float>(i)).add((b + std::to_string(i)), {2}, static_cast<float>(i));
    return f;
  };
  // The number of a slice may stand at any place of the name.
  tn::load(names("", "b.", 3).write("slices.safetensors"), model);
  CHECK(model.w(2, 0, 1) == 3);
  CHECK(model.b(2, 1) == 3);
  tn::load(names("", "b.", 3).write("slices.npz"), model);
  CHECK_THROWS_WITH(tn::load(names("", "b.", 2).write("slices.safetensors"), model), "tenure: load: slices.safetensors: array '2.w': the file has no such array; it has '0.w', '1.w', 'b.0', 'b.1'");
  CHECK_THROWS_WITH(tn::load(names("", "b.", 4).write("slices.safetensors"), model), "tenure: load: slices.safetensors: the model has no parameter for '3.w', 'b.3' of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out");
  tn::load("slices.safetensors", model, load_options{.strict = false});
  CHECK_THROWS_WITH(tn::load(file().add("0.w", {2, 3}, 0).add("1.w", {3, 2}, 0).add("2.w", {2, 3}, 0).add("b", {3, 2}, 0).write("slices.safetensors"), model),
                    "tenure: load: slices.safetensors: array '1.w': has shape 3x2, the model has 2x3: load_options{.transposed = {...}} names parameters whose axes are exchanged");
}

TEST_CASE("a file that stacks the layers is loaded and mapped as an array of layers, also converted") {
  using layers = std::array<layer<tn::values>, 2>;
  layers model{layer<tn::values>{tn::zeros<float>(tn::shape<2, 3>{}), tn::zeros<float>(tn::shape<2>{})}, layer<tn::values>{tn::zeros<float>(tn::shape<2, 3>{}), tn::zeros<float>(tn::shape<2>{})}};
  const auto stacked = [](std::int64_t count) {
    std::vector<float> w(static_cast<std::size_t>(6 * count));
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i);
    return file().add("w", "<f4", {count, 2, 3}, w).add("b", "<f2", {2, 2}, std::vector<std::uint16_t>{0x3c00, 0xc000, 0x4000, 0x3800});
  };
  for (const char* const path : {"stacked.safetensors", "stacked.npz"}) {
    CHECK_THROWS_WITH(tn::load(stacked(2).write(path), model), "tenure: load: " + std::string(path) + ": array '0.b': has element type float16, the model has float32: load() with load_options{.convert = true} converts it");
    model[1].w.fill_(-1);
    tn::load(path, model, load_options{.convert = true});
    CHECK(model[0].w(1, 2) == 5);
    CHECK(model[1].w(0, 0) == 6);
    CHECK(model[1].w(1, 2) == 11);
    CHECK(model[0].b(1) == -2);
    CHECK(model[1].b(1) == 0.5f);
    // A slice that nothing takes is an array that nothing takes; a layer that the file lacks is missing.
    CHECK_THROWS_WITH(tn::load(stacked(3).write(path), model, load_options{.convert = true, .strict = true}),
                      "tenure: load: " + std::string(path) + ": the model has no parameter for 'w' of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out");
    CHECK_THROWS_WITH(tn::load(stacked(1).write(path), model, load_options{.convert = true}), "tenure: load: " + std::string(path) + ": array '1.w': the file has no such array; it has 'w', 'b'");
  }
  // The number may stand in the middle of a name, and the slices are read where they are.
  file all;
  all.add("first.w", {2, 3}, 0).add("first.b", {2}, 0).add("layers.w", {3, 2, 3}, 0).add("layers.b", {3, 2}, 0).add("last.w", {2, 2, 3}, 100).add("last.b", {2, 2}, 200);
  const auto mapped = tn::map_model<net>(all.write("stacked.safetensors"));
  CHECK(mapped.last[1].w(1, 2) == 111);
  CHECK(mapped.last[0].b(1) == 201);
  CHECK(mapped.layers.w(2, 1, 2) == 17);
}

TEST_CASE("law: save with other names and load with those of the file give the same model") {
  tn::engine random(7);
  const auto model = tn::init<net>(random);
  const tn::renaming pytorch{{"first", "fc"}, {"last", "head"}, {"w", "weight"}, {"b", "bias"}}, back{{"fc", "first"}, {"head", "last"}, {"weight", "w"}, {"bias", "b"}};
  for (const char* const path : {"renamed.safetensors", "renamed.npz"}) {
    tn::save(path, model, tn::save_options{.rename = pytorch});
    const st::detail::arrays_of_file saved(path);
    std::string names;
    for (const st::array_view& a : saved.views()) names += std::string(a.name) + ' ';
    for (const char* const name : {"fc.weight ", "fc.bias ", "layers.weight ", "layers.bias ", "head.0.weight ", "head.1.bias "}) CHECK_THAT(names, Catch::Matchers::Contains(name));
    auto other = tn::init<net>(random);
    tn::load(path, other, load_options{.rename = back});
    tn::for_each_named_leaf(model, [&](const std::string& name, const auto& leaf) {
      tn::for_each_named_leaf(other, [&](const std::string& of_other, const auto& loaded) {
        if constexpr (std::is_same_v<decltype(leaf), decltype(loaded)>)
          if (name == of_other) CHECK(std::memcmp(leaf.data(), loaded.data(), static_cast<std::size_t>(leaf.size()) * sizeof(float)) == 0);
      });
    });
    // Names that become one are refused, and the file stays as it was.
    CHECK_THROWS_AS(tn::save(path, model, tn::save_options{.rename = {{"w", "b"}}}), tn::io_error);
    tn::load(path, other, load_options{.rename = back});
  }
}

// Law: every refusal comes before an element is written.
TEST_CASE("law: load writes nothing if it refuses a later parameter") {
  vector x{1, 2};
  tn::tensor<std::int32_t, tn::shape<2>> n{3, 4};
  const char* const path = file().add("0", {2}, 5).add("1", "<i8", {2}, std::vector<std::int64_t>{7, 1ll << 40}).write("late.safetensors");
  CHECK_THROWS_WITH(tn::load(path, std::tie(x, n), load_options{.convert = true}), "tenure: load: late.safetensors: array '1': has the number 1099511627776, which int32 does not hold");
  CHECK_THROWS_WITH(tn::load(path, std::tie(x, n)), "tenure: load: late.safetensors: array '1': has element type int64, the model has int32: load() with load_options{.convert = true} converts it");
  CHECK_THROWS_WITH(tn::load(path, std::tie(x, x)), EndsWith("array '1': has element type int64, the model has float32: load() with load_options{.convert = true} converts it"));
  tn::tensor<bool, tn::shape<2>> mask{true, false};
  CHECK_THROWS_WITH(tn::load(path, std::tie(x, mask)), EndsWith("array '1': has element type int64, the model has bool, to which it does not convert"));
  CHECK(x(0) == 1);
  CHECK(n(0) == 3);
  tn::load(path, std::tie(x, x), load_options{.convert = true});
  CHECK(x(0) == 7);
}

// Law: a mapped parameter has the bits of the file, and it is read-only.
TEST_CASE("law: a mapped model has the parameters of the file, and computes with them") {
  tn::engine random(9);
  const auto model = tn::init<net>(random);
  tn::save("mapped.safetensors", model);
  const auto mapped = tn::map_model<net>("mapped.safetensors");
  STATIC_REQUIRE(tn::access_of_v<decltype(mapped.first.w)> == tn::access::read_only);
  STATIC_REQUIRE(tn::ownership_of_v<decltype(mapped.first.w)> == tn::ownership::aliasing);
  tn::save("again.safetensors", model);  // a file that is replaced stays as it was
  tn::save("mapped.safetensors", tn::init<net>(random));
  std::vector<const float*> of_model;
  tn::for_each_leaf(model, [&](const auto& x) { of_model.push_back(x.data()); });
  std::size_t i = 0;
  tn::for_each_leaf(mapped, [&](const auto& x) { CHECK(first_difference(x.data(), of_model[i++], x.size())); });
  constexpr auto f = [](auto m, auto x) { return m(x); };
  const auto x = tn::normal<float>(tn::shape<5, 3>{}, random);
  const tn::tensor<float, tn::shape<5, 2>> y = tn::compile(f)(mapped, x), wanted = tn::compile(f)(model, x);
  CHECK(first_difference(y.data(), wanted.data(), 10));
  const auto [value, grads] = tn::value_and_grad([](auto m, auto at) { return sum(m(at)); })(mapped, x);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(grads)>, net<tn::values>>);
  CHECK(grads.first.b(0) == 5);
}

// Law: the mapping ends with the object.
TEST_CASE("law: a mapping lives as long as a tensor over it") {
  const auto is_mapped = [] {
    std::stringstream maps;
    maps << std::ifstream("/proc/self/maps").rdbuf();
    return maps.str().find("lives.safetensors") != std::string::npos;
  };
  file().add("w", {2, 3}, 0).add("b", {2}, 6).write("lives.safetensors");
  {
    const auto w = [&] {
      const tn::mapped_file weights("lives.safetensors");
      CHECK(weights.tensor<float, tn::shape<2>>("b")(1) == 7);
      CHECK(weights.arrays().size() == 2);
      const auto again = weights.tensor<float, tn::shape<tn::dyn, 3>>("w");
      CHECK(again.extent(0) == 2);
      return weights.tensor<float, tn::shape<2, 3>>("w");
    }();
    CHECK(is_mapped());
    CHECK(w(1, 2) == 5);
  }
  CHECK(!is_mapped());
  CHECK_THROWS_AS(tn::map_model<net>("lives.safetensors"), tn::io_error);
  CHECK(!is_mapped());
}

TEST_CASE("what a mapping cannot give is refused with the cure") {
  const auto refused = [](const char* path, load_options options = {}) -> std::string {
    try {
      tn::map_model<layer>(path, std::move(options));
    } catch (const tn::io_error& error) {
      return error.what();
    }
    return "mapped";
  };
  CHECK(refused("missing.safetensors") == "tenure: map_model: missing.safetensors: no such file");
  CHECK(refused(".") == "tenure: map_model: .: not a regular file");
  std::ofstream("nothing.safetensors");
  CHECK(refused("nothing.safetensors") == "tenure: map_model: nothing.safetensors: empty");
  CHECK(refused("") == "tenure: map_model: '': the path is empty");
  const char* const path = file().add("w", {2, 3}, 0).add("b", {2}, 6).write("refused.safetensors");
  CHECK(refused(path) == "mapped");
  CHECK(refused(path, {.convert = true}) == "tenure: map_model: refused.safetensors: a mapping copies nothing, so it does not convert: load() the model with these options");
  CHECK(refused(path, {.transposed = {"w"}}) == "tenure: map_model: refused.safetensors: a mapping copies nothing, so it does not transpose: load() the model with these options");
  CHECK(refused(file().add("w", {2, 3}, 0).write(path)) == "tenure: map_model: refused.safetensors: array 'b': the file has no such array; it has 'w'");
  CHECK(refused(file().add("w", {2, 3}, 0).add("b", {2}, 0).add("c", {2}, 0).write(path)) == "tenure: map_model: refused.safetensors: the model has no parameter for 'c' of the file: load_options{.strict = false} loads the others, .ignore = {...} names arrays to leave out");
  CHECK(refused(path, {.ignore = {"c"}}) == "mapped");
  CHECK(refused(path, {.rename = {{"c", "d"}}, .strict = false}) == "mapped");
  CHECK(refused(file().add("w", {2, 3}, 0).add("b.0", {}, 0).add("b.1", {}, 0).write(path)) == "tenure: map_model: refused.safetensors: array 'b': has its slices in arrays of their own; a mapping copies nothing: load() the model, or save() it once more and map that file");
  CHECK(refused(file().add("w", {2, 3}, 0).add("b", "<f8", {2}, std::vector<double>{1, 2}).write(path)) == "tenure: map_model: refused.safetensors: array 'b': has element type float64, the model has float32: load() with load_options{.convert = true} converts it");
  // Three bytes before it: other programs may write that.
  std::string text = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F32","shape":[2],"data_offsets":[3,11]},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[11,35]}})";
  while (text.size() % 8 != 0) text += ' ';
  std::ofstream out("odd.safetensors", std::ios::binary);
  const std::uint64_t length = text.size();
  out.write(reinterpret_cast<const char*>(&length), 8) << text << std::string(35, '\0');
  out.close();
  CHECK(refused("odd.safetensors", {.strict = false}) == "tenure: map_model: odd.safetensors: array 'w': begins at byte " + std::to_string(8 + length + 11) + ", its elements need a multiple of 4; a mapping copies nothing: load() the model, or save() it once more and map that file");
  matrix w;
  vector b;
  tn::load("odd.safetensors", std::tie(w, b), load_options{.rename = {{"w", "0"}, {"b", "1"}}, .strict = false});
}

// Law: the arrays of the files are those of the index, each once.
TEST_CASE("law: a model in several files is loaded and mapped through its index") {
  namespace fs = std::filesystem;
  fs::create_directory("parts");
  file().add("w", {2, 3}, 10).write("parts/model-00001-of-00002.safetensors");
  file().add("b", {2}, 20).add("e", {0}, 0).write("parts/model-00002-of-00002.safetensors");
  const char* const path = "parts/model.safetensors.index.json";
  const auto index = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  const std::string map = R"("weight_map": {"w": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors", "e": "model-00002-of-00002.safetensors"})";
  index(R"({"metadata": {"total_size": 32, "parameters": -1.5e3, "of": [true, null, {}, [], "x"]}, )" + map + "}\n");
  layer<tn::values> model;
  tn::load(path, model, load_options{.ignore = {"e"}});
  CHECK(model.w(1, 2) == 15);
  CHECK(model.b(1) == 21);
  const auto mapped = tn::map_model<layer>(path, load_options{.ignore = {"e"}});
  CHECK(mapped.w(1, 2) == 15);
  CHECK(mapped.b(1) == 21);
  CHECK(tn::mapped_file(path).arrays().size() == 3);

  const auto refused = [&](const std::string& text) {
    index(text);
    std::string message = "loaded";
    try {
      tn::load(path, model, load_options{.ignore = {"e"}});
    } catch (const tn::io_error& error) {
      message = error.what();
    }
    std::string of_map = "mapped";
    try {
      tn::map_model<layer>(path, load_options{.ignore = {"e"}});
    } catch (const tn::io_error& error) {
      of_map = error.what();
    }
    const std::string load = "tenure: load: ", map_model = "tenure: map_model: ";
    CHECK(message.substr(load.size()) == of_map.substr(map_model.size()));
    return message.substr(load.size());
  };
  const std::string here = "parts/model.safetensors.index.json: ", first = "parts/model-00001-of-00002.safetensors: ", second = "parts/model-00002-of-00002.safetensors: ";
  CHECK(refused("") == here + "malformed index at character 1: expected '{'");
  CHECK(refused("{}") == here + "malformed index at character 3: it has no weight_map");
  CHECK(refused("{" + map + "," + map + "}").ends_with("weight_map appears twice"));
  CHECK(refused("{" + map + "} x").ends_with("text after the object"));
  CHECK(refused("{\"metadata\": }").ends_with("expected a value"));
  CHECK(refused("{\"metadata\": " + std::string(100'000, '[')).ends_with("more than 16 nested brackets"));
  CHECK(refused("{\"metadata\": [1,").ends_with("expected a value"));
  CHECK(refused(R"({"weight_map": {"w": 1}})").ends_with("expected '\"'"));
  CHECK(refused(R"({"weight_map": {"w": "a", "w": "a"}})").ends_with("array 'w' appears twice"));
  for (const char* name : {"", ".", "..", "../a.safetensors", "/etc/passwd", "a/b", "a\\\\b", "a\\u0000"})
    CHECK(refused(std::string(R"({"weight_map": {"w": ")") + name + "\"}}").ends_with("is not the name of a file in the folder of the index"));
  CHECK(refused(R"({"weight_map": {"w": "none.safetensors"}})").starts_with("parts/none.safetensors: "));
  CHECK(refused(R"({"weight_map": {"w": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})") == second + "array 'e': the index does not have it in this file");
  CHECK(refused(R"({"weight_map": {"w": "model-00002-of-00002.safetensors", "b": "model-00002-of-00002.safetensors", "e": "model-00002-of-00002.safetensors"}})") == here + "array 'w': is not in 'model-00002-of-00002.safetensors', where the index has it");
  CHECK(refused(R"({"weight_map": {"w": "model-00002-of-00002.safetensors", "b": "model-00001-of-00002.safetensors", "e": "model-00002-of-00002.safetensors"}})") == first + "array 'w': the index does not have it in this file");
  file().add("w", {2, 3}, 10).write("parts/model-00002-of-00002.safetensors");
  CHECK(refused("{" + map + "}") == second + "array 'w': the index does not have it in this file");
  CHECK(model.w(1, 2) == 15);
}

TEST_CASE("kernels read no element beyond the end of a mapping") {
  // The file ends with its last array at the end of a page, and nothing is mapped behind it.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t floats = (page - 64 * 4) / 4;
  const std::string text = "{\"a\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(floats - 13) + "],\"data_offsets\":[0," + std::to_string(4 * (floats - 13)) + "]},\"w\":{\"dtype\":\"F32\",\"shape\":[13],\"data_offsets\":[" +
                           std::to_string(4 * (floats - 13)) + "," + std::to_string(4 * floats) + "]}}";
  std::vector<std::byte> content(page);
  const std::uint64_t length = 64 * 4 - 8;
  std::memcpy(content.data(), &length, 8);
  std::memset(content.data() + 8, ' ', length);
  std::memcpy(content.data() + 8, text.data(), text.size());
  auto* const memory = static_cast<std::byte*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::copy(content.begin(), content.end(), memory);
  mprotect(memory + page, page, PROT_NONE);
  const tn::mapped_file weights(std::span<const std::byte>(memory, page));
  const auto w = weights.tensor<float, tn::shape<13>>("w");
  const tn::tensor<float, tn::shape<13>> y = exp(w) + 1;
  CHECK(y(12) == 2);
  constexpr auto f = [](auto v, auto x) { return sum(v * x) + sum(linear(tn::reshape<1, 13>(x), tn::reshape<1, 13>(v))); };
  CHECK(tn::compile(f)(w, y).item() == 0);
  munmap(memory, 2 * page);
}

TEST_CASE("weights that are part of the program are mapped where they are") {
  counted<tn::values, 3> model{{1, 2, 3}, tn::tensor<tn::bfloat16, tn::shape<2>>{tn::bfloat16(0.5f), tn::bfloat16(-2.f)}};
  tn::save("embedded.safetensors", model);
  const auto bytes = content_of("embedded.safetensors");
  alignas(64) std::array<std::byte, 1024> embedded{};
  std::copy(bytes.begin(), bytes.end(), embedded.begin());
  const std::span<const std::byte> weights(embedded.data(), bytes.size());
  const auto mapped = tn::map_model<counted, 3>(weights);
  CHECK(mapped.n(2) == 3);
  CHECK(static_cast<float>(mapped.h(1)) == -2);
  const bool is_inside = reinterpret_cast<const std::byte*>(mapped.n.data()) > embedded.data() && reinterpret_cast<const std::byte*>(mapped.n.data()) < embedded.data() + embedded.size();
  CHECK(is_inside);
  std::copy(bytes.begin(), bytes.end(), embedded.begin() + 1);
  CHECK_THROWS_WITH((tn::map_model<counted, 3>(std::span<const std::byte>(embedded.data() + 1, bytes.size()))), EndsWith("its elements need a multiple of 8; a mapping copies nothing: load() the model, or save() it once more and map that file"));
}
