// See run_plan.h. A kernel becomes a tape: a Read is a Load of a tensor of one axis, which is what is left of
// its buffer from the operand on.
#include "optimizer/plan/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include "frontend/ir/check.h"
#include "frontend/reference/interpret_tape.h"
#include "optimizer/choose/family.h"
#include "optimizer/plan/bind_plan.h"
#include "runtime/program.h"

namespace cameo {
namespace {

using tape::Tape;

/// A piece of memory: what may be touched from an operand on.
struct Region {
  std::byte* begin = nullptr;
  int64_t bytes = 0;
  bool writable = false;

  Region after(int64_t offset) const { return {begin + offset, bytes - offset, writable}; }
  Tensor as(DType t) const {
    auto size = static_cast<int64_t>(byte_size(t)), count = std::max<int64_t>(bytes, 0) / size;
    return Tensor(t, {count}, std::span<const std::byte>(begin, static_cast<size_t>(count * size)), nullptr);
  }
};

/// A NaN of every floating type, and integers unlike those that models hold.
void poison(Region r) {
  for (int64_t i = 0; i < r.bytes; ++i) r.begin[i] = i % 2 ? std::byte{0xff} : std::byte{0xa5};
}

Tensor as_given(const Type& type, std::span<const std::byte> bytes) {
  if (is_packed(type.dtype)) return unpacked(type.dtype, extents(type.shape), bytes);
  return Tensor::of(type.dtype, extents(type.shape), bytes);
}

Region region_of(Tensor& t, bool writable) {
  return {t.mutable_bytes().data(), static_cast<int64_t>(t.bytes().size()), writable};
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// A Read as a Load of the tape: where the guard does not hold nothing is read, and what is read lies in the
/// region.
Expr load_of(Expr e, const std::vector<std::vector<int64_t>>& dims) {
  Expr offset = e.offset(), guard = e.guard(), none = zero(e.type());
  Interval r = range_of(offset);
  int64_t elements = dims.at(e.operand())[0];
  bool proven = r.low >= 0 && r.high < elements;
  auto at = [&](Expr index, bool checked) {
    return load(e.operand(), e.type(), std::vector<Expr>{index}, none, checked);
  };
  if (guard.is_const(1)) return at(offset, !proven);
  if (e.checked()) return at(select(guard, offset, integer(-1)), true);  // the data's fault
  if (elements == 0) return e.outside();
  return select(guard, at(select(guard, offset, integer(0)), true), e.outside());
}

/// A kernel for operands of these sizes: offset, guard and value of each of its stores.
struct KernelCode {
  std::vector<std::vector<int64_t>> dims;
  std::vector<std::unique_ptr<Tape>> stores;

  KernelCode(const Kernel& k, std::vector<std::vector<int64_t>> operand_dims) : dims(std::move(operand_dims)) {
    Kernel whole = k;
    for (Store& s : whole.stores)
      s.value = rewrite(s.value, [&](Expr e) { return e.op() == Op::Acc ? k.accumulated : e; });
    split_axes(whole);  // so that offsets in panels are affine
    const auto physical = [&](Expr root) {
      return rewrite(root, [&](Expr e) { return e.op() == Op::Read ? load_of(e, dims) : e; });
    };
    const int64_t block = k.family->writes_once() ? Tape::kBlock : 1;
    for (const Store& s : whole.stores) {
      std::vector<Expr> roots{physical(s.offset), physical(s.guard), physical(s.value)};
      stores.push_back(std::make_unique<Tape>(whole.axes, roots, dims, block));
    }
  }
};

void store_block(const Tape::Block& b, DType t, const Region& to) {
  const tape::Lanes &offset = b.roots[0], &guard = b.roots[1];
  tape::Dual values{Tensor(t, {b.lanes}), {}};
  tape::store(values, 0, b.lanes, b.roots[2]);
  auto size = static_cast<int64_t>(byte_size(t));
  for (int64_t i = 0; i < b.lanes; ++i) {
    int64_t at = offset.ints[offset.uniform ? 0 : i];
    if (!guard.ints[guard.uniform ? 0 : i])
      throw CompileError(Code::E0304, fmt::format("index {} is out of range", at));
    if (at < 0 || (at + 1) * size > to.bytes)
      throw PlanFault(fmt::format("stores element {} of {}", at, to.bytes / size));
    std::memcpy(to.begin + at * size, values.rounded.bytes().data() + i * size, static_cast<size_t>(size));
  }
}

// ---- steps ----------------------------------------------------------------------------------------------------------

/// Nothing that was made.
Tensor poisoned(int64_t bytes) {
  Tensor t(DType::u8, {bytes});
  poison(region_of(t, true));
  return t;
}

bool has_strips(const Plan& p) { return std::ranges::any_of(p.steps, &Step::follows); }

class PlanRun {
 public:
  PlanRun(const Module& m, const Plan& p, std::span<const Tensor> inputs)
      : module_(m),
        of_all_sizes_(p),
        learned_(learned_symbols(p)),
        sizes_(sizes_of_run(m.io, inputs)),
        weights_(DType::u8, {m.weights.bytes}),
        host_(DType::u8, {p.host_bytes}),
        scratch_(DType::u8, {has_strips(p) ? p.scratch_bytes.upper() : 0}),
        slots_(p.slots),
        loops_(p.loops) {
    for (Expr symbol : learned_) sizes_.emplace(symbol_name(symbol), 0);
    require(0, 0);
    plan_ = at_sizes();
    arena_ = poisoned(plan_.arena_bytes);
    poison(region_of(weights_, true));
    poison(region_of(host_, true));
    for (const WeightPool::Entry& e : m.weights.entries)
      if (!e.tensor->bytes().empty())
        std::memcpy(weights_.mutable_bytes().data() + e.offset, e.tensor->bytes().data(), e.tensor->bytes().size());
    for (const Tensor& t : inputs) {
      const Tensor given = t.is_list() ? numbered(t) : packed(t);
      inputs_.push_back(Tensor::of(DType::u8, {static_cast<int64_t>(given.bytes().size())}, given.bytes()));
    }
    for (const Interface::Io& io : bind_interface(m.io, sizes_).outputs) {
      output_types_.push_back(io.type);
      outputs_.push_back(poisoned(packed_bytes(io.type).value()));
    }
  }

  std::vector<Tensor> run() {
    for (int from = 0, to = 0; from < static_cast<int>(plan_.steps.size()); from = to) {
      const int end = group_of(plan_, from).end;
      for (int begin = end, behind = end; begin > from; behind = begin) {
        while (plan_.steps[--begin].follows) {}
        poison(region_of(scratch_, true));
        int next = begin;
        for (int i = begin; i < behind; ++i) next = run_step(i);
        if (behind == end) to = next;
      }
      poison_between(from, to);
    }
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs.push_back(as_given(output_types_[i], outputs_[i].bytes()));
      if (output_types_[i].is_list()) outputs.back() = list_at(outputs.back());
    }
    return outputs;
  }

 private:
  struct LoopState {
    int64_t trips = 0, counter = 0;
  };

  int run_step(int number) {
    at_ = number;
    const Step& s = plan_.steps[number];
    try {
      return step(s);
    } catch (const PlanFault& e) {
      std::string name = s.kind == StepKind::Kernel ? plan_.kernels[s.kernel].symbol : "";
      throw PlanFault(fmt::format("step {} {}: {}", number, name, e.what()));
    }
  }

  /// Going from one step to the next, buffers that have had their last step hold nothing any more, and those that come
  /// to their first hold nothing yet; going round a loop, so does all that lives inside of it.
  void poison_between(int from, int to) {
    for (const Buffer& b : plan_.buffers) {
      bool dies = b.last >= from && b.last<to, begins = b.first> from && b.first <= to;
      bool again = to <= from && b.first >= to && b.first <= from;
      if (dies || begins || again) poison({region_of(arena_, true).after(b.offset).begin, b.bytes, true});
    }
  }

  Region at(const Ref& r) {
    switch (r.base) {
      case Base::Weights: return region_of(weights_, false).after(r.offset);
      case Base::Input: return region_of(inputs_.at(r.number), false).after(r.offset);
      case Base::Output: return region_of(outputs_.at(r.number), true).after(r.offset);
      case Base::Host: return region_of(host_, true).after(r.offset);
      case Base::Slot: return slots_.at(r.number).after(r.offset);
      case Base::Scratch: return region_of(scratch_, true).after(r.offset);
      case Base::Block:  // a plan of known sizes has none
      case Base::Arena: break;
    }
    for (const Buffer& b : plan_.buffers)
      if (b.first <= at_ && at_ <= b.last && b.offset <= r.offset && r.offset < b.offset + b.bytes)
        return {region_of(arena_, true).begin + r.offset, b.offset + b.bytes - r.offset, true};
    throw PlanFault(fmt::format("`{}` lies in no buffer that lives", to_string(r)));
  }
  Region at(const Ref& r, int64_t bytes) {
    Region region = at(r);
    if (bytes > region.bytes)
      throw PlanFault(fmt::format("`{}` reaches {} bytes into {}", to_string(r), bytes, region.bytes));
    return region;
  }
  template <class T>
  T read(const Ref& r) {
    T value;
    std::memcpy(&value, at(r, sizeof value).begin, sizeof value);
    return value;
  }

  /// The step to go on at.
  int step(const Step& s) {
    switch (s.kind) {
      case StepKind::Kernel: run_kernel(s); break;
      case StepKind::Jump: return s.jump;
      case StepKind::JumpIfFalse: return read<uint8_t>(s.refs.at(0)) ? at_ + 1 : s.jump;
      case StepKind::LoopBegin:
        loops_.at(s.a) = {s.b & rt::kTripRef ? read<int64_t>(s.refs.at(0)) : s.bytes, 0};
        return test_loop(at_);
      case StepKind::LoopEnd: ++loops_.at(plan_.steps.at(s.jump).a).counter; return test_loop(s.jump);
      case StepKind::Swap: std::swap(slots_.at(s.a), slots_.at(s.b)); break;
      case StepKind::SetBase: slots_.at(s.a) = at(s.refs.at(0)); break;
      case StepKind::Advance: slots_.at(s.a) = slots_.at(s.a).after(s.bytes); break;
      case StepKind::Sizes: learn(s); break;
      case StepKind::Copy: {
        Region to = at(s.refs.at(0), s.bytes), from = at(s.refs.at(1), s.bytes);
        if (!to.writable) throw PlanFault("copies into what is only read");
        std::memcpy(to.begin, from.begin, static_cast<size_t>(s.bytes));
      }
    }
    return at_ + 1;
  }
  /// What must hold of sizes, as soon as so many learned ones are known, the last of them from a place on.
  void require(size_t from, size_t known) const {
    for (const PlanRequirement& r : of_all_sizes_.requirements) {
      const size_t waits =
          std::max(waits_for(r.condition, learned_), r.since ? waits_for(r.since, learned_) : size_t{0});
      const bool is_time = known ? waits > from && waits <= known : waits == 0;
      if (is_time && simplify_index(bind_symbols(r.condition, sizes_)).is_const(0)) throw misfit(*module_.sources, r);
    }
  }
  Plan at_sizes() const {
    if (sizes_.empty()) return of_all_sizes_;
    Plan bound = bind_plan(of_all_sizes_, sizes_);
    bind_nodes(bound, numbers(sizes_));
    return bound;
  }
  void learn(const Step& s) {
    const Region from = at(s.refs.at(0), s.bytes);
    Tensor elements(s.dtype, {std::ssize(s.elements)});
    std::memcpy(elements.mutable_bytes().data(), from.begin, static_cast<size_t>(s.bytes));
    bool changes = false;
    const auto first = std::ranges::find(learned_, s.elements[0]) - learned_.begin();
    const std::vector<Expr> news = s.elements;
    for (size_t i = 0; i < news.size(); ++i) {
      int64_t& size = sizes_.at(std::string(symbol_name(news[i])));
      changes |= std::exchange(size, elements.get_int(static_cast<int64_t>(i))) != size;
    }
    require(static_cast<size_t>(first), static_cast<size_t>(first) + news.size());
    if (changes) bind_anew(news);
  }
  /// The plan at sizes that the run has just come to know. What lives moves with its buffer; but for that whose size
  /// waited for these, which is yet to be made.
  void bind_anew(const std::vector<Expr>& news) {
    const Plan before = std::exchange(plan_, at_sizes());
    const Tensor from = std::exchange(arena_, poisoned(plan_.arena_bytes));
    code_.clear();
    const std::vector<Interface::Io> outputs = bind_interface(module_.io, sizes_).outputs;
    std::vector<Tensor> outputs_before = outputs_;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].type == output_types_[i]) continue;
      output_types_[i] = outputs[i].type;
      outputs_[i] = poisoned(packed_bytes(outputs[i].type).value());
    }
    for (size_t b = 0; b < before.buffers.size(); ++b) {
      const Buffer &old = before.buffers[b], &here = plan_.buffers[b];
      if (old.first > at_ || old.last < at_) continue;
      const std::byte* begin = from.bytes().data() + old.offset;
      const Region to = region_of(arena_, true).after(here.offset);
      for (Region& slot : slots_)
        if (slot.begin >= begin && slot.begin < begin + old.bytes)
          slot = Region{to.begin, here.bytes, true}.after(slot.begin - begin);
      if (!is_made_of(of_all_sizes_.buffers[b].size, news))
        std::memcpy(to.begin, begin, static_cast<size_t>(here.bytes));
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      for (Region& slot : slots_)
        if (const std::byte* begin = outputs_before[i].bytes().data();
            slot.begin >= begin && slot.begin < begin + outputs_before[i].bytes().size())
          slot = region_of(outputs_[i], true).after(slot.begin - begin);
  }
  static bool is_made_of(Expr size, const std::vector<Expr>& symbols) {
    bool found = false;
    if (size) visit(std::vector{size}, [&](Expr e) { found |= std::ranges::find(symbols, e) != symbols.end(); });
    return found;
  }
  int test_loop(int begin) {
    const Step& s = plan_.steps.at(begin);
    const LoopState& loop = loops_.at(s.a);
    const Ref* ref = s.refs.data() + (s.b & rt::kTripRef ? 1 : 0);
    if (loop.counter >= loop.trips) return s.jump;
    if (s.b & rt::kConditionRef && !read<uint8_t>(*ref++)) return s.jump;
    if (s.b & rt::kCounterRef) std::memcpy(at(*ref, 8).begin, &loop.counter, sizeof loop.counter);
    return begin + 1;
  }

