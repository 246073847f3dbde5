// SPDX-License-Identifier: BSL-1.0
// expect: extents differ
int main() { undeclared_thing(); }  // extents differ
