// SPDX-License-Identifier: BSL-1.0
// einsum<"ij,jk->ik">(a, b): sums of products that letters describe. Pairs of operands become one product of matrices where letters are summed, and a product of
// elements where none is. Derivatives, batches and devices are those of the operations that it is composed of.
// Source: the meaning of numpy.einsum, without the ellipsis.
#pragma once

#include <cstddef>
#include <type_traits>

#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/indexing.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/reduction.hpp>

namespace TENURE_NAMESPACE {

/// The text of an einsum as a template argument.
template <std::size_t N>
struct einsum_text {
  char at[N] = {};
  constexpr einsum_text(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) at[i] = text[i];
  }
};

namespace ops {

/// The letters of the axes of an operand, or of the result.
struct axis_letters {
  int rank = 0;
  char at[max_rank] = {};

  constexpr bool add(char letter) {
    if (rank == max_rank) return false;
    at[rank++] = letter;
    return true;
  }
  constexpr int count(char letter) const {
    int n = 0;
    for (int i = 0; i < rank; ++i) n += at[i] == letter;
    return n;
  }
  constexpr bool has(char letter) const { return count(letter) > 0; }
  constexpr int position(char letter) const {
    for (int i = 0; i < rank; ++i)
      if (at[i] == letter) return i;
    return -1;
  }
};

/// What an einsum says. Without an arrow the result has the letters that stand once, in alphabetical order.
struct einsum_terms {
  static constexpr int most = 4;
  axis_letters in[most], out;
  int operands = 1;
  bool is_text = true, has_arrow = false;

  constexpr explicit einsum_terms(const char* text) {
    for (; *text != 0; ++text) {
      const char c = *text;
      if (c == ' ') continue;
      if (c == ',' && !has_arrow && operands < most) ++operands;
      else if (c == '-' && text[1] == '>' && !has_arrow) has_arrow = true, ++text;
      else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) is_text = (has_arrow ? out : in[operands - 1]).add(c) && is_text;
      else is_text = false;
    }
    for (int c = 'A'; c <= 'z' && !has_arrow; ++c)
      if (count(static_cast<char>(c)) == 1) is_text = out.add(static_cast<char>(c)) && is_text;
  }
  constexpr int count(char letter) const {
    int n = 0;
    for (int k = 0; k < operands; ++k) n += in[k].count(letter);
    return n;
  }
  constexpr bool has_right_result() const {
    for (int i = 0; i < out.rank; ++i)
      if (count(out.at[i]) == 0 || out.count(out.at[i]) > 1) return false;
    return true;
  }
};

template <einsum_text Text>
struct einsum : rounds_once {
  static constexpr const char* name = "einsum";
  static constexpr einsum_terms terms{Text.at};

  template <class... X>
  static constexpr bool has_ranks() {
    int k = 0;
    return ((terms.in[k++].rank == X::shape_type::rank) && ...);
  }
  /// The extents of the result. One that is known is taken before one of the run time. `agree`: equal letters have equal extents.
  template <class... Shape>
  struct rule {
    static constexpr bool agree = [] {
      const extents all[] = {Shape::value...};
      for (int k = 0; k < terms.operands; ++k)
        for (int a = 0; a < terms.in[k].rank; ++a)
          for (int j = 0; j <= k; ++j)
            for (int b = 0; b < terms.in[j].rank; ++b)
              if (terms.in[k].at[a] == terms.in[j].at[b] && !extents_may_agree(all[k][a], all[j][b])) return false;
      return true;
    }();
    static constexpr extents value = [] {
      const extents all[] = {Shape::value...};
      extents to;
      for (int i = 0; i < terms.out.rank; ++i) {
        std::int64_t found = dyn;
        for (int k = 0; k < terms.operands; ++k)
          for (int a = 0; a < terms.in[k].rank; ++a)
            if (terms.in[k].at[a] == terms.out.at[i] && (found == dyn || is_static(all[k][a]))) found = all[k][a];
        to.push_back(found);
      }
      return to;
    }();
  };

