// See artifact_key.h.
#include "cli/artifact_key.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <map>
#include <optional>

#include "codegen/build/assemble.h"
#include "codegen/build/content_hash.h"
#include "codegen/build/files.h"
#include "frontend/custom/custom_operator.h"
#include "optimizer/choose/lock.h"

namespace cameo {
namespace {

/// Values one behind the other, each with its length, so that no two lists give the same text.
class KeyText {
 public:
  void add(const std::string& text) { text_ += fmt::format("{}:{}", text.size(), text); }
  void add(const char*) = delete;
  void add(bool value) { add(std::string(value ? "yes" : "no")); }
  void add(int value) { add(fmt::format("{}", value)); }
  void add(int64_t value) { add(fmt::format("{}", value)); }
  void add(uint64_t value) { add(fmt::format("{}", value)); }
  void add(double value) { add(fmt::format("{}", value)); }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  template <class T>
  void add(const std::map<std::string, T>& values) {
    add(values.size());
    for (const auto& [name, value] : values) add(name), add(value);
  }
  void add(const Interval& range) { add_all(static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)); }
  // A member that is added to one of these structs does not compile before it is named here.
  void add(const Target& target) {
    const auto& [name, cpu, features, vector_bytes, vector_registers, machine, card, extensions, measured,
                 architectures, block_threads, sm_count, tensor_cores, host_beside, shares_groups, forms_strips,
                 keeps_size, elements_a_launch, lock] = target;
    add_all(name, cpu, features, vector_bytes, vector_registers, machine, card, extensions, measured, architectures,
            block_threads, sm_count, tensor_cores, host_beside, shares_groups, forms_strips, keeps_size,
            elements_a_launch, lock ? lock->text() : std::string());
  }
  void add(const MachineModel& machine) {
    const auto& [name, clock, fmas, loads, fma_latency, l1_bytes, l2_bytes, l3_bytes, l2_rate, l3_rate, memory_rate,
                 barrier, dot8, dot16, amx] = machine;
    add_all(name, clock, fmas, loads, fma_latency, l1_bytes, l2_bytes, l3_bytes, l2_rate, l3_rate, memory_rate, barrier,
            dot8, dot16, amx);
  }
  void add(const CardModel& card) {
    const auto& [clock, fmas, tensor_fmas, threads, shared_bytes, block_shared_bytes, sector_bytes, latency,
                 memory_rate, launch] = card;
    add_all(clock, fmas, tensor_fmas, threads, shared_bytes, block_shared_bytes, sector_bytes, latency, memory_rate,
            launch);
  }
  void add(const ImportOptions& options) {
    // which inputs `open` and `fed` keep, the model's constant inputs say
    [[maybe_unused]] const auto& [dims, ranges, shapes, constants, outputs, open, fed, lenient, custom] = options;
    add_all(dims, shapes, constants, outputs, lenient, custom.size());
    for (const Operator* op : custom) add(as_custom(*op)->file->text), add(as_custom(*op)->file->name);
    for (const auto& [name, range] : ranges) add(name), add(range);
  }
  void add(const CompileOptions& options) {
    [[maybe_unused]] const auto& [model, output, model_title, command, model_word, inputs, import, buckets, targets,
                                  reduce_overhead, on_host, precision, keep_fp32, name, made_up_seed, weights, golden,
                                  tolerance, skip, rewrite_limit, verify_each, print_after, stop, kind, with_program,
                                  time_passes, reference, jobs] = options;
    // The others say where files lie, what is printed and how much is checked; cached artifacts hold no golden cases.
    add_all(import, buckets, targets, reduce_overhead, on_host, static_cast<int>(precision), keep_fp32, name,
            made_up_seed, skip, rewrite_limit, static_cast<int>(kind), with_program);
  }
  template <class... T>
  void add_all(const T&... values) {
    (add(values), ...);
  }
  std::string hash() const { return content_hash(as_bytes(text_)); }

 private:
  std::string text_;
};

std::string hash_of_file(const std::filesystem::path& file) { return content_hash(map_file(file).bytes); }

/// The hash of its contents that a linker left in a loaded object; empty where it did not.
std::string build_id(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    const char* const end = at + object.dlpi_phdr[i].p_memsz;
    const auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const value = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && std::string_view(name, note.n_namesz) == std::string_view("GNU", 4))
        return {value, note.n_descsz};
      at = value + padded(note.n_descsz);
    }
  }
  return {};
}

/// This program, and each library that it runs with: LLVM's and libc's results reach artifacts too.
std::string compiler_identity() {
  KeyText text;
  text.add(hash_of_file("/proc/self/exe"));
  const auto add_library = [](dl_phdr_info* object, size_t, void* into) {
    const std::string path = object->dlpi_name, id = build_id(*object);
    const bool is_custom = path.starts_with("/proc/");  // without a name; its text is a part of the options
    if (!path.empty() && !is_custom) static_cast<KeyText*>(into)->add(id.empty() ? hash_of_file(path) : id);
    return 0;
  };
  ::dl_iterate_phdr(add_library, &text);
  return text.hash();
}

bool wants_ptxas(const CompileOptions& options) {
  for (const Target& target : options.targets)
    for (const std::string& architecture : target.architectures)
      if (architecture.starts_with("sm_")) return true;
  return false;
}

}  // namespace

std::string artifact_key(const Model& model, const CompileOptions& options) {
  static const std::string identity = compiler_identity();
  KeyText text;
  text.add_all(identity, options, model.constant_inputs, model.files.size());
  for (const MappedFile& file : model.files) text.add(content_hash(file.bytes));
  if (const std::string ptxas = wants_ptxas(options) ? find_ptxas() : ""; !ptxas.empty()) text.add(hash_of_file(ptxas));
  return text.hash();
}

}  // namespace cameo
