// SPDX-License-Identifier: BSL-1.0
// Pictures of plans: to_dot(plan) for Graphviz, to_html(plan) and write_html(plan, "plan.html") for a browser. Not part of <tenure/tenure.hpp>:
// it includes <fstream>, Hana's strings and <tenure/profile.hpp>.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/profile.hpp>
#include <tenure/tenure.hpp>

#include <tenure/optim/names.hpp>
#include <tenure/inspect/dot.hpp>
#include <tenure/inspect/html.hpp>

#include <tenure/core/letters/restore.hpp>
