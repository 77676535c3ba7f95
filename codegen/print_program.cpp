// Tables are constant arrays, in the order of runtime/program.h. Plans and buckets whose schedules are the same share
// the tables of the first of them.
#include "codegen/print_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "codegen/device_code.h"
#include "codegen/pool_pieces.h"
#include "codegen/print_goldens.h"
#include "frontend/ir/string_codes.h"
#include "runtime/program.h"

namespace cameo {
namespace {

std::string_view kind_name(StepKind k) {
  constexpr std::string_view names[] = {"Kernel", "Jump",    "JumpIfFalse", "LoopBegin", "LoopEnd",
                                        "Swap",   "SetBase", "Advance",     "Copy",      "Sizes"};
  return names[static_cast<int>(k)];
}

/// Strings in one array, each once; tables name them by place.
class TextTable {
 public:
  size_t place_of(const std::string& s) {
    auto [it, fresh] = places_.try_emplace(s, size_);
    if (fresh) {
      order_.push_back(s);
      size_ += s.size() + 1;
    }
    return it->second;
  }
  void print(Writer& w) const {
    w.line("const char text[] =");
    for (const std::string& s : order_) w.line(fmt::format("  {} \"\\0\"", string_literal(s)));
    w.line("  \"\";");
  }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::string> order_;
  size_t size_ = 0;
};

/// An array of rows that are made one by one; equal runs of rows are printed once.
class RowTable {
 public:
  size_t add(std::string row) {
    rows_.push_back(std::move(row));
    return rows_.size() - 1;
  }
  /// The place of the first of these rows.
  size_t add_once(const std::vector<std::string>& rows) {
    auto [it, fresh] = places_.try_emplace(rows, rows_.size());
    if (fresh) rows_.insert(rows_.end(), rows.begin(), rows.end());
    return it->second;
  }
  size_t size() const { return rows_.size(); }
  /// As `const TYPE NAME[]`: an array has at least one row.
  void print(Writer& w, std::string_view type, std::string_view name) const {
    w.open(fmt::format("const {} {}[] = {{", type, name));
    for (const std::string& r : rows_) w.line(r + ",");
    if (rows_.empty()) w.line("{},");
    w.close("};");
  }

 private:
  std::vector<std::string> rows_;
  std::map<std::vector<std::string>, size_t> places_;
};

template <class Test>
bool has_io(const Module& m, Test test) {
  const auto passes = [&](const Interface::Io& io) { return test(io.type); };
  return std::ranges::any_of(m.io.inputs, passes) || std::ranges::any_of(m.io.outputs, passes);
}
template <class Test>
bool has_kernel(const Module& m, Test test) {
  return std::ranges::any_of(m.plans, [&](const Plan& p) { return std::ranges::any_of(p.kernels, test); });
}

bool has_lists(const Module& m) {
  return has_kernel(m, keeps_lists) || has_io(m, [](const Type& t) { return t.is_list(); });
}

/// Or a list of such, or a map with such keys.
bool holds_strings(const Type& t) {
  return t.dtype == DType::str || (t.is_list() && (t.key == DType::str || holds_strings(*t.of)));
}
bool has_strings(const Module& m) {
  const auto on_strings = [](const Kernel& k) { return std::ranges::find(k.operands, DType::str) != k.operands.end(); };
  return has_kernel(m, on_strings) || has_io(m, holds_strings);
}

bool has_complex_inputs(const Module& m) {
  return std::ranges::any_of(m.io.inputs, [](const Interface::Io& io) { return is_complex(io.type.dtype); });
}

class ProgramPrinter {
 public:
  ProgramPrinter(const Module& m, const ProgramParts& parts)
      : module_(m), parts_(parts), goldens_(parts.goldens), made_up_(made_up_tensors(m)) {
    for (size_t p = 0; p < m.plans.size(); ++p) {
      schedules_.push_back({&m.plans[p], &m.plans[p], fmt::format("{}", p)});
      for (size_t b = 0; b < m.plans[p].buckets.size(); ++b)
        schedules_.push_back({&m.plans[p], &m.plans[p].buckets[b], fmt::format("{}_{}", p, b)});
    }
  }

