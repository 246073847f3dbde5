// SPDX-License-Identifier: BSL-1.0
// expect: extents differ
int main() {
  [[maybe_unused]] int unused;  // extents differ
}
