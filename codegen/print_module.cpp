// Tables are printed as constant arrays; kernels are external functions named SYMBOL_IMAGE, so that several instruction sets
// can stand in one artifact.
#include "codegen/print_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "codegen/print_goldens.h"
#include "codegen/print_kernel.h"
#include "frontend/check.h"

namespace cameo {
namespace {

std::string image_suffix(const Plan& p) {
  std::string s;
  for (char c : p.target.name) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return s;
}

uint32_t base_number(const Ref& r, const Module& m) {
  uint32_t in = static_cast<uint32_t>(m.io.inputs.size()), out = static_cast<uint32_t>(m.io.outputs.size());
  switch (r.base) {
    case Base::Weights: return 0;
    case Base::Arena: return 1;
    case Base::Input: return 2 + r.number;
    case Base::Output: return 2 + in + r.number;
    case Base::Slot: return 2 + in + out + r.number;
  }
  return 0;
}

std::string_view kind_name(StepKind k) {
  constexpr std::string_view names[] = {"Kernel", "Jump", "JumpIfFalse", "LoopBegin", "LoopEnd", "Swap", "SetBase", "Advance", "Copy"};
  return names[static_cast<int>(k)];
}

void print_dims(Writer& w, std::string_view name, const Type& t) {
  std::string s;
  for (const Dim& d : t.shape) s += fmt::format("{}{}", s.empty() ? "" : ", ", d.value());
  if (!s.empty()) w.line(fmt::format("const int64_t {}[] = {{{}}};", name, s));
}

void print_ios(Writer& w, std::string_view what, const std::vector<Interface::Io>& ios) {
  for (size_t i = 0; i < ios.size(); ++i) print_dims(w, fmt::format("{}{}_dims", what, i), ios[i].type);
  if (ios.empty()) return;
  w.open(fmt::format("const Io {}s[] = {{", what));
  for (size_t i = 0; i < ios.size(); ++i)
    w.line(fmt::format("{{{}, /*tensor*/ 1, {}, {}, {}, nullptr, nullptr, nullptr}},", string_literal(ios[i].name), static_cast<int>(ios[i].type.dtype), ios[i].type.rank(),
                       ios[i].type.rank() ? fmt::format("{}{}_dims", what, i) : "nullptr"));
  w.close("};");
}

/// Steps name ONNX nodes through a table with one row for each distinct (origin, kernel).
class NodeTable {
 public:
  uint32_t row(const Step& s, const Plan& p) {
    std::string kernel = s.kind == StepKind::Kernel ? p.kernels[s.kernel].symbol : std::string(kind_name(s.kind));
    auto key = std::pair(s.origin, kernel);
    auto [it, fresh] = numbers_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
    if (fresh) rows_.push_back(key);
    return it->second;
  }
  void print(Writer& w, const Sources& sources) const {
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::string names;
      for (uint32_t o : rows_[i].first)
        if (o < sources.size()) names += string_literal(sources[o].name.empty() ? sources[o].output : sources[o].name) + ", ";
      if (!names.empty()) w.line(fmt::format("const char* const node{}_names[] = {{{}}};", i, names));
    }
    w.open("const Node nodes[] = {");
    for (size_t i = 0; i < rows_.size(); ++i) {
      size_t count = std::count_if(rows_[i].first.begin(), rows_[i].first.end(), [&](uint32_t o) { return o < sources.size(); });
      w.line(fmt::format("{{{}, {}, \"{}\", 0, 0}},", count ? fmt::format("node{}_names", i) : "nullptr", count, rows_[i].second));
    }
    w.line("{nullptr, 0, \"\", 0, 0},");
    w.close("};");
  }
  size_t size() const { return rows_.size(); }

