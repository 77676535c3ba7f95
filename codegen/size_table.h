// The sizes that an artifact's run has a table of: what stands where in it, and the function that fills it in.
#pragma once
#include <unordered_map>

#include "codegen/sources.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// By plan and kernel: the sizes and constants that a kernel takes behind its operands.
using Parameters = std::vector<std::vector<std::vector<Expr>>>;

/// 1 where it holds, else 0.
inline Expr condition_as_size(const Requirement& r) { return cast(r.condition, DType::i64); }

/// The symbols in the order in which the inputs' dims and elements have them, then what else outputs and kernels ask
/// for.
class SizeTable {
 public:
  SizeTable() = default;
  SizeTable(const Module& m, const Parameters& parameters);
  bool empty() const { return sizes_.empty(); }
  const std::vector<Expr>& sizes() const { return sizes_; }
  size_t symbols() const { return symbols_; }
  size_t place_of(Expr size) const { return places_.at(size); }
  /// Whether a symbol is known only when a run has computed what it is an element of. Such stand behind the others.
  bool is_learned(Expr symbol) const { return place_of(symbol) >= given_; }
  bool learns() const { return given_ < symbols_; }
  /// Whether a symbol is the room behind states.
  bool is_room(Expr symbol) const { return place_of(symbol) >= from_dims_ && place_of(symbol) < given_; }
  /// One past the last learned symbol that a size is made of; 0: none.
  size_t learned_before(Expr size) const;

 private:
  void add(Expr size);
  void add(const Schedule& schedule);
  std::vector<Expr> sizes_;
  std::unordered_map<Expr, size_t, ExprHash> places_;
  size_t symbols_ = 0, from_dims_ = 0, given_ = 0;
};

/// `void cameo_program_sizes(const rt::RowCall&)` computes from the symbols of its operand what stands behind them.
inline constexpr std::string_view kSizesSymbol = "cameo_program_sizes";
bool computes_sizes(const SizeTable& table);
std::string print_sizes(const SizeTable& table, const Module& m);

}  // namespace cameo
