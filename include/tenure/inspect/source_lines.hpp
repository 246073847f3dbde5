// SPDX-License-Identifier: BSL-1.0
// The source lines of the operations of a traced function. C++ gives no source line to an operator such as a * b. So the function is traced again
// at run time, with the call stack of each operation, and addr2line finds the lines in the debug information of the program.
// Only with TENURE_PROFILE_LINES: otherwise the nodes of a graph do not know their operation in the source.
#pragma once

#include <string>
#include <vector>

#include <tenure/ir/builder.hpp>

#if TENURE_PROFILE_LINES && defined(__linux__)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include <link.h>
#include <unistd.h>
#include <unwind.h>
#endif

namespace TENURE_NAMESPACE::detail {

/// Where an operation is written. `file` is empty if no function of the user has the operation.
struct source_place {
  std::string file;
  int line = 0;
  bool is_update = false;  // it is in an update rule of the library
};

#if TENURE_PROFILE_LINES && defined(__linux__)
/// Traces the function of a program at run time. It must not be inlined, because the recorded stacks end at it.
template <class Source>
[[gnu::noinline]] void trace_at_run_time(int& nodes) {
  ir::builder (*volatile trace)() = Source::trace;  // volatile: otherwise a compiler could compute the graph beforehand
  nodes = trace().count();
}

class source_lines {
 public:
  /// Records the call stack of each operation of a trace. The trace of the compiler has `count` nodes.
  template <class Source>
  void trace(int count) {
    const auto begin = &trace_at_run_time<Source>;
    end_ = reinterpret_cast<std::uintptr_t>(begin);
    int nodes = 0;
    {
      const watch of_trace(this);
      begin(nodes);
    }
    is_same_ = nodes == count;
  }

  /// The place of each operation, by its number. If there are no places, `why_none` says why.
  std::vector<source_place> places(std::string& why_none) const {
    why_none = "no source lines: the function is another one when it runs than when it is compiled";
    if (!is_same_) return {};
    std::map<std::uintptr_t, lines> known;
    for (const auto& stack : stacks_)
      for (const std::uintptr_t address : stack) known[address];
    find(known);
    const library own(stacks_, known);
    std::vector<source_place> all;
    for (const auto& stack : stacks_) all.push_back(own.place_in(stack, known));
    why_none = "no source lines: compile with -g, and have addr2line in the path";
    if (std::none_of(all.begin(), all.end(), [](const source_place& place) { return !place.file.empty(); })) return {};
    why_none.clear();
    return all;
  }

 private:
  /// Records the operations of a trace while this object lives: a traced function may throw.
  struct watch {
    explicit watch(source_lines* notes) : outer(std::exchange(current, notes)), before(std::exchange(ir::after_traced, &after_traced)) {}
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    ~watch() { ir::after_traced = before, current = outer; }

    source_lines* const outer;
    void (*const before)(std::int32_t);
  };

  using lines = std::vector<std::pair<std::string, int>>;  // of one address: the innermost of inlined calls first

  /// Distinguishes the files of the library from those of the user.
  struct library {
    std::string folder;  // or the single header

    library(const std::vector<std::vector<std::uintptr_t>>& stacks, const std::map<std::uintptr_t, lines>& known) {
      constexpr std::string_view here = "inspect/source_lines.hpp";
      if (stacks.empty() || stacks[0].empty() || known.at(stacks[0][0]).empty()) return;
      folder = known.at(stacks[0][0])[0].first;  // the file of after_traced()
      if (folder.ends_with(here)) folder.resize(folder.size() - here.size());
    }
    source_place place_in(const std::vector<std::uintptr_t>& stack, const std::map<std::uintptr_t, lines>& known) const {
      source_place place;
      for (const std::uintptr_t address : stack)
        for (const auto& [file, line] : known.at(address)) {
          const bool is_own = !folder.empty() && file.starts_with(folder);
          if (is_own) place.is_update = place.is_update || file.compare(folder.size(), 6, "optim/") == 0;
          else if (!is_of_system(file)) return {file, line};
        }
      return place;
    }
    static bool is_of_system(const std::string& file) {
      return file.starts_with("/usr/include/") || file.find("/include/c++/") != std::string::npos || file.find("/boost/hana/") != std::string::npos;
    }
  };

