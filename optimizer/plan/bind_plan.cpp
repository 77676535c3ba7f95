// See bind_plan.h.
#include "optimizer/plan/bind_plan.h"

#include <algorithm>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {

namespace {

/// Where a block stands when it is of a known size: behind what is in the arena so far.
std::vector<int64_t> put_blocks_into_arena(Plan& plan) {
  std::vector<int64_t> begin;
  for (const Block& block : plan.blocks) {
    begin.push_back(plan.arena_bytes);
    plan.arena_bytes += whole_lines(block.bytes.int_value());
  }
  for (Buffer& b : plan.buffers) {
    if (!b.size) continue;
    b.offset = begin[b.block];
    b.bytes = b.size.int_value();
    b.size = {};
  }
  plan.blocks.clear();
  return begin;
}

}  // namespace

void each_size(Plan& plan, const std::function<void(Expr&)>& f) {
  const auto where_open = [&](Expr& size) {
    if (size) f(size);
  };
  for (Kernel& k : plan.kernels) each_expression(k, f);
  for (Step& s : plan.steps) where_open(s.size);
  for (Buffer& b : plan.buffers) where_open(b.size);
  for (Block& b : plan.blocks) f(b.bytes);
}

bool runs_at(const Plan& plan, const DimBinding& sizes) {
  return std::ranges::none_of(plan.requirements, [&](const Requirement& r) {
    return simplify_index(bind_symbols(r.condition, sizes)).is_const(0);
  });
}

Plan bind_plan(const Plan& plan, const DimBinding& given) {
  Plan bound = plan;
  DimBinding sizes = given;
  for (const Append& a : plan.appends)
    for (Expr room : {a.input_room, a.output_room}) sizes.emplace(symbol_name(room), 0);
  const auto bind = [&](Expr& e) { e = simplify_index(bind_symbols(e, sizes)); };
  each_size(bound, bind);
  if (std::ranges::all_of(bound.blocks, [](const Block& block) { return block.bytes.is_const(); })) {
    const std::vector<int64_t> begin = put_blocks_into_arena(bound);
    const auto place = [&](Ref& r) {
      if (r.base == Base::Block) r = {Base::Arena, 0, begin[r.number] + r.offset};
    };
    for (Step& s : bound.steps) std::ranges::for_each(s.refs, place);
    for (Tap& t : bound.taps) place(t.at);
  }
  for (Step& s : bound.steps) {
    if (!s.size || !s.size.is_const()) continue;
    if (s.kind == StepKind::Kernel)
      s.chunks = static_cast<int>(s.size.int_value());
    else
      s.bytes = s.size.int_value();
    s.size = {};
  }
  bound.appends.clear();
  for (Requirement& r : bound.requirements) bind(r.condition);
  return bound;
}

void bind_kernel(Kernel& k, const DimBinding& sizes) {
  each_expression(k, [&](Expr& e) { e = simplify_index(bind_symbols(e, sizes)); });
}

void bind_nodes(Plan& plan, const SymbolBinding& binding) {
  const auto bind = [&](Dim& d) { d = Dim(bind_symbols(d.extent(), binding)); };
  for (Kernel& k : plan.kernels) {
    if (!k.node) continue;
    k.node = std::make_shared<const Graph>(bind_dims(*k.node, binding));
    for (Layout& l : k.layouts) {
      std::ranges::for_each(l.pitch, bind);
      bind(l.elements);
    }
  }
}

Interface bind_interface(Interface io, const DimBinding& sizes) {
  for (auto* list : {&io.inputs, &io.outputs})
    for (Interface::Io& each : *list) {
      each.type = bind_symbols(each.type, sizes);
      for (Expr& e : each.content) e = bind_symbols(e, sizes);
    }
  return io;
}

Module bind_module(const Module& m, const DimBinding& sizes) {
  Module bound = m;
  for (Plan& p : bound.plans) {
    p = bind_plan(p, sizes);
    if (!sizes.empty()) bind_nodes(p, numbers(sizes));
  }
  bound.io = bind_interface(std::move(bound.io), sizes);
  return bound;
}

DimBinding sizes_of_run(const Interface& io, std::span<const Tensor> inputs) {
  DimBinding sizes;
  const auto keep = [&](Expr e, int64_t value) {
    if (const auto symbol = symbol_of_element(e)) sizes.emplace(symbol_name(*symbol), value);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Interface::Io& input = io.inputs[i];
    for (size_t d = 0; d < input.type.shape.size(); ++d) keep(input.type.shape[d].extent(), inputs[i].dims()[d]);
    for (size_t k = 0; k < input.content.size(); ++k)
      keep(input.content[k], inputs[i].get_int(static_cast<int64_t>(k)));
  }
  return sizes;
}

std::vector<DimBinding> ends_of_sizes(const Interface& io) {
  DimBinding low, high;
  visit_symbols(io, [&](Expr symbol) {
    low[std::string(symbol_name(symbol))] = static_cast<int64_t>(range_of(symbol).low);
    high[std::string(symbol_name(symbol))] = static_cast<int64_t>(range_of(symbol).high);
  });
  return low == high ? std::vector{low} : std::vector{low, high};
}

}  // namespace cameo
