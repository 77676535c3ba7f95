// See elf_object.h. The file is: header, contents, symbol table, names, section headers. ELF is written little endian
// from these packed structs, which are the format itself.
#include "codegen/build/elf_object.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>

#include "codegen/build/files.h"

namespace cameo {
namespace {

uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

template <typename T>
std::span<const std::byte> table_bytes(const std::vector<T>& rows) {
  return std::as_bytes(std::span(rows));
}

// Names of one string table; each is stored once.
class Names {
 public:
  uint32_t add(const std::string& name) {
    const auto [row, fresh] = offsets_.try_emplace(name, bytes_.size());
    if (fresh) bytes_.append(name).push_back('\0');
    return row->second;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_ = std::string(1, '\0');
  std::map<std::string, uint32_t> offsets_ = {{"", 0}};
};

// Counts what went through and fills gaps with zeros.
class Stream {
 public:
  explicit Stream(const ByteSink& sink) : sink_(sink) {}

  Status put(std::span<const std::byte> bytes) {
    offset_ += bytes.size();
    return bytes.empty() ? Status{} : sink_(bytes);
  }
  Status seek(uint64_t offset) {
    static constexpr std::byte kZeros[4096] = {};
    while (offset_ < offset) {
      const Status status = put(std::span(kZeros).first(std::min<uint64_t>(offset - offset_, sizeof kZeros)));
      if (!status.ok()) return status;
    }
    return {};
  }
  uint64_t offset() const { return offset_; }

 private:
  const ByteSink& sink_;
  uint64_t offset_ = 0;
};

class ObjectWriter {
 public:
  explicit ObjectWriter(const ElfObject& object) : object_(object) { lay_out(); }

  Status write(const ByteSink& sink) const;

 private:
  void lay_out();
  void add_contents();
  void add_symbols();
  void add_table(const char* name, uint32_t type, std::span<const std::byte> bytes, uint32_t link, uint32_t info,
                 uint64_t row_size);
  Elf64_Ehdr header() const;
  Status write_content(const ElfSection& section, Stream& stream) const;

