// Models as lines of text: drawn from a seed, read from a file, joined, and made smaller.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace cameo::random {

using Lines = std::vector<std::string>;

/// A model that is valid by construction; the names of its values begin with `prefix`, so that models can be joined.
/// `refused` counts nodes that were tried in vain.
Lines generate(uint64_t seed, const std::string& prefix = "v", int* refused = nullptr);
/// The same model with other numbers in its inputs.
Lines reseeded(const Lines& lines, uint64_t by);
Lines read_case(const std::filesystem::path& file);
std::string text_of(const Lines& lines);

/// As few lines as still have the fault that `fails` sees.
Lines reduced(Lines lines, const std::function<bool(const Lines&)>& fails);

}  // namespace cameo::random
