// Strips: what its parts share. form_strips.cpp says what they are.
//
//   Plan --find_chains--> chains --divide--> strips --write_strips--> Plan
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "optimizer/plan/plan.h"

namespace cameo::strips {

/// What a kernel reads or writes of one operand while its outermost index is i: bytes i * step .. i * step + span.
struct Reach {
  int64_t step = 0, span = 0;
};

/// A step that can take part: what its kernel touches by each index of its outermost axis.
struct Member {
  int step = 0;
  int64_t extent = 0;
  std::vector<Reach> reaches;  // by operand
  uint32_t output = 0;         // operand

  const Reach& made() const { return reaches[output]; }
};

/// A buffer that one step makes, beside what stands around it, and one step reads, as one operand.
struct Link {
  uint32_t buffer = 0;
  uint32_t operand = 0;      // of the reader
  std::vector<int> borders;  // steps
};

/// Members of which each reads what the one before it makes; links[i] is what members[i + 1] reads of members[i].
struct Chain {
  std::vector<Member> members;
  std::vector<Link> links;

  size_t size() const { return members.size(); }
  Chain part(size_t from, size_t length) const;
};

/// A kernel as each strip has it, for `count` indices of its outermost axis, and what it writes.
struct Part {
  Kernel kernel;
  int step = 0;        // of the plan as it was
  int64_t offset = 0;  // bytes of its buffer, at index 0
  Reach reach;
  int64_t count = 0;
  std::vector<std::optional<int64_t>> begin;  // by strip: the first index; of a border none where the strip has none

  int64_t bytes() const { return (count - 1) * reach.step + reach.span; }
};

/// The piece of a thread's memory in which a strip has its part of a buffer.
struct Window {
  int64_t bytes = 0, room = 0;  // room: in front of the first byte that is read
  int64_t at = 0;               // in scratch
  std::vector<int64_t> begin;   // by strip: that byte, in the buffer
};

/// A chain, a way to divide it, and its price.
struct Strips {
  Chain chain;
  int64_t count = 0;
  std::vector<Part> parts;                 // by member
  std::vector<Window> windows;             // by link
  std::vector<std::vector<Part>> borders;  // by link
  int64_t scratch_bytes = 0;
  double seconds = 0;
};

/// By operand; nullopt where it is not the same at each index, or the operand begins before what is touched.
std::optional<std::vector<Reach>> reaches_of(const Kernel& k);
/// The longest ones, whose links are large enough to be worth a look.
std::vector<Chain> find_chains(const Plan& plan);
/// So many strips of a chain, where they fit into the second cache.
std::optional<Strips> strips_of(const Plan& plan, const Chain& chain, int64_t count);
/// The parts of chains that run in strips; a claim of the plan says of each what was decided.
std::vector<Strips> divide(Plan& plan, const std::vector<Chain>& chains);
/// In place of the steps of their members.
void write_strips(Plan& plan, const std::vector<Strips>& all);

inline const Kernel& kernel_of(const Plan& plan, int step) { return plan.kernels[plan.steps[step].kernel]; }

}  // namespace cameo::strips
