// SPDX-License-Identifier: BSL-1.0
// save("model.npz", model) and load("model.npz", model): the parameters of a model, or one tensor, in NumPy's format. An array
// has the name of its member, such as w1 or layers.0.w; a single tensor has the name "array". load() checks the names, types and
// shapes of all arrays before it writes any. Cost: it includes <filesystem> and <fstream>, so <tenure/tenure.hpp> does not
// include this header.
#pragma once

#include <string>
#include <vector>

#include <boost/hana/core/to.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>

#include <tenure/core/error.hpp>
#include <tenure/interop/npz.hpp>
#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

/// NumPy's name of an element type in a file, such as "<f4".
template <element T>
constexpr std::string_view npy_descriptor() {
  switch (dtype_v<T>) {
    case dtype::boolean: return "|b1";
    case dtype::int32: return "<i4";
    case dtype::int64: return "<i8";
    case dtype::float32: return "<f4";
    default: return "<f8";
  }
}

/// Calls f(name, tensor) for each parameter.
template <class X, class F>
void for_each_named(X& x, const std::string& name, F& f) {
  using tree = std::remove_cv_t<X>;
  if constexpr (any_tensor<tree>) {
    f(name, x);
  } else if constexpr (model_traits<tree>::is_model) {
    boost::hana::unpack(boost::hana::accessors<tree>(), [&](auto... pair) {
      (for_each_named(boost::hana::second(pair)(x), (name.empty() ? "" : name + ".") + boost::hana::to<const char*>(boost::hana::first(pair)), f), ...);
    });
  } else {
    std::size_t i = 0;
    std::apply([&](auto&... part) { (for_each_named(part, (name.empty() ? "" : name + ".") + std::to_string(i++), f), ...); }, x);
  }
}

}  // namespace detail

/// Writes every parameter of a model, or one tensor. Each must be an owning tensor on the host. Throws io_error; then an existing
/// file is unchanged.
template <class Model>
void save(const std::string& path, const Model& model) {
  struct entry {
    std::string name;
    std::vector<std::int64_t> shape;
  };
  std::vector<entry> entries;
  std::vector<interop::array_view> views;
  const auto count_all = [&](const std::string& name, const auto& x) {
    entry e{name, {}};
    for (int a = 0; a < x.extents().rank; ++a) e.shape.push_back(x.extents()[a]);
    entries.push_back(std::move(e));
  };
  detail::for_each_named(model, any_tensor<Model> ? "array" : "", count_all);
  std::size_t i = 0;
  const auto view_all = [&](const std::string&, const auto& x) {
    using L = std::remove_cvref_t<decltype(x)>;
    static_assert(ownership_of_v<L> == ownership::owning, "tenure: save: a view is not saved: clone() it first");
    static_assert(is_on_host_v<L>, "tenure: save: the elements lie in the memory of a device: call to(model, tn::cpu) first");
    const entry& e = entries[i++];
    views.push_back({e.name, detail::npy_descriptor<element_t<L>>(), e.shape,
                     std::span(reinterpret_cast<const std::byte*>(detail::tensor_access::read(x, "save")), static_cast<std::size_t>(x.size()) * sizeof(element_t<L>))});
  };
  detail::for_each_named(model, any_tensor<Model> ? "array" : "", view_all);
  interop::write_npz(path, views);
}

/// Reads every parameter into an existing model, or into one tensor, on the host or on a device. Throws io_error if the file
/// lacks an array or if the type or shape of one differs; then nothing has been written. Other arrays in the file are ignored.
template <class Model>
void load(const std::string& path, Model& model) {
  const std::vector<interop::array> arrays = interop::read_npz(path);
  std::vector<const interop::array*> found;
  const auto check = [&](const std::string& name, auto& x) {
    using L = std::remove_cvref_t<decltype(x)>;
    const interop::array* match = nullptr;
    for (const interop::array& a : arrays)
      if (a.name == name) match = &a;
    const std::string where = "tenure: load: " + path + ": array '" + name + "': ";
    if (match == nullptr) throw io_error(where + "the file has no such array");
    if (match->dtype != detail::npy_descriptor<element_t<L>>()) throw io_error(where + "has element type " + match->dtype + ", the model has " + std::string(detail::npy_descriptor<element_t<L>>()));
    extents s;
    if (match->shape.size() <= max_rank)
      for (const std::int64_t e : match->shape) s.push_back(e);
    if (match->shape.size() > max_rank || !(s == x.extents())) throw io_error(where + "has shape " + detail::spell(s).c_str() + ", the model has " + detail::spell(x.extents()).c_str());
    found.push_back(match);
  };
  detail::for_each_named(model, any_tensor<Model> ? "array" : "", check);
  std::size_t i = 0;
  const auto write = [&](const std::string&, auto& x) {
    const interop::array& a = *found[i++];
    using L = std::remove_cvref_t<decltype(x)>;
    if constexpr (is_on_host_v<L>) std::memcpy(detail::tensor_access::write(x, "load"), a.bytes.data(), a.bytes.size());
    else detail::device_memory<device_of_t<L>>::upload(detail::tensor_access::write(x, "load"), a.bytes.data(), a.bytes.size());
  };
  detail::for_each_named(model, any_tensor<Model> ? "array" : "", write);
}

}  // namespace tenure
