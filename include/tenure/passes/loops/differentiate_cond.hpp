// SPDX-License-Identifier: BSL-1.0
// Cotangents of cond: another cond takes the same branch, and computes the primal branch again.
#pragma once

#include <tenure/passes/loops/derived_body.hpp>
#include <tenure/passes/loops/reach.hpp>

namespace TENURE_NAMESPACE::passes {

/// Calls accumulate(operand, cotangent) for the operands of a cond. `cotangents` are the cotangents of its results, or none. `r` says what they reach.
template <class Accumulate>
constexpr void pull_cond(ir::builder& g, ir::node_id id, const reach& r, const id_list& cotangents, Accumulate accumulate) {
  const ir::control_flow c = g.control_flow_at(id);
  const id_list operands = g.operands_of(id);
  id_list all, wanted;  // wanted: each operand once, even if both branches capture it. A branch without a cotangent for an operand returns zeros
  const auto place_of = [&](ir::node_id operand) {
    int k = 0;
    while (k < wanted.size() && wanted[k] != operand) ++k;
    return k;
  };
  all.push_back(operands[0]);
  for (int b = 0, k = 1; b < 2; ++b)
    for (int j = 0; j < c.captures[b]; ++j, ++k)
      if (r.inputs(b)[j] && place_of(operands[k]) == wanted.size()) wanted.push_back(operands[k]);
  ir::control_flow back = c.derived(c.what);
  int first_capture = 1;
  for (int b = 0; b < 2; ++b) {
    derived_body body(g, c.bodies[b]);
    id_list given, wrt, places, values, arriving, outputs(wanted.size(), ir::none);
    mark_list marks;
    for (int j = 0; j < c.captures[b]; ++j) {
      const ir::node_id operand = operands[first_capture + j];
      given.push_back(r.inputs(b)[j] ? body.variable(operand) : operand);
      if (r.inputs(b)[j]) wrt.push_back(given.back()), places.push_back(place_of(operand));
    }
    body.inline_body(given);
    for (int i = 0; i < cotangents.size(); ++i)
      if (r.outputs[i]) values.push_back(body.output(i)), arriving.push_back(cotangents[i]), marks.push_back(r.outputs[i]);
    id_list gradients(wrt.size(), ir::none);
    reverse(g, values.data(), arriving.data(), values.size(), wrt.data(), wrt.size(), gradients.data(), marks.data());
    for (int i = 0; i < wrt.size(); ++i) {
      if (gradients[i] == ir::none) continue;
      ir::node_id& sum = outputs[places[i]];
      sum = sum == ir::none ? gradients[i] : sum_of_cotangents({g, sum}, {g, gradients[i]}).id;
    }
    for (int k = 0; k < wanted.size(); ++k)
      if (outputs[k] == ir::none) outputs[k] = body.zero_like(wanted[k]);
    const int before = all.size();
    back.bodies[b] = body.outline_branch(outputs, all);
    back.captures[b] = all.size() - before;
    first_capture += c.captures[b];
  }
  const ir::node_id branch = g.add_control_flow(back, all);
  for (int k = 0; k < wanted.size(); ++k) accumulate(wanted[k], g.result(branch, k));
}

}  // namespace tenure::passes
