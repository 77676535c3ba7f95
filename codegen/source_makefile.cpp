// See source_makefile.h. Flags that change what is computed or what is exported stand fixed; -O2 and what the user adds
// (sanitizers, debug information) are CXXFLAGS and LDFLAGS.
#include "codegen/source_makefile.h"

#include <fmt/format.h>

#include "codegen/build/embedded_files.h"
#include "codegen/print_program.h"

namespace cameo {
namespace {

constexpr std::string_view kFlags =
    "-std=c++20 -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -ffp-contract=off -fno-math-errno "
    "-fno-exceptions -fno-rtti "
    "-fno-threadsafe-statics -fno-strict-aliasing";

/// What the machine code of one image may use.
std::string image_flags(const Target& t) {
  std::string flags = fmt::format("-march={} -mprefer-vector-width={}", t.cpu, t.vector_bytes * 8);
  for (const std::string& extension : t.extensions) flags += " -m" + extension;
  return flags;
}

struct RuntimeFiles {
  std::vector<std::string> core, program;  // without the three that decide the kind of output
};
RuntimeFiles runtime_files(const Module& m) {
  RuntimeFiles files;
  for (const EmbeddedFile& f : embedded_under("runtime/")) {
    const std::string path(f.path);
    if (!path.ends_with(".cpp") || (path.starts_with("runtime/cuda/") && !has_gpu(m))) continue;
    if (path.starts_with("runtime/program/")) {
      if (path != "runtime/program/start.cpp") files.program.push_back(path);
    } else if (path != "runtime/shared.cpp") {
      files.core.push_back(path);
    }
  }
  return files;
}

std::string objects(const std::vector<std::string>& sources) {
  std::string s;
  for (const std::string& f : sources) s += " objects/" + f.substr(0, f.rfind('.')) + ".o";
  return s;
}
std::vector<std::string> paths(const std::vector<SourceFile>& files) {
  std::vector<std::string> list;
  for (const SourceFile& f : files) list.push_back(f.path);
  return list;
}
std::string joined(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, " ")); }

// The model's name stands in files with an extension only, and all other objects in a folder of their own: a model may
// be called `program`, `data`, `clean` or `all`.
constexpr std::string_view kMakefile = R"(# Builds @NAME@ without cameo, by g++ 12 or clang 14 and newer ones:
#   make              @NAME@.so, a library that is also a program
#   make model        a plain program, `model`
#   make @NAME@.a     a static library; several of them link into one program (@NAME@.h)
#   make CXX=clang++ CXXFLAGS="-O1 -g -fsanitize=address,undefined" LDFLAGS="-fsanitize=address,undefined" model
CXXFLAGS ?= -O2
FLAGS := @FLAGS@ -iquote . -Iruntime
ifeq (,$(findstring clang,$(shell $(CXX) --version)))
FLAGS += -fno-gnu-unique -Wno-psabi -Wno-aggressive-loop-optimizations
endif

@KERNEL_LISTS@KERNELS := @KERNEL_NAMES@
MODEL := objects/program.o objects/data.o@HOST_KERNELS@ $(KERNELS)
CORE :=@CORE@
PROGRAM :=@PROGRAM@

@NAME@.so: $(MODEL) $(CORE) $(PROGRAM) objects/runtime/shared.o objects/runtime/program/start.o exports.map
	$(CXX) -shared -Wl,-soname,$@ -Wl,-e,_cameo_start -Wl,--version-script=exports.map -Wl,--gc-sections -Wl,--as-needed -Wl,-z,now $(LDFLAGS) -o $@ $(filter %.o,$^)

model: $(MODEL) $(CORE) $(PROGRAM)
	$(CXX) -pie -Wl,--gc-sections -Wl,--as-needed $(LDFLAGS) -o $@ $^

# One object that shows nothing but its one function, so that models do not meet in a program.
@NAME@.o: $(MODEL) $(CORE)
	$(LD) -r --force-group-allocation -o objects/all.o $^
	objcopy --keep-global-symbol=@NAME@_api objects/all.o $@

@NAME@.a: @NAME@.o
	rm -f $@
	$(AR) rcs $@ $<

# A library is a program when it names the dynamic linker.
objects/runtime/program/start.o: FLAGS += -DCAMEO_INTERPRETER

