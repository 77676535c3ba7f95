// Every operator case with operands of other shapes: dims set to 0 (one, two, and all of one extent), an operand left
// out, made a scalar, or given an axis more. Each is refused when its graph is made, or the plan for a processor and
// that for a GPU compute, over an arena full of poison, what the interpreter does. CAMEO_ODD_SHAPES=all also empties
// pairs of axes of different extents.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "frontend/reference/interpret.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

// ---- variants -------------------------------------------------------------------------------------------------------
struct Axis {
  size_t operand, axis;
  int64_t extent;
};

void reshape(Case& c, size_t operand, std::vector<int64_t> dims) {
  Tensor& t = c.operands[operand].value;
  t = Tensor(t.dtype(), std::move(dims));
}
Case with_empty(Case c, const std::vector<Axis>& axes) {
  for (const Axis& a : axes) {
    std::vector<int64_t> dims = c.operands[a.operand].value.dims();
    dims[a.axis] = 0;
    reshape(c, a.operand, dims);
  }
  return c;
}

/// Of many operands, which one input stands for, the first two and the last are varied.
std::vector<size_t> varied_operands(const Case& c) {
  constexpr size_t kMany = 8;
  std::vector<size_t> all;
  for (size_t i = 0; i < c.operands.size(); ++i)
    if (c.operands[i].present && (c.operands.size() <= kMany || i < 2 || i + 1 == c.operands.size())) all.push_back(i);
  return all;
}

class Variants {
 public:
  explicit Variants(const Case& base) : base_(base), operands_(varied_operands(base)) {
    add_emptied();
    add_others();
  }
  std::vector<Case> all;

 private:
  void add_emptied() {
    static const bool all_pairs = std::getenv("CAMEO_ODD_SHAPES") != nullptr;
    std::vector<Axis> axes;
    std::map<int64_t, std::vector<Axis>> by_extent;
    for (size_t i : operands_)
      for (size_t d = 0; d < base_.operands[i].value.dims().size(); ++d) {
        axes.push_back({i, d, base_.operands[i].value.dims()[d]});
        by_extent[axes.back().extent].push_back(axes.back());
      }
    for (size_t i = 0; i < axes.size(); ++i) {
      all.push_back(with_empty(base_, {axes[i]}));
      for (size_t k = i + 1; k < axes.size(); ++k)
        if (axes[k].operand != axes[i].operand && (all_pairs || axes[k].extent == axes[i].extent))
          all.push_back(with_empty(base_, {axes[i], axes[k]}));
    }
    for (auto& [extent, same] : by_extent)
      if (same.size() > 2) all.push_back(with_empty(base_, same));
  }

  void add_others() {
    for (size_t i : operands_) {
      std::vector<int64_t> more = base_.operands[i].value.dims();
      more.insert(more.begin(), 2);
      for (int form : {0, 1, 2}) {
        Case other = base_;
        if (form == 0)
          other.operands[i].present = false;
        else
          reshape(other, i, form == 1 ? std::vector<int64_t>{} : more);
        all.push_back(std::move(other));
      }
    }
  }

  const Case& base_;
  std::vector<size_t> operands_;
};

std::string title(const Case& c) {
  std::string text = fmt::format("{} {}:", c.where, c.name);
  for (const Case::Operand& o : c.operands)
    text += o.present ? fmt::format(" {} {}[{}]", o.name, name(o.value.dtype()), fmt::join(o.value.dims(), "x")) : " -";
  return text;
}

// ---- running them ---------------------------------------------------------------------------------------------------
/// What is wrong with a plan. Right are the same outputs, or an index of the data that is out of range in both runs.
std::string run_planned(const Case& c, const Target& target, const std::optional<Interpretation>& want,
                        const std::string& fault) {
  Module m;
  try {
    m = plan_graph(*c.graph, "", target);
  } catch (const CompileError& e) {
    return may_be_refused(*c.graph, e.diagnostic.code) ? "" : "the plan: " + to_string(e.diagnostic);
  }
  try {
    std::vector<Tensor> got = run_plan(m, m.plans[0], c.inputs);
    return want ? differences(got, *want) : "the plan computes, the interpreter says: " + fault;
  } catch (const CompileError& e) {
    bool same = !want && e.diagnostic.code == Code::E0304 && fault.find("E0304") != std::string::npos;
    return same ? "" : fmt::format("the interpreter: {}, the plan: {}", fault, to_string(e.diagnostic));
  }
}

std::string run_variant(Case& c) {
  make_graph(c);
  if (!c.graph) return "";
  std::optional<Interpretation> want;
  std::string fault, wrong;
  try {
    want = interpret(*c.graph, c.inputs);
  } catch (const CompileError& e) { fault = to_string(e.diagnostic); }
  static const Target targets[] = {native_target(), gpu_target({"ptx"})};
  for (const Target& t : targets)
    if (wrong.empty()) wrong = run_planned(c, t, want, fault);
  return wrong;
}
std::string run_guarded(Case& c) {
  try {
    return run_variant(c);
  } catch (const std::exception& e) { return fmt::format("exception: {}", e.what()); }
}

class OddShapes : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(OddShapes, ComputeOrAreRefused) {
  std::vector<Case> variants;
  for (const Case& c : load_case_file(GetParam()))
    if (!c.fail) std::ranges::move(Variants(c).all, std::back_inserter(variants));
  std::string all = in_child([&] {
    std::string wrong;
    for (Case& v : variants)
      if (std::string what = run_guarded(v); !what.empty()) wrong += fmt::format("\n{}\n{}", title(v), what);
    return wrong;
  });
  if (all.empty() || all[0] == '\n') {
    EXPECT_EQ(all, "");
    return;
  }
  for (Case& v : variants) EXPECT_EQ(in_child([&] { return run_guarded(v); }), "") << title(v);
}
INSTANTIATE_TEST_SUITE_P(Ops, OddShapes,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return operator_of(info.param); });

}  // namespace
}  // namespace cameo::test