  const ElfObject& object_;
  Names section_names_;
  Names symbol_names_;
  std::vector<Elf64_Shdr> headers_ = {Elf64_Shdr{}};
  std::vector<std::span<const std::byte>> tables_;  // contents after the object's own sections
  std::vector<Elf64_Sym> symbols_ = {Elf64_Sym{}};
  uint64_t end_ = sizeof(Elf64_Ehdr);
};

void ObjectWriter::lay_out() {
  add_contents();
  add_symbols();
  const uint32_t names = static_cast<uint32_t>(2 + object_.sections.size());
  add_table(".symtab", SHT_SYMTAB, table_bytes(symbols_), names, 1, sizeof(Elf64_Sym));
  add_table(".strtab", SHT_STRTAB, as_bytes(symbol_names_.bytes()), 0, 0, 0);
  headers_.push_back(Elf64_Shdr{});  // an empty section with the flag-less mark "no executable stack"
  headers_.back().sh_name = section_names_.add(".note.GNU-stack");
  headers_.back().sh_type = SHT_PROGBITS;
  headers_.back().sh_offset = end_;
  headers_.back().sh_addralign = 1;
  tables_.emplace_back();
  section_names_.add(".shstrtab");
  add_table(".shstrtab", SHT_STRTAB, as_bytes(section_names_.bytes()), 0, 0, 0);
}

void ObjectWriter::add_contents() {
  for (const ElfSection& section : object_.sections) {
    Elf64_Shdr header = {};
    header.sh_name = section_names_.add(section.name);
    header.sh_type = section.content ? SHT_PROGBITS : SHT_NOBITS;
    header.sh_flags = section.flags;
    header.sh_addralign = section.alignment;
    header.sh_offset = aligned(end_, section.alignment);
    header.sh_size = section.size;
    end_ = header.sh_offset + (section.content ? header.sh_size : 0);
    headers_.push_back(header);
  }
}

void ObjectWriter::add_symbols() {
  for (const ElfSymbol& symbol : object_.symbols) {
    Elf64_Sym row = {};
    row.st_name = symbol_names_.add(symbol.name);
    row.st_shndx = symbol.section < 0 ? SHN_UNDEF : 1 + symbol.section;
    const int type = symbol.section < 0 ? STT_NOTYPE : symbol.function ? STT_FUNC : STT_OBJECT;
    row.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
    row.st_other = symbol.hidden ? STV_HIDDEN : STV_DEFAULT;
    row.st_value = symbol.offset;
    row.st_size = symbol.size;
    symbols_.push_back(row);
  }
}

void ObjectWriter::add_table(const char* name, uint32_t type, std::span<const std::byte> bytes, uint32_t link,
                             uint32_t info, uint64_t row_size) {
  Elf64_Shdr header = {};
  header.sh_name = section_names_.add(name);
  header.sh_type = type;
  header.sh_offset = aligned(end_, 8);
  header.sh_size = bytes.size();
  header.sh_link = link;
  header.sh_info = info;
  header.sh_addralign = row_size ? 8 : 1;
  header.sh_entsize = row_size;
  end_ = header.sh_offset + header.sh_size;
  headers_.push_back(header);
  tables_.push_back(bytes);
}

Elf64_Ehdr ObjectWriter::header() const {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = static_cast<uint16_t>(object_.machine);
  header.e_version = EV_CURRENT;
  header.e_shoff = aligned(end_, 8);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = headers_.size();
  header.e_shstrndx = headers_.size() - 1;
  return header;
}

Status ObjectWriter::write_content(const ElfSection& section, Stream& stream) const {
  if (!section.content) return {};
  const uint64_t begin = stream.offset();
  const Status status = section.content([&](std::span<const std::byte> bytes) { return stream.put(bytes); });
  if (!status.ok() || stream.offset() - begin == section.size) return status;
  return {fmt::format("section `{}` was to have {} bytes and was given {}", section.name, section.size,
                      stream.offset() - begin)};
}

Status ObjectWriter::write(const ByteSink& sink) const {
  Stream stream(sink);
  const Elf64_Ehdr first = header();
  Status status = stream.put(std::as_bytes(std::span(&first, 1)));
  for (size_t h = 1; h < headers_.size() && status.ok(); ++h) {
    status = stream.seek(headers_[h].sh_offset);
    if (!status.ok()) break;
    const size_t own = object_.sections.size();
    status = h <= own ? write_content(object_.sections[h - 1], stream) : stream.put(tables_[h - 1 - own]);
  }
  if (status.ok()) status = stream.seek(first.e_shoff);
  if (status.ok()) status = stream.put(table_bytes(headers_));
  return status;
}

}  // namespace

ElfSection section_of(std::string name, std::vector<std::span<const std::byte>> pieces) {
  ElfSection section;
  section.name = std::move(name);
  for (const auto piece : pieces) section.size += piece.size();
  section.content = [pieces = std::move(pieces)](const ByteSink& sink) {
    Status status;
    for (size_t p = 0; p < pieces.size() && status.ok(); ++p) status = sink(pieces[p]);
    return status;
  };
  return section;
}

ElfSection section_with(std::string name, std::string bytes) {
  ElfSection section;
  section.name = std::move(name);
  section.size = bytes.size();
  section.content = [bytes = std::move(bytes)](const ByteSink& sink) { return sink(as_bytes(bytes)); };
  return section;
}

ElfSection weight_section(Machine machine, std::string_view name, std::vector<std::span<const std::byte>> pieces) {
  const bool large = machine == Machine::kX86_64;
  ElfSection section = section_of(fmt::format("{}.{}", large ? ".lrodata" : ".rodata", name), std::move(pieces));
  if (large) section.flags |= kSectionLarge;
  return section;
}

Status write_elf_object(const ElfObject& object, const ByteSink& sink) { return ObjectWriter(object).write(sink); }

std::string elf_object_bytes(const ElfObject& object) {
  std::string bytes;
  const Status status = write_elf_object(object, [&](std::span<const std::byte> piece) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    return Status{};
  });
  assert(status.ok() && "our bug: a section in memory has another size than it says");
  return bytes;
}

}  // namespace cameo
