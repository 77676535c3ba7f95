// See size_table.h.
#include "codegen/size_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/print_kernel.h"
#include "optimizer/choose/family.h"

namespace cameo {

SizeTable::SizeTable(const Module& m, const Parameters& parameters) {
  visit_symbols(m.io, [&](Expr symbol) { add(symbol); });
  from_dims_ = sizes_.size();
  for (const Plan& p : m.plans)
    for (const Append& a : p.appends) add(a.input_room), add(a.output_room);
  given_ = sizes_.size();
  for (const Plan& p : m.plans) {
    std::ranges::for_each(learned_symbols(p), [&](Expr symbol) { add(symbol); });
    for (const Bucket& b : p.buckets) std::ranges::for_each(learned_symbols(b), [&](Expr symbol) { add(symbol); });
  }
  symbols_ = sizes_.size();
  for (const auto* list : {&m.io.inputs, &m.io.outputs})
    for (const Interface::Io& io : *list)
      for (const Dim& d : io.type.shape)
        if (!d.is_static()) add(d.extent());
  for (const Plan& p : m.plans) {
    for (const Requirement& r : p.requirements) add(condition_as_size(r));
    add(p);
    for (const Bucket& b : p.buckets) add(b);
  }
  for (const auto& plan : parameters)
    for (const std::vector<Expr>& of_kernel : plan)
      for (Expr e : of_kernel)
        if (!e.is_const()) add(e);
}

void SizeTable::add(const Schedule& schedule) {
  for (const Block& block : schedule.blocks) add(block.bytes);
  if (!schedule.scratch_bytes.is_static()) add(schedule.scratch_bytes.extent());
  for (const Step& s : schedule.steps)
    if (s.size) add(s.size);
}

void SizeTable::add(Expr size) {
  if (places_.try_emplace(size, sizes_.size()).second) sizes_.push_back(size);
}

size_t SizeTable::learned_before(Expr size) const {
  size_t place = 0;
  visit(std::vector{size}, [&](Expr e) {
    if (e.op() == Op::Symbol && is_learned(e)) place = std::max(place, place_of(e) + 1);
  });
  return place;
}

bool computes_sizes(const SizeTable& table) { return table.symbols() < table.sizes().size(); }

namespace {

/// A nest without axes: one store for each size.
Kernel kernel_of(const SizeTable& table) {
  Kernel k;
  k.symbol = "sizes";
  k.title = "what is computed of the sizes that a run is given";
  k.family = &family("nest");
  k.choice = {{"lanes", 1}, {"fold_lanes", 1}, {"team", 1}};
  k.operands = {DType::i64};
  k.optimize_for_size = true;
  const auto place = [&](Expr size) { return integer(static_cast<int64_t>(table.place_of(size))); };
  for (size_t i = table.symbols(); i < table.sizes().size(); ++i) {
    const Expr size = table.sizes()[i];
    const Expr value = rewrite(size, [&](Expr e) {
      return e.op() == Op::Symbol ? read_at(0, DType::i64, place(e), boolean(true), zero(DType::i64)) : e;
    });
    k.stores.push_back({0, place(size), boolean(true), value});
  }
  return k;
}

}  // namespace

std::string print_sizes(const SizeTable& table, const Module& m) {
  const Kernel k = kernel_of(table);
  Writer w;
  w.line(fmt::format("// The sizes of {} that only a run knows.", comment_safe(m.name)));
  for (size_t i = 0; i < table.sizes().size(); ++i)
    w.line(fmt::format("// {}: {}", i, comment_safe(to_string(Dim(table.sizes()[i])))));
  w.append(kernel_includes({k}));
  w.blank();
  print_kernel(w, k, print_body(k), *m.sources);
  print_entry(w, k, kSizesSymbol);
  return w.take();
}

}  // namespace cameo
