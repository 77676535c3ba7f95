// A model that comes through a pipe: `-`, /dev/stdin, a named pipe, a shell's <(..).
#pragma once
#include <filesystem>
#include <string>

namespace cameo {

/// Where the model can be read again and again: the file itself, or all that came through a pipe, in memory. Throws
/// Failure.
struct ModelFile {
  std::filesystem::path path;  // to open
  std::string title;           // in messages, and where names are made of it
};
ModelFile model_file(const std::string& word);

}  // namespace cameo
