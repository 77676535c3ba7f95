// Folds in a kernel's expressions: which function of rt:: computes one, as the kernel's choice has `lanes`,
// `fold_lanes` and `team`, and what that costs a processor.
#pragma once
#include <optional>

#include "optimizer/choose/family.h"

namespace cameo {

inline constexpr int kFoldLanes = 16;
/// Whether a fold can run in so many lanes along its own variable, where `lanes` are taken along the last axis: one
/// that needs none of those, and reads memory in order.
bool runs_in_lanes(const Kernel& k, Expr fold, int64_t lanes, int64_t fold_lanes);
std::string fold_function(const Kernel& k, Expr fold);
/// What divides the length of a loop that leaves no elements behind its last vector.
int64_t whole_vectors(const Kernel& k);

/// The terms of a row's fold that its elements are made of again (softmax's exponentials): the fold may keep them in
/// the row of the output, if nothing else of the element moves with it.
inline constexpr std::string_view kKept = "keeps_terms";
struct KeptTerms {
  Expr fold, element;  // a term as the element has it
  Expr left;           // the output without it, of the row alone
};
/// Of a nest of one store whose folds run in lanes; nullopt: there are none.
std::optional<KeptTerms> kept_terms(const Kernel& k, int64_t lanes, int64_t fold_lanes);
/// A nest with folds on one core: what it issues, elements that are no neighbours one by one, or if that is more what
/// its long folds wait for. A fold in order waits for each term's result, those of a vector's lanes at once.
double cycles_of_folds(const Kernel& k, const Choice& choice, const Target& target);
}  // namespace cameo
