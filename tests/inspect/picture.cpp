// SPDX-License-Identifier: BSL-1.0
// Pictures of plans: what their cards say, that the arrows are the values between steps, and that the files are what Graphviz and a browser
// read.
#include "catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/picture.hpp>

namespace tn = tenure;

namespace {

template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;

template <class Kind>
struct layer {
  BOOST_HANA_DEFINE_STRUCT(layer, (tn::param<Kind, float, tn::shape<8, 8>>, w), (tn::param<Kind, float, tn::shape<8>>, b));
  constexpr auto operator()(const auto& x) const { return tanh(matmul(x, w) + b); }
};
template <class Kind>
struct net {
  BOOST_HANA_DEFINE_STRUCT(net, (layer<Kind>, first), (layer<Kind>, second));
};

constexpr auto fit = [](auto model, auto x, auto y) { return mse(model.second(model.first(x)), y); };
const auto step = tn::train_step(fit, tn::optim::sgd{.learning_rate = 0.1, .momentum = 0.9});
using model_type = net<tn::values>;
using state_type = decltype(step.rule.init(std::declval<const model_type&>()));
using step_plan = decltype(step.plan(std::declval<const model_type&>(), std::declval<const state_type&>(), array<16, 8>(), array<16, 8>()));

template <class Program, class Device>
tn::detail::picture picture_of(tn::plan<Program, Device>, const tn::detail::name_list& arguments = {}) {
  return tn::detail::picture_of<Program, Device>(tn::detail::names_of_program<Program>::get(arguments));
}
int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
bool has(const tn::detail::name_list& names, const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// What stands between each `before` and the quote after it.
std::vector<std::string> quoted(const std::string& text, const std::string& before) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const std::size_t from = at + before.size();
    found.push_back(text.substr(from, text.find('"', from) - from));
  }
  return found;
}

/// Where each box with this attribute begins and ends.
std::vector<std::pair<double, double>> spans(const std::string& page, const std::string& attribute) {
  std::vector<std::pair<double, double>> found;
  const auto number = [&](const std::string& before, std::size_t at) { return std::atof(page.c_str() + page.find(before, at) + before.size()); };
  for (std::size_t at = page.find(attribute); at != std::string::npos; at = page.find(attribute, at + 1)) {
    const double x = number(" x=\"", at);
    found.emplace_back(x, x + number(" width=\"", at));
  }
  return found;
}

/// The elements of a page are closed in the order in which they were opened.
bool is_balanced(std::string page) {
  for (const char* const whole : {"style", "script"}) {
    const std::size_t from = page.find("<" + std::string(whole) + ">"), to = page.find("</" + std::string(whole) + ">");
    page.erase(from, to - from + std::string(whole).size() + 3);
  }
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    const std::string tag = page.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find_first_of(" \n"));
    const bool is_void = name == "!DOCTYPE" || name == "meta" || tag.back() == '/';
    if (is_void) continue;
    if (name[0] != '/') open.push_back(name);
    else if (open.empty() || open.back() != name.substr(1)) return false;
    else open.pop_back();
  }
  return open.empty();
}

}  // namespace

