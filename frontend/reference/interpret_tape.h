// The tape: Exprs compiled to a flat register program that runs over blocks of consecutive points of an index space.
// Registers that depend on no index variable of the block are uniform (one lane); a Fold is an instruction with a
// program of its own, run once a step. Operations are placed in the outermost program whose variables they need.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "frontend/ir/expr.h"
#include "frontend/ir/tensor.h"

namespace cameo::tape {

/// A tensor and its unrounded shadow: f64 where rounding made a difference, else the same tensor; empty in a run
/// without.
struct Dual {
  Tensor rounded, unrounded;
};
using Symbols = std::map<uint64_t, int64_t>;  // values of Symbol nodes, by their bits

Expr bind_symbols(Expr e, const Symbols& symbols);

/// What one register holds: floats with their shadow, or integers. A uniform register has one lane.
struct Lanes {
  double* rounded = nullptr;
  double* unrounded = nullptr;  // null in a run without shadow
  int64_t* ints = nullptr;
  bool uniform = false;
};

struct LoadCode;
struct FoldCode;
struct ContractCode;
struct Instr {
  Op op;
  DType type, from;  // of the result, of the first argument
  bool uniform;
  uint32_t out;
  std::array<uint32_t, 3> args;
  std::unique_ptr<LoadCode> load;
  std::unique_ptr<FoldCode> fold;
  std::unique_ptr<ContractCode> contract;
  Instr(Op op, DType type, DType from, bool uniform, uint32_t out);
  Instr(Instr&&) noexcept;
  ~Instr();
};
using Program = std::vector<Instr>;

/// One access. Linear: the lanes of a block lie `step` apart from `base`, all in range but for uniform indices.
struct LoadCode {
  struct Index {
    uint32_t reg;
    int64_t extent, stride;
    bool proven, audited;  // as range analysis says: not looked at, and looked at because it would be our bug
    bool uniform;
  };
  uint32_t operand, outside;
  bool checked;
  std::vector<Index> index;
  bool linear = false;
  uint32_t base = 0;
  int64_t step = 0;
};
struct FoldCode {
  FoldKind kind;
  DType body_type;
  uint32_t var, extent, body, best;  // best: the extreme so far, of an ArgMin or ArgMax
  Program code;
};
/// sum(k..: a[..] * b[..]) whose indices are affine in the block's variables and the folds': strided loops, no tape.
struct ContractCode {
  struct Axis {
    uint32_t base;  // the part of the index that is uniform in a block and does not depend on the folds
    int64_t extent, stride;
    bool proven;
    int64_t divisor;  // the index is this part of the affine form; where that leaves a rest it is out of range
    std::vector<int64_t> lane, fold;  // coefficients of the varying axes and of the folds
  };
  struct Side {
    uint32_t operand;
    double outside;
    std::vector<Axis> axes;
  };
  std::vector<int64_t> folds;  // extents, outermost first: those that move an axis that is not proven, then the others
  int64_t inner = 1;           // terms of the latter: they are in range together
  Side side[2];
  bool one_row = false;  // the lanes of a block are one arithmetic progression on both sides
};

/// A compiled set of roots over an index space.
class Tape {
 public:
  static constexpr int64_t kBlock = 1024;  // lanes: a few registers stay in the first-level cache
  /// `dims[i]` are the dims of operand i as Loads see it. Extents of `index` and folds must be numbers or run-time
  /// values. With blocks of one lane a point sees what was stored for the points before it.
  Tape(std::span<const Expr> index, std::span<const Expr> roots, std::vector<std::vector<int64_t>> operand_dims,
       int64_t block = kBlock);

  struct Block {
    int64_t first, lanes;  // row-major numbers of its points
    std::span<const Lanes> roots;
  };
  struct Mode {
    bool shadow = false;     // unrounded values are computed too
    bool in_order = true;    // blocks in row-major order, else as the caches like it
    bool round_f32 = false;  // each f32 operation rounds, as kernels do; else only what is stored is rounded
  };
  /// Runs block by block.
  void run(std::span<const Dual> operands, const Mode& mode, const std::function<void(const Block&)>& sink) const;

  const std::vector<int64_t>& dims() const { return dims_; }  // of the index space
  const std::vector<std::vector<int64_t>>& operand_dims() const { return operand_dims_; }

 private:
  friend class Compiler;
  friend class Machine;
  struct Register {
    bool floating, uniform;
  };
  std::vector<int64_t> dims_;
  std::vector<std::vector<int64_t>> operand_dims_;
  int split_ = 0;      // axes from here on vary inside of a block
  int row_axis_ = -1;  // the innermost of them with more than one point; before split_ where none varies
  int64_t block_ = 1;
  std::vector<uint32_t> index_, roots_;
  std::vector<Register> registers_;
  std::vector<std::pair<uint32_t, Expr>> constants_;
  Program code_;
};

/// One plain operation on `lanes` lanes (interpret_ops.cpp).
void run_plain(const Instr& i, std::span<const Lanes> registers, int64_t lanes);
/// A fold's neutral element, and one step of it on the lanes of its accumulator (interpret_fold.cpp).
void start_fold(const FoldCode& f, const Lanes& acc, int64_t lanes);
void step_fold(const FoldCode& f, int64_t k, const Lanes& extent, const Lanes& value, const Lanes& acc,
               const Lanes& best, int64_t lanes);

double round_to(DType t, double v);
/// What kernels would decide by: they compute in f32 where the type is not f64, so that a quotient which is half way
/// between two integers there is half way here, and equal there is equal here.
inline double decided(DType t, double v) { return t == DType::f64 ? v : static_cast<float>(v); }
int64_t wrap_to(DType t, int64_t v);
/// Stores the lanes of a register as elements [first, first + lanes) of a tensor and of its shadow.
void store(Dual& out, int64_t first, int64_t lanes, const Lanes& value);

}  // namespace cameo::tape
