#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# release.sh [DIR]   makes the files of a release of the committed tree, in DIR or build/release, and tries each of them:
#   tenure-VERSION.tar.gz   the sources: configured, installed, and used by a program
#   tenure.hpp              the library as one header for the CPU: the quickstart with it prints what the README shows
#   tenure.wrap             for Meson, with the hash of the archive. URL sets the address that the archive will have.
#   CHANGES.md              the section of the changelog
#   SHA256SUMS
# VERSION is that of include/tenure/version.hpp, and the changelog has a section for it. Files in DIR are replaced. The same commit gives the same bytes.
set -euo pipefail
folder=$(realpath -m "${1:-build/release}")
steps=4
source "$(dirname "$0")/common.sh"

version=$(sed -n 's/^#define TENURE_VERSION.*\/\/ //p' include/tenure/version.hpp)
name=tenure-$version
mkdir -p "$folder"

step "packages"
install_packages "${build_packages[@]}" git python3
install_compiler

step "the files of $name in $folder"
git diff --quiet HEAD || echo "there are changes that are not committed: they are left out"
git archive --format=tar --prefix="$name/" HEAD | gzip -n >"$folder/$name.tar.gz"
rm -rf "$folder/tried"
mkdir "$folder/tried"
tar -xzf "$folder/$name.tar.gz" -C "$folder/tried"
sources=$folder/tried/$name
"$sources/scripts/single_header.py" -o "$folder/tenure.hpp"
awk -v want="## [$version]" 'index($0, "## ") == 1 { inside = index($0, want) == 1; next } /^\[/ { next } inside' "$sources/CHANGELOG.md" >"$folder/CHANGES.md"
grep -q '^\* ' "$folder/CHANGES.md" || fail "CHANGELOG.md has no section [$version]"
hash_of() { sha256sum "$1" | cut -d' ' -f1; }
sed -e "s|@VERSION@|$version|g" -e "s|@SHA256@|$(hash_of "$folder/$name.tar.gz")|" -e "s|@URL@|${URL:-https://example.invalid/releases/v$version}|" \
  "$sources/packaging/meson/tenure.wrap.in" >"$folder/tenure.wrap"
(cd "$folder" && sha256sum "$name.tar.gz" tenure.hpp tenure.wrap >SHA256SUMS)

step "the archive: configure, install, and a program with find_package"
cmake -S "$sources" -B "$folder/tried/build" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" -DTENURE_BUILD_TESTS=OFF -DTENURE_BUILD_BENCH=OFF \
  -DTENURE_BUILD_EXAMPLES=OFF -DTENURE_CUDA=OFF >"$folder/tried/log"
cmake --install "$folder/tried/build" --prefix "$folder/tried/installed" >>"$folder/tried/log"
cmake -S "$sources/tests/consumer/package" -B "$folder/tried/consumer" -G Ninja -DCMAKE_CXX_COMPILER="$gxx" \
  -Dtenure_ROOT="$folder/tried/installed" -DTENURE_VERSION_WANTED="$version" >>"$folder/tried/log"
cmake --build "$folder/tried/consumer" >>"$folder/tried/log"
"$folder/tried/consumer/consumer"

step "the single header: the quickstart"
mkdir "$folder/tried/single"
sed 's|<tenure/tenure.hpp>|"tenure.hpp"|' "$sources/examples/01_quickstart.cpp" >"$folder/tried/single/quickstart.cpp"
eigen=$(sed -n 's/^Eigen3_DIR:PATH=//p' "$folder/tried/build/CMakeCache.txt")
"$gxx" -std=c++20 -O1 -Wall -Wextra -Werror -I"$folder" -isystem "${EIGEN:-${eigen%/share/*}/include/eigen3}" "$folder/tried/single/quickstart.cpp" \
  -o "$folder/tried/single/quickstart"
"$folder/tried/single/quickstart" | tee "$folder/tried/single/output"
diff <(awk '/^```text/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$sources/README.md") "$folder/tried/single/output" ||
  fail "the quickstart prints something else than the README"

rm -rf "$folder/tried"
printf '\n%s is ready:\n' "$name"
cat "$folder/SHA256SUMS"
