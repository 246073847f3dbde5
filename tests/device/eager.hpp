// SPDX-License-Identifier: BSL-1.0
// Expressions, eager gradients and in-place arithmetic on a device. In a header, so that each device runs them.
#pragma once

#include <sstream>
#include <string>

#include "same.hpp"

namespace device_tests {

template <class Device>
void expressions(Device device) {
  same_on(device, [](auto x) {
    tensor y = exp(x * 0.5f) + transpose(transpose(x) * 2);
    static_assert(std::is_same_v<device_of_t<decltype(y)>, device_of_t<decltype(x)>>);
    return elements(y);
  });
  same_on(device, [](auto x) { return sum(square(x)).item(); });
  same_on(device, [](const auto& x) { return eval(sum(x, axis<0>)).at(window<1>(1)).item(); });
  same_on(device, [](auto x) {
    x = x * 2 + 1;
    x += x[0].clone();
    x -= 0.5;
    x.at(all, 1) *= 3;
    x.transpose() += transpose(x);
    x.at(all, range(0, 2)) = x.at(all, range(1, 3)) + 0;
    return elements(x);
  });
  same_on(device, [](auto x) {
    auto y = matmul(x, transpose(x));
    return elements(eval(y));
  });
  same_on(device, [](auto x) {
    const auto e = x * 2;
    x.fill_(1);
    CHECK_THROWS_AS(eval(e), ownership_error);
    return 0.;
  });
  same_on(device, [](const auto& x) {
    std::ostringstream out;
    out << x;
    return out.str().substr(0, out.str().find("\ntensor"));
  });
}

template <class Device>
void gradients(Device device) {
  same_on(device, [](auto x) {
    auto w = std::move(x).requires_grad_();
    auto loss = sum(exp(w * 0.25) * w);
    loss.backward();
    const double value = loss.item();
    auto first = elements(w.grad());
    sum(w * w).backward();
    auto both = elements(w.grad());
    w.zero_grad();
    (w * w).backward(w.detach() * 0 + 3);
    first.push_back(value);
    for (const double e : both) first.push_back(e);
    for (const double e : elements(w.grad())) first.push_back(e);
    return first;
  });
  same_on(device, [](auto x) {  // nodes, views of leaves and of nodes, clones
    auto w = std::move(x).requires_grad_();
    tensor h = tanh(w * 2);
    tensor k = h.clone() * h.transpose()[1][0];
    tensor loss = sum(k.at(all, range(0, 2)) * w.at(all, range(1, 3)));
    loss.backward();
    return elements(w.grad());
  });
  same_on(device, [](auto x) {  // in place on nodes, and through views of them
    auto w = std::move(x).requires_grad_();
    tensor h = w * w;
    auto scaled = std::move(h).mul_(w);
    auto part = std::move(scaled).at(0).mul_(2);
    auto replaced = std::move(part).at(all, 1).copy_(w.at(all, 2));
    auto kept = std::move(replaced).retain_grad();
    sum(kept * 3).backward();
    auto all_of_it = elements(w.grad());
    for (const double e : elements(kept.grad())) all_of_it.push_back(e);
    return all_of_it;
  });
  same_on(device, [](auto x) {  // a constant becomes a node
    auto w = x.clone().requires_grad_();
    auto y = std::move(x).add_(w * w);
    tensor total = sum(y);
    total.backward();
    total = total * 2;
    return elements(w.grad());
  });
  same_on(device, [](auto x) {  // overwritten by constants: nothing flows further
    auto w = x.clone().requires_grad_();
    tensor h = w * 2;
    h = x * 3;
    sum(h * w).backward();
    return elements(w.grad());
  });
  same_on(device, [](auto x) {
    auto w = std::move(x).requires_grad_();
    for (int i = 0; i < 3; ++i) {
      w.zero_grad();
      mean(square(w - 1)).backward();
      no_grad([&](auto v) { v -= w.grad() * 0.5; }, w);
    }
    const auto copy = deepcopy(w);
    auto all_of_it = elements(w);
    for (const double e : elements(copy.grad())) all_of_it.push_back(e);
    return all_of_it;
  });
  same_on(device, [](auto x) {
    auto w = std::move(x).requires_grad_();
    tensor h = exp(w);
    no_grad([&](auto v) { v.fill_(0); }, h);
    CHECK_THROWS_AS(sum(h).backward(), ownership_error);
    CHECK(!w.has_grad());
    return 0.;
  });
  same_on(device, [](auto x) {
    auto w = std::move(x).requires_grad_();
    auto v = w.detach().requires_grad_();
    sum(v * w).backward();
    CHECK_THROWS_AS(w.at(0, 7), index_error);
    return elements(v.grad());
  });
}

}  // namespace device_tests