TEST_CASE("the cards of a training step have the names of the members, and their halves") {
  using tn::detail::phase;
  const auto p = picture_of(step_plan{});
  CHECK(p.steps == step_plan::kernels());
  CHECK(p.flops == step_plan::flops());
  CHECK(p.bytes == step_plan::bytes());
  CHECK(p.kept == step_plan::kept_bytes());
  CHECK(p.arguments[0] == "model.first.w float32[8,8]");
  CHECK(p.arguments[4] == "state[0].first.w float32[8,8]");

  std::set<phase> parts;
  std::vector<int> seen(static_cast<std::size_t>(p.steps), 0);
  std::int64_t flops = 0;
  tn::detail::name_list results;
  for (const auto& c : p.cards) {
    parts.insert(c.part);
    for (const int s : c.steps) ++seen[static_cast<std::size_t>(s)];
    flops += c.flops;
    results.insert(results.end(), c.results.begin(), c.results.end());
    for (const auto& r : c.reads) {
      const bool is_state = r.name.starts_with("state") || r.name.starts_with("rule");
      if (r.from < 0 && is_state) CHECK(c.part == phase::update);
      if (c.part == phase::update && r.from < 0) CHECK((is_state || r.name.starts_with("model")));
    }
  }
  CHECK(parts.count(phase::forward) == 1);
  CHECK(parts.count(phase::backward) == 1);
  CHECK(parts.count(phase::update) == 1);
  CHECK(std::count(seen.begin(), seen.end(), 1) == p.steps);  // each step is on one card
  CHECK(flops == p.flops);
  std::sort(results.begin(), results.end());
  const tn::detail::name_list expected{"loss",          "model.first.b",    "model.first.w",    "model.second.b",    "model.second.w",
                                       "state[0].first.b", "state[0].first.w", "state[0].second.b", "state[0].second.w"};
  CHECK(results == expected);

  // The updates of the four parameters are two cards at most: one casts the numbers of the rule for all.
  CHECK(std::count_if(p.cards.begin(), p.cards.end(), [](const auto& c) { return c.part == phase::update; }) <= 2);
  // The gradient reads the weights transposed.
  CHECK(std::any_of(p.cards.begin(), p.cards.end(), [](const auto& c) {
    return c.part == phase::backward && c.kind == "product" &&
           std::any_of(c.reads.begin(), c.reads.end(), [](const auto& r) { return r.name == "model.second.w" && r.view == "transposed"; });
  }));
}

TEST_CASE("names that are given stand for the arguments, and results name what they are gradients of") {
  constexpr auto f = tn::value_and_grad<0, 1>([](auto w, auto b, auto x) { return sum(tanh(matmul(x, w) + b)); });
  using plan = decltype(f.plan(array<3, 4>(), array<4>(), array<2, 3>()));
  tn::detail::name_list results;
  for (const auto& c : picture_of(plan{}, {"w"}).cards) results.insert(results.end(), c.results.begin(), c.results.end());
  CHECK(results.size() == 3);
  CHECK(has(results, "value"));
  CHECK(has(results, "gradient of w"));
#if defined(__cpp_impl_reflection)
  CHECK(has(results, "gradient of b"));
#else
  CHECK(has(results, "gradient of argument 1"));
#endif
}

TEST_CASE("the parts of one model or array are one label") {
  const auto groups = tn::detail::grouped({"gradient of layers[0]", "model.b1", "gradient of layers[1]", "x", "model.b2"});
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].label == "gradient of layers[0, 1]");
  CHECK(groups[1].label == "model.b1, b2");
  CHECK(groups[1].names == tn::detail::name_list{"model.b1", "model.b2"});
  CHECK(groups[2].label == "x");
}

TEST_CASE("equal steps are one card with a count") {
  constexpr auto f = tn::compile([](auto h) {
    for (int i = 0; i < 8; ++i) h = tanh(matmul(h, h) + 1.0);
    return h;
  });
  const auto p = picture_of(decltype(f.plan(array<40, 40>())){});
  REQUIRE(p.cards.size() == 2);
  CHECK(p.cards[0].steps.size() == 8);
  CHECK(p.cards[1].steps.size() == 8);
  CHECK(p.cards[0].title == "matmul [40,40] × [40,40]");
  CHECK(p.cards[1].title == "add · tanh");
  const std::string page = to_html(decltype(f.plan(array<40, 40>())){});
  CHECK(count(page, "<span class=\"times\">× 8</span>") == 2);
  CHECK(count(page, "stroke-dasharray") == 1);  // from the second card back to the first
}

TEST_CASE("the memory of a picture is that of the plan: what is alive at the same time shares no bytes") {
  const auto p = picture_of(step_plan{});
  REQUIRE(p.buffers.size() > 4);
  bool is_kept = false;
  for (const auto& a : p.buffers) {
    CHECK(a.offset + a.bytes <= p.workspace);
    is_kept = is_kept || a.is_kept;
    for (const auto& b : p.buffers) {
      const bool same_time = a.first <= b.last && b.first <= a.last;
      const bool same_bytes = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      const bool meet = &a != &b && same_time && same_bytes;
      INFO(a.name << " | " << b.name);
      CHECK(!meet);
    }
  }
  CHECK(is_kept);
}