  std::string print() {
    w_.line(fmt::format("// Program tables of {}.", comment_safe(module_.name)));
    w_.line("#include \"runtime/program.h\"");
    if (hold_lists(goldens_)) w_.line("#include \"runtime/cameo.h\"");
    if (has_gpu(module_)) w_.line(fmt::format("#include \"{}\"", kDeviceHeader));
    w_.blank();
    print_declarations();
    w_.line("namespace rt {");
    w_.line("namespace {");
    print_symbols();
    print_ios("input", module_.io.inputs);
    print_ios("output", module_.io.outputs);
    for (const Placed& s : schedules_)
      if (&first_like(*s.schedule) == &s) print_schedule(s);
    print_buckets();
    print_images();
    print_requirements();
    print_made_up();
    if (const WeightsFile* file = parts_.weights)
      w_.line(fmt::format("const WeightsFile weights_file = {{{}, {:#018x}ul, &weights_reader}};",
                          string_literal(file->name), file->hash));
    if (has_strings(module_)) print_strings();
    print_goldens(w_, goldens_, module_.io, parts_.table);
    node_names_.print(w_, "uint32_t", "node_names");
    w_.line(fmt::format("const char* named[{}];", std::max<size_t>(node_names_.size(), 1)));
    nodes_.print(w_, "Node", "nodes");
    text_.print(w_);
    w_.line("}  // namespace");
    w_.line("}  // namespace rt");
    print_cameo_program();
    return w_.take();
  }

 private:
  void print_declarations() {
    w_.line("extern \"C\" {");
    for (const Plan& p : module_.plans)
      for (uint32_t k = 0; k < p.kernels.size(); ++k)
        if (code_of(p)[k] == k && runs_on_host(p, p.kernels[k]))
          w_.line(fmt::format("{} void {}(const rt::RowCall& call);", kHidden, external_name(p.kernels[k], p)));
    if (computes_sizes(parts_.table))
      w_.line(fmt::format("{} void {}(const rt::RowCall& call);", kHidden, kSizesSymbol));
    w_.line("const struct cameo_api* cameo_program_api(rt::uint32_t abi_major);");
    w_.line(
        fmt::format("__attribute__((visibility(\"default\"))) const struct cameo_api* {}_api(rt::uint32_t abi_major) "
                    "{{ return cameo_program_api(abi_major); }}",
                    module_.name));
    if (module_.weights.bytes && !parts_.weights)
      w_.line(fmt::format("extern {} const unsigned char cameo_weights[];", kHidden));
    print_golden_symbol(w_, goldens_);
    w_.line("}");
  }

