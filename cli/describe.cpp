// See describe.h.
#include "cli/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/sizes.h"

namespace cameo {
namespace {

bool has_range(const Dim& d) { return !d.is_static() && range_of(d.extent()).high < kMaxExtent; }

/// batch=1..32, batch=1.., ?=2..9 as artifacts say it too; a name alone where nothing is known of it.
std::string dim_text(const Dim& d) {
  if (d.is_static()) return to_string(d);
  const std::string title = title_of(d), name = title.empty() || title.starts_with('?') ? "?" : title;
  if (!has_range(d) && d.upper() == kOpen && !is_open(d.extent())) return name;
  return fmt::format("{}={}", name, range_text({std::max<Wide>(0, range_of(d.extent()).low), d.upper()}));
}

std::string type_text(const Type& t) {
  if (t.kind == Kind::Error) return "told by the dims";
  if (t.kind != Kind::Tensor || is_static(t.shape)) return printable(to_string(t));
  std::string dims;
  for (const Dim& d : t.shape) dims += (dims.empty() ? "" : ",") + dim_text(d);
  return printable(fmt::format("{}[{}]", name(t.dtype), dims));
}

/// [1, 32], or [1, null] where the end is open.
Json range_json(Expr symbol) {
  const Interval range = range_of(symbol);
  const bool open = is_open(symbol) || range.high >= kMaxExtent;
  return {static_cast<int64_t>(range.low), open ? Json(nullptr) : Json(static_cast<int64_t>(range.high))};
}

Json io_json(const std::string& name, const Type& type) {
  Json shape = Json::array();
  if (type.kind != Kind::Tensor) shape = nullptr;
  for (const Dim& d : type.shape)
    if (d.is_static())
      shape.push_back(d.value());
    else
      shape.push_back(title_of(d).empty() ? Json(nullptr) : Json(printable(title_of(d))));
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
  j["sizes"] = Json::object();
  for (ValueId v : g.inputs())
    for (const Dim& d : g.type(v).shape)
      visit(std::vector<Expr>{d.extent()}, [&](Expr e) {
        if (e.op() == Op::Symbol) j["sizes"][printable(symbol_name(e))] = range_json(e);
      });
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
  for (ValueId v : g.inputs())
    text += fmt::format("  input   {}  {}{}\n", printable(g[v].name), type_text(g.type(v)),
                        g[v].content.empty() ? "" : ", whose elements decide shapes");
  for (const Port& p : g.outputs())
    text += fmt::format("  output  {}  {}\n", printable(p.name), type_text(g.type(p.value)));
  return text;
}

std::string dim_flags(const Model& model) {
  std::string flags;
  const DimBinding least = least_sizes(model.graph);
  for (const UnboundDim& u : model.unbound) {
    const auto size = least.find(u.dim);
    const int64_t number = size == least.end() ? 1 : std::max<int64_t>(1, size->second);
    const std::string flag = " --dim " + shell_word(fmt::format("{}={}", u.dim, number));
    if ((flags + " ").find(flag + " ") == std::string::npos) flags += flag;
  }
  return flags;
}

}  // namespace cameo