@DEVICE_RULES@@KERNEL_RULES@objects/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(FLAGS) @BASE@ $(CXXFLAGS) -c -o $@ $<
objects/data.o: data.S $(wildcard *.bin)
	@mkdir -p $(@D)
	$(CXX) -c -o $@ $<

Makefile: ;  # there may be a @NAME@.o
.PHONY: clean
clean:
	rm -rf objects
	rm -f model @NAME@.so @NAME@.a @NAME@.o
)";

constexpr std::string_view kDeviceRules = R"(device_code.h: $(DEVICE)
	for f in $^; do printf 'extern "C" __attribute__((visibility("hidden"))) const unsigned char %s[];\n#define %s_bytes %dul\n#define %s_unpacked_bytes 0ul\n' $${f%.bin} $${f%.bin} $$(wc -c <$$f) $${f%.bin}; done >$@
objects/program.o: device_code.h
objects/data.o: $(DEVICE)

)";

constexpr std::string_view kCMake =
    R"(# Builds @NAME@ without cameo, by g++ 12 or clang 14 and newer ones: the targets @NAME@_library (a library that is also
# a program, @NAME@.so) and @NAME@_program.
cmake_minimum_required(VERSION 3.20)
project(cameo_sources LANGUAGES CXX ASM)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(core @CORE@)
set(program @PROGRAM@)
set(kernels @KERNEL_NAMES@)
@KERNEL_PROPERTIES@
set_source_files_properties(runtime/program/start.cpp PROPERTIES COMPILE_DEFINITIONS CAMEO_INTERPRETER)
set(CMAKE_ASM_FLAGS "${CMAKE_ASM_FLAGS} -I\"${CMAKE_CURRENT_SOURCE_DIR}\"")
add_library(@NAME@_objects OBJECT program.cpp data.S ${kernels} ${core} ${program})
target_compile_options(@NAME@_objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:@FLAGS_LIST@>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(@NAME@_objects PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique;-Wno-psabi;-Wno-aggressive-loop-optimizations>)
endif()
target_compile_options(@NAME@_objects PRIVATE "SHELL:-iquote \"${CMAKE_CURRENT_SOURCE_DIR}\"")
target_include_directories(@NAME@_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime)
target_include_directories(@NAME@_objects INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})

add_library(@NAME@_library SHARED runtime/shared.cpp runtime/program/start.cpp)
target_compile_options(@NAME@_library PRIVATE @FLAGS_PLAIN@ "SHELL:-iquote \"${CMAKE_CURRENT_SOURCE_DIR}\"")
target_include_directories(@NAME@_library PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/runtime INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(@NAME@_library PRIVATE @NAME@_objects)
target_link_options(@NAME@_library PRIVATE -Wl,-e,_cameo_start -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/exports.map -Wl,--gc-sections -Wl,--as-needed)
set_target_properties(@NAME@_library PROPERTIES PREFIX "" OUTPUT_NAME @NAME@)

add_executable(@NAME@_program $<TARGET_OBJECTS:@NAME@_objects>)
set_target_properties(@NAME@_program PROPERTIES LINKER_LANGUAGE CXX)
@WEIGHTS@)";

/// Beside what is built, where it is looked for; of a file that was written into the folder of the sources.
std::string link_to_weights(const WeightsFile& file) {
  if (!file.is_beside() || file.name.find_first_of("/\\\"$") != file.name.npos) return "";
  return fmt::format(
      "if(NOT CMAKE_CURRENT_BINARY_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
      "  file(CREATE_LINK \"${{CMAKE_CURRENT_SOURCE_DIR}}/{0}\" \"${{CMAKE_CURRENT_BINARY_DIR}}/{0}\" COPY_ON_ERROR "
      "SYMBOLIC)\nendif()\n",
      file.name);
}

/// How the code of one architecture is made of a GPU plan's kernels.
std::string device_command(std::string_view architecture) {
  if (architecture == "host") return "$(CXX) $(FLAGS) -march=x86-64-v3 -shared -DRT_FIBERS $(CXXFLAGS) -x c++ -o $@ $<";
  if (architecture == "ptx") return "$(NVCC) $(NVCCFLAGS) -arch=compute_80 -ptx -o $@ $<\n\tprintf '\\0' >>$@";
  return fmt::format("$(NVCC) $(NVCCFLAGS) -arch={} -cubin -o $@ $<", architecture);
}

