// The data object writer against the ELF rules and against a foreign reader.
#include "codegen/build/elf_object.h"

#include <elf.h>

#include <cstring>

#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

ElfObject example(const std::string& weights) {
  ElfObject object;
  object.sections.push_back(weight_section(Machine::kX86_64, "m", {as_bytes(weights)}));
  object.sections.push_back(section_with(".rodata.table", std::string(16, '\0')));
  object.symbols = {{.name = "weights", .section = 0, .size = weights.size()}, {.name = "elsewhere", .hidden = false}};
  return object;
}

TEST(elf_object, a_foreign_reader_agrees) {
  const std::string path = testing::TempDir() + "example.o";
  Status status;
  OutputFile file = OutputFile::create(path, false, status);
  const std::string weights(1000, 'w');
  ASSERT_TRUE(file.write(as_bytes(elf_object_bytes(example(weights)))).ok());
  ASSERT_TRUE(file.commit().ok());
  const Ran read = ran("LC_ALL=C readelf -W -h -S -s -r " + path);
  EXPECT_EQ(read.output.find("arning"), std::string::npos) << read.output;
  for (const char* part : {"REL (Relocatable file)", "X86-64", ".lrodata.m", " Al ", ".note.GNU-stack",
                           "GLOBAL HIDDEN     1 weights", "GLOBAL DEFAULT  UND elsewhere"}) {
    EXPECT_NE(read.output.find(part), std::string::npos) << part << " in\n" << read.output;
  }
}

TEST(elf_object, contents_are_aligned_and_complete) {
  const std::string weights = "0123456789";
  const std::string bytes = elf_object_bytes(example(weights));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  Elf64_Shdr section;
  std::memcpy(&section, bytes.data() + header.e_shoff + sizeof section, sizeof section);
  EXPECT_EQ(section.sh_offset % 64, 0u);
  EXPECT_EQ(bytes.substr(section.sh_offset, section.sh_size), weights);
  EXPECT_EQ(header.e_shoff + header.e_shnum * sizeof section, bytes.size());
}

TEST(elf_object, same_description_same_bytes) {
  EXPECT_EQ(elf_object_bytes(example("abc")), elf_object_bytes(example("abc")));
}

TEST(elf_object, aarch64_has_no_large_sections) {
  const ElfSection section = weight_section(Machine::kAarch64, "m", {});
  EXPECT_EQ(section.name, ".rodata.m");
  EXPECT_FALSE(section.flags & kSectionLarge);
}

TEST(elf_object, content_of_the_wrong_size_is_refused) {
  ElfObject object = example("abc");
  object.sections[0].size = 4;
  const Status status = write_elf_object(object, [](auto) { return Status{}; });
  EXPECT_EQ(status.message, "section `.lrodata.m` was to have 4 bytes and was given 3");
}

TEST(elf_object, a_failing_sink_stops_the_writing) {
  int calls = 0;
  const Status status =
      write_elf_object(example("abc"), [&](auto) { return ++calls == 2 ? Status{"full"} : Status{}; });
  EXPECT_EQ(status.message, "full");
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace cameo
