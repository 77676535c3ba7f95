// A model in words and in JSON, as `check` and `inspect` print it.
#pragma once
#include <string>

#include "cli/console.h"
#include "frontend/import/import_onnx.h"

namespace cameo {

Json describe_model(const Model& model);     // ir_version, opsets, nodes, inputs, outputs, unbound
std::string model_line(const Model& model);  // "12 nodes, opset 17"
std::string io_lines(const Graph& graph);    // a line for each input and output
std::string dim_flags(
    const Model& model);  // " --dim batch=1 --dim width=32": for what is unbound sizes at which it runs

}  // namespace cameo