  struct walk {
    std::vector<std::uintptr_t> stack;
    std::uintptr_t end;
  };
  static _Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
    walk& w = *static_cast<walk*>(data);
    int is_before_call = 0;
    const std::uintptr_t at = _Unwind_GetIPInfo(context, &is_before_call);
    w.stack.push_back(is_before_call ? at : at - 1);  // a return address can belong to the next line
    return _Unwind_GetRegionStart(context) == w.end ? _URC_END_OF_STACK : _URC_NO_REASON;
  }
  [[gnu::noinline]] static void after_traced(std::int32_t location) {
    walk w{{}, current->end_};
    _Unwind_Backtrace(&step, &w);
    auto& stacks = current->stacks_;
    if (stacks.size() < static_cast<std::size_t>(location)) stacks.resize(static_cast<std::size_t>(location));
    stacks[static_cast<std::size_t>(location) - 1] = std::move(w.stack);
  }

  /// A loaded file of code. `offset` is the difference between an address in memory and in the file.
  struct object {
    std::string path;
    std::uintptr_t offset = 0;
  };
  static object object_at(std::uintptr_t address) {
    std::pair<std::uintptr_t, object> found{address, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          auto& [wanted, result] = *static_cast<std::pair<std::uintptr_t, object>*>(data);
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& part = info->dlpi_phdr[i];
            const std::uintptr_t first = info->dlpi_addr + part.p_vaddr;
            if (part.p_type != PT_LOAD || wanted < first || wanted >= first + part.p_memsz) continue;
            result = {info->dlpi_name, info->dlpi_addr};
            return 1;
          }
          return 0;
        },
        &found);
    if (!found.second.path.empty()) return found.second;
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    found.second.path.assign(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    return found.second;
  }

  static void find(std::map<std::uintptr_t, lines>& known) {
    std::map<std::string, std::vector<std::pair<std::uintptr_t, std::uintptr_t>>> in;  // of each file of code: addresses in it and in memory
    for (const auto& entry : known) {
      const object o = object_at(entry.first);
      in[o.path].emplace_back(entry.first - o.offset, entry.first);
    }
    constexpr std::size_t at_once = 2000;  // a command has at most 128 KB
    for (const auto& [path, addresses] : in)
      for (std::size_t i = 0; i < addresses.size(); i += at_once) ask(path, addresses.data() + i, addresses.data() + std::min(i + at_once, addresses.size()), known);
  }
  static void ask(const std::string& path, const std::pair<std::uintptr_t, std::uintptr_t>* at, const std::pair<std::uintptr_t, std::uintptr_t>* end,
                  std::map<std::uintptr_t, lines>& known) {
    std::string command = "addr2line -a -i -e '";
    for (const char c : path) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += '\'';
    char text[4200];
    for (auto a = at; a != end; ++a) {
      std::snprintf(text, sizeof text, " 0x%llx", static_cast<unsigned long long>(a->first));
      command += text;
    }
    command += " 2>/dev/null";
    std::FILE* const answer = popen(command.c_str(), "r");
    if (answer == nullptr) return;
    // A line with each address. Then "file:line" of the innermost inlined call, of the call around it, and so on; "??:0" or "file:?" if not known.
    for (lines* to = nullptr; std::fgets(text, sizeof text, answer) != nullptr;) {
      const std::string_view line = text;
      const std::size_t colon = line.rfind(':');
      if (line.starts_with("0x")) {
        if (at != end) to = &known[at++->second];
      } else if (const int number = colon != std::string_view::npos ? std::atoi(text + colon + 1) : 0; to != nullptr && number > 0) {
        to->emplace_back(std::string(line.substr(0, colon)), number);
      }
    }
    pclose(answer);
  }

  static inline thread_local source_lines* current = nullptr;

  std::vector<std::vector<std::uintptr_t>> stacks_;
  std::uintptr_t end_ = 0;
  bool is_same_ = false;
};
#else
class source_lines {
 public:
  template <class Source>
  void trace(int) {}
  std::vector<source_place> places(std::string& why_none) const {
    why_none = TENURE_PROFILE_LINES ? "no source lines: they are found on Linux" : "no source lines: compile with -DTENURE_PROFILE_LINES=1 -g -fno-optimize-sibling-calls";
    return {};
  }
};
#endif

}  // namespace tenure::detail