 private:
  std::map<std::pair<Origin, std::string>, uint32_t> numbers_;
  std::vector<std::pair<Origin, std::string>> rows_;
};

uint32_t slot_base(uint32_t slot, const Module& m) { return base_number({Base::Slot, slot, 0}, m); }

/// Their refs go behind those of the steps.
void print_taps(Writer& w, const Plan& p, const Module& m, std::vector<std::string>& refs) {
  std::map<std::string, size_t> axes;  // equal shapes and layouts share a row of text
  std::vector<std::string> rows;
  for (const Tap& t : p.taps) {
    std::string text;
    for (size_t d = 0; d < t.dims.size(); ++d) text += fmt::format("{{{}, {}, nullptr}}, ", t.dims[d], t.pitch[d]);
    auto [it, fresh] = axes.try_emplace(text, axes.size());
    if (fresh && !text.empty()) w.line(fmt::format("const TapAxis tap_axes{}[] = {{{}}};", it->second, text));
    rows.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}}},", t.step, refs.size(), string_literal(t.name), static_cast<int>(t.dtype), t.dims.size(),
                               text.empty() ? "nullptr" : fmt::format("tap_axes{}", it->second)));
    refs.push_back(fmt::format("{{{}, 0, {}ul}},", base_number(t.at, m), t.at.offset));
  }
  if (rows.empty()) return;
  w.open("const Tap taps[] = {");
  for (const std::string& r : rows) w.line(r);
  w.close("};");
}

void print_rows(Writer& w, const Plan& p, const Module& m, NodeTable& nodes) {
  std::vector<std::string> refs;
  w.open("const Row rows[] = {");
  for (const Step& s : p.steps) {
    w.line(fmt::format("{{RowKind::{}, 1, {}, {}, {}, 0, {}, {}, {}ul, {}, {}}},", kind_name(s.kind), s.chunks, s.kernel, refs.size(), nodes.row(s, p), s.jump, s.bytes,
                       s.kind == StepKind::LoopBegin ? s.a : slot_base(s.a, m), s.kind == StepKind::Swap ? slot_base(s.b, m) : s.b));
    for (const Ref& r : s.refs) refs.push_back(fmt::format("{{{}, 0, {}ul}},", base_number(r, m), r.offset));
  }
  w.line("{RowKind::End, 1, 1, 0, 0, 0, 0, -1, 0, 0, 0},");
  w.close("};");
  print_taps(w, p, m, refs);
  w.open("const Ref refs[] = {");
  for (auto& r : refs) w.line(r);
  w.line("{0, 0, 0},");
  w.close("};");
}

}  // namespace

