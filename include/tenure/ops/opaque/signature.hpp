// SPDX-License-Identifier: BSL-1.0
// The shape rule of an operation on the samples of a batch, as NumPy writes it: "(n,n),(n,m)->(n,m)". A letter is an extent of a sample, and equal
// letters are equal extents. The axes before those of a sample are the batch, and all operands have the same ones. The typed front end, the nodes of
// derivatives, verify and the backends read this one text. At most three operands, four letters, and four axes of a sample.
// Source: the signatures of generalized universal functions in NumPy's documentation.
#pragma once

#include <cstdint>

#include <tenure/core/shape.hpp>

namespace TENURE_NAMESPACE::ops {

/// The extents of a sample, in the order in which the signature first names them.
struct sample_sizes {
  std::int64_t at[4] = {1, 1, 1, 1};

  constexpr std::int64_t& operator[](int letter) { return at[letter]; }
  constexpr const std::int64_t& operator[](int letter) const { return at[letter]; }
};

class signature {
 public:
  static constexpr int max_operands = 3;

  /// The axes of one sample: the position of the letter of each.
  struct axes {
    int rank = 0;
    int letter[4] = {};
  };

  constexpr signature(const char* text) {
    char names[4] = {};
    axes* of = operand_;
    for (bool inside = false; *text != 0; ++text) {
      if (*text == '(') inside = true;
      else if (*text == ')') inside = false, ++(of == &result_ ? results_ : operands_), of = of == &result_ ? of : of + 1;
      else if (*text == '>') of = &result_;
      else if (inside && *text != ',' && *text != ' ') of->letter[of->rank++] = letter(names, *text);
    }
  }

  constexpr int operands() const { return operands_; }
  constexpr int letters() const { return letters_; }
  constexpr const axes& operand(int k) const { return operand_[k]; }
  constexpr const axes& result() const { return result_; }

  /// The rank of the batch. Below 0: operand 0 has fewer axes than a sample of it.
  constexpr int batch_rank(const extents& first) const { return first.rank - operand_[0].rank; }

  enum class fault { none, rank, batch, sample };
  struct finding {
    fault what = fault::none;
    int operand = 0, axis = 0;
    std::int64_t given = 0, wanted = 0;
    extents result;
  };
  /// The extents of the result, or the first operand that does not fit. agree(a, b) says whether two extents may be equal.
  template <class Agree>
  constexpr finding infer(const extents* const* in, Agree agree) const {
    const int batch = batch_rank(*in[0]);
    std::int64_t size[4] = {};
    bool is_known[4] = {};
    extents to;
    for (int k = 0; k < operands_; ++k) {
      const extents& x = *in[k];
      if (batch < 0 || x.rank != batch + operand_[k].rank) return {fault::rank, k, 0, x.rank, (batch < 0 ? 0 : batch) + operand_[k].rank, {}};
      for (int a = 0; a < x.rank; ++a) {
        const int letter = a < batch ? 0 : operand_[k].letter[a - batch];
        std::int64_t& known = a < batch ? to.extent[a] : size[letter];
        const bool is_first = a < batch ? k == 0 : !is_known[letter];
        if (a >= batch) is_known[letter] = true;
        if (!is_first && !agree(known, x[a])) return {a < batch ? fault::batch : fault::sample, k, a, x[a], known, {}};
        if (is_first || !is_static(known)) known = x[a];
      }
    }
    to.rank = batch;
    for (int a = 0; a < result_.rank; ++a) to.push_back(size[result_.letter[a]]);
    return {fault::none, 0, 0, 0, 0, to};
  }

 private:
  constexpr int letter(char (&names)[4], char name) {
    for (int i = 0; i < letters_; ++i)
      if (names[i] == name) return i;
    names[letters_] = name;
    return letters_++;
  }

  axes operand_[max_operands] = {}, result_;
  int operands_ = 0, results_ = 0, letters_ = 0;
};

}  // namespace tenure::ops