  void print_ios(std::string_view what, const std::vector<Interface::Io>& ios) {
    RowTable rows;
    for (size_t i = 0; i < ios.size(); ++i) {
      const Type& t = ios[i].type;
      const std::string io = fmt::format("{}{}", what, i);
      const std::string fields = print_type(io, t), more = is_static(t.shape) ? "" : print_dims(io, t.shape);
      rows.add(fmt::format("{{.name = {}, {}{}{}}}", string_literal(ios[i].name), fields, more, print_element(io, t)));
    }
    rows.print(w_, "Io", fmt::format("{}s", what));
  }
  static std::string kind_field(const Type& t) {
    constexpr int kKinds[] = {1, 3, 5, 4};  // of a tensor, a sequence, an optional, a map: CAMEO_KIND_*
    if (t.is_list()) return fmt::format(".kind = {}, ", kKinds[static_cast<int>(t.kind)]);
    return t.dtype == DType::str ? ".kind = 2, " : "";
  }
  /// An array of its dims; the fields of a row.
  std::string print_type(const std::string& io, const Type& t) {
    std::string dims;
    for (const Dim& d : t.shape) dims += fmt::format("{}, ", d.is_static() ? d.value() : -1);
    if (!dims.empty()) w_.line(fmt::format("const int64_t {}_dims[] = {{{}}};", io, dims));
    return fmt::format("{}.dtype = {}, .rank = {}, .dims = {}", kind_field(t), static_cast<int>(t.dtype),
                       t.ranked ? fmt::format("{}", t.rank()) : "kAnyRank", dims.empty() ? "nullptr" : io + "_dims");
  }
  /// Of a list: a row for what its elements are; the fields that name it.
  std::string print_element(const std::string& io, const Type& list) {
    if (!list.is_list()) return "";
    const Type& t = *list.of;
    const std::string name = io + "_of", more = print_element(name, t), fields = print_type(name, t);
    w_.line(fmt::format("const Io {} = {{.name = \"\", {}{}}};", name, fields, more));
    const std::string key = list.kind == Kind::Map ? fmt::format(", .key = {}", static_cast<int>(list.key)) : "";
    return fmt::format("{}, .of = &{}", key, name);
  }
  /// Arrays of what is known of dims that only a run knows; the fields that name them.
  std::string print_dims(std::string_view io, const Shape& shape) {
    std::string low, high, names, sizes;
    for (const Dim& d : shape) {
      low += fmt::format("{}, ", std::max<int64_t>(0, static_cast<int64_t>(range_of(d.extent()).low)));
      high += fmt::format("{}, ", d.upper() == kOpen ? -1 : d.upper());
      names += (title_of(d).empty() ? "nullptr" : string_literal(title_of(d))) + ", ";
      sizes += fmt::format("{}, ", d.is_static() ? -1 : static_cast<int64_t>(parts_.table.place_of(d.extent())));
    }
    w_.line(fmt::format("const int64_t {0}_min[] = {{{1}}}, {0}_max[] = {{{2}}};", io, low, high));
    w_.line(fmt::format("const char* const {}_names[] = {{{}}};", io, names));
    w_.line(fmt::format("const int32_t {}_sizes[] = {{{}}};", io, sizes));
    size_t learned = 0;
    for (const Dim& d : shape) learned = std::max(learned, parts_.table.learned_before(d.extent()));
    return fmt::format(", .dim_min = {0}_min, .dim_max = {0}_max, .dim_sizes = {0}_sizes, .dim_names = {0}_names", io) +
           (learned ? fmt::format(", .learned = {}", learned) : "");
  }
  void print_symbols() {
    RowTable symbols;
    for (size_t i = 0; i < parts_.table.symbols(); ++i) {
      const Dim symbol(parts_.table.sizes()[i]);
      const Interval bounds = range_of(symbol.extent());
      const std::string name = string_literal(symbol_name(symbol.extent()));
      if (parts_.table.is_learned(symbol.extent()))
        symbols.add(fmt::format("{{{}, 0, -1, kLearned}}", name));
      else if (parts_.table.is_room(symbol.extent()))
        symbols.add(fmt::format("{{{}, 0, -1, kRoom}}", name));
      else if (const std::string element = element_text(symbol.extent()); !element.empty())
        symbols.add(fmt::format("{{{}, 0, -1, {}}}", name, element));
      else
        symbols.add(
            fmt::format("{{{}, {}, {}}}", name, static_cast<int64_t>(bounds.low), static_cast<int64_t>(bounds.high)));
    }
    if (symbols.size()) symbols.print(w_, "Symbol", "symbols");
  }

  /// The fields that say which element of which input a symbol is; none for one that dims give.
  std::string element_text(Expr symbol) const {
    const std::vector<Interface::Io>& inputs = module_.io.inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      for (size_t k = 0; k < inputs[i].content.size(); ++k)
        if (symbol_of_element(inputs[i].content[k]) == symbol) return fmt::format("{}, {}", i, k);
    return {};
  }

