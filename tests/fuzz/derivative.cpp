// SPDX-License-Identifier: BSL-1.0
// Derivatives of random graphs: <Jv, w> = <v, J'w> between forward and reverse mode, and forward mode against differences.
#include "../catch.hpp"

#include <tenure/passes/verify.hpp>

#include "both_modes.hpp"
#include "judge.hpp"

using namespace fuzz;

namespace derivative_tests {
namespace {

constexpr std::uint64_t graphs = 3000 / share;

struct inner {
  double sum = 0, size = 0;
  void add(const array& a, const array& b) {
    for (std::int64_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
      size += std::fabs(a[i] * b[i]);
    }
  }
};

std::vector<array> moved(const both_modes& m, double h) {
  std::vector<array> arguments = m.made.arguments;
  for (std::size_t k = 0; k < m.x.size(); ++k) {
    array& x = arguments[static_cast<std::size_t>(m.x[k])];
    const array& v = arguments[static_cast<std::size_t>(m.v[k])];
    for (std::int64_t i = 0; i < x.size(); ++i) x.as<double>()[i] += h * v[i];
  }
  return arguments;
}

options options_of(std::uint64_t seed, bool smooth) {
  return {.nodes = 4 + static_cast<int>(seed % 23), .smooth = smooth, .floating = true, .symbols = seed % 3 == 0, .strided = false};
}

}  // namespace

TEST_CASE("Law: <push(v), w> = <v, pull(w)> for every v, w") {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const both_modes m(seed, options_of(seed, seed % 2 == 0));
    if (!m.flows) continue;
    const ir::graph_view g = m.made.graph.view();
    const passes::verdict verdict = passes::verify(g);
    if (!verdict.ok()) FAIL(report(seed, "derivative", std::string(verdict.what) + ": %" + std::to_string(verdict.node), g));
    const results r = reference_of(seed, g, m.made.arguments);
    const auto argument = [&](int i) -> const array& { return m.made.arguments[static_cast<std::size_t>(i)]; };
    inner left, right;
    for (std::size_t i = 0; i < m.y_count; ++i) left.add(r[m.y_count + i], argument(m.w[i]));
    for (std::size_t i = 0; i < m.x.size(); ++i) right.add(argument(m.v[i]), r[2 * m.y_count + i]);
    if (!std::isfinite(left.size + right.size)) continue;
    ++tried;
    const double wrong = std::fabs(left.sum - right.sum), size = left.size + right.size;
    // Sums that cancel inside the graph are larger than what is left of them; the nudged reference knows how much.
    if (wrong <= 1e-11 * size + 1e-14) continue;
    double spread = 0;
    for (std::uint64_t k = 0; k < 8; ++k) {
      const results n = nudged(g, m.made.arguments, k);
      inner l, rr;
      for (std::size_t i = 0; i < m.y_count; ++i) l.add(n[m.y_count + i], argument(m.w[i]));
      for (std::size_t i = 0; i < m.x.size(); ++i) rr.add(argument(m.v[i]), n[2 * m.y_count + i]);
      spread = std::fmax(spread, std::fmax(std::fabs(l.sum - left.sum), std::fabs(rr.sum - right.sum)));
    }
    if (!(wrong <= 64 * spread)) FAIL(report(seed, "adjoint", difference(0, 0, left.sum, right.sum), g));
  }
  CHECK(tried > static_cast<int>(graphs / 2));
}

TEST_CASE("Law: a directional derivative is the limit of differences") {
  int tried = 0;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const both_modes m(seed, options_of(seed, true));
    if (!m.flows) continue;
    const ir::graph_view g = m.made.graph.view();
    const results r = reference_of(seed, g, m.made.arguments);
    const auto quotient = [&](double h) {
      const results up = tenure::reference::run(g, moved(m, h)), down = tenure::reference::run(g, moved(m, -h));
      results d;
      for (std::size_t o = 0; o < m.y_count; ++o) {
        d.push_back(up[o]);
        for (std::int64_t i = 0; i < d[o].size(); ++i) d[o].as<double>()[i] = (up[o][i] - down[o][i]) / (2 * h);
      }
      return d;
    };
    const results wide = quotient(2e-4), narrow = quotient(1e-4);
    for (std::size_t o = 0; o < m.y_count; ++o)
      for (std::int64_t i = 0; i < r[o].size(); ++i) {
        const double jv = r[m.y_count + o][i], a = wide[o][i], b = narrow[o][i];
        if (!std::isfinite(r[o][i]) || !std::isfinite(a) || std::fabs(r[o][i]) > 1e6) continue;
        // Richardson's extrapolation, and how far the two differences leave the answer open.
        const double best = (4 * b - a) / 3, open = std::fabs(b - a) + 1e-10 * std::fabs(r[o][i]) / 1e-4;
        ++tried;
        if (!(std::fabs(best - jv) <= open + 1e-7 * (1 + std::fabs(jv)))) FAIL(report(seed, "difference", difference(o, i, best, jv), g));
      }
  }
  CHECK(tried > 20000 / static_cast<int>(share));
}

}  // namespace derivative_tests