  template <class First, class... Rest>
  static constexpr auto trace(const First& first, const Rest&... rest) {
    static_assert(terms.is_text, "tenure: einsum: the text is letters for at most four operands, commas and an arrow, as ij,jk->ik");
    constexpr bool as_many = terms.operands == 1 + static_cast<int>(sizeof...(Rest));
    static_assert(!terms.is_text || as_many, "tenure: einsum: the text has another number of operands than the call");
    if constexpr (!terms.is_text || !as_many) {
      return first;
    } else {
      constexpr bool have_ranks = has_ranks<First, Rest...>();
      static_assert(have_ranks, "tenure: einsum: an operand has another number of axes than its letters");
      static_assert(terms.has_right_result(), "tenure: einsum: a letter of the result is in no operand, or stands there twice");
      constexpr bool same_type = (std::is_same_v<typename First::element_type, typename Rest::element_type> && ...);
      static_assert(same_type, "tenure: einsum: operands have different element types: convert one with to<T>(); a factory takes its type first, eye<double>(...)");
      constexpr bool numbers = dtype_v<typename First::element_type> != dtype::boolean;
      static_assert(numbers, "tenure: einsum: bool has no product; convert first");
      if constexpr (have_ranks && terms.has_right_result() && same_type && numbers) {
        using to = rule<typename First::shape_type, typename Rest::shape_type...>;
        static_assert(to::agree, "tenure: einsum: two axes of one letter have different extents");
        const value x[] = {first, rest...};
        if constexpr (to::agree) return traced<typename First::element_type, shape_from<to>>{first.graph, computed(x).id};
        else return first;
      } else {
        return first;
      }
    }
  }

 private:
  struct part {
    value x;
    axis_letters letters;

    /// The axes in this order. The letters are the same.
    constexpr value in_order(const axis_letters& order) const {
      std::int64_t axes = 0;
      bool is_same = true;
      for (int i = 0; i < order.rank; ++i) {
        axes = ir::pack_axis(axes, i, letters.position(order.at[i]));
        is_same = is_same && order.at[i] == letters.at[i];
      }
      return is_same ? x : permuted(x, axes);
    }
    constexpr void sum_over(std::int64_t mask) {
      if (mask == 0) return;
      axis_letters kept;
      for (int a = 0; a < letters.rank; ++a)
        if ((mask >> a & 1) == 0) kept.add(letters.at[a]);
      x = reduced(x, mask, ir::reduction::sum), letters = kept;
    }
  };

  /// Whether a later operand or the result has the letter.
  static constexpr bool is_needed_after(int k, char letter) {
    for (int j = k + 1; j < terms.operands; ++j)
      if (terms.in[j].has(letter)) return true;
    return terms.out.has(letter);
  }

  static constexpr value computed(const value* x) {
    ir::builder& g = *x[0].graph;
    std::int64_t extent[128] = {};
    std::int16_t of[128] = {};
    bool is_known[128] = {};
    for (int k = 0; k < terms.operands; ++k)
      for (int a = 0; a < terms.in[k].rank; ++a) {
        const int c = terms.in[k].at[a];
        const std::int64_t e = x[k].shape()[a];
        const std::int16_t shape = x[k].node().shape;
        extent[c] = is_known[c] ? g.unify(extent[c], e, name, of[c], shape) : e;
        if (!is_known[c]) of[c] = shape, is_known[c] = true;
      }
    part all = prepared(x[0], 0, extent);
    for (int k = 1; k < terms.operands; ++k) all = product(all, prepared(x[k], k, extent), k);
    return all.in_order(terms.out);
  }

