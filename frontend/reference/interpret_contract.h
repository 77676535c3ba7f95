// Sums of products with affine indices, as plain strided loops in double: what convolutions and matrix products spend
// their time in. The terms are those of the tape, outermost fold first; where a Load is out of range its `outside`
// stands.
#pragma once
#include "frontend/reference/interpret_tape.h"

namespace cameo::tape {

class ContractRun {
 public:
  ContractRun(const ContractCode& code, std::span<const Dual> operands, bool shadow);

  /// Sums `lanes` lanes that follow each other on the row axis. `bases[s]` are the affine forms of side s on each axis
  /// for the first lane, `steps[s]` how they change from lane to lane.
  void run_row(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2], int64_t lanes,
               double* rounded, double* unrounded);

  /// One term of the sum for a row. It counts for the lanes first + every * t; for each side, t = 0 is at `offset`, and
  /// the t of [low, high) are in range.
  struct Term {
    int64_t offset[2], first;
    int32_t low[2], high[2];
  };
  struct Factor {
    const double* data;
    int64_t step;  // from t to t
    double outside;
    bool by_lanes;
  };
  struct Row {
    double* acc;
    int64_t lanes, every;
    std::span<const Term> terms;
  };

 private:
  struct Side {
    const double *rounded = nullptr, *unrounded = nullptr;
    std::vector<double> rounded_copy, unrounded_copy;
    std::vector<int64_t> offsets;  // of each term, from the folds alone
    std::vector<std::vector<int64_t>>
        checked;  // the affine form of each group of terms, for the axes that are not proven
  };
  void make_offsets(int s);
  void choose_lanes(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2]);
  void place_group(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step, int64_t lanes,
                   size_t group);
  void place_terms(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step, int64_t lanes);

  /// Whether side s is placed by lanes although the terms skip some.
  bool by_lanes(int s) const { return every_ != 1 && outside_matters_ && s != divided_; }

  const ContractCode& code_;
  Side side_[2];
  std::vector<Term> terms_;
  int64_t every_ = 1;
  int divided_ = -1;  // the side that has it
  bool outside_matters_ = false;
};

}  // namespace cameo::tape
