#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# demo.sh            builds and runs the quickstart, then trains on the handwritten digits
# demo.sh --mpi [n]  trains on the digits in n processes (2 without n), with Open MPI
# They write weights, loss curve and plan to build/demo/out.
set -euo pipefail
ranks=0
case "${1:-}" in
  "") ;;
  --mpi) ranks=${2:-2} ;;
  *)
    sed -n '3,4s/^# //p' "$0"
    exit 2
    ;;
esac
steps=$((ranks > 0 ? 4 : 5))
source "$(dirname "$0")/common.sh"
build=build/demo
targets=(example_01_quickstart example_digits)

step "packages"
install_packages "${build_packages[@]}" graphviz
if ((ranks > 0)); then
  install_packages "${mpi_packages[@]}"
  targets=(example_digits_mpi)
fi
install_compiler

step "configure in $build"
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DCMAKE_BUILD_TYPE=Release \
  -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_BENCH=OFF -DTENURE_NATIVE=ON

step "build, $jobs jobs"
cmake --build "$build" -j "$jobs" --target "${targets[@]}"

mkdir -p "$build/out"
cd "$build/out"

if ((ranks > 0)); then
  step "the digits in $ranks processes: mpirun -n $ranks $build/examples/digits_mpi"
  more_ranks_than_cores mpirun -n "$ranks" ../examples/digits_mpi
else
  step "the quickstart: $build/examples/01_quickstart"
  ../examples/01_quickstart

  step "the digits: $build/examples/digits"
  ../examples/digits
fi

printf '\nwritten into %s/out:\n' "$build"
ls -1
