// See describe.h.
#include "cli/describe.h"

#include <fmt/format.h>

namespace cameo {
namespace {

std::string type_text(const Type& t) { return t.kind == Kind::Error ? "told by the dims" : printable(to_string(t)); }

Json io_json(const std::string& name, const Type& type) {
  Json shape = Json::array();
  if (type.kind != Kind::Tensor) shape = nullptr;
  for (const Dim& d : type.shape) d.is_static() ? shape.push_back(d.value()) : shape.push_back(printable(to_string(d)));
  return {{"name", printable(name)}, {"dtype", cameo::name(type.dtype)}, {"shape", shape}};
}

}  // namespace

Json describe_model(const Model& model) {
  const Graph& g = model.graph;
  Json j{{"ir_version", model.ir_version},
         {"opsets", Json::object()},
         {"producer", printable(model.producer)},
         {"nodes", g.nodes().size()}};
  for (const auto& [domain, version] : model.opsets)
    j["opsets"][domain.empty() ? "ai.onnx" : printable(domain)] = version;
  for (const char* list : {"inputs", "outputs", "unbound"}) j[list] = Json::array();
  for (ValueId v : g.inputs()) j["inputs"].push_back(io_json(g[v].name, g.type(v)));
  for (const Port& p : g.outputs()) j["outputs"].push_back(io_json(p.name, g.type(p.value)));
  for (const UnboundDim& u : model.unbound)
    j["unbound"].push_back({{"dim", printable(u.dim)}, {"input", printable(u.input)}, {"axis", u.axis}});
  return j;
}

std::string model_line(const Model& model) {
  std::string text = fmt::format("{} nodes", model.graph.nodes().size());
  for (const auto& [domain, version] : model.opsets)
    text += fmt::format(", {} {}", domain.empty() ? "opset" : printable(domain), version);
  return text;
}

std::string io_lines(const Graph& g) {
  std::string text;
  for (ValueId v : g.inputs()) text += fmt::format("  input   {}  {}\n", printable(g[v].name), type_text(g.type(v)));
  for (const Port& p : g.outputs())
    text += fmt::format("  output  {}  {}\n", printable(p.name), type_text(g.type(p.value)));
  return text;
}

std::string dim_flags(const Model& model) {
  std::string flags;
  for (const UnboundDim& u : model.unbound) {
    const std::string flag = " --dim " + shell_word(u.dim + "=1");
    if ((flags + " ").find(flag + " ") == std::string::npos) flags += flag;
  }
  return flags;
}

}  // namespace cameo