  void run_kernel(const Step& s) {
    const Kernel& k = plan_.kernels.at(s.kernel);
    if (points_of(k.axes) == 0) return;  // operands without elements may lie anywhere
    std::vector<Region> operands;
    for (const Ref& r : s.refs) operands.push_back(at(r));
    if (k.node) return run_node(k, operands);
    std::vector<tape::Dual> in;
    std::vector<std::vector<int64_t>> dims;
    for (size_t i = 0; i < operands.size(); ++i) {
      in.push_back({operands[i].as(k.operands[i]), {}});
      dims.push_back(in.back().rounded.dims());
    }
    std::unique_ptr<KernelCode>& code = code_[at_];
    if (!code || code->dims != dims) code = std::make_unique<KernelCode>(k, std::move(dims));
    for (size_t i = 0; i < k.stores.size(); ++i) {
      uint32_t y = k.stores[i].operand;
      if (!operands.at(y).writable) throw PlanFault("stores into what is only read");
      code->stores[i]->run(in, {.round_f32 = true},
                           [&](const Tape::Block& b) { store_block(b, k.operands[y], operands[y]); });
    }
  }
  /// What stands in memory for a list, and the list that it stands for.
  Tensor numbered(const Tensor& list) {
    lists_.push_back(list);
    return Tensor::of<uint64_t>(kListInMemory, {}, std::vector{uint64_t{lists_.size() - 1}});
  }
  const Tensor& list_at(const Tensor& number) const {
    const uint64_t at = number.as<uint64_t>()[0];
    if (at >= lists_.size()) throw PlanFault("reads a list where none was made");
    return lists_[at];
  }
  void run_node(const Kernel& k, const std::vector<Region>& operands) {
    const Graph& g = *k.node;
    if (g.nodes().empty()) return;  // at these sizes nothing that it gives has elements
    const Node& n = g.nodes()[0];
    std::vector<Tensor> in;
    size_t next = static_cast<size_t>(std::ranges::count_if(n.outputs, [](ValueId v) { return bool(v); }));
    for (ValueId v : n.inputs) {
      if (!v) {
        in.push_back({});
        continue;
      }
      in.emplace_back(g.type(v).dtype, extents(g.type(v).shape));
      const Region& from = operands.at(next);
      each_element(k, next++, g.type(v), from, [&](int64_t element, std::byte* at, size_t size) {
        std::memcpy(in.back().mutable_bytes().data() + element * static_cast<int64_t>(size), at, size);
      });
      if (g.type(v).is_list()) in.back() = list_at(in.back());
    }
    std::vector<Tensor> out = k.family->evaluate(k, in);
    for (Tensor& t : out)
      if (t.is_list()) t = numbered(t);
    size_t to = 0;
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      if (!n.outputs[i]) continue;
      const Type type(out[i].dtype(), dims_of(out[i]));
      each_element(k, to, type, operands.at(to), [&](int64_t element, std::byte* at, size_t size) {
        std::memcpy(at, out[i].bytes().data() + element * static_cast<int64_t>(size), size);
      });
      ++to;
    }
  }
  static Shape dims_of(const Tensor& t) { return Shape(t.dims().begin(), t.dims().end()); }
  /// Where operand `number` of a node's kernel has each of its elements, in row-major order.
  static void each_element(const Kernel& k, size_t number, const Type& type, const Region& r, auto&& visit_element) {
    const auto size = static_cast<int64_t>(byte_size(type.dtype));
    const std::vector<int64_t> dims = extents(type.shape);
    const std::vector<int64_t> pitch = extents((k.layouts.empty() ? row_major(type.shape) : k.layouts[number]).pitch);
    std::vector<int64_t> index(dims.size());
    const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
    for (int64_t element = 0; element < count; ++element) {
      const int64_t at = std::inner_product(index.begin(), index.end(), pitch.begin(), int64_t{0}) * size;
      if (at < 0 || at + size > r.bytes) throw PlanFault(fmt::format("byte {} of an operand of {}", at, r.bytes));
      visit_element(element, r.begin + at, static_cast<size_t>(size));
      for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
    }
  }

  const Module& module_;
  const Plan& of_all_sizes_;
  const std::vector<Expr> learned_;  // symbols
  DimBinding sizes_;                 // that the plan is bound to; 0 of those which are not known yet
  Plan plan_;
  Tensor arena_, weights_, host_, scratch_;
  std::vector<Tensor> inputs_, outputs_;  // bytes
  std::vector<Type> output_types_;
  std::vector<Region> slots_;
  std::vector<Tensor> lists_;
  std::vector<LoopState> loops_;
  std::map<int, std::unique_ptr<KernelCode>> code_;  // by step
  int at_ = 0;
};

}  // namespace

std::vector<Tensor> run_plan(const Module& m, const Plan& p, std::span<const Tensor> inputs) {
  CAMEO_CHECK(inputs.size() == m.io.inputs.size(), "a tensor for each input");
  return PlanRun(m, p, inputs).run();
}

}  // namespace cameo
