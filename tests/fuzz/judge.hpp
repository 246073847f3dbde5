// SPDX-License-Identifier: BSL-1.0
// Do two results agree? Exactly, or as far as rounding can tell: where they differ by more than a few ulp, the reference
// runs again with every intermediate nudged by a few ulp, and what that moves is what the graph leaves open.
#pragma once

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <tenure/backend/reference/run.hpp>

#include "random_graph.hpp"

namespace fuzz {

// The quick tests take an eighth of the graphs: with all of them they run for ten minutes and more.
#ifdef TENURE_QUICK_TESTS
constexpr std::uint64_t share = 8;
#else
constexpr std::uint64_t share = 1;
#endif

/// So many times the graphs: for a long run.
inline std::uint64_t times() {
  const char* const given = std::getenv("TENURE_FUZZ_TIMES");
  return given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
}

using tenure::passes::text_of;
using results = std::vector<array>;

inline bool both_nan(double a, double b) { return std::isnan(a) && std::isnan(b); }

inline std::string difference(std::size_t output, std::int64_t at, double wanted, double got) {
  std::ostringstream s;
  s.precision(17);
  s << "output " << output << "[" << at << "]: " << got << " where the reference has " << wanted;
  return s.str();
}
inline std::string shape_difference(const results& wanted, const results& got) {
  if (wanted.size() != got.size()) return "another number of outputs";
  for (std::size_t o = 0; o < wanted.size(); ++o)
    if (wanted[o].type != got[o].type || !(wanted[o].shape == got[o].shape)) return "output " + std::to_string(o) + ": another type or shape";
  return "";
}

/// "" where each element is the same number, or NaN in both.
inline std::string exact_difference(const results& wanted, const results& got) {
  if (const std::string s = shape_difference(wanted, got); !s.empty()) return s;
  for (std::size_t o = 0; o < wanted.size(); ++o)
    for (std::int64_t i = 0; i < wanted[o].size(); ++i)
      if (const double a = wanted[o][i], b = got[o][i]; a != b && !both_nan(a, b)) return difference(o, i, a, b);
  return "";
}

/// Operations whose results are exact have no rounding to nudge.
inline bool rounds(const ir::node& n) {
  if (!tenure::is_floating(n.type)) return false;
  if (n.op == ir::opcode::reduce) return n.start == static_cast<std::int64_t>(ir::reduction::sum);
  if (!ops::is_pointwise(n.op)) return n.op == ir::opcode::matmul || n.op == ir::opcode::scatter || n.op == ir::opcode::overlap_add || n.op == ir::opcode::index_add || n.op == ir::opcode::cast || ops::is_opaque(n.op) || n.op == ir::opcode::result;
  const int op = static_cast<int>(n.op);
  for (const int exact : {code<ops::neg>, code<ops::sign>, code<ops::abs>, code<ops::maximum>, code<ops::minimum>, code<ops::floor>,
                          code<ops::round>, code<ops::where>, code<ops::relu>, code<ops::ceil>, code<ops::trunc>, code<ops::fmod>, code<ops::fmax>, code<ops::fmin>, code<ops::random_word>, code<ops::random_bits>, code<ops::random_unit>})
    if (op == exact) return false;
  return true;
}

inline double largest_of(const array& a) {
  double m = 0;
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (std::isfinite(a[i])) m = std::fmax(m, std::fabs(a[i]));
  return m;
}

/// The reference with rounding errors of its own: of a sum, relative to its terms, which may cancel. A zero may change its
/// sign: x + 0 is x, also for -0.
inline results nudged(const ir::graph_view& g, const std::vector<array>& arguments, std::uint64_t seed,
                      tenure::reference::sums how = tenure::reference::sums::wide) {
  dice d(seed);
  std::vector<double> largest;
  return tenure::reference::run(g, arguments, [&](ir::node_id id, array& a) {
    const ir::node& n = g[id];
    double terms = 0;
    if (n.op == ir::opcode::reduce && n.start == 0) terms = largest[static_cast<std::size_t>(n.in[0])];
    if (n.op == ir::opcode::scatter) terms = largest[static_cast<std::size_t>(n.in[1])];
    if (n.op == ir::opcode::index_add) terms = largest[static_cast<std::size_t>(n.in[0])] + largest[static_cast<std::size_t>(n.in[1])];
    if (n.op == ir::opcode::matmul) terms = largest[static_cast<std::size_t>(n.in[0])] * largest[static_cast<std::size_t>(n.in[1])];
    const bool is_depthwise = n.op == ops::nodes::depthwise::code || n.op == ops::nodes::depthwise_of_image::code || n.op == ops::nodes::depthwise_of_taps::code;
    if (is_depthwise || n.op == ops::nodes::convolution::code) terms = largest[static_cast<std::size_t>(n.in[0])] * largest[static_cast<std::size_t>(n.in[1])];
    else if (ops::is_opaque(n.op) || n.op == ir::opcode::result) terms = largest_of(a);  // what rounds within a body is not seen here
    if (rounds(n))
      tenure::visit_dtype(a.type, [&]<class T>(tenure::element_tag<T>) {
        if constexpr (tenure::number::is_floating<T>)
          for (std::int64_t i = 0; i < a.size(); ++i) {
            T& x = a.as<T>()[i];
            const T error = static_cast<T>(d.between(-4, 4)) * std::numeric_limits<T>::epsilon();
            if (terms != 0) x += error * static_cast<T>(terms);
            else if (x == T(0)) x = d.chance(0.5) ? T(0) : -T(0);
            else x *= T(1) + error;
            // A subnormal number rounds by a step that is large beside it.
            if (x != T(0) && std::fabs(x) < std::numeric_limits<T>::min()) x += static_cast<T>(d.below(9) - 4) * std::numeric_limits<T>::denorm_min();
          }
      });
    largest.push_back(largest_of(a));
  }, how);
}

inline bool holds_infinity(const ir::graph_view& g, const std::vector<array>& arguments) {
  bool any = false;
  tenure::reference::run(g, arguments, [&](ir::node_id, const array& a) {
    if (tenure::is_floating(a.type))
      for (std::int64_t i = 0; i < a.size(); ++i) any = any || std::isinf(a[i]);
  });
  return any;
}

inline double ulp_of(dtype type) {
  double ulp = 0;
  tenure::visit_floating(type, [&]<class T>(tenure::element_tag<T>) { ulp = static_cast<double>(std::numeric_limits<T>::epsilon()); });
  return ulp;
}

struct judgement {
  std::string wrong;     // "" where the results agree
  bool excused = false;  // only as far as rounding can tell
};

/// Do the results of something that means g agree with the reference's?
inline judgement judge(const ir::graph_view& g, const std::vector<array>& arguments, const results& wanted, const results& got,
                       tenure::reference::sums how = tenure::reference::sums::wide) {
  if (const std::string s = shape_difference(wanted, got); !s.empty()) return {s};
  const auto close = [](dtype type, double a, double b) {
    return a == b || both_nan(a, b) || std::fabs(a - b) <= 64 * ulp_of(type) * std::fmax(std::fabs(a), 0x1p-100);
  };
  bool all = true;
  for (std::size_t o = 0; o < wanted.size(); ++o)
    for (std::int64_t i = 0; i < wanted[o].size(); ++i) all = all && close(wanted[o].type, wanted[o][i], got[o][i]);
  if (all) return {};

  std::vector<results> others;
  for (std::uint64_t seed = 0; seed < 24; ++seed) others.push_back(nudged(g, arguments, seed, how));
  for (std::size_t o = 0; o < wanted.size(); ++o)
    for (std::int64_t i = 0; i < wanted[o].size(); ++i) {
      const double a = wanted[o][i], b = got[o][i];
      if (close(wanted[o].type, a, b)) continue;
      double spread = 0;
      bool unsure = false;
      for (const results& r : others) {
        const double c = r[o][i];
        unsure = unsure || std::isnan(c) != std::isnan(a);
        spread = std::fmax(spread, std::fabs(c - a));
      }
      if (!unsure && !(std::fabs(a - b) <= 64 * spread)) return {difference(o, i, a, b)};
    }
  return {"", true};
}

/// Does the order or the width in which sums add up decide where g has infinities and NaN, in any node?
inline bool depends_on_order(const ir::graph_view& g, const std::vector<array>& arguments) {
  using tenure::reference::sums;
  std::string classes[3];
  for (const sums how : {sums::wide, sums::rounded, sums::any_order})
    tenure::reference::run(g, arguments, [&](ir::node_id, const array& a) {
      for (std::int64_t i = 0; i < a.size(); ++i) classes[static_cast<int>(how)] += std::isnan(a[i]) ? 'n' : !std::isinf(a[i]) ? '.' : a[i] > 0 ? '+' : '-';
    }, how);
  return classes[0] != classes[1] || classes[0] != classes[2];
}

/// The same for arguments at the edges of their types: `other` agrees with g where both sum in the next wider type, and where both round
/// every product and partial sum. Undecided where the order of sums, which nobody promises, decides about g.
inline judgement judge_extremes(const ir::graph_view& g, const std::vector<array>& arguments, const ir::graph_view& other) {
  using tenure::reference::sums;
  const auto run = [&](const ir::graph_view& which, sums how) { return tenure::reference::run(which, arguments, [](ir::node_id, const array&) {}, how); };
  if (depends_on_order(g, arguments)) return {"", true};
  judgement all;
  for (const sums how : {sums::wide, sums::rounded}) {
    const judgement j = judge(g, arguments, run(g, how), run(other, how), how);
    // One other order is tried above. Where `other` adds up in a third one, it may be the first to find that the order decides.
    if (!j.wrong.empty()) return depends_on_order(other, arguments) ? judgement{"", true} : j;
    all.excused = all.excused || j.excused;
  }
  return all;
}

/// What is printed where a law fails.
inline std::string report(std::uint64_t seed, const char* law, const std::string& what, const ir::graph_view& g, const ir::graph_view& other = {}) {
  std::ostringstream s;
  s << "seed " << seed << ": " << law << ": " << what << "\n" << text_of(g);
  if (other.count) s << "---\n" << text_of(other);
  return s.str();
}

/// The reference's results; a graph that it cannot run is printed.
inline results reference_of(std::uint64_t seed, const ir::graph_view& g, const std::vector<array>& arguments) {
  try {
    return tenure::reference::run(g, arguments);
  } catch (const tenure::error& e) {
    throw tenure::error(report(seed, "reference", e.what(), g));
  }
}

}  // namespace fuzz
