// See paths.h.
#include "codegen/paths.h"

#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace fs = std::filesystem;

fs::path plain_path(const fs::path& path) {
  const fs::path whole = fs::absolute(path);
  std::error_code error;
  fs::path plain = fs::weakly_canonical(whole, error);
  if (error == std::errc::no_such_file_or_directory)
    plain = whole.lexically_normal();  // an open file without a name
  else if (error)
    throw fs::filesystem_error("", path, error);
  return plain.has_filename() ? plain : plain.parent_path();
}

bool are_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  if (fs::exists(one, ignored) || fs::exists(other, ignored)) return fs::equivalent(one, other, ignored);
  return plain_path(one) == plain_path(other);
}

bool is_within(const fs::path& path, const fs::path& folder) {
  const fs::path relative = plain_path(path).lexically_relative(plain_path(folder));
  return !relative.empty() && *relative.begin() != "..";
}

void require_written(const Status& status) {
  if (!status.ok()) throw CompileError(Code::E0602, status.message);
}

}  // namespace cameo