TEST_CASE("loops and branches are cards with their bodies") {
  constexpr auto f = tn::grad<0>([](auto w, auto xs) {
    const auto iteration = [=](auto h, auto x) {
      return std::tuple{tn::cond(x > 0.0f, [=] { return h * w; }, [=] { return sin(h) + w; }), tn::nothing};
    };
    const auto [c, none] = tn::scan(iteration, w, xs);
    return tn::while_loop([](auto h) { return h < 3.0f; }, [](auto h) { return h * h; }, c);
  });
  using plan = decltype(f.plan(array<>(), array<10>()));
  const auto p = picture_of(plan{}, {"w", "xs"});
  int scans = 0, branches = 0;
  std::set<std::string> bodies;
  for (const auto& c : p.cards) {
    for (const auto& b : c.bodies) {
      bodies.insert(b.name);
      CHECK(!b.content.cards.empty());
      scans += c.title.starts_with("scan of 10 iterations") && has(b.content.arguments, "xs[iteration] float32[]");
      for (const auto& inner : b.content.cards) branches += inner.kind == "branch" && inner.bodies.size() == 2;
    }
  }
  CHECK(scans >= 1);
  CHECK(branches >= 1);
  CHECK(bodies == std::set<std::string>{"condition", "pull", "iteration"});
  const std::string dot = tn::to_dot(plan{}), page = tn::to_html(plan{});
  CHECK(count(dot, "label=\"if true\"") == branches);
  CHECK(count(dot, "label=\"if false\"") == branches);
  CHECK(count(page, "<h3>if false</h3>") == branches);
  CHECK(count(dot, "label=\"pull\"") == 1);
  CHECK(is_balanced(page));
}

namespace {

std::filesystem::path new_file(const char* extension) {
  return std::filesystem::temp_directory_path() / ("tenure-plan-" + std::to_string(std::random_device{}()) + extension);
}

}  // namespace

TEST_CASE("the drawing has an arrow between two cards where values go from one to the other") {
  const tn::detail::picture p = picture_of(step_plan{});
  const std::string dot = tn::to_dot(step_plan{});
  for (std::size_t from = 0; from < p.cards.size(); ++from)
    for (std::size_t to = 0; to < p.cards.size(); ++to) {
      const std::string arrow = "n" + std::to_string(from) + " -> n" + std::to_string(to) + " [";
      CAPTURE(arrow);
      CHECK(count(dot, arrow) == (values_between(p.cards[to], static_cast<int>(from)).empty() ? 0 : 1));
    }
}

TEST_CASE("Graphviz reads the drawing") {
  const std::string dot = tn::to_dot(step_plan{}, {.arguments = {"a<b>&\"c\""}});
  CHECK(dot.find("a&lt;b&gt;&amp;&quot;c&quot;.first.w") != std::string::npos);
  for (const char* const part : {"label=\"forward\"", "label=\"backward\"", "label=\"update\""}) CHECK(count(dot, part) == 1);
  if (std::system("dot -V >/dev/null 2>&1") != 0) return;
  const std::filesystem::path file = new_file(".dot");
  std::ofstream(file) << dot;
  CHECK(std::system(("dot -Tsvg '" + file.string() + "' -o /dev/null").c_str()) == 0);
  std::filesystem::remove(file);
}

