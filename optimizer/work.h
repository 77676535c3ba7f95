// What evaluating a node takes, before it is done: what a budget of folding counts, and floating-point operations.
#pragma once
#include <cmath>

#include "frontend/ir/operator.h"

namespace cameo {

/// Scalar evaluations, each Expr as often as the points and folds around it say: an upper bound, infinite where an
/// extent or a number of iterations is not known.
double work_of(const Graph& g, const Node& n);

/// How often each Expr under `root` is evaluated where `root` itself is evaluated `points` times; `unknown` stands for
/// an extent that is no number.
std::vector<std::pair<Expr, double>> evaluations(Expr root, double points, double unknown = INFINITY);

/// How many elements of an operand are loaded then.
double elements_loaded(uint32_t operand, Expr root, double points);
/// Whether each element of a value is loaded so often then: it is worth bringing into the order in which what is loaded
/// together are neighbours.
bool is_read_again(const Graph& g, ValueId v, Expr root, double points, double times = 2);

/// Whether evaluating it takes an operation of its own: moving, converting and choosing between numbers take none, and
/// of a fold of folds the terms of the inner one count.
bool is_operation(Expr e);

/// Floating-point operations of one run, each function and each term of a fold one; loops whose trips are not known as
/// 100 of them.
double estimate_operations(const Graph& g);

}  // namespace cameo
