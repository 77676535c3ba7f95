// Compiling Exprs to a tape. A node goes to the program of the innermost fold around it whose variable it needs, once;
// a Load whose offset is an arithmetic progression over a block is recognised, a sum of products becomes a Contract.
#include "frontend/reference/interpret_tape.h"

#include <algorithm>

#include "frontend/ir/bind_dims.h"
#include "frontend/ir/check.h"
#include "frontend/reference/interpret_compile.h"

namespace cameo::tape {

Instr::Instr(Op op, DType type, DType from, bool uniform, uint32_t out)
    : op(op), type(type), from(from), uniform(uniform), out(out), args{} {}
Instr::Instr(Instr&&) noexcept = default;
Instr::~Instr() = default;

Expr bind_symbols(Expr e, const Symbols& symbols) {
  return cameo::bind_symbols(e, [&](Expr symbol) {
    auto it = symbols.find(symbol.bits());
    return it == symbols.end() ? symbol : integer(it->second);
  });
}

Compiler::Compiler(Tape& tape, std::span<const Expr> index) : tape_(tape) {
  scopes_.push_back({kNoVar, &tape.code_, {}});
  for (size_t axis = 0; axis < index.size(); ++axis) {
    bool varies = static_cast<int>(axis) >= tape.split_;
    if (varies) varying_.push_back(index[axis]);
    uint32_t reg = new_register(false, !varies);
    scopes_[0].registers[index[axis]] = reg;
    tape.index_.push_back(reg);
  }
}

uint32_t Compiler::new_register(bool floating, bool uniform) {
  tape_.registers_.push_back({floating, uniform});
  return static_cast<uint32_t>(tape_.registers_.size() - 1);
}

const std::vector<uint64_t>& Compiler::free_variables(Expr e) {
  if (auto it = free_.find(e); it != free_.end()) return it->second;
  std::vector<uint64_t> vars;
  auto join = [&](const std::vector<uint64_t>& more) {
    std::vector<uint64_t> both;
    std::set_union(vars.begin(), vars.end(), more.begin(), more.end(), std::back_inserter(both));
    vars = std::move(both);
  };
  if (e.op() == Op::Var) {
    vars.push_back(e.var_number());
  } else if (e.op() == Op::Fold) {
    join(free_variables(e.arg(1)));
    std::erase(vars, e.arg(0).var_number());
    join(free_variables(e.arg(0).extent()));
  } else {
    for (Expr a : e.args()) join(free_variables(a));
  }
  return free_[e] = std::move(vars);
}

bool Compiler::needs(Expr e, Expr var) { return std::ranges::binary_search(free_variables(e), var.var_number()); }
bool Compiler::varies(Expr e) {
  return std::ranges::any_of(varying_, [&](Expr v) { return needs(e, v); });
}

size_t Compiler::home(Expr e) {
  const auto& vars = free_variables(e);
  size_t s = scopes_.size() - 1;
  while (s > 0 && !std::ranges::binary_search(vars, scopes_[s].var)) --s;
  return s;
}

uint32_t Compiler::reg(Expr e) {
  size_t scope = home(e);
  if (auto it = scopes_[scope].registers.find(e); it != scopes_[scope].registers.end()) return it->second;
  uint32_t r = emit(e, scope);
  scopes_[scope].registers[e] = r;
  return r;
}

uint32_t Compiler::emit(Expr e, size_t scope) {
  bool structural = e.op() == Op::Var || e.op() == Op::Symbol || e.op() == Op::Read || e.op() == Op::Acc;
  CAMEO_CHECK(!structural, "an expression over index variables, folds and operands only");
  if (e.op() == Op::Const) {
    uint32_t r = new_register(is_float(e.type()), true);
    tape_.constants_.push_back({r, e});
    return r;
  }
  if (e.op() == Op::Load) return emit_load(e, scope);
  if (e.op() == Op::Fold) return emit_fold(e, scope);
  std::array<uint32_t, 3> args{};
  for (size_t i = 0; i < e.args().size(); ++i) args[i] = reg(e.args()[i]);
  Instr& i = append(e, scope, e.arg(0).type());
  i.args = args;
  return i.out;
}

Instr& Compiler::append(Expr e, size_t scope, DType from) {
  bool uniform = !varies(e);
  uint32_t out = new_register(is_float(e.type()), uniform);
  return scopes_[scope].code->emplace_back(e.op(), e.type(), from, uniform, out);
}

std::optional<Progression> Compiler::progression(Expr offset) {
  Affine a = affine(offset);
  Progression p;
  std::vector<int64_t> coefficients;
  for (Expr v : varying_) {
    coefficients.push_back(a.stride_of(v).value());
    std::erase_if(a.terms, [&](const Affine::Term& t) { return t.term == v; });
  }
  for (const Affine::Term& t : a.terms)
    if (varies(t.term)) return std::nullopt;
  p.base = from_affine(a);
  int64_t next = 0;
  bool first = true;
  for (size_t axis = coefficients.size(); axis-- > 0;) {
    int64_t extent = tape_.dims_[tape_.split_ + axis];
    if (extent == 1) continue;
    if (first)
      p.step = coefficients[axis];
    else if (coefficients[axis] != next)
      return std::nullopt;
    first = false;
    next = coefficients[axis] * extent;
  }
  return p;
}

namespace {
bool reads_operands(Expr e) {
  bool found = false;
  visit(std::vector<Expr>{e}, [&](Expr x) { found |= x.op() == Op::Load; });
  return found;
}
}  // namespace

std::vector<Compiler::Access> Compiler::accesses(Expr load) {
  const std::vector<int64_t>& dims = tape_.operand_dims_.at(load.operand());
  CAMEO_CHECK(dims.size() == load.index().size(), "an index of the operand's rank");
  std::vector<Access> a;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0; stride *= dims[d]) {
    Interval r = range_of(load.index()[d]);
    const bool within = r.low >= 0 && r.high < dims[d], of_data = reads_operands(load.index()[d]);
    a.push_back({load.index()[d], dims[d], stride, within && !of_data, within && of_data});
  }
  std::reverse(a.begin(), a.end());
  return a;
}