TEST_CASE("a page has a card for each step, arrows between cards that are there, and loads nothing") {
  const std::string page = tn::to_html(step_plan{}, {.title = "a <step> & more"});
  const auto p = picture_of(step_plan{});
  CHECK(is_balanced(page));
  CHECK(count(page, "<title>a &lt;step&gt; &amp; more</title>") == 1);
  CHECK(count(page, "<article") == static_cast<int>(p.cards.size()));
  const std::vector<std::string> ids = quoted(page, " id=\""), from = quoted(page, "data-from=\""), to = quoted(page, "data-to=\"");
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == ids.size());
  REQUIRE(from.size() == to.size());
  CHECK(from.size() >= p.cards.size() - 1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    CHECK(has(ids, from[i]));
    CHECK(has(ids, to[i]));
  }
  std::set<std::string> named;
  for (const std::string& names : quoted(page, "data-names=\""))
    for (std::istringstream all(names); !all.eof();) {
      std::string name;
      std::getline(all, name, '|');
      named.insert(name);
    }
  for (const auto& c : p.cards)
    for (const auto& r : c.reads)
      if (r.from < 0) {
        INFO(r.name);
        CHECK(named.count(r.name) == 1);
      }
  CHECK(count(page, "<rect class=\"cursor\"") == p.steps);
  CHECK(count(page, "<title>") == 1 + static_cast<int>(p.buffers.size()));
  const auto boxes = spans(page, "rx=\"2\""), steps = spans(page, "pointer-events=\"none\"");  // the memory over the steps
  REQUIRE(boxes.size() == p.buffers.size());
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    INFO(p.buffers[i].name);
    CHECK(boxes[i].first == Approx(steps[static_cast<std::size_t>(p.buffers[i].first)].first).margin(0.2));
    CHECK(boxes[i].second == Approx(steps[static_cast<std::size_t>(p.buffers[i].last)].second).margin(0.2));
  }
  for (const char* const loads : {"src=", "<link", "@import", "url(http", "fetch("}) CHECK(page.find(loads) == std::string::npos);
  CHECK(count(page, "http") == count(page, "http://www.w3.org/2000/svg"));  // a name, not a place
  CHECK(count(page, "class=\"bar\"") == 0);
}

TEST_CASE("a page shows the times of a profile") {
  const auto f = tn::value_and_grad<0>([](auto w, auto x) { return sum(tanh(matmul(x, w))); });
  const auto w = tn::full(tn::shape<8, 8>{}, 0.1f);
  const auto x = tn::full(tn::shape<8, 8>{}, 0.2f);
  using plan = decltype(f.plan(w, x));
  const tn::call_profile times = tn::profile(f, 1)(w, x);
  const std::string page = tn::to_html(plan{}, {.title = "f", .times = times});
  double sum = 0;
  for (const std::string& share : quoted(page, "<i style=\"width:")) sum += std::atof(share.c_str());
  CHECK(sum == Approx(100).margin(0.5));
  CHECK(page.find("is the most of one core") != std::string::npos);
}

TEST_CASE("run-time extents: a picture without costs and without the memory") {
  constexpr auto f = tn::compile([](auto x) { return softmax(matmul(x, x), tn::axis<1>); });
  using plan = decltype(f.plan(tn::tensor<float, tn::shape<tn::dyn, tn::dyn>>(3, 3)));
  const std::string page = tn::to_html(plan{});
  CHECK(page.find("cost known with the extents") != std::string::npos);
  CHECK(page.find("known when a call knows its run-time extents") != std::string::npos);
  CHECK(is_balanced(page));
}

TEST_CASE("numbers have a prefix and three digits, and times a unit") {
  using tn::detail::time_text, tn::detail::with_prefix;
  CHECK(with_prefix(0, "B") == "0 B");
  CHECK(with_prefix(7, "B") == "7 B");
  CHECK(with_prefix(999, "B") == "999 B");
  CHECK(with_prefix(1250, "FLOP") == "1.25 kFLOP");
  CHECK(with_prefix(12.3e3, "B") == "12.3 kB");
  CHECK(with_prefix(100e6, "B") == "100 MB");
  CHECK(with_prefix(9.994e9, "B") == "9.99 GB");
  CHECK(with_prefix(5e15, "B") == "5000 TB");
  CHECK(time_text(1.234e-6) == "1.23 µs");
  CHECK(time_text(12e-6) == "12 µs");
  CHECK(time_text(1.5e-3) == "1.50 ms");
  CHECK(time_text(0.25) == "250 ms");
}

TEST_CASE("write_html writes the page, or says why not") {
  const std::filesystem::path file = new_file(".html");
  tn::write_html(step_plan{}, file.string());
  std::stringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  CHECK(text.str() == tn::to_html(step_plan{}));
  std::filesystem::remove(file);
  try {
    tn::write_html(step_plan{}, "/nowhere/plan.html");
    FAIL("no error");
  } catch (const tn::io_error& e) {
    CHECK(std::string(e.what()) == "tenure: write_html: /nowhere/plan.html: cannot be opened");
  }
}