  /// A schedule, the plan that it is one of, and what its arrays are called by.
  struct Placed {
    const Plan* plan;
    const Schedule* schedule;
    std::string name;
  };
  /// Threads have the more of the two; of sizes that only a run knows there is one.
  static bool share_scratch(const Schedule& a, const Schedule& b) {
    return a.scratch_bytes == b.scratch_bytes || (a.scratch_bytes.is_static() && b.scratch_bytes.is_static());
  }
  bool are_alike(const Placed& a, const Placed& b) const {
    const Schedule &one = *a.schedule, &other = *b.schedule;
    return one.steps == other.steps && one.groups == other.groups && parameters_of(*a.plan) == parameters_of(*b.plan) &&
           one.taps == other.taps && one.arena_bytes == other.arena_bytes && one.blocks == other.blocks &&
           one.host_bytes == other.host_bytes && share_scratch(one, other);
  }
  /// The first one with the same rows: targets that differ in their kernels only share a schedule.
  const Placed& first_like(const Schedule& schedule) const {
    const auto placed = std::ranges::find(schedules_, &schedule, &Placed::schedule);
    return *std::ranges::find_if(schedules_, [&](const Placed& other) { return are_alike(other, *placed); });
  }
  void print_schedule(const Placed& placed) {
    const auto& [plan, schedule, name] = placed;
    const Plan& p = *plan;
    RowTable rows, refs, taps, axes;
    add_steps(p, *schedule, rows, refs);
    add_taps(p, *schedule, taps, axes, refs);
    rows.print(w_, "Row", "rows" + name);
    refs.print(w_, "Ref", "refs" + name);
    taps.print(w_, "Tap", "taps" + name);
    axes.print(w_, "TapAxis", "tap_axes" + name);
    print_blocks(placed);
    Dim scratch = 0;
    for (const Placed& other : schedules_)
      if (are_alike(other, placed)) scratch = larger(scratch, other.schedule->scratch_bytes);
    w_.line(fmt::format(
        "const Schedule schedule{0} = {{.rows = rows{0}, .row_count = {1}, .refs = refs{0}, .taps = "
        "taps{0}, .tap_count = {2}, .tap_axes = tap_axes{0}, .base_count = {3}, .loop_count = {4}, "
        ".arena_bytes = {5}, .scratch_bytes = {6}{7}}};",
        name, rows.size(), schedule->taps.size(), block_base(p, 0) + schedule->blocks.size(), schedule->loops,
        schedule->arena_bytes, scratch.is_static() ? scratch.value() : 0,
        (has_host(p) ? fmt::format(", .host_bytes = {}, .host_base = {}", schedule->host_bytes, host_base(p)) : "") +
            (parts_.table.empty() ? "" : fmt::format(", .sizes_base = {}", sizes_base(p))) +
            (schedule->blocks.empty()
                 ? ""
                 : fmt::format(", .blocks = blocks{}, .block_count = {}", name, schedule->blocks.size())) +
            (scratch.is_static() ? "" : fmt::format(", .scratch_size = {}", asked(scratch.extent())))));
  }
  void print_blocks(const Placed& placed) {
    RowTable blocks;
    for (uint32_t i = 0; i < placed.schedule->blocks.size(); ++i) {
      const auto& [bytes, on_host] = placed.schedule->blocks[i];
      blocks.add(fmt::format("{{{}, {}, {}{}}}", block_base(*placed.plan, i), parts_.table.place_of(bytes),
                             parts_.table.learned_before(bytes), on_host ? ", Side::Host" : ""));
    }
    if (blocks.size()) blocks.print(w_, "Block", "blocks" + placed.name);
  }
  /// What a row's `b` says of a size: one more than its place.
  size_t asked(Expr size) const { return parts_.table.place_of(size) + 1; }
  void add_steps(const Plan& p, const Schedule& schedule, RowTable& rows, RowTable& refs) {
    for (int i = 0; i < std::ssize(schedule.steps); ++i) {
      const Step& s = schedule.steps[i];
      const uint64_t a = s.kind == StepKind::LoopBegin ? s.a
                         : s.kind == StepKind::Sizes   ? parts_.table.place_of(s.elements[0])
                         : s.kind == StepKind::Kernel  ? static_cast<uint64_t>(s.repeats)
                                                       : slot_base(s.a);
      const uint64_t b = s.size ? asked(s.size) : s.kind == StepKind::Swap ? slot_base(s.b) : s.b;
      const std::string_view order = s.follows ? "Follows" : group_of(schedule, i).begin == i ? "Waits" : "Beside";
      rows.add(fmt::format("{{RowKind::{}, Order::{}, {}, {}, {}, {}, {}, {}}}", kind_name(s.kind), order,
                           s.follows ? 0 : s.chunks,
                           s.kind == StepKind::Kernel  ? s.kernel
                           : s.kind == StepKind::Sizes ? static_cast<uint32_t>(s.dtype)
                                                       : static_cast<uint32_t>(std::max(s.jump, 0)),
                           refs.size(), node_of(p, s), a, b));
      const bool has_trips = s.kind == StepKind::LoopBegin && !(s.b & rt::kTripRef);
      const bool has_bytes = s.kind == StepKind::Copy || s.kind == StepKind::Advance || s.kind == StepKind::Sizes;
      if (has_trips) refs.add(number_text(std::min(s.bytes, rt::kNoTripLimit)));
      for (const Ref& r : s.refs) refs.add(ref_text(p, r));
      if (has_bytes && !s.size) refs.add(number_text(s.bytes));
      if (s.kind == StepKind::Kernel)
        for (Expr e : parameters_of(p)[s.kernel]) refs.add(parameter_text(p, e));
    }
    rows.add("{RowKind::End, Order::Waits, 1, 0, 0, 0, 0, 0}");
  }
  /// Their refs go behind those of the steps.
  void add_taps(const Plan& p, const Schedule& schedule, RowTable& taps, RowTable& axes, RowTable& refs) {
    for (const Tap& t : schedule.taps) {
      std::vector<std::string> of_tap;
      for (size_t d = 0; d < t.dims.size(); ++d) of_tap.push_back(fmt::format("{{{}, {}}}", t.dims[d], t.pitch[d]));
      taps.add(fmt::format("{{{}, {}, {}, {}, {}, {}}}", t.step, refs.add(ref_text(p, t.at)), text_.place_of(t.name),
                           static_cast<int>(t.dtype), t.dims.size(), axes.add_once(of_tap)));
    }
  }
  /// Whether a plan for GPUs has steps on the processor.
  static bool has_host(const Plan& p) { return std::ranges::any_of(p.kernels, &Kernel::on_host); }
  static bool runs_on_host(const Plan& p, const Kernel& k) { return !p.target.is_gpu() || k.on_host; }
  void print_kernels(const Plan& p) {
    RowTable kernels;
    for (uint32_t k : code_of(p))
      kernels.add(runs_on_host(p, p.kernels[k]) ? external_name(p.kernels[k], p) : "nullptr");
    kernels.print(w_, "Kernel", "kernels_" + image_name(p));
  }
  /// Of each bucket its sizes, in the order of the symbols; -1 where it takes any.
  void print_buckets() {
    RowTable buckets;
    for (const Bucket& b : module_.plans[0].buckets) {
      std::string sizes;
      for (size_t i = 0; i < parts_.table.symbols(); ++i) {
        const Expr symbol = parts_.table.sizes()[i];
        const auto size = b.sizes.find(std::string(symbol_name(symbol)));
        const bool is_none = std::ranges::find(b.without_room, symbol) != b.without_room.end();
        sizes += fmt::format("{}{}", i ? ", " : "", is_none ? 0 : size == b.sizes.end() ? -1 : size->second);
      }
      w_.line(fmt::format("const int64_t bucket{}_sizes[] = {{{}}};", buckets.size(), sizes));
      buckets.add(fmt::format("{{{}, bucket{}_sizes}}", string_literal(to_string(b.sizes)), buckets.size()));
    }
    if (buckets.size()) buckets.print(w_, "Bucket", "buckets");
  }
  /// The array of a plan's schedules of buckets.
  std::string print_bucket_schedules(const Plan& p) {
    RowTable schedules;
    for (const Bucket& b : p.buckets) schedules.add("&schedule" + first_like(b).name);
    if (!schedules.size()) return "";
    schedules.print(w_, "Schedule* const", "buckets_" + image_name(p));
    return ", buckets_" + image_name(p);
  }
  /// The fields of its appends.
  std::string print_appends(const Plan& p) {
    RowTable appends;
    for (const Append& a : p.appends)
      appends.add(fmt::format("{{{}, {}, {}, {}, {}}}", a.input, a.output, a.axis, parts_.table.place_of(a.input_room),
                              parts_.table.place_of(a.output_room)));
    if (!appends.size()) return "";
    appends.print(w_, "Append", "appends_" + image_name(p));
    return fmt::format("{}, appends_{}, {}", p.buckets.empty() ? ", nullptr" : "", image_name(p), appends.size());
  }
  void print_images() {
    RowTable images;
    for (const Plan& p : module_.plans) {
      const std::string name = image_name(p);
      const bool gpu = p.target.is_gpu(), host = !gpu || has_host(p);
      if (gpu) print_device(p);
      if (host) print_kernels(p);
      const std::string buckets = print_bucket_schedules(p), appends = print_appends(p);
      images.add(fmt::format("{{\"{}\", {}, {}, &schedule{}, {}{}{}}}", p.target.name, p.target.features,
                             host ? "kernels_" + name : "nullptr", first_like(p).name,
                             gpu ? "&device_" + name : "nullptr", buckets, appends));
    }
    images.print(w_, "Image", "images");
  }
  /// The constant ones, and where each of them ends.
  void print_strings() {
    std::string text, ends;
    size_t end = 0;
    for (int64_t code : module_.weights.strings) {
      text += "\n    " + string_literal(text_of(code));
      ends += fmt::format("{}, ", end += text_of(code).size());
    }
    w_.line(fmt::format("const char string_text[] = {};", text.empty() ? "\"\"" : text));
    w_.line(fmt::format("const uint64_t string_ends[] = {{{}0}};", ends));
    w_.line(
        fmt::format("const StringTable strings = {{string_text, string_ends, {}, &string_functions, "
                    "&program::string_files}};",
                    module_.weights.strings.size()));
  }
  static std::string short_text(Expr condition) {
    constexpr size_t most = 120;
    const std::string text = to_string(condition);
    return text.size() <= most ? text : "";
  }
  size_t learned_before(const PlanRequirement& r) const {
    return std::max(parts_.table.learned_before(r.condition), r.since ? parts_.table.learned_before(r.since) : 0);
  }
  void print_requirements() {
    for (const Plan& p : module_.plans)
      for (const PlanRequirement& r : p.requirements)
        requirements_.add_once({fmt::format("{{{}, {}, {}, {}}}", parts_.table.place_of(condition_as_size(r)),
                                            node_of(r.provenance, "", KernelCost()), learned_before(r),
                                            string_literal(short_text(r.condition)))});
    if (requirements_.size()) requirements_.print(w_, "Requirement", "requirements");
  }
  void print_made_up() {
    RowTable tensors;
    for (const MadeUpTensor& t : made_up_)
      tensors.add(fmt::format("{{{}ul, {}ul, {}, {}f, {}f}}", t.offset, t.count, static_cast<int>(t.dtype),
                              float_text(t.mean), float_text(t.deviation)));
    if (!made_up_.empty()) tensors.print(w_, "MadeUp", "made_up");
  }
  static std::string float_text(float x) { return fmt::format("{:e}", std::isfinite(x) ? x : 0.f); }
  void print_device(const Plan& p) {
    const std::string name = image_name(p);
    RowTable codes, entries;
    for (const std::string& a : p.target.architectures) {
      const std::string symbol = device_symbol(p, a);
      codes.add(fmt::format("{{\"{0}\", {1}, {1}_bytes, {1}_unpacked_bytes}}", a, symbol));
    }
    for (size_t k = 0; k < p.kernels.size(); ++k) {
      const size_t operands = p.kernels[k].operands.size() + parameters_of(p)[k].size();
      entries.add(p.kernels[k].on_host ? "{}"
                                       : fmt::format("{{{}, {}}}", text_.place_of(p.kernels[k].symbol), operands));
    }
    codes.print(w_, "DeviceCode", "codes_" + name);
    entries.print(w_, "DeviceEntry", "entries_" + name);
    w_.line(fmt::format("const Device device_{0} = {{&cuda_driver, codes_{0}, {1}, entries_{0}, {2}, Mode::{3}}};",
                        name, codes.size(), entries.size(), module_.reduce_overhead ? "ReduceOverhead" : "Default"));
  }
  void print_cameo_program() {
    const Interface& io = module_.io;
    w_.open("extern \"C\" const rt::Program cameo_program = {");
    const auto field = [&](std::string_view name, const auto& value) {
      w_.line(fmt::format(".{} = {},", name, value));
    };
    field("name", string_literal(module_.name));
    field("manifest", string_literal(parts_.manifest));
    field("manifest_bytes", parts_.manifest.size());
    field("inputs", "rt::inputs"), field("input_count", io.inputs.size());
    field("outputs", "rt::outputs"), field("output_count", io.outputs.size());
    field("nodes", "rt::nodes"), field("node_count", nodes_.size());
    field("node_names", "rt::node_names");
    field("named", "rt::named");
    field("text", "rt::text");
    field("images", "rt::images"), field("image_count", module_.plans.size());
    if (module_.weights.bytes && !parts_.weights) field("weights", "cameo_weights");
    if (module_.weights.bytes) field("weights_bytes", module_.weights.bytes);
    if (!made_up_.empty())
      field("made_up", "rt::made_up"), field("made_up_count", made_up_.size()),
          field("made_up_seed", fmt::format("{}ul", *module_.made_up_seed));
    if (!goldens_.empty()) field("goldens", "rt::goldens"), field("golden_count", goldens_.size());
    if (const SizeTable& t = parts_.table; !t.empty()) {
      field("symbols", "rt::symbols"), field("symbol_count", t.symbols()), field("size_count", t.sizes().size());
      field("sizing", "&rt::sizing");
      if (computes_sizes(t)) field("sizes", kSizesSymbol);
      if (const size_t count = module_.plans[0].buckets.size())
        field("buckets", "rt::buckets"), field("bucket_count", count);
      if (requirements_.size())
        field("requirements", "rt::requirements"), field("requirement_count", requirements_.size());
    }
    if (parts_.weights) field("weights_file", "&rt::weights_file");
    if (has_lists(module_)) {
      field("lists", "&rt::listing");
      field("list_files", "&rt::program::list_files");
    }
    if (has_strings(module_)) field("strings", "&rt::strings");
    if (has_complex_inputs(module_)) field("complex", "&rt::program::complex_texts");
    w_.close("};");
  }

