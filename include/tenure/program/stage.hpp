// SPDX-License-Identifier: BSL-1.0
// A stage of a program as a constant: Stage::run() makes its result in growing arrays, and Stage::guess() estimates the sizes. Each result
// is a separate static constexpr variable, because compilers limit the constexpr operations of each variable.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::program_detail {

#if defined(__CUDACC__)
/// Into(Stage::run().view()). Workaround for nvcc 13: it skips the destructors of a function that makes a large constant (arrays of
/// records, 32 KB and more), and then rejects the constant because memory was not freed. So one function runs the stage, and another makes
/// the constant.
template <class Into, class Stage>
constexpr Into frozen_apart() {
  using view = decltype(Stage::run().view());
  Into kept{view{}};
  const auto run = [](auto keep) {
    const auto made = Stage::run();
    keep(made.view());
  };
  run([&](const view& made) { kept = Into(made); });
  return kept;
}
#endif

/// The result of Stage::run(), in arrays of the sizes Stage::guess().
template <template <class> class Frozen, class Stage>
struct attempted_stage {
  struct guessed {
    static constexpr auto value = Stage::guess();
  };
#if defined(__CUDACC__)
  static constexpr Frozen<guessed> value = frozen_apart<Frozen<guessed>, Stage>();
#else
  static constexpr Frozen<guessed> value{Stage::run().view()};
#endif
};

/// The result of Stage::run(), as a constant of exactly its size. The stage is evaluated once, into arrays of the guessed sizes. Unused
/// elements are then dropped. If the guess was too small, the stage is evaluated again with the right sizes.
template <template <class> class Frozen, class Stage>
struct frozen_stage {
  using attempted = attempted_stage<Frozen, Stage>;
  static constexpr auto& attempt = attempted::value;
  struct exact {
    static constexpr auto value = attempt.sizes;
  };
#if defined(__CUDACC__)
  static constexpr Frozen<exact> value = attempt.sizes <= attempted::guessed::value ? Frozen<exact>(attempt.view()) : frozen_apart<Frozen<exact>, Stage>();
#else
  static constexpr Frozen<exact> value{attempt.sizes <= attempted::guessed::value ? attempt.view() : Stage::run().view()};
#endif
};

}  // namespace tenure::program_detail