  /// Operand k: the diagonal of axes with one letter, and the sum over letters that nothing else has. Run-time extents of one letter become one.
  static constexpr part prepared(value x, int k, const std::int64_t* extent) {
    extents s = x.shape();
    for (int a = 0; a < s.rank; ++a) s[a] = extent[static_cast<int>(terms.in[k].at[a])];
    part p{reshape_to(x, s), terms.in[k]};
    for (int a = 0; a < p.letters.rank; ++a)
      for (int b = p.letters.rank - 1; b > a; --b) {
        if (p.letters.at[a] != p.letters.at[b]) continue;
        ir::builder& g = *x.graph;
        const std::int16_t shape = p.x.node().shape;
        const value is_on = pointwise_value<equal>(counting(g, dtype::int64, shape, a), counting(g, dtype::int64, shape, b));
        p.x = pointwise_value<where>(is_on, p.x, p.x.like(0));
        p.sum_over(std::int64_t{1} << b);
      }
    std::int64_t alone = 0;
    for (int a = 0; a < p.letters.rank; ++a) {
      const char c = p.letters.at[a];
      bool is_before = false;
      for (int j = 0; j < k; ++j) is_before = is_before || terms.in[j].has(c);
      if (!is_before && !is_needed_after(k, c)) alone |= std::int64_t{1} << a;
    }
    p.sum_over(alone);
    return p;
  }

  /// Multiplies p, the product of the operands before k, by q, which is operand k.
  static constexpr part product(const part& p, const part& q, int k) {
    axis_letters batch, summed, of_p, of_q, result;
    for (int a = 0; a < p.letters.rank; ++a) {
      const char c = p.letters.at[a];
      (!q.letters.has(c) ? of_p : is_needed_after(k, c) ? batch : summed).add(c);
    }
    for (int a = 0; a < q.letters.rank; ++a)
      if (!p.letters.has(q.letters.at[a])) of_q.add(q.letters.at[a]);
    const auto joined = [](axis_letters x, const axis_letters& y) {
      for (int i = 0; i < y.rank; ++i) x.add(y.at[i]);
      return x;
    };
    result = joined(joined(batch, of_p), of_q);
    const value left = p.in_order(joined(joined(batch, of_p), summed)), right = q.in_order(joined(joined(batch, summed), of_q));
    ir::builder& g = *p.x.graph;
    extents to = left.shape();
    to.rank = batch.rank + of_p.rank;
    for (int i = 0; i < of_q.rank; ++i) to.push_back(right.shape()[batch.rank + summed.rank + i]);
    if (summed.rank == 0) {
      std::int64_t axes_of_p = 0, axes_of_q = 0;
      for (int i = 0; i < batch.rank + of_p.rank; ++i) axes_of_p = ir::pack_axis(axes_of_p, i, i);
      for (int i = 0; i < batch.rank + of_q.rank; ++i) axes_of_q = ir::pack_axis(axes_of_q, i, i < batch.rank ? i : of_p.rank + i);
      const std::int16_t shape = g.intern(to);
      return {broadcast_along(left, shape, axes_of_p) * broadcast_along(right, shape, axes_of_q), result};
    }
    const auto matrices = [&](value x, int rows, int columns) {
      extents s = x.shape();
      const std::int64_t mask_of_rows = all_axes(batch.rank + rows) & ~all_axes(batch.rank), mask_of_columns = all_axes(batch.rank + rows + columns) & ~all_axes(batch.rank + rows);
      extents matrix = s;
      matrix.rank = batch.rank;
      matrix.push_back(elements_along(g, s, mask_of_rows)), matrix.push_back(elements_along(g, s, mask_of_columns));
      return reshape_to(x, matrix);
    };
    return {reshape_to(matrix_product(matrices(left, of_p.rank, summed.rank), matrices(right, summed.rank, of_q.rank)), to), result};
  }
};

}  // namespace ops

/// Sums of products by letters, as numpy.einsum: einsum<"ij,jk->ik">(a, b) is the product of matrices, einsum<"ii->">(a) the trace, einsum<"bi,bi->b">(x, y) a dot
/// product for each row, einsum<"ij->ji">(a) the transpose. There are up to four operands of one element type, which is no bool, and they are multiplied from
/// the left to the right. A letter that stands twice in an operand takes its diagonal. Without an arrow the result has the letters that stand once.
template <einsum_text Text, class... X>
  requires some_operand<X...>
constexpr auto einsum(const X&... x) { return apply<ops::einsum<Text>>(x...); }

}  // namespace tenure
