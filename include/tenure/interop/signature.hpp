// SPDX-License-Identifier: BSL-1.0
// The signature of an exported function as JSON, for another language: the trees of its arguments and results with their names, element types and shapes, and
// which arguments get derivatives. A run-time extent of an argument is null, one of a result is a formula of extents of arguments.
#pragma once

#include <initializer_list>
#include <string>

#include <tenure/program/program.hpp>
#include <tenure/transform/leaf_names.hpp>
#include <tenure/transform/source.hpp>

namespace TENURE_NAMESPACE::detail::exports {

/// Whether all leaves of a tree have a floating type.
template <class X>
constexpr bool are_all_floating() {
  leaf_description leaves[tree<X>::leaves + 1];
  leaf_description* end = leaves;
  tree<X>::describe(end);
  for (const leaf_description* l = leaves; l != end; ++l)
    if (!is_floating(l->type)) return false;
  return true;
}

class signature_text {
 public:
  void raw(const char* s) { text_ += s; }
  void number(std::int64_t n) { text_ += std::to_string(n); }
  /// Something between separators: `i` counts.
  void comma(int i) { if (i > 0) text_ += ", "; }
  void flags(std::initializer_list<bool> list) {
    raw("[");
    int i = 0;
    for (const bool flag : list) comma(i++), raw(flag ? "true" : "false");
    raw("]");
  }
  const char* c_str() const { return text_.c_str(); }

  /// An extent of a result: a number, or a formula as [operation, a, b].
  void extent(const ir::graph_view& g, std::int64_t e) {
    if (is_static(e)) return number(e);
    const ir::symbol& s = g.symbols[ir::symbol_of_extent(e)];
    using kind = ir::symbol::kind;
    const char* const operation = s.what == kind::argument ? "extent" : s.what == kind::sum ? "+" : s.what == kind::difference ? "-" : s.what == kind::product ? "*" : s.what == kind::quotient ? "//" : "min";
    raw("[\"");
    raw(operation);
    raw("\", ");
    if (s.what == kind::argument) number(s.a), raw(", "), number(s.b);
    else extent(g, s.a), raw(", "), extent(g, s.b);
    raw("]");
  }

 private:
  std::string text_;
};

/// Writes a tree: a leaf is {"type", "shape"}, a tuple a list, and a model {"members": {name: tree}}. extent(leaf, axis) writes an extent.
template <class X, class Extent>
void write_tree(signature_text& to, int& leaf, const Extent& extent) {
  if constexpr (is_tree_leaf<X>) {
    using l = leaf_type<X>;
    to.raw("{\"type\": \"");
    to.raw(name_of(dtype_v<typename l::element_type>));
    to.raw("\", \"shape\": [");
    for (int a = 0; a < l::shape_type::rank; ++a) to.comma(a), extent(leaf, a, l::shape_type::value[a]);
    to.raw("]}");
    ++leaf;
  } else {
    constexpr bool is_model = model_traits<X>::is_model;
    to.raw(is_model ? "{\"members\": {" : "[");
    int i = 0;
    named_parts<X>::visit([&]<class Part>(auto name, Part) {
      to.comma(i++);
      if constexpr (is_model) to.raw("\""), to.raw(name), to.raw("\": ");
      write_tree<type_of_member<X, Part>>(to, leaf, extent);
    });
    to.raw(is_model ? "}}" : "]");
  }
}

template <class F, class Result, class... X>
signature_text signature_of(std::initializer_list<bool> variables, std::initializer_list<bool> shared, bool has_derivatives) {
  using compiled_program = program<source<F, 0, true, rebind_kind_t<X, tracing>...>>;
  signature_text to;
  const auto as_declared = [&](int, int, std::int64_t e) { is_static(e) ? to.number(e) : to.raw("null"); };
  const auto as_computed = [&](int leaf, int axis, std::int64_t) {
    const ir::graph_view g = compiled_program::traced.view();
    to.extent(g, g.shape_of(g.outputs[leaf])[axis]);
  };
  int leaf = 0, i = 0;
  to.raw("{\"arguments\": [");
  ((to.comma(i++), write_tree<X>(to, leaf, as_declared)), ...);
  to.raw("], \"variables\": ");
  to.flags(variables);
  to.raw(", \"shared\": ");
  to.flags(shared);
  to.raw(", \"has_derivatives\": ");
  to.raw(has_derivatives ? "true" : "false");
  to.raw(", \"results\": ");
  leaf = 0;
  write_tree<Result>(to, leaf, as_computed);
  to.raw("}");
  return to;
}

}  // namespace tenure::detail::exports
