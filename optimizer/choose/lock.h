// A lock of choices: which family computes a problem and how, whatever the prices say. `--emit=choices` writes the rows
// of a build, `--tune-lock` reads them; the same lock gives the same kernels on any machine.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "optimizer/plan/plan.h"

namespace cameo {

class ChoiceLock {
 public:
  struct Row {
    std::string family, choice;
    bool operator==(const Row&) const = default;
  };
  ChoiceLock() = default;
  /// Lines `TARGET PROBLEM AXES FAMILY NAME=NUMBER ..`, and `TARGET machine model NAME`; empty ones say nothing, nor
  /// does what stands behind a #. Throws CompileError E0503 with the number of a line that is none, or that contradicts
  /// another.
  explicit ChoiceLock(std::string_view text);
  /// In place of what it had for this problem.
  void set(const std::string& target, const std::string& problem, Row row);
  const Row* find(const std::string& target, const std::string& problem) const;
  size_t rows_for(const std::string& target) const;
  /// Those that it has rows for.
  std::set<std::string> targets() const;
  /// The lines that were read, in order; equal locks have equal texts.
  std::string text() const;

 private:
  std::map<std::pair<std::string, std::string>, Row> rows_;  // by target and problem
};

/// The target obeys it. Prices, sizes of blocks and numbers of chunks are made of the rates of a machine, those of the
/// one that the lock was made for, whichever machine builds. Throws CompileError E0503 where no such machine is known.
void take_lock(Target& target, std::shared_ptr<const ChoiceLock> lock);
/// What a lock wants of a problem is not among its ways.
CompileError no_way(const std::string& problem, const ChoiceLock::Row& row);
/// What names a problem, whatever computes it: a hash of the nest that would and of the ways there are, as text, and
/// its axes.
std::string problem_of(const Kernel& nest, std::string_view ways);
/// The same of a node that is alone in a graph: a hash of what its operator is told, and its first output's extents.
std::string problem_of(const Graph& alone);
/// That of a chain of kernels, which may run in strips. A copy, which has no row of its own, counts as the nest it is.
std::string problem_of(std::span<const Kernel* const> chain);
/// The rows of a plan that was made with a lock, an empty one or not.
std::string choices_text(const Plan& plan);
/// The problem of a row, as `find` takes it; empty where the line is none.
std::string problem_of_row(const std::string& row);
/// A lock's text with the rows of another in place of those that it had for their problems, and new ones behind.
std::string with_rows(std::string_view text, std::string_view rows);
/// How many rows of its target's lock name none of its problems.
size_t unused_rows(const Plan& plan);

}  // namespace cameo
