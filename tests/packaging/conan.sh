#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# conan.sh <conan> <folder>: makes the Conan package in a cache of its own, with Eigen and Boost of the system, and builds and runs its
# test package.
set -euo pipefail
conan=$1 folder=$2
cd "$(dirname "$0")/../.."
rm -rf "$folder"
export CONAN_HOME=$folder/home
"$conan" create packaging/conan --no-remote -pr:a packaging/conan/system_packages.profile \
  -c "tools.cmake.cmake_layout:test_folder=$folder/test" -c tools.cmake.cmaketoolchain:user_presets= 2>&1 | tee "$folder.log"
grep -q "loss 18.5, gradient 1 18" "$folder.log"
