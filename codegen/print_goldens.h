// Golden cases in an artifact: a table of rt::Golden in the program's text, and one object that holds their bytes,
// which no compiler reads.
#pragma once
#include <span>
#include <vector>

#include "codegen/print_module.h"
#include "codegen/size_table.h"
#include "codegen/sources.h"

namespace cameo {

inline constexpr std::string_view kGoldenSymbol = "cameo_goldens";

/// Inside of `namespace rt`: defines `goldens`. Before it, `print_golden_symbol` at the top level.
void print_golden_symbol(Writer& w, const std::vector<GoldenCase>& goldens);
void print_goldens(Writer& w, const std::vector<GoldenCase>& goldens, const Interface& io, const SizeTable& table);
/// Then the program's text has values of the C ABI.
bool hold_lists(const std::vector<GoldenCase>& goldens);

/// The bytes behind kGoldenSymbol, each tensor where the table says.
std::vector<std::span<const std::byte>> golden_pieces(const std::vector<GoldenCase>& goldens);

}  // namespace cameo