std::string manifest_of(const Module& m) {
  nlohmann::ordered_json j;
  j["schema"] = "cameo.manifest/1";
  j["name"] = m.name;
  auto ios = [](const std::vector<Interface::Io>& list) {
    auto a = nlohmann::ordered_json::array();
    for (auto& io : list) a.push_back({{"name", printable(io.name)}, {"dtype", name(io.type.dtype)}, {"shape", extents(io.type.shape)}});
    return a;
  };
  j["inputs"] = ios(m.io.inputs);
  j["outputs"] = ios(m.io.outputs);
  j["weights_bytes"] = m.weights.bytes;
  for (const Plan& p : m.plans) j["targets"].push_back({{"name", p.target.name}, {"arena_bytes", p.arena_bytes}, {"kernels", p.kernels.size()}, {"steps", p.steps.size()}});
  return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

EmittedModule print_module(const Module& m, int files, const std::vector<GoldenCase>& goldens) {
  CAMEO_CHECK(!m.plans.empty() && goldens.size() < 1000, "a module with a plan");
  EmittedModule out;
  for (const Plan& p : m.plans) {
    std::vector<SourceFile> sources;
    size_t n = std::max<size_t>(1, std::min<size_t>(static_cast<size_t>(files), p.kernels.size()));
    for (size_t f = 0; f < n; ++f) {
      Writer w;
      w.line(fmt::format("// Kernels of {}, part {} of {}, for {}.", comment_safe(m.name), f + 1, n, p.target.name));
      w.append(kernel_includes(p.kernels));
      w.blank();
      std::string table;
      for (size_t k = f; k < p.kernels.size(); k += n) {
        print_kernel(w, p.kernels[k], *m.sources);
        w.line(fmt::format("extern \"C\" __attribute__((visibility(\"hidden\"))) void {}_{}(const rt::RowCall& call) {{ {}(call); }}", p.kernels[k].symbol, image_suffix(p), p.kernels[k].symbol));
        w.blank();
      }
      sources.push_back({fmt::format("kernels_{}_{}.cpp", image_suffix(p), f), w.take()});
    }
    out.kernels.push_back(std::move(sources));
  }
  const Plan& p = m.plans[0];
  Writer w;
  w.line(fmt::format("// Program tables of {}.", comment_safe(m.name)));
  w.line("#include \"runtime/program.h\"");
  w.blank();
  w.line("extern \"C\" {");
  for (const Plan& q : m.plans)
    for (const Kernel& k : q.kernels) w.line(fmt::format("__attribute__((visibility(\"hidden\"))) void {}_{}(const rt::RowCall& call);", k.symbol, image_suffix(q)));
  w.line("const struct cameo_api* cameo_program_api(rt::uint32_t abi_major);");
  w.line(fmt::format("__attribute__((visibility(\"default\"))) const struct cameo_api* {}_api(rt::uint32_t abi_major) {{ return cameo_program_api(abi_major); }}", m.name));
  if (m.weights.bytes) w.line("extern __attribute__((visibility(\"hidden\"))) const unsigned char cameo_weights[];");
  print_golden_symbol(w, goldens);
  w.line("}");
  w.line("namespace rt {");
  w.line("namespace {");
  print_ios(w, "input", m.io.inputs);
  print_ios(w, "output", m.io.outputs);
  NodeTable nodes;
  print_rows(w, p, m, nodes);
  nodes.print(w, *m.sources);
  for (const Plan& q : m.plans) {
    w.open(fmt::format("const Kernel kernels_{}[] = {{", image_suffix(q)));
    for (const Kernel& k : q.kernels) w.line(fmt::format("{}_{},", k.symbol, image_suffix(q)));
    w.line("nullptr,");
    w.close("};");
  }
  w.open("const Image images[] = {");
  for (const Plan& q : m.plans) w.line(fmt::format("{{\"{}\", {}, kernels_{}}},", q.target.name, q.target.features, image_suffix(q)));
  w.close("};");
  print_goldens(w, goldens);
  std::string manifest = manifest_of(m);
  w.line("}  // namespace");
  w.line("}  // namespace rt");
  w.open("extern \"C\" const rt::Program cameo_program = {");
  w.line("rt::kProgramVersion,");
  w.line(fmt::format("{}, {}, {},", string_literal(m.name), string_literal(manifest), manifest.size()));
  auto list = [](size_t n, std::string_view what) { return fmt::format("{}, {},", n ? fmt::format("rt::{}", what) : "nullptr", n); };
  w.line(list(m.io.inputs.size(), "inputs"));
  w.line(list(m.io.outputs.size(), "outputs"));
  w.line(fmt::format("rt::rows, {}, rt::refs, nullptr,", p.steps.size() + 1));
  w.line(fmt::format("rt::nodes, {}, {}", nodes.size(), list(p.taps.size(), "taps")));
  w.line(fmt::format("rt::images, {},", m.plans.size()));
  w.line(fmt::format("{}, {}, {}ul, {}ul,", 2 + m.io.inputs.size() + m.io.outputs.size() + p.slots, p.loops, p.arena_bytes, p.scratch_bytes));
  w.line(fmt::format("{}, {}ul,", m.weights.bytes ? "cameo_weights" : "nullptr", m.weights.bytes));
  w.line(fmt::format("{} 0,", list(goldens.size(), "goldens")));
  w.close("};");
  out.program = {"program.cpp", w.take()};
  return out;
}

}  // namespace cameo
