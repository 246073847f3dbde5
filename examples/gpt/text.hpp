// SPDX-License-Identifier: BSL-1.0
// The text: all *.md files of a folder, in the order of their names. Of each file the last tenth is held out.
// A character is a line end or printable ASCII, and its number is from 0 to 95. Others are left out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

inline bool is_character(char c) { return c == '\n' || (c >= ' ' && c <= '~'); }
inline std::int32_t number_of(char c) { return c == '\n' ? 0 : c - ' ' + 1; }
inline char character_of(std::int64_t number) { return number == 0 ? '\n' : static_cast<char>(number - 1 + ' '); }

struct corpus {
  std::vector<std::int32_t> train, held_out;

  explicit corpus(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".md") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
      std::ifstream file(path, std::ios::binary);
      std::string text(std::istreambuf_iterator<char>(file), {});
      std::erase_if(text, [](char c) { return !is_character(c); });
      for (std::size_t i = 0; i < text.size(); ++i) (i < text.size() / 10 * 9 ? train : held_out).push_back(number_of(text[i]));
    }
    if (std::min(train.size(), held_out.size()) < 1000) throw std::runtime_error(folder.string() + ": less than 10,000 characters of *.md files");
  }
};
