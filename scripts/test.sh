#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# test.sh            the tests, each with the compiler that shows more or takes less time
# test.sh --all      all tests with g++ and then with clang++, also those that the others leave out, in about twice the time
# test.sh --quick    with g++ only
# test.sh --cuda     compiles with nvcc (for sm_80 and sm_90) the device tests, and the suites of the CPU (golden values, laws, ownership,
#                    compiled functions, optimizers) for the device; runs them, also under compute-sanitizer, if there is a GPU
# test.sh --cross    cross-compiles vector math, kernels, tensors and compiled functions for aarch64 and riscv64, and runs them with QEMU
# JOBS sets the number of jobs, CXX the g++ to use, CUDAARCHS (for example "90") the GPUs to compile for.
set -euo pipefail

compilers=2 cuda=0 cross=()
not_by_clang='^header[.]alone$'  # a missing include does not depend on the compiler
not_by_gcc='^$'
# The compiling twins of must-not-compile tests. A twin that does not compile mostly shows in the other test too, which asks for its first error word for
# word. The twins that test the harness stay.
twins='fail[.]([^t]|t[^y]).*[.]ok'
# What must not compile, forty in a unit: every other unit with g++, the others with clang++. What concerns Ceres, MPI and NCCL with clang++ alone, because
# g++ takes five times as long for their headers.
even='fail[.]together[.][0-9]*[02468][.]ko'
odd='fail[.]together[.][0-9]*[13579][.]ko'
foreign='fail[.](ceres|mpi|nccl)_.*[.]ko'
# Programs of many small functions take most of the time of a compilation. clang++ runs them with AddressSanitizer or without optimization, in a half to a
# quarter of the time of g++, which runs the rest. Both read the headers once for most folders. Left to --all are: every float through vector math, seven
# eighths of the random graphs, two thirds of large tables of programs (tests/quick.hpp), the laws in float and for run-time extents, compiled second
# derivatives, whose rules the reference backend shows, files whose subject others meet too (tests/CMakeLists.txt), vector math with the project's own flags,
# which are those of an instruction set that is tested, the size of the code, the internal headers alone, and for nvcc a second GPU, whole programs and large
# graphs (TENURE_QUICK_TESTS); the compiled random programs, GradBench, the lines of a profile, large matrices by Eigen and on a device; the suites of the CPU
# on another device; models without macros (scripts/reflection.sh); the examples that are applications, and the one for microcontrollers under QEMU; the
# compiling twins of must-not-compile tests; `pip install ./examples/python` and its tests with PyTorch and JAX; the module by CMake and with libc++; Meson,
# Conan, vcpkg's port and the files of a release; many processes with MPICH, and the command that trains on the digits in two; with clang++, the examples;
# must-not-compile tests with the other compiler.
quick=ON
skip_gcc="batch;ceres;control_flow;debug_nans;decompositions_on_device;device;eager;expr;far_suites;golden;gradbench;inspect;interop;large_matrices;laws;ops;optim;out_of_memory;profile_lines;random_programs;service;transform"
skip_clang="backend;blas;consumer;core;cuda;decompositions_on_device;fuzz;gradbench;examples;kernels;large_matrices;math;mixed_isa;mpi;nccl;numbers;passes;packaging;peers;profile_lines;random_programs;storage;tensor;threads;two_tu"
not_alone=(-LE '^compile_fail_alone$')  # their programs stand in fail.together.*
case "${1:-}" in
  "") not_by_gcc="^($twins|$even|$foreign)\$" not_by_clang="^(header[.]alone|$twins|$odd)\$" ;;
  --all) skip_gcc="" skip_clang="" quick=OFF not_alone=() ;;
  --quick) compilers=1 skip_gcc="" ;;
  --cuda) compilers=1 cuda=1 ;;
  --cross) compilers=1 cross=(aarch64 riscv64) ;;
  *)
    sed -n '3,9s/^# //p' "$0"
    exit 2
    ;;
