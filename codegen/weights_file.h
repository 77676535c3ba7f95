// `--weights=file`: the pool goes into a file of its own, which the artifact names and knows by its hash. Its format is
// runtime/weights_file.h's.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "codegen/build/files.h"
#include "codegen/build/weight_slot.h"
#include "optimizer/plan/plan.h"

namespace cameo {

struct WeightsFile {
  std::filesystem::path path;
  std::string name;  // in the artifact: counted from its folder, or absolute
  uint64_t hash = 0;

  bool is_beside() const;  // in the artifact's folder, or in one inside of it
};

/// Of the file `path` beside or for an artifact that lies in `folder`: a relative path is named as it leads there from
/// the folder, an absolute one as it is, unless it leads into the folder.
WeightsFile weights_file(const Module& m, const std::filesystem::path& path, const std::filesystem::path& folder);

/// The header's page; the pool follows it.
std::string weights_header(const Module& m, const WeightsFile& file);

/// Throws CompileError (E0602) where the path is taken by what is no file of weights.
void require_weights_place(const std::filesystem::path& path);

enum class WeightsFate { Written, Kept, Replaced };  // Kept: the file had these weights already

/// The file, all written but for its name.
class WeightsOutput {
 public:
  WeightsOutput(const Module& m, const WeightsFile& file);  // throws CompileError (E0602)
  WeightsFate commit();                                     // it appears; throws CompileError (E0602)

 private:
  WeightsFate fate_;
  OutputFile file_;
};

}  // namespace cameo
