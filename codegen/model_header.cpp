// See model_header.h.
#include "codegen/model_header.h"

#include <fmt/format.h>

#include <fstream>

#include "codegen/build/embedded_files.h"
#include "codegen/paths.h"
#include "codegen/sources.h"
#include "frontend/ir/check.h"
#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kHeaderMark = "a compiled ONNX model.";  // in the first line

std::string_view embedded(std::string_view path) {
  for (const EmbeddedFile& f : embedded_files())
    if (f.path == path) return f.contents;
  return {};
}

bool is_model_header(const fs::path& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return line.find(kHeaderMark) != line.npos;
}

}  // namespace

std::string model_header(const Module& m) {
  const std::string abi(embedded("runtime/cameo.h"));
  CAMEO_CHECK(!abi.empty(), "the ABI's header inside cameo");
  std::string guard = "CAMEO_MODEL_" + m.name + "_H";
  std::string s = fmt::format("/* {}: {} {}_api(CAMEO_ABI_MAJOR) gives its functions, which the ABI below describes.\n",
                              comment_safe(m.name), kHeaderMark, m.name);
  auto list = [&](std::string_view what, const std::vector<Interface::Io>& ios) {
    for (size_t i = 0; i < ios.size(); ++i)
      s += fmt::format(" * {} {}: {} {}\n", what, i, comment_safe(ios[i].name), comment_safe(to_string(ios[i].type)));
  };
  list("input", m.io.inputs);
  list("output", m.io.outputs);
  s += " */\n" + abi;
  s += fmt::format(
      "\n#ifndef {0}\n#define {0}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\nconst cameo_api* {1}_api(uint32_t "
      "abi_major);\n#ifdef __cplusplus\n}}\n#endif\n#endif /* {0} */\n",
      guard, m.name);
  return s;
}

fs::path header_beside(const fs::path& library, const std::string& name) {
  return library.parent_path() / (name + ".h");
}

void require_header_place(const fs::path& header) {
  if (!fs::exists(header) || is_model_header(header)) return;
  throw CompileError(Code::E0602,
                     fmt::format("cannot write the header `{}`: it is there already, and was not written by cameo",
                                 printable(header.string())),
                     "--name=OTHER, or another folder for the output");
}

}  // namespace cameo
