// Sums of products with affine indices, as plain strided loops in double: what convolutions and matrix products spend
// their time in. The terms are those of the tape, outermost fold first; where a Load is out of range its `outside`
// stands.
#pragma once
#include "frontend/interpret_tape.h"

namespace cameo::tape {

class ContractRun {
 public:
  ContractRun(const ContractCode& code, std::span<const Dual> operands, bool shadow);

  /// Sums `lanes` lanes that follow each other on the row axis. `bases[s]` are the indices of the first lane on each
  /// axis of side s, `steps[s]` how they change from lane to lane.
  void run_row(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2], int64_t lanes,
               double* rounded, double* unrounded);

  /// One term of the sum for a row: offsets of the first lane, and the lanes where each side is in range.
  struct Term {
    int64_t offset[2];
    int32_t low[2], high[2];
  };

 private:
  struct Side {
    const double *rounded = nullptr, *unrounded = nullptr;
    std::vector<double> rounded_copy, unrounded_copy;
    std::vector<int64_t> offsets;               // of each term, from the folds alone
    std::vector<std::vector<int64_t>> checked;  // likewise the index, for the axes that are not proven in range
  };
  void make_offsets(int s);
  void place_terms(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step, int64_t lanes);

  const ContractCode& code_;
  Side side_[2];
  std::vector<Term> terms_;
  bool outside_matters_ = false;
};

}  // namespace cameo::tape
