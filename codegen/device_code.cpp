// See device_code.h. The PTX version is lowered to 7.0: drivers from 11.0 on take it.
#include "codegen/device_code.h"

#include <fmt/format.h>

#include <set>

#include "codegen/pack_code.h"
#include "codegen/print_program.h"
#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace {

constexpr std::string_view kPtx = "ptx", kHost = "host";

std::vector<std::string> bytes_of(std::vector<Outcome> outcomes, std::string_view what) {
  std::vector<std::string> bytes;
  for (Outcome& o : outcomes) {
    if (!o.ok) throw CompileError(Code::E0601, fmt::format("compiling kernels for {} failed: {}", what, o.message));
    bytes.push_back(std::move(o.bytes));
  }
  return bytes;
}

bool is_header(std::string_view line) {
  return line.starts_with(".version") || line.starts_with(".target") || line.starts_with(".address_size");
}
/// Without indentation and comment.
std::string_view words_of(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const size_t first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t");
  return first == line.npos ? "" : line.substr(first, last + 1 - first);
}

}  // namespace

CompileJob ptx_job(const SourceFile& file) {
  CompileJob job;
  job.name = file.path;
  job.source = file.text;
  job.target = {"nvptx64-nvidia-cuda", "sm_80", {"+ptx70"}, 0};
  job.assembly = true;
  job.vectorize = false;
  return job;
}

CompileJob fiber_job(const SourceFile& file) {
  CompileJob job;
  job.name = file.path + ".cpp";
  job.source = file.text;
  job.target.cpu = "x86-64-v3";  // with an fma, as a GPU has
  job.defines = {"RT_FIBERS"};
  job.vectorize = false;
  return job;
}

/// What stands outside of functions is not indented: a header, a declaration up to its semicolon, or a function up to
/// its brace. Of each there is one; what two modules call by one name, a function of the runtime, is the same function.
std::string merge_ptx(std::span<const std::string> modules) {
  std::string merged, item, signature;
  std::set<std::string> seen;
  for (const std::string& module : modules)
    for (size_t at = 0; at < module.size();) {
      const size_t end = std::min(module.find('\n', at), module.size());
      const std::string_view all(module.data() + at, end - at), line = words_of(all);
      at = end + 1;
      if (line.empty()) continue;
      if (all.starts_with('{')) signature = item;
      item.append(line) += '\n';
      const bool ends = signature.empty() ? is_header(line) || line.ends_with(';') : all.starts_with('}');
      if (!ends) continue;
      if (seen.insert(signature.empty() ? item : signature).second) merged += item;
      item.clear();
      signature.clear();
    }
  return merged;
}

namespace {

class Builder {
 public:
  Builder(const Plan& plan, const std::vector<SourceFile>& files, WorkerPool& pool, const Progress& progress)
      : plan_(plan), files_(files), pool_(pool), progress_(progress) {}

  std::vector<DeviceImage> build() {
    require_ptxas();
    std::vector<DeviceImage> images;
    for (const std::string& a : plan_.target.architectures)
      images.push_back({device_symbol(plan_, a), a == kHost ? library() : a == kPtx ? ptx() + '\0' : std::string()});
    add_cubins(images);
    for (DeviceImage& image : images) {
      image.unpacked_bytes = image.bytes.size();
      image.bytes = pack_code(image.bytes);
    }
    return images;
  }

  const std::string& ptx() {
    if (ptx_.empty()) ptx_ = merge_ptx(compile(ptx_job, "GPUs"));
    return ptx_;
  }

 private:
  /// Before minutes are spent.
  void require_ptxas() {
    for (const std::string& a : plan_.target.architectures)
      if (a.starts_with("sm_") && ptxas_.empty())
        throw CompileError(
            Code::E0603,
            fmt::format("code for {} needs ptxas, which is neither in PATH nor in the toolkit's folder", a),
            "install the CUDA toolkit (Debian: nvidia-cuda-toolkit) or set CUDA_HOME, or build for cuda:ptx, which the "
            "card's driver compiles when it is first loaded");
  }
  std::vector<std::string> compile(CompileJob (*job_of)(const SourceFile&), std::string_view what) {
    std::vector<Job> jobs;
    for (const SourceFile& f : files_) jobs.emplace_back(job_of(f));
    return bytes_of(pool_.run(jobs, progress_), what);
  }
  std::string library() {
    std::vector<LinkInput> objects;
    for (std::string& bytes : compile(fiber_job, "fibers"))
      objects.push_back({fmt::format("{}.o", objects.size()), std::move(bytes), {}});
    std::vector<std::string> names{"cameo_fibers"};
    for (const Kernel& k : plan_.kernels)
      if (!k.on_host) names.push_back(k.symbol);
    const Job link = link_shared(std::move(objects), "kernels.so", "", std::move(names));
    return bytes_of(pool_.run(std::span(&link, 1), progress_), kHost)[0];
  }
  void add_cubins(std::vector<DeviceImage>& images) {
    std::vector<Job> jobs;
    for (const std::string& a : plan_.target.architectures)
      if (a.starts_with("sm_")) jobs.emplace_back(AssembleJob{ptxas_, a, ptx()});
    std::vector<std::string> cubins = bytes_of(pool_.run(jobs, progress_), "a GPU");
    for (size_t i = 0, next = 0; i < images.size(); ++i)
      if (plan_.target.architectures[i].starts_with("sm_")) images[i].bytes = std::move(cubins[next++]);
  }

  const Plan& plan_;
  const std::vector<SourceFile>& files_;
  WorkerPool& pool_;
  const Progress& progress_;
  const std::string ptxas_ = find_ptxas();
  std::string ptx_;
};

}  // namespace

std::vector<DeviceImage> compile_device_code(const Module& m, const EmittedModule& text, WorkerPool& pool,
                                             const Progress& progress) {
  std::vector<DeviceImage> all;
  for (size_t p = 0; p < m.plans.size(); ++p)
    if (m.plans[p].target.is_gpu())
      for (DeviceImage& image : Builder(m.plans[p], text.kernels[p], pool, progress).build())
        all.push_back(std::move(image));
  return all;
}

std::string print_ptx(const Module& m, const EmittedModule& text, WorkerPool& pool, const Progress& progress) {
  std::string all;
  for (size_t p = 0; p < m.plans.size(); ++p)
    if (m.plans[p].target.is_gpu()) all += Builder(m.plans[p], text.kernels[p], pool, progress).ptx();
  return all;
}

SourceFile device_header(const std::vector<DeviceImage>& images) {
  std::string s = "// Kernels of GPUs as bytes.\n";
  for (const DeviceImage& image : images)
    s += fmt::format(
        "extern \"C\" {3} const unsigned char {0}[];\n#define {0}_bytes {1}ul\n"
        "#define {0}_unpacked_bytes {2}ul\n",
        image.symbol, image.bytes.size(), image.unpacked_bytes, kHidden);
  return {std::string(kDeviceHeader), s};
}

ElfObject device_object(const std::vector<DeviceImage>& images) {
  ElfObject object;
  object.machine = Machine::kX86_64;
  for (const DeviceImage& image : images) {
    object.symbols.push_back(
        {.name = image.symbol, .section = static_cast<int>(object.sections.size()), .size = image.bytes.size()});
    const std::span<const std::byte> bytes = std::as_bytes(std::span(image.bytes));
    object.sections.push_back(section_of(fmt::format(".rodata.{}", image.symbol), {bytes}));
  }
  return object;
}

}  // namespace cameo
