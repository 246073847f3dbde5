#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# meson.sh <meson> <folder> <folder of a release>: a Meson project takes Tenure from the archive of a release, by the wrap file beside it,
# then an installed one by pkg-config, and one that CMake installed by method: 'cmake'. It builds and runs the consumer of the tests each time.
set -euo pipefail
meson=$1 folder=$2 release=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(dirname "$meson"):$PATH
rm -rf "$folder"
mkdir -p "$folder/project/subprojects/packagecache"
cp "$root"/tests/packaging/meson/meson{.build,_options.txt} "$root/tests/consumer/main.cpp" "$folder/project"
cp "$release"/tenure.wrap "$folder/project/subprojects"
cp "$release"/tenure-*.tar.gz "$folder/project/subprojects/packagecache"  # Meson compares its hash with that of the wrap file

cd "$folder/project"
"$meson" setup --wrap-mode=forcefallback --force-fallback-for=tenure "$folder/wrapped"
"$meson" test -C "$folder/wrapped" --print-errorlogs consumer

"$meson" setup -Dprefix="$folder/installed" "$root" "$folder/tenure"
"$meson" install -C "$folder/tenure"
PKG_CONFIG_PATH=$folder/installed/share/pkgconfig "$meson" setup --wrap-mode=nofallback "$folder/found"
"$meson" test -C "$folder/found" --print-errorlogs consumer

cmake -S "$root" -B "$folder/cmake" -DCMAKE_INSTALL_PREFIX="$folder/package" -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_EXAMPLES=OFF -DTENURE_BUILD_BENCH=OFF
cmake --install "$folder/cmake"
"$meson" setup --wrap-mode=nofallback -Dby_cmake=true --cmake-prefix-path="$folder/package" "$folder/by_cmake"
"$meson" test -C "$folder/by_cmake" --print-errorlogs consumer
