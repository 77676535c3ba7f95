// Data for a model, before there is an artifact to read it: ONNX's folders of test data, and the shapes that `-i`
// values have, from which dims that no flag binds are told.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "frontend/import/import_onnx.h"
#include "optimizer/plan/plan.h"

namespace cameo {

struct DataSet {
  std::string name;                     // of its folder
  std::vector<Tensor> inputs, outputs;  // one each of the interface; an output that has no file is empty
  DimBinding sizes;                     // what the inputs say of those that only a run knows
};

/// The folder itself, or the test_data_set_N inside of it. Throws Failure when there are none.
std::vector<std::filesystem::path> find_data_sets(const std::filesystem::path& folder);
/// Throws Failure when a file does not fit, an input is missing, or a size is not within its bounds.
DataSet read_data_set(const std::filesystem::path& folder, const Interface& io);

using InputShapes = std::map<std::string, std::vector<int64_t>>;
InputShapes shapes_of_data_set(const std::filesystem::path& folder, const Graph& graph);
/// Of `-i` values; those that have no shape of their own (`rand`, `zeros`) are left out.
InputShapes shapes_of_values(const std::vector<std::string>& values, const Graph& graph);

}  // namespace cameo
