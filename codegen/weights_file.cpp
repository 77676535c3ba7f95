// See weights_file.h. A file that has these weights already, to the last byte, is left as it is, so that artifacts
// share it; one with other weights is replaced in one step, and who has mapped it keeps what he mapped.
#include "codegen/weights_file.h"

#include <fmt/format.h>

#include <cstring>

#include "codegen/paths.h"
#include "codegen/pool_pieces.h"
#include "frontend/import/import_onnx.h"
#include "frontend/ir/diagnostic.h"
#include "runtime/weights_file.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

bool leads_inside(const fs::path& relative) { return relative.is_relative() && *relative.begin() != ".."; }

uint64_t hash_of(const Pieces& pieces) {
  rt::PoolHash hash;
  for (const auto piece : pieces) hash.add(piece.data(), piece.size());
  return hash.finish();
}

/// Null where it has none.
std::optional<rt::WeightsHeader> header_in(const MappedFile& file) {
  rt::WeightsHeader header;
  const rt::WeightsHeader ours;
  if (file.bytes.size() < rt::kPoolBegin) return std::nullopt;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  if (std::memcmp(header.magic, ours.magic, sizeof ours.magic)) return std::nullopt;
  return header;
}

bool has_these_weights(const WeightsFile& file, const std::string& header) {
  const MappedFile there = map_file(file.path);
  if (there.bytes.size() < header.size() || std::memcmp(there.bytes.data(), header.data(), header.size())) return false;
  return hash_of({there.bytes.subspan(rt::kPoolBegin)}) == file.hash;
}

}  // namespace

bool WeightsFile::is_beside() const { return leads_inside(name); }

WeightsFile weights_file(const Module& m, const fs::path& path, const fs::path& folder) {
  const fs::path from_folder = plain_path(path).lexically_relative(plain_path(folder.empty() ? "." : folder));
  const bool as_it_is = path.is_absolute() && !leads_inside(from_folder);
  return {path, (as_it_is ? path : from_folder).string(), hash_of(pool_pieces(m))};
}

std::string weights_header(const Module& m, const WeightsFile& file) {
  rt::WeightsHeader header;
  header.bytes = static_cast<uint64_t>(m.weights.bytes);
  header.hash = file.hash;
  std::string page(rt::kPoolBegin, '\0');
  std::memcpy(page.data(), &header, sizeof header);
  return page;
}

void require_weights_place(const fs::path& path) {
  std::error_code ignored;
  const auto kind = fs::status(path, ignored).type();
  if (kind == fs::file_type::not_found) return;
  if (kind != fs::file_type::regular || !header_in(map_file(path)))
    throw CompileError(Code::E0602,
                       fmt::format("cannot write the weights into `{}`: it is there already, and no file of weights",
                                   printable(path.string())));
}

WeightsOutput::WeightsOutput(const Module& m, const WeightsFile& file) : fate_(WeightsFate::Written) {
  require_weights_place(file.path);
  std::error_code ignored;
  const std::string header = weights_header(m, file);
  if (fs::exists(file.path, ignored))
    fate_ = has_these_weights(file, header) ? WeightsFate::Kept : WeightsFate::Replaced;
  if (fate_ == WeightsFate::Kept) return;
  Status status;
  file_ = OutputFile::create(file.path.string(), false, status);
  if (status.ok()) status = file_.write(as_bytes(header));
  for (const auto piece : pool_pieces(m))
    if (status.ok()) status = file_.write(piece);
  require_written(status);
}

WeightsFate WeightsOutput::commit() {
  if (fate_ != WeightsFate::Kept) require_written(file_.commit());
  return fate_;
}

}  // namespace cameo
