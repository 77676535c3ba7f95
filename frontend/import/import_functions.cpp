// Local functions: each call is replaced by the function's nodes, with the call's attributes put in. What a call would
// grow to is measured first, so that recursion and exponential expansion are refused before anything is built.
#include <fmt/format.h>

#include "frontend/import/import_internal.h"

namespace cameo::importing {
namespace {
uint64_t sum(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
/// A name that many others begin with: what is long loses its middle, between two characters of UTF-8.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 120;
  if (name.size() <= kMost) return name;
  auto in_character = [&](size_t i) { return (static_cast<unsigned char>(name[i]) & 0xC0) == 0x80; };
  size_t head = kMost / 2, tail = name.size() - kMost / 2;
  while (head > 0 && in_character(head)) --head;
  while (tail < name.size() && in_character(tail)) ++tail;
  return name.substr(0, head) + ".." + name.substr(tail);
}
std::string title(const onnx::FunctionProto& f) {
  return printable(f.domain().empty() ? f.name() : f.domain() + "." + f.name());
}
}  // namespace

void Importer::read_functions() {
  for (auto& f : *proto_.mutable_functions()) {
    Function made{&f, read_opsets(f.opset_import(), fmt::format("function `{}`", title(f))), {}};
    for (const std::string& bytes : newer_strings(f, 11)) {
      auto a = std::make_shared<onnx::AttributeProto>();
      if (a->ParseFromString(bytes)) made.defaults.push_back(std::move(a));
    }
    FunctionKey key{std::string(plain_domain(f.domain())), f.name(), newer_string(f, 13)};
    if (!functions_.emplace(key, std::move(made)).second)
      report(Code::E0201, fmt::format("function `{}` is defined twice", title(f)));
  }
  for (auto& [key, f] : functions_) measure(f, 0);
}

uint64_t Importer::measure(const NodeList& nodes, int depth) {
  uint64_t n = 0;
  for (const auto& node : nodes) {
    n = sum(n, 1);
    if (const Function* f = local_function(node)) {
      measure(const_cast<Function&>(*f), depth + 1);
      n = sum(n, f->expanded);
    }
    for (const auto& a : node.attribute())
      if (a.has_g()) n = sum(n, measure(a.g().node(), depth + 1));
  }
  return n;
}

void Importer::measure(Function& f, int depth) {
  if (f.state == Function::Done || f.state == Function::Refused) return;
  if (f.state == Function::Open || depth > kMaxDepth) {
    report(Code::E0201, fmt::format("function `{}` {}", title(*f.proto),
                                    f.state == Function::Open ? "calls itself" : "is nested too deep in others"));
    f.state = Function::Refused;
    return;
  }
  f.state = Function::Open;
  f.expanded = measure(f.proto->node(), depth);
  if (f.state == Function::Open) f.state = Function::Done;
}

void Importer::call(const Function& f, onnx::NodeProto& n, Scope& scope, uint32_t row) {
  try {
    if (f.state != Function::Refused) return call_checked(f, n, scope, row);
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = at(row);
    report(std::move(e.diagnostic));
  }
  fail_outputs(n, scope);
}

void Importer::call_checked(const Function& f, onnx::NodeProto& n, Scope& scope, uint32_t row) {
  const onnx::FunctionProto& proto = *f.proto;
  if (nodes_left_ < 0 || f.expanded > static_cast<uint64_t>(nodes_left_))
    throw CompileError(Code::E0201, fmt::format("function `{}` expands to {} nodes, more than this model may have",
                                                title(proto), f.expanded));
  if (scope.depth >= kMaxDepth)
    throw CompileError(Code::E0201, fmt::format("bodies and functions are nested more than {} deep", kMaxDepth));
  if (n.input_size() > proto.input_size() || n.output_size() > proto.output_size())
    throw CompileError(
        Code::E0203,
        fmt::format("function `{}` takes {} inputs and gives {} outputs, its call has {} and {}", title(proto),
                    proto.input_size(), proto.output_size(), n.input_size(), n.output_size()));
  Arguments arguments;
  for (const auto& a : f.defaults) arguments[a->name()] = a.get();
  for (auto& a : *n.mutable_attribute())
    if (auto* value = resolve(a, scope.region)) arguments[a.name()] = value;

  for (const std::string& name : proto.attribute())
    if (!arguments.count(name))
      tolerate(Code::E0204,
               fmt::format("function `{}` needs the attribute `{}`, its call has none", title(proto), printable(name)),
               "its nodes go without", at(row));
  if (std::string_view domain = plain_domain(n.domain()); !scope.region.opsets->count(domain))
    tolerate(Code::E0201,
             fmt::format("function `{}` is called without an import of its domain `{}`", title(proto),
                         domain.empty() ? "ai.onnx" : printable(domain)),
             "it is called all the same", at(row));
  const SourceNode& caller = (*sources_)[row];
  Region region{&f.opsets, &arguments, shortened(caller.name.empty() ? caller.output : caller.name) + "/"};
  Scope inner{scope.graph, region, nodes_left_, nullptr, scope.depth + 1};
  bool ok = true;
  std::vector<ValueId> inputs = read_inputs(n, scope, row, ok);
  inputs.resize(proto.input_size());
  std::set<std::string_view> given;
  for (int i = 0; i < proto.input_size(); ++i) {
    if (!given.insert(proto.input(i)).second)
      throw CompileError(Code::E0202,
                         fmt::format("function `{}` has two inputs `{}`", title(proto), printable(proto.input(i))));
    inner.define(proto.input(i), inputs[i]);
  }
  import_nodes(*f.proto->mutable_node(), inner, add_rows(proto.node(), region), given);
  std::vector<ValueId> outputs;
  for (int i = 0; i < n.output_size(); ++i) {
    auto v = inner.find(proto.output(i));
    if (!v || !*v)
      throw CompileError(Code::E0202, fmt::format("function `{}` never makes its output `{}`", title(proto),
                                                  printable(proto.output(i))));
    outputs.push_back(*v);
  }
  define_outputs(n, scope, outputs);
}

}  // namespace cameo::importing
