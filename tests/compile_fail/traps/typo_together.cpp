// SPDX-License-Identifier: BSL-1.0
#include <tenure/tenure.hpp>
int main() { undeclared_thing(); }
