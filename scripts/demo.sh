#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# demo.sh: builds and runs the quickstart, then trains on the handwritten digits.
# They write weights, loss curve and plan to build/demo/out.
set -euo pipefail
steps=5
source "$(dirname "$0")/common.sh"
build=build/demo

step "packages"
install_packages "${build_packages[@]}" graphviz
install_compiler

step "configure in $build"
cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DCMAKE_BUILD_TYPE=Release \
  -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_BENCH=OFF -DTENURE_NATIVE=ON

step "build, $jobs jobs"
cmake --build "$build" -j "$jobs" --target example_01_quickstart example_digits

mkdir -p "$build/out"
cd "$build/out"

step "the quickstart: $build/examples/01_quickstart"
../examples/01_quickstart

step "the digits: $build/examples/digits"
../examples/digits

printf '\nwritten into %s/out:\n' "$build"
ls -1
