// The compiler of tapes: scopes of folds, what a node depends on, and the forms of access (see interpret_tape.cpp).
#pragma once
#include <optional>
#include <unordered_map>

#include "frontend/reference/interpret_tape.h"

namespace cameo::tape {

/// Offsets base + step * lane.
struct Progression {
  Expr base;
  int64_t step = 0;
};

class Compiler {
 public:
  Compiler(Tape& tape, std::span<const Expr> index);
  uint32_t reg(Expr e);

 private:
  static constexpr uint64_t kNoVar = ~0ull;
  struct Scope {
    uint64_t var;
    Program* code;
    std::unordered_map<Expr, uint32_t, ExprHash> registers;
  };
  struct Access {
    Expr index;
    int64_t extent, stride;
    bool proven;   // in range, by the extents of variables
    bool audited;  // in range whatever the data are, so range analysis says
  };
  uint32_t new_register(bool floating, bool uniform);
  const std::vector<uint64_t>& free_variables(Expr e);
  bool needs(Expr e, Expr var);
  bool varies(Expr e);  // within a block
  size_t home(Expr e);
  Instr& append(Expr e, size_t scope, DType from);
  uint32_t emit(Expr e, size_t scope);
  uint32_t emit_load(Expr e, size_t scope);
  uint32_t emit_fold(Expr e, size_t scope);
  bool emit_contract(Expr e, size_t scope, uint32_t& out);
  bool contract_side(Expr factor, std::span<const Expr> folds, ContractCode::Side& side, bool& one_row, bool& divides);
  std::optional<Progression> progression(Expr offset);
  std::vector<Access> accesses(Expr load);

  Tape& tape_;
  std::vector<Expr> varying_;
  std::vector<Scope> scopes_;  // outermost first
  std::unordered_map<Expr, std::vector<uint64_t>, ExprHash> free_;
};

}  // namespace cameo::tape
