// SPDX-License-Identifier: BSL-1.0
// Stand-ins for the functions of later phases (tensor/later.hpp), so that these tests need nothing above tensor/: histories
// that only remember what they were given.
#pragma once

#include <tenure/tensor/tensor.hpp>

namespace tenure::detail {

struct remembered : gradient_accumulator {
  remembered(dtype t, const extents& s, accumulator_handle before, const layout& l)
      : gradient_accumulator(t, s), from(std::move(before)), where(l) {}
  accumulator_handle from;
  layout where;
};

template <class X>
accumulator_handle remember(const X& x, const layout& where) {
  return accumulator_handle(new remembered(dtype_v<element_t<X>>, where.shape, tensor_access::accumulator(x), where));
}

template <class X>
accumulator_handle view_history(later_phase, X& x, const layout& where) {
  return remember(x, where);
}

template <class X>
auto clone_tracked(later_phase, const X& x) {
  using node = tensor<element_t<X>, shape_of_t<X>, ownership::owning, role::node>;
  auto copy = x.detach().clone();
  return tensor_access::make<node>(tensor_access::storage(copy), tensor_access::fresh(copy), x.extents(), x.strides(),
                                   remember(x, contiguous_layout(x.extents())));
}

template <class X>
void update_from(later_phase, element_tag<ops::add>, X& x, double value) {
  auto* const to = tensor_access::write(x);
  const extents strides = x.strides();
  for_each_run(x.extents(), strides, strides,
               [&](std::int64_t at, std::int64_t, std::int64_t n, std::int64_t step, std::int64_t) {
                 for (std::int64_t i = 0; i < n; ++i) to[at + i * step] += static_cast<element_t<X>>(value);
               });
}
template <class X>
  requires(!std::is_lvalue_reference_v<X> && is_node_v<X>)
X update_from(later_phase, element_tag<ops::add>, X&& x, double value) {
  update_from<X>(later_phase{}, element_tag<ops::add>{}, x, value);
  return std::move(x);
}

template <class Base, class View>
Base update_view(later_phase, element_tag<ops::add>, Base&& base, View&, const layout& where, double value) {
  device_memory<cpu_device>::fill(tensor_access::write(base) + where.offset, where.strides, where.shape, static_cast<element_t<Base>>(value));
  return std::move(base);
}

}  // namespace tenure::detail