esac
steps=$((1 + 3 * (${#cross[@]} > 0 ? ${#cross[@]} : compilers)))
[[ $quick == OFF ]] && steps=$((steps + 6))
source "$(dirname "$0")/common.sh"

closing_lines=()
suites=()
failed=0

# suite <name> <compiler> <skipped folders> [<ctest options>]: configures, builds and runs. If a suite fails, the next one still runs.
suite() {
  local name=$1 compiler=$2 skipped=$3 build=build/test-$1 log closing examples=ON flags=-O1
  [[ ";$skipped;" == *";examples;"* ]] && examples=OFF
  # g++ collects garbage only above half of the memory of a job. After a collection of 1 GB it searches long for each free place: 215 s with it and
  # 27 s without it for tests/passes/widen.cpp, which takes 2.8 GB. Other files take a tenth less time.
  [[ $name == gcc ]] && flags+=" --param=ggc-min-heapsize=$((memory / jobs / 2))"
  shift 3
  suites+=("$name")

  step "configure with $compiler in $build"
  rm -f "$build/compilations.log" "$build/ctest.log"
  # -O1, because kernels need inlining, and more optimisation would only lengthen the build. No -DNDEBUG, so that assertions are checked.
  # The launcher takes the place of ccache, which does without the headers that are read once, and finds nothing on a new machine.
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DTENURE_BUILD_BENCH=OFF -DTENURE_NATIVE=ON -DTENURE_SKIPPED_TESTS="$skipped" -DTENURE_BUILD_EXAMPLES="$examples" \
    -DTENURE_QUICK_TESTS="$quick" -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/scripts/timed.sh;$PWD/$build/compilations.log" --no-warn-unused-cli \
    -DPython_EXECUTABLE="$(command -v "$python" | xargs -r realpath -s)"

  step "build with $compiler, $jobs jobs"
  if ! cmake --build "$build" -j "$jobs" -- -k 0; then  # every error in one run
    closing_lines+=("$name: the build failed")
    failed=1
    return
  fi

  step "test with $compiler"
  log=$build/ctest.log
  ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error "$@" 2>&1 | tee "$log" || failed=1
  closing=$(grep -E 'tests passed|No tests' "$log" || echo "ctest did not finish")
  closing_lines+=("$name: $closing")
}

# slowest: where the time of this run went. Of a compilation these are seconds of CPU, which do not depend on what else runs; of a test they
# are by the clock.
slowest() {
  local name build files=() tests=()
  for name in "${suites[@]}"; do
    build=build/test-$name
    if [[ -e $build/compilations.log ]]; then
      awk -v name="$name" '{ sum += $1 + $2 } END { printf "%s: %d files compiled in %.0f s of CPU\n", name, NR, sum }' "$build/compilations.log"
      files+=("$(awk -v name="$name" -v root="$PWD/" '{ t = $1 + $2; $1 = $2 = ""; sub("^ +", ""); if (index($0, root) == 1) $0 = substr($0, length(root) + 1)
        printf "%7.1f  %s  %s\n", t, name, $0 }' "$build/compilations.log")")
    fi
    if [[ -e $build/ctest.log ]]; then
      tests+=("$(awk -v name="$name" '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: .* sec *$/ { sub(/^.*Test +#[0-9]+: /, ""); printf "%7.1f  %s  %s\n", $(NF - 1), name, $1 }' "$build/ctest.log")")
    fi
  done
  echo "The ten slowest files (s of CPU):"
  printf '%s\n' "${files[@]}" | sort -rn | sed -n 1,10p
  echo "The ten slowest tests (s):"
  printf '%s\n' "${tests[@]}" | sort -rn | sed -n 1,10p
  echo "The whole run: $((SECONDS / 60)) min"
}

# sanitize <tool> <test>: runs a test under a tool of compute-sanitizer. Calls of the API that fail belong to the design: a graph that cannot be
# updated is made anew, a step that cannot be recorded is not. Memory of a pool is freed in stream order, which memcheck follows if it is asked to.
sanitize() {
  local log=$build/$1.$2.log options=(--tool "$1" --report-api-errors no)
  [[ $1 == memcheck ]] && options+=(--track-stream-ordered-races all)
  "$sanitizer" "${options[@]}" --error-exitcode 1 "$build/tests/cuda/$2" >"$log" 2>&1 || failed=1
  closing_lines+=("$1, $2: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" || echo "did not finish")")
}

# cuda_suite <compiler>: like suite(), with nvcc and that host compiler, and only the tests with the label cuda.
cuda_suite() {
  local build=build/test-cuda nvcc log sanitizer closing
  nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || fail "there is no nvcc on the PATH"

  step "configure with $nvcc over $1 in $build"
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_HOST_COMPILER="$1" \
    -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DTENURE_BUILD_BENCH=OFF -DTENURE_NATIVE=ON -DTENURE_CUDA=ON

  step "build for ${CUDAARCHS:-80;90}, $jobs jobs"
  cmake --build "$build" -j "$jobs" --target cuda_tests -- -k 0 || fail "the build failed"

  step "test on the device"
  log=$build/ctest.log
  ctest --test-dir "$build" -L cuda --output-on-failure --no-tests=error 2>&1 | tee "$log" || failed=1
  closing_lines+=("cuda: $(grep -E 'tests passed|No tests' "$log" || echo "ctest did not finish")")
  if ! nvidia-smi -L >/dev/null 2>&1; then
    closing_lines+=("cuda: there is no GPU here: the tests on one were compiled and skipped")
  elif sanitizer=$(command -v compute-sanitizer || command -v "$(dirname "$nvcc")/compute-sanitizer"); then
    sanitize memcheck test_cuda
    sanitize racecheck test_cuda
    sanitize synccheck test_cuda
    sanitize initcheck test_cuda
    sanitize memcheck test_laws_on_cuda
    sanitize memcheck test_golden_on_cuda
    sanitize memcheck test_eager_on_cuda
  else
    closing_lines+=("compute-sanitizer: there is none beside $nvcc")
    failed=1
  fi
}

# mpich_suite <compiler>: the tests of many processes with MPICH; the suites take Open MPI, which is the default of Debian where both are installed.
mpich_suite() {
  local build=build/test-mpich log=build/test-mpich/ctest.log

  step "configure with MPICH in $build"
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$1" -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_COMPILE_WARNING_AS_ERROR=ON \
    -DTENURE_BUILD_BENCH=OFF -DTENURE_NATIVE=ON -DTENURE_CUDA=OFF -DTENURE_MPI=ON -DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE="$(command -v mpirun.mpich)"

  step "build with MPICH, $jobs jobs"
  if ! cmake --build "$build" -j "$jobs" --target test_mpi test_nccl digits_nccl_fake example_digits_mpi -- -k 0; then
    closing_lines+=("MPICH: the build failed")
    failed=1
    return
  fi

  step "test with MPICH"
  ctest --test-dir "$build" -L '^mpi$' --output-on-failure --no-tests=error 2>&1 | tee "$log" || failed=1
  closing_lines+=("MPICH: $(grep -E 'tests passed|No tests' "$log" || echo "ctest did not finish")")
}

# digits_of_demo: the command of the documentation, from its packages to the accuracy.
digits_of_demo() {
  local log=build/demo_mpi.log said=failed
  step "scripts/demo.sh --mpi"
  mkdir -p build
  if scripts/demo.sh --mpi 2>&1 | tee "$log" && grep -qE 'accuracy (9[789]|100)' "$log"; then said=passed; else failed=1; fi
  closing_lines+=("demo.sh --mpi: $said")
}

# python_suite: `pip install ./examples/python`, the command of the README, and its tests with PyTorch and JAX, in an environment of its own. Its tests in
# the other suites run without these two, which take gigabytes.
python_suite() {
  local environment=build/python log=build/python.log lacks=()
  step "pip install ./examples/python"
  if ! { python3 -m venv "$environment" && "$environment/bin/pip" install -q numpy pytest; }; then
    closing_lines+=("pip install ./examples/python: skipped, there is no network or no python3-venv")
    return
  fi
  for library in torch jax; do
    "$environment/bin/python" -c "import $library" 2>/dev/null || "$environment/bin/pip" install -q "$library" || lacks+=("$library")
  done
  if CXX=$1 "$environment/bin/pip" install -q --force-reinstall --no-deps ./examples/python &&
    (cd "$environment" && bin/python -m pytest -q ../../examples/python/test_module.py) 2>&1 | tee "$log"; then
    closing_lines+=("pip install ./examples/python: $(grep -E 'passed|failed' "$log" | tail -n 1)${lacks[*]:+, without ${lacks[*]}}")
  else
    closing_lines+=("pip install ./examples/python: failed")
    failed=1
  fi
}

# reflection_suite: models without macros, with g++ 16, which is in a root of Debian sid where this system has none (scripts/reflection.sh).
reflection_suite() {
  local log=build/reflection.log status=0
  step "models without macros"
  mkdir -p build
  scripts/reflection.sh 2>&1 | tee "$log" || status=$?
  case $status in
    0) closing_lines+=("reflection: $(grep -c '^passed' "$log") programs passed") ;;
    77) closing_lines+=("reflection: $(grep '^skipped' "$log")") ;;
    *) closing_lines+=("reflection: $(grep -c '^failed' "$log") programs failed") failed=1 ;;
  esac
}

# cross_suite <architecture>: some of the tests for a machine that is not here, with Debian's cross compiler and QEMU's emulation of a process.
cross_targets=(test_math test_storage test_tensor test_backend test_expr test_laws.rows test_laws.shapes test_transform.compile example_01_quickstart)
cross_suite() {
  local architecture=$1 build=build/test-$1 target passed=0
  install_packages "g++-$architecture-linux-gnu"

  step "configure for $architecture in $build"
  # Eigen, Boost and Catch2 are those of this machine: headers alone. Debian's cross compilers search /usr/include last.
  cmake -S . -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$architecture" -DCMAKE_CXX_COMPILER="$architecture-linux-gnu-g++" \
    -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS=-O1 -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DTENURE_BUILD_BENCH=OFF -DTENURE_BUILD_TESTS=ON -DTENURE_CUDA=OFF

  step "build for $architecture, $jobs jobs"
  if ! cmake --build "$build" -j "$jobs" --target "${cross_targets[@]}" -- -k 0; then
    closing_lines+=("$architecture: the build failed")
    failed=1
    return
  fi

  step "test for $architecture"
  for target in "${cross_targets[@]}"; do
    if "qemu-$architecture" -L "/usr/$architecture-linux-gnu" "$(find "$build" -name "$target" -type f)"; then
      passed=$((passed + 1))
    else
      failed=1
    fi
  done
  closing_lines+=("$architecture: $passed of ${#cross_targets[@]} programs passed")
}

step "packages"
if ((cuda == 1)) && command -v cmake >/dev/null && command -v ninja >/dev/null && finds Eigen/Core boost/hana.hpp && { finds catch2/catch.hpp || finds catch2/catch_all.hpp; }; then
  echo "all that the device tests need is here"
else
  install_packages "${build_packages[@]}" catch2 pkg-config graphviz nlohmann-json3-dev
fi
if ((cuda == 0 && ${#cross[@]} == 0)); then
  (install_packages "${mpi_packages[@]}") || echo "no MPI: the tests of many processes are skipped"
  (install_packages libceres-dev) || echo "no Ceres: the tests of its cost functions are skipped"
fi
install_compiler
if ((compilers == 2)); then
  clangxx=$(command -v clang++ || command -v clang++-14) || { install_packages clang && clangxx=clang++; }
  scratch=$(mktemp)
  # The fuzz test links the run-time library of the sanitizers, which Debian's clang package only recommends.
  if ! echo 'int main() {}' | "$clangxx" -fsanitize=address,undefined -x c++ - -o "$scratch" 2>/dev/null; then
    install_packages "libclang-rt-$("$clangxx" -dumpversion | cut -d. -f1)-dev"
  fi
fi

# Tests read the written files with NumPy, and the Python example needs nanobind and pytest too; the rest is for the documentation and the files of
# other build systems. Tests of what cannot be installed are skipped, and say so.
python=${TENURE_NUMPY_PYTHON:-python3}
modules=(markdown-it-py pygments pyyaml starlark-pyo3)
has_modules() { "$1" -c 'import nanobind, numpy, pytest, markdown_it, pygments, yaml, starlark' >/dev/null 2>&1; }
if [[ $quick == OFF ]]; then
  # The other build systems themselves, a CMake that knows modules, and a compiler that does.
  modules+=(conan meson cmake ninja check-jsonschema)
  has_modules() { [[ -x $(dirname "$1")/conan && -x $(dirname "$1")/meson && -x $(dirname "$1")/check-jsonschema ]] && "$1" -c 'import nanobind, numpy, pytest, markdown_it, pygments, yaml, starlark' >/dev/null 2>&1; }
  if command -v apt-cache >/dev/null && [[ -n $(apt-cache search --names-only '^clang-19$') ]]; then
    (install_packages clang-19 clang-tools-19 libc++-19-dev libc++abi-19-dev) || true
  fi
fi
if ((cuda == 0 && ${#cross[@]} == 0)) && ! has_modules "$python"; then
  python=build/numpy/bin/python
  if ! has_modules "$python"; then
    (install_packages python3-dev python3-venv) || true  # in a subshell, which ends where there is no network
    # Apart: a module that a new Python does not have yet must not keep NumPy out.
    { python3 -m venv build/numpy && "$python" -m pip install -q nanobind numpy pytest; } >/dev/null 2>&1 ||
      echo "no NumPy, nanobind or pytest: the tests that need them are skipped"
    "$python" -m pip install -q "${modules[@]}" >/dev/null 2>&1 ||
      echo "not installed: ${modules[*]}: the tests that need them are skipped"
  fi
fi

if [[ $quick == OFF ]]; then
  (install_packages mpich libmpich-dev) || echo "no MPICH: the tests of many processes run with Open MPI only"
fi

if [[ $quick == OFF ]]; then
  (install_packages gcc-arm-none-eabi libstdc++-arm-none-eabi-newlib qemu-system-arm) || echo "no compiler for microcontrollers: the example for them runs on this machine only"
fi

# g++ 16 and what makes a root with it, as root (scripts/reflection.sh).
if [[ $quick == OFF ]] && ! command -v g++-16 >/dev/null && ((EUID == 0)); then
  (install_packages debootstrap) || true
fi

# The page of a plan is looked at in a browser, a large package.
if [[ $quick == OFF ]] && ! command -v chromium >/dev/null; then
  (install_packages chromium) || echo "no Chromium: the page of a plan is not looked at"
fi

if ((cuda == 1)); then
  cuda_suite "$gxx"
  printf '\n%s\n' "${closing_lines[@]}"
  exit "$failed"
fi
if ((${#cross[@]} > 0)); then
  install_packages qemu-user
  [[ -e /usr/include/catch2/catch.hpp ]] || fail "--cross needs Catch2 2, which is headers alone: package catch2 of Debian 12 or Ubuntu 22.04"
  for architecture in "${cross[@]}"; do cross_suite "$architecture"; done
  printf '\n%s\n' "${closing_lines[@]}"
  exit "$failed"
fi
suite gcc "$gxx" "$skip_gcc" "${not_alone[@]}" -E "$not_by_gcc"
if ((compilers == 2)); then
  suite clang "$clangxx" "$skip_clang" "${not_alone[@]}" -E "$not_by_clang"
fi
if [[ $quick == OFF ]]; then
  if command -v mpicxx.mpich >/dev/null; then mpich_suite "$gxx"; else closing_lines+=("MPICH: skipped, there is none"); fi
  digits_of_demo
  python_suite "$gxx"
  reflection_suite
fi

echo
slowest || true  # no part of the verdict
echo
printf '%s\n' "${closing_lines[@]}"
exit "$failed"