uint32_t Compiler::emit_load(Expr e, size_t scope) {
  auto code = std::make_unique<LoadCode>();
  code->operand = e.operand();
  code->checked = e.checked();
  code->outside = reg(e.outside());
  std::vector<Access> all = accesses(e);
  Expr offset = integer(0);
  bool linear = true;
  for (const Access& a : all) {
    offset = offset + a.index * integer(a.stride);
    linear &= a.proven || !varies(a.index);
  }
  if (auto p = linear ? progression(offset) : std::nullopt) {
    code->linear = true;
    code->base = reg(p->base);
    code->step = p->step;
  }
  for (const Access& a : all)
    if (!code->linear || !a.proven)
      code->index.push_back({reg(a.index), a.extent, a.stride, a.proven, a.audited, !varies(a.index)});
  Instr& i = append(e, scope, e.type());
  i.load = std::move(code);
  return i.out;
}

uint32_t Compiler::emit_fold(Expr e, size_t scope) {
  if (uint32_t out; emit_contract(e, scope, out)) return out;
  auto code = std::make_unique<FoldCode>();
  Expr var = e.arg(0), body = e.arg(1);
  code->kind = e.fold_kind();
  code->body_type = body.type();
  code->extent = reg(var.extent());
  code->var = new_register(false, true);
  scopes_.push_back({var.var_number(), &code->code, {{var, code->var}}});
  code->body = reg(body);
  scopes_.pop_back();
  code->best = new_register(is_float(body.type()), !varies(e));
  Instr& i = append(e, scope, body.type());
  i.fold = std::move(code);
  return i.out;
}

namespace {
constexpr int64_t kFewLanes = 32;

/// The first axis that varies inside of a block: as many whole inner axes as fit, one more where those are few lanes.
int choose_split(const std::vector<int64_t>& dims, int64_t block) {
  int split = static_cast<int>(dims.size());
  int64_t inner = 1;
  while (split > 0 && (inner * dims[split - 1] <= block || inner < std::min(kFewLanes, block))) inner *= dims[--split];
  return split;
}
}  // namespace

Tape::Tape(std::span<const Expr> index, std::span<const Expr> roots, std::vector<std::vector<int64_t>> operand_dims,
           int64_t block)
    : operand_dims_(std::move(operand_dims)) {
  for (Expr v : index) dims_.push_back(simplify_index(v.extent()).int_value());
  split_ = choose_split(dims_, block);
  int64_t inner = *element_count(std::span(dims_).subspan(split_));
  row_axis_ = static_cast<int>(dims_.size()) - 1;
  while (row_axis_ > split_ && dims_[row_axis_] == 1) --row_axis_;
  int64_t row = row_axis_ < split_ ? 1 : dims_[row_axis_];
  block_ = std::min(inner, row <= block && row > 0 ? block / row * row : block);  // whole rows, or parts of one
  Compiler compiler(*this, index);
  for (Expr r : roots) roots_.push_back(compiler.reg(r));
}

}  // namespace cameo::tape
