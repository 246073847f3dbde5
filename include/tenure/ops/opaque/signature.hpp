// SPDX-License-Identifier: BSL-1.0
// The shape rule of an operation on the samples of a batch, as NumPy writes it: "(n,n),(n,m)->(n,m)". A letter is an extent of a sample, and equal
// letters are equal extents. The axes before those of a sample are the batch, and all operands have the same ones. There may be several results, and
// one extent may be the smaller of two: "(n,m)->(n,k),(k,m) k=min(n,m)". An extent of a single result that no operand has is chosen where the operation is
// called: "(n)->(k)". The typed front end, the nodes of derivatives, verify and the backends read this one text. At most four operands, three results, nine
// letters, and four axes of a sample: a record with more does not compile.
// Source: the signatures of generalized universal functions in NumPy's documentation.
#pragma once

#include <cstdint>

#include <tenure/ir/node.hpp>

namespace TENURE_NAMESPACE::ops {

/// The extents of a sample, in the order in which the signature first names them.
struct sample_sizes {
  std::int64_t at[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

  constexpr std::int64_t& operator[](int letter) { return at[letter]; }
  constexpr const std::int64_t& operator[](int letter) const { return at[letter]; }
  bool operator==(const sample_sizes&) const = default;
};

class signature {
 public:
  static constexpr int max_operands = ir::max_operands, max_results = 3, max_letters = 9, max_axes = 4;

  /// The axes of one sample: the position of the letter of each.
  struct axes {
    int rank = 0;
    int letter[max_axes] = {};
  };

  constexpr signature(const char* text) {
    char names[max_letters] = {};
    bool inside = false;
    for (; *text != 0; ++text) {
      int& count = of_results_ ? results_ : operands_;
      if (*text == '>') of_results_ = true, of_operands_ = letters_;
      else if (*text == ')') inside = false, ++count;
      else if (text[1] == '=') smaller_ = letter(names, text[0]), of_[0] = letter(names, text[6]), of_[1] = letter(names, text[8]), text += 9;  // k=min(n,m)
      else if (*text == '(') inside = true, fits_ = fits_ && count < (of_results_ ? max_results : max_operands);
      else if (inside && *text != ',' && *text != ' ' && fits_) {
        axes& a = of_results_ ? result_[count] : operand_[count];
        if (a.rank == max_axes) fits_ = false;
        else a.letter[a.rank++] = letter(names, *text);
      }
    }
  }

  /// Whether the text keeps to the limits.
  constexpr bool fits() const { return fits_; }
  constexpr int operands() const { return operands_; }
  constexpr int results() const { return results_; }
  constexpr int letters() const { return letters_; }
  constexpr const axes& operand(int k) const { return operand_[k]; }
  constexpr const axes& result(int r = 0) const { return result_[r]; }

  /// The rank of the batch. Below 0: operand 0 has fewer axes than a sample of it.
  constexpr int batch_rank(const extents& first) const { return first.rank - operand_[0].rank; }
  /// Whether axis a of result r, counted behind the batch, has the extent that is the smaller of two.
  constexpr bool is_smaller(int r, int a) const { return smaller_ >= 0 && a >= 0 && a < result_[r].rank && result_[r].letter[a] == smaller_; }
  /// Fills in this extent, and those that only result 0 has. chosen(a) is the extent of axis a of a sample of result 0.
  template <class Smaller, class Chosen>
  constexpr void complete(std::int64_t* size, Smaller smaller_of, Chosen chosen) const {
    if (smaller_ >= 0) size[smaller_] = smaller_of(size[of_[0]], size[of_[1]]);
    for (int a = 0; a < result_[0].rank; ++a)
      if (is_chosen(result_[0].letter[a])) size[result_[0].letter[a]] = chosen(a);
  }

  enum class fault { none, rank, batch, sample, result_rank };
  struct finding {
    fault what = fault::none;
    int operand = 0, axis = 0;
    std::int64_t given = 0, wanted = 0;
    extents result;
  };
  /// The extents of result r, or the first operand that does not fit. agree(a, b) says whether two extents may be equal, and smaller_of(a, b) is the
  /// smaller of two. `stated` is the shape of the result, for an extent that is chosen.
  template <class Agree, class Smaller>
  constexpr finding infer(const extents* const* in, int r, Agree agree, Smaller smaller_of, const extents* stated = nullptr) const {
    const int batch = batch_rank(*in[0]);
    std::int64_t size[max_letters] = {};
    bool is_known[max_letters] = {};
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
    if (batch + result_[r].rank > max_rank) return {fault::result_rank, r, 0, batch + result_[r].rank, max_rank, {}};
    complete(size, smaller_of, [&](int a) { return stated->extent[batch + a]; });
    to.rank = batch;
    for (int a = 0; a < result_[r].rank; ++a) to.push_back(size[result_[r].letter[a]]);
    return {fault::none, 0, 0, 0, 0, to};
  }

 private:
  /// Whether no operand has the extent of a letter.
  constexpr bool is_chosen(int letter) const { return letter >= of_operands_ && letter != smaller_; }
  constexpr int letter(char (&names)[max_letters], char name) {
    for (int i = 0; i < letters_; ++i)
      if (names[i] == name) return i;
    if (letters_ == max_letters) return fits_ = false, 0;
    names[letters_] = name;
    return letters_++;
  }

  axes operand_[max_operands] = {}, result_[max_results] = {};
  int operands_ = 0, results_ = 0, letters_ = 0, of_operands_ = 0;  // of_operands_: the letters of the operands come first
  int smaller_ = -1, of_[2] = {};
  bool of_results_ = false, fits_ = true;
};

}  // namespace tenure::ops
