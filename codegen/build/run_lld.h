// One call of lld: words of its command line, inputs from memory or from paths, and the result as bytes or into a file.
// Inputs from memory become unnamed files, and messages call them by their names again.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/build/elf_object.h"
#include "codegen/build/files.h"
#include "codegen/build/outcome.h"

namespace cameo {

class LldCall {
 public:
  template <typename... Words>
  void add(Words&&... words) {
    (words_.emplace_back(std::forward<Words>(words)), ...);
  }
  void add_input(const std::string& name, std::string_view bytes);
  void add_input_path(const std::string& name, const std::string& path);
  void add_option_file(const std::string& option, std::string_view text);  // option directly followed by a path

  // Into the file, which another process may hold (`OutputFile::scratch_path`), or else into the Outcome's bytes.
  Outcome run(Machine machine, const std::string& output_path = {});

 private:
  std::string scratch(std::string_view bytes);
  std::string with_names(std::string text) const;

  std::vector<std::string> words_ = {"ld.lld"};
  std::vector<ScratchFile> files_;
  std::map<std::string, std::string> names_;  // of paths
};

}  // namespace cameo
