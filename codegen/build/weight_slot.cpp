// See weight_slot.h. Invariant: the slot is the only section of its segment and nothing has a higher address, so that
// growing it moves nothing that is loaded; this is checked, not assumed. (lld puts `.ldata` behind `.bss` and begins a
// new segment for what has bytes behind what has none; the slot's object therefore brings a byte of `.bss`.)
#include "codegen/build/weight_slot.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "codegen/build/elf_object.h"
#include "codegen/build/files.h"
#include "runtime/huge_pages.h"

namespace cameo {
namespace {

constexpr uint64_t kSlotBytes = 64;
constexpr std::string_view kSection = ".ldata";  // what lld calls large data, which comes last

template <typename T>
class Table {
 public:
  Table(int descriptor, uint64_t offset, size_t rows) : descriptor_(descriptor), offset_(offset), rows_(rows) {
    ok_ = ::pread(descriptor, rows_.data(), rows * sizeof(T), offset) == ssize_t(rows * sizeof(T));
  }
  bool ok() const { return ok_; }
  std::vector<T>& rows() { return rows_; }
  bool write_back() const { return write_at(offset_); }
  bool write_at(uint64_t offset) const {
    const size_t bytes = rows_.size() * sizeof(T);
    return ::pwrite(descriptor_, rows_.data(), bytes, offset) == ssize_t(bytes);
  }

 private:
  int descriptor_;
  uint64_t offset_;
  std::vector<T> rows_;
  bool ok_;
};

bool named_slot(int descriptor, const Elf64_Shdr& names, const Elf64_Shdr& section) {
  char name[kSection.size() + 1] = {};
  const ssize_t got = ::pread(descriptor, name, sizeof name, names.sh_offset + section.sh_name);
  return got == ssize_t(sizeof name) &&
         std::string_view(name, sizeof name) == std::string_view(kSection.data(), sizeof name) &&
         section.sh_size == kSlotBytes;
}

Elf64_Shdr* find_section(int descriptor, std::vector<Elf64_Shdr>& sections, size_t names) {
  for (Elf64_Shdr& section : sections) {
    if (named_slot(descriptor, sections[names], section)) return &section;
  }
  return nullptr;
}

// The slot's segment, if it can grow.
Elf64_Phdr* find_segment(std::vector<Elf64_Phdr>& segments, const Elf64_Shdr& slot) {
  Elf64_Phdr* found = nullptr;
  for (Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr > slot.sh_addr) return nullptr;
    if (segment.p_vaddr == slot.sh_addr && segment.p_memsz == kSlotBytes) found = &segment;
  }
  return found;
}

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

Status cannot_write(const std::string& path) {
  return {fmt::format("cannot write `{}`: {}", path, std::strerror(errno))};
}

/// A huge page of the file at a time: what is written so, file systems keep in huge pages, which processes then map.
Status write_pieces(int descriptor, uint64_t offset, const Pieces& pieces, const std::string& path) {
  if (::lseek(descriptor, offset, SEEK_SET) < 0) return cannot_write(path);
  std::string page;
  Status status;
  const auto write_page = [&] {
    status = write_all(descriptor, as_bytes(page), path);
    offset += page.size();
    page.clear();
  };
  for (auto piece : pieces) {
    while (!piece.empty() && status.ok()) {
      const uint64_t room = rt::kHugePage - (offset + page.size()) % rt::kHugePage;
      const auto part = piece.first(std::min<uint64_t>(piece.size(), room));
      page.append(reinterpret_cast<const char*>(part.data()), part.size());
      piece = piece.subspan(part.size());
      if (part.size() == room) write_page();
    }
  }
  if (status.ok()) write_page();
  return status;
}

}  // namespace

uint64_t bytes_of(const Pieces& pieces) {
  uint64_t bytes = 0;
  for (const auto piece : pieces) bytes += piece.size();
  return bytes;
}

std::string weight_slot(const std::string& symbol, uint64_t bytes) {
  ElfObject object;
  object.sections.push_back(section_with(std::string(kSection) + ".weights", std::string(kSlotBytes, '\0')));
  object.sections[0].alignment = kSlotBytes;
  object.sections[0].flags = kSectionAllocated | kSectionWritable | kSectionLarge | kSectionRetained;
  ElfSection& byte = object.sections.emplace_back();
  byte.name = ".bss.weights";
  byte.size = byte.alignment = 1;
  byte.flags = kSectionAllocated | kSectionWritable | kSectionRetained;
  object.symbols.push_back({.name = symbol, .section = 0, .size = bytes});
  return elf_object_bytes(object);
}

Status fill_weight_slot(int descriptor, const Pieces& weights, const std::string& path) {
  const Status damaged = {"our bug: the linked file has no slot for its weights"};
  Table<Elf64_Ehdr> header(descriptor, 0, 1);
  if (!header.ok()) return damaged;
  Elf64_Ehdr& first = header.rows()[0];
  Table<Elf64_Shdr> sections(descriptor, first.e_shoff, first.e_shnum);
  Table<Elf64_Phdr> segments(descriptor, first.e_phoff, first.e_phnum);
  if (!sections.ok() || !segments.ok()) return damaged;
  Elf64_Shdr* section = find_section(descriptor, sections.rows(), first.e_shstrndx);
  Elf64_Phdr* segment = section ? find_segment(segments.rows(), *section) : nullptr;
  if (!segment) return damaged;

  // What stands behind the slot in the file, section names and headers, moves behind the weights.
  const uint64_t bytes = bytes_of(weights), begin = section->sh_offset, behind = begin + kSlotBytes;
  const uint64_t growth = std::max(round_up(bytes, kSlotBytes), kSlotBytes) - kSlotBytes;
  std::string tail(::lseek(descriptor, 0, SEEK_END) - behind, '\0');
  if (::pread(descriptor, tail.data(), tail.size(), behind) != ssize_t(tail.size())) return damaged;
  const Status written = write_pieces(descriptor, begin, weights, path);
  if (!written.ok()) return written;
  if (::pwrite(descriptor, tail.data(), tail.size(), behind + growth) != ssize_t(tail.size()))
    return cannot_write(path);
  for (Elf64_Shdr& s : sections.rows())
    if (s.sh_offset >= behind) s.sh_offset += growth;
  first.e_shoff += growth;
  section->sh_size = segment->p_filesz = segment->p_memsz = bytes;
  section->sh_flags &= ~uint64_t{SHF_WRITE};
  segment->p_flags = PF_R;
  const bool moved = sections.write_at(first.e_shoff) && segments.write_back() && header.write_back();
  return moved ? Status{} : cannot_write(path);
}

}  // namespace cameo