  // ---- parts of rows ------------------------------------------------------------------------------------------------
  uint64_t base_of(const Plan& p, const Ref& r) const {
    switch (r.base) {
      case Base::Weights: return 0;
      case Base::Arena: return 1;
      case Base::Input: return 2 + r.number;
      case Base::Output: return 2 + module_.io.inputs.size() + r.number;
      case Base::Slot: return slot_base(r.number);
      case Base::Host: return host_base(p);
      case Base::Block: return block_base(p, r.number);
      case Base::Scratch: return 0;  // it has none: a kernel knows which of its operands stand there
    }
    return 0;
  }
  uint64_t slot_base(uint32_t slot) const { return 2 + module_.io.inputs.size() + module_.io.outputs.size() + slot; }
  /// A plan and its buckets number their bases alike: behind the slots, the host's memory, the sizes, blocks.
  uint64_t host_base(const Plan& p) const {
    uint32_t slots = p.slots;
    for (const Bucket& b : p.buckets) slots = std::max(slots, b.slots);
    return slot_base(slots);
  }
  uint64_t sizes_base(const Plan& p) const { return host_base(p) + has_host(p); }
  uint64_t block_base(const Plan& p, uint32_t block) const { return sizes_base(p) + !parts_.table.empty() + block; }
  size_t number_of(const Plan& p) const { return static_cast<size_t>(&p - module_.plans.data()); }
  const Parameters::value_type& parameters_of(const Plan& p) const { return parts_.parameters[number_of(p)]; }
  const std::vector<uint32_t>& code_of(const Plan& p) const { return parts_.code[number_of(p)]; }
  std::string ref_text(const Plan& p, const Ref& r) const {
    const auto base = base_of(p, r);
    if (base >= 1 << 16) throw CompileError(Code::E0405, "more than 65,536 inputs, outputs and slots");
    return fmt::format("{{{}, {}ul}}", base, r.offset);
  }