/// Kernels of GPUs become files of bytes, which the assembler includes; the tables say how long they are.
std::string device_rules(const Module& m, const EmittedModule& text) {
  if (!has_gpu(m)) return "";
  std::string rules, files;
  for (size_t p = 0; p < m.plans.size(); ++p)
    for (const std::string& a : m.plans[p].target.architectures) {
      const std::string file = device_symbol(m.plans[p], a) + ".bin";
      rules += fmt::format("{}: {} {}\n\t{}\n", file, device_source(m.plans[p]), joined(paths(text.kernels[p])),
                           device_command(a));
      files += " " + file;
    }
  return "NVCC ?= nvcc\nNVCCFLAGS := -std=c++20 -O3 -fmad=false --expt-relaxed-constexpr -I. -Iruntime\nDEVICE :=" +
         files + "\n" + rules + std::string(kDeviceRules);
}

std::string fill(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string s(text);
  for (const auto& [key, value] : values) {
    const std::string mark = fmt::format("@{}@", key);
    for (size_t at = s.find(mark); at != s.npos; at = s.find(mark, at + value.size()))
      s.replace(at, mark.size(), value);
  }
  return s;
}

std::string with_semicolons(std::string_view words) {
  std::string s(words);
  for (char& c : s) c = c == ' ' ? ';' : c;
  return s;
}

}  // namespace

std::string source_makefile(const Module& m, const EmittedModule& text) {
  const RuntimeFiles runtime = runtime_files(m);
  std::string lists, rules, names;
  for (size_t p = 0; p < m.plans.size(); ++p) {
    if (m.plans[p].target.is_gpu()) continue;
    lists += fmt::format("KERNELS_{} :={}\n", p, objects(paths(text.kernels[p])));
    rules += fmt::format(
        "$(KERNELS_{}): objects/%.o: %.cpp\n\t@mkdir -p $(@D)\n\t$(CXX) $(FLAGS) {} $(CXXFLAGS) -c -o $@ $<\n", p,
        image_flags(m.plans[p].target));
    names = fmt::format("$(KERNELS_{}) {}", p, names);  // the narrowest first, as in compile_module
  }
  return fill(kMakefile, {{"NAME", m.name},
                          {"FLAGS", std::string(kFlags)},
                          {"KERNEL_LISTS", lists},
                          {"HOST_KERNELS", objects(paths(text.host))},
                          {"KERNEL_NAMES", names},
                          {"KERNEL_RULES", rules},
                          {"DEVICE_RULES", device_rules(m, text)},
                          {"CORE", objects(runtime.core)},
                          {"PROGRAM", objects(runtime.program)},
                          {"BASE", "-march=x86-64-v2"}});
}

std::string source_cmake(const Module& m, const EmittedModule& text, const WeightsFile* weights) {
  const RuntimeFiles runtime = runtime_files(m);
  std::string names, properties;
  for (size_t p = 0; p < m.plans.size(); ++p) {
    if (m.plans[p].target.is_gpu()) continue;
    names = joined(paths(text.kernels[p])) + (names.empty() ? "" : " ") +
            names;  // the narrowest first, as in compile_module
    properties += fmt::format("set_source_files_properties({} PROPERTIES COMPILE_OPTIONS \"{}\")\n",
                              joined(paths(text.kernels[p])), with_semicolons(image_flags(m.plans[p].target)));
  }
  properties +=
      "set_source_files_properties(program.cpp ${core} ${program} PROPERTIES COMPILE_OPTIONS \"-march=x86-64-v2\")";
  return fill(kCMake, {{"NAME", m.name},
                       {"CORE", joined(runtime.core)},
                       {"PROGRAM", joined(runtime.program)},
                       {"KERNEL_NAMES", names},
                       {"KERNEL_PROPERTIES", properties},
                       {"WEIGHTS", weights ? link_to_weights(*weights) : ""},
                       {"FLAGS_LIST", with_semicolons(kFlags)},
                       {"FLAGS_PLAIN", std::string(kFlags)}});
}

}  // namespace cameo
