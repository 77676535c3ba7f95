// Kernels are static functions, each behind an external one named SYMBOL_IMAGE, so that several instruction sets can
// stand in one artifact.
#include "codegen/print_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/print_custom.h"
#include "codegen/print_kernel.h"
#include "codegen/print_program.h"
#include "frontend/ir/check.h"
#include "optimizer/choose/family.h"

namespace cameo {
namespace {

/// What is printed of a plan's kernels.
struct Bodies {
  explicit Bodies(const Plan& p) {
    if (!p.target.is_gpu()) all = print_bodies(p.kernels);
    for (uint32_t k = 0; k < p.kernels.size(); ++k) {
      if (p.target.is_gpu()) all.push_back(print_body(p.kernels[k])), all[k].function = k;
      if (all[k].function == k) functions.push_back(k);
    }
  }
  std::vector<KernelBody> all;
  std::vector<uint32_t> functions;  // kernels that have one of their own
};

/// By file, the kernels whose functions it has.
using Shares = std::vector<std::vector<uint32_t>>;

/// About as many in each file; `files` is for all kernels, and where kernels share functions there are fewer. Those of
/// one family and choice stand together, for they instantiate the same templates.
Shares shares_of(const Plan& p, const Bodies& bodies, int files) {
  std::vector<std::pair<std::string, uint32_t>> sorted;  // by what is instantiated
  for (uint32_t k : bodies.functions) {
    const Kernel& kernel = p.kernels[k];
    sorted.emplace_back(kernel.family->header(kernel) + " " + kernel.choice.text(), k);
  }
  std::ranges::sort(sorted);
  const size_t functions = sorted.size(), kernels = bodies.all.size();
  const size_t used =
      functions == 0 ? 1 : std::clamp<size_t>(static_cast<size_t>(files) * functions / kernels, 1, functions);
  Shares shares(used);
  for (size_t i = 0; i < functions; ++i) shares[i * used / functions].push_back(sorted[i].second);
  return shares;
}

/// A GPU's kernels are what the driver finds by name, a processor's what the image's table points to.
SourceFile print_gpu_kernels(const Module& m, const Plan& p, size_t file, const Shares& shares, const Bodies& bodies) {
  Writer w;
  w.line(fmt::format("// Kernels of {}, part {} of {}, for GPUs.", comment_safe(m.name), file + 1, shares.size()));
  w.append(kernel_includes(p.kernels));
  for (uint32_t k : shares[file]) {
    if (p.kernels[k].on_host) continue;
    w.blank();
    print_kernel(w, p.kernels[k], bodies.all[k], *m.sources, Frame::Gpu);
  }
  return {fmt::format("kernels_{}_{}.cu", image_name(p), file), w.take()};
}

void print_cpu_kernel(Writer& w, const Module& m, const Plan& p, uint32_t number, const Bodies& bodies) {
  const Kernel& kernel = p.kernels[number];
  w.blank();
  for (uint32_t k = number + 1; k < p.kernels.size(); ++k)
    if (bodies.all[k].function == number)
      w.line(fmt::format("// {} with other sizes or constants is:", p.kernels[k].symbol));
  print_kernel(w, kernel, bodies.all[number], *m.sources);
  print_entry(w, kernel, external_name(kernel, p));
}

SourceFile print_kernels(const Module& m, const Plan& p, size_t file, const Shares& shares, const Bodies& bodies) {
  if (p.target.is_gpu()) return print_gpu_kernels(m, p, file, shares, bodies);
  Writer w;
  w.line(fmt::format("// Kernels of {}, part {} of {}, for {}.", comment_safe(m.name), file + 1, shares.size(),
                     p.target.name));
  w.append(kernel_includes(p.kernels));
  print_custom_tables(w, p);
  for (uint32_t k : shares[file]) print_cpu_kernel(w, m, p, k, bodies);
  return {fmt::format("kernels_{}_{}.cpp", image_name(p), file), w.take()};
}

SourceFile print_host_kernels(const Module& m, const Plan& p, const Bodies& bodies) {
  Writer w;
  w.line(fmt::format("// What the processor runs of {}'s plan for GPUs.", comment_safe(m.name)));
  w.append(kernel_includes(p.kernels));
  print_custom_tables(w, p);
  for (uint32_t k : bodies.functions)
    if (p.kernels[k].on_host) print_cpu_kernel(w, m, p, k, bodies);
  return {fmt::format("kernels_{}_host.cpp", image_name(p)), w.take()};
}

/// In a file of kernels, for headers take longer to read than sizes to compile: the narrowest processor's, of those
/// that run the artifact. Where that may be any, beside a GPU's plan, in a file of their own.
void add_sizes(EmittedModule& out, const Module& m, const SizeTable& table) {
  if (!computes_sizes(table)) return;
  std::string text = print_sizes(table, m);
  if (has_gpu(m))
    out.host.push_back({"sizes.cpp", std::move(text)});
  else
    out.kernels.back().front().text += "\n" + text;  // behind the kernels stand copies of custom files
}

nlohmann::ordered_json sizes_json(const DimBinding& sizes) {
  nlohmann::ordered_json j;
  for (const auto& [name, size] : sizes) j[printable(name)] = size;
  return j;
}

std::string manifest_of(const Module& m, const SizeTable& table, const WeightsFile* weights) {
  nlohmann::ordered_json j;
  j["schema"] = std::string(kManifestSchema) + "1";
  j["name"] = m.name;
  auto shape = [](const Shape& dims) {
    auto a = nlohmann::ordered_json::array();
    for (const Dim& d : dims) d.is_static() ? a.push_back(d.value()) : a.push_back(printable(to_string(d)));
    return a;
  };
  auto ios = [&](const std::vector<Interface::Io>& list) {
    auto a = nlohmann::ordered_json::array();
    for (auto& io : list)
      a.push_back({{"name", printable(io.name)}, {"dtype", name(io.type.dtype)}, {"shape", shape(io.type.shape)}});
    return a;
  };
  j["inputs"] = ios(m.io.inputs);
  j["outputs"] = ios(m.io.outputs);
  for (size_t i = 0; i < table.symbols(); ++i) {
    const Dim d(table.sizes()[i]);
    if (table.is_room(d.extent())) continue;
    auto& symbol = j["symbols"][printable(symbol_name(d.extent()))];
    symbol["min"] = static_cast<int64_t>(range_of(d.extent()).low);
    if (d.upper() != kOpen) symbol["max"] = d.upper();
  }
  j["weights_bytes"] = m.weights.bytes;
  if (weights)
    j["weights_file"] = {{"name", printable(weights->name)}, {"hash", fmt::format("{:016x}", weights->hash)}};
  if (m.made_up_seed) j["weights"] = fmt::format("random:{}", *m.made_up_seed);
  for (const Plan& p : m.plans) {
    j["targets"].push_back({{"name", p.target.name},
                            {"arena_bytes", p.arena_bytes},
                            {"kernels", p.kernels.size()},
                            {"steps", p.steps.size()}});
    for (const Bucket& b : p.buckets)
      j["targets"].back()["buckets"].push_back(
          {{"sizes", sizes_json(b.sizes)}, {"arena_bytes", b.arena_bytes}, {"steps", b.steps.size()}});
    if (!p.target.is_gpu()) continue;
    j["targets"].back()["architectures"] = p.target.architectures;
    j["targets"].back()["mode"] = m.reduce_overhead ? "reduce-overhead" : "default";
    j["targets"].back()["steps_on_host"] = steps_on_host(p);
  }
  return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool has_gpu(const Module& m) {
  return std::ranges::any_of(m.plans, [](const Plan& p) { return p.target.is_gpu(); });
}

EmittedModule print_module(const Module& m, int files, const std::vector<GoldenCase>& goldens,
                           const WeightsFile* weights) {
  CAMEO_CHECK(!m.plans.empty(), "a module with a plan");
  EmittedModule out;
  Parameters parameters;
  std::vector<std::vector<uint32_t>> code;
  for (const Plan& p : m.plans) {
    const Bodies bodies(p);
    parameters.emplace_back(), code.emplace_back();
    for (const KernelBody& body : bodies.all)
      parameters.back().push_back(body.parameters), code.back().push_back(body.function);
    const Shares shares = shares_of(p, bodies, files);
    std::vector<SourceFile>& sources = out.kernels.emplace_back();
    for (size_t file = 0; file < shares.size(); ++file) sources.push_back(print_kernels(m, p, file, shares, bodies));
    add_custom_files(p, out);
    if (std::ranges::any_of(p.kernels, &Kernel::on_host)) out.host.push_back(print_host_kernels(m, p, bodies));
  }
  const SizeTable table(m, parameters);
  add_sizes(out, m, table);
  out.program = {"program.cpp",
                 print_program(m, {goldens, manifest_of(m, table, weights), table, parameters, code, weights})};
  return out;
}

}  // namespace cameo