  /// A place in the table of sizes, or a constant's bits.
  std::string parameter_text(const Plan& p, Expr e) const {
    if (!e.is_const()) return fmt::format("{{{}, {}ul}}", sizes_base(p), parts_.table.place_of(e) * sizeof(int64_t));
    return number_text(e.type() == DType::f32 ? std::bit_cast<uint32_t>(static_cast<float>(e.float_value()))
                                              : e.int_value());
  }
  static std::string number_text(int64_t number) {
    constexpr uint64_t kOffset = 2 * rt::kLargestNumber + 1;
    CAMEO_CHECK(std::abs(number) <= rt::kLargestNumber, "a ref has room for the number");
    return fmt::format("{{0, {}ul}}", static_cast<uint64_t>(number) & kOffset);
  }

  /// Steps name ONNX nodes through a table with one row for each distinct (provenance, kernel).
  size_t node_of(const Plan& p, const Step& s) {
    const std::string kernel(s.kind == StepKind::Kernel ? p.kernels[s.kernel].symbol : kind_name(s.kind));
    // Of a kernel over sizes the cost is that of the estimate, and a run's is not known.
    const bool known = s.kind == StepKind::Kernel &&
                       std::ranges::all_of(parameters_of(p)[s.kernel], [](Expr e) { return e.is_const(); });
    return node_of(s.provenance, kernel, known ? p.kernels[s.kernel].cost : KernelCost());
  }
  size_t node_of(const Provenance& provenance, const std::string& kernel, const KernelCost& cost) {
    const std::vector<std::string> names = names_of(provenance);
    return nodes_.add_once(
        {fmt::format("{{{}, {}, {}, {}ul, {}ul}}", node_names_.add_once(names), names.size(), text_.place_of(kernel),
                     static_cast<uint64_t>(cost.flops), static_cast<uint64_t>(cost.bytes))});
  }
  /// Their places in the text.
  std::vector<std::string> names_of(const Provenance& provenance) {
    const Sources& sources = *module_.sources;
    std::vector<std::string> names;
    for (uint32_t o : provenance)
      if (o < sources.size())
        names.push_back(
            fmt::format("{}", text_.place_of(sources[o].name.empty() ? sources[o].output : sources[o].name)));
    return names;
  }

  const Module& module_;
  const ProgramParts& parts_;
  const std::vector<GoldenCase>& goldens_;
  const std::vector<MadeUpTensor> made_up_;
  std::vector<Placed> schedules_;
  Writer w_;
  RowTable nodes_, node_names_, requirements_;
  TextTable text_;
};

}  // namespace

std::string image_name(const Plan& p) {
  std::string s = p.target.name;
  std::ranges::replace_if(s, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return s;
}
std::string device_symbol(const Plan& p, std::string_view architecture) {
  return fmt::format("cameo_{}_{}", image_name(p), architecture);
}
std::string device_source(const Plan& p) { return fmt::format("kernels_{}.cu", image_name(p)); }
bool is_reserved(std::string_view module_name) {
  constexpr std::string_view kTaken[] = {"cameo",       "cameo_get", "cameo_model", "cameo_program",
                                         "device_code", "stddef",    "stdint"};
  return std::ranges::find(kTaken, module_name) != std::end(kTaken);
}
std::string external_name(const Kernel& k, const Plan& p) { return fmt::format("{}_{}", k.symbol, image_name(p)); }

std::string print_program(const Module& m, const ProgramParts& parts) { return ProgramPrinter(m, parts).print(); }

}  // namespace cameo
