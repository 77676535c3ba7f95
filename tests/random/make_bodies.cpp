// If and Loop, with bodies that capture values of the graph around them and may hold bodies themselves.
#include <algorithm>

#include "tests/random/makers.h"

namespace cameo::random {
namespace {

std::vector<Local> some_values(Draft& d, int64_t most) {
  std::vector<Local> some;
  for (int64_t n = d.random.in(1, most); n-- > 0;)
    if (auto v = d.find([](const Local& v) { return v.level <= Level::Close && v.size() <= 200; }))
      if (std::ranges::none_of(some, [&](const Local& s) { return s.name == v->name; })) some.push_back(*v);
  return some;
}

void grow_body(Draft& body) {
  for (int64_t n = body.random.in(1, 4); n > 0; --n) grow(body, body.random.percent(15));
}

/// A value of this type at the end of the body.
std::optional<Local> of_type(Draft& body, const Local& like) {
  auto fits = [&](const Local& v) { return v.dtype == like.dtype && v.dims == like.dims; };
  auto v = body.find(fits);
  return v ? *v : body.leaf(like.dtype, like.dims, true);
}

Local condition(Draft& d) {
  auto scalar = d.find([](const Local& v) { return v.dtype == DType::b1 && v.dims.empty(); });
  if (scalar && d.random.percent(70)) return *scalar;
  if (d.random.percent(50)) {
    Local x = d.pick(kBool | kIntegers);
    if (x.dtype == DType::b1 && d.add("ReduceMax", {x}, {{"keepdims", int64_t{0}}}, Level::Exact))
      return d.values.back();
    if (d.add("ReduceMax", {x}, {{"keepdims", int64_t{0}}}, Level::Exact) &&
        d.add("Cast", {d.values.back()}, {{"to", static_cast<int64_t>(DType::b1)}}, Level::Exact))
      return d.values.back();
  }
  return d.leaf(DType::b1, {});
}

bool branch(Draft& d) {
  std::vector<Local> captured = some_values(d, 3), in{condition(d)};
  in.insert(in.end(), captured.begin(), captured.end());
  Draft yes = d.body(), no = d.body();
  for (Draft* body : {&yes, &no}) {
    for (const Local& v : captured) body->body_input(v, true);
    grow_body(*body);
  }
  int64_t count = d.random.in(1, 2);
  std::vector<Local> from_yes, from_no;
  for (int64_t i = 0; i < count; ++i) {
    auto v = yes.find([](const Local&) { return true; });
    if (!v) return false;
    from_yes.push_back(*v);
    from_no.push_back(*of_type(no, *v));
  }
  yes.output(from_yes);
  no.output(from_no);
  auto out = d.node("If", in, {}, static_cast<int>(count), {&yes, &no});
  if (!out) return false;
  for (size_t i = 0; i < out->size(); ++i)
    d.keep(out->at(i), std::max(from_yes[i].level, from_no[i].level), from_yes[i].whole && from_no[i].whole,
           std::max(from_yes[i].bound, from_no[i].bound));
  return true;
}

/// What is carried is exact or final: an error that goes around may grow.
bool loop(Draft& d) {
  std::vector<Local> carried, captured = some_values(d, 2);
  for (const Local& v : some_values(d, 2))
    if (v.level == Level::Exact && !(is_float(v.dtype) && byte_size(v.dtype) == 2)) carried.push_back(v);
  bool stops = d.random.percent(30);
  Local trips = stops || d.inner() || d.random.percent(70)
                    ? d.constant(DType::i64, {}, std::to_string(d.random.in(0, 5)))
                    : d.input(DType::i64, {}, std::to_string(d.random.in(0, 5)));
  bool counted = !stops;
  Draft body = d.body();
  Local i = body.body_input({.name = "", .id = {}, .dtype = DType::i64, .dims = {}, .whole = true}, false);
  Local go = body.body_input({.name = "", .id = {}, .dtype = DType::b1, .dims = {}, .whole = true}, false);
  for (Local v : carried) {
    v.whole = !is_float(v.dtype), v.bound = HUGE_VAL;
    body.body_input(v, false);
  }
  for (const Local& v : captured) body.body_input(v, true);
  grow_body(body);
  std::vector<Local> outputs;
  auto scalar = stops ? body.find([](const Local& v) { return v.dtype == DType::b1 && v.dims.empty(); }) : std::nullopt;
  outputs.push_back(scalar ? *scalar : go);
  for (const Local& v : carried) {
    auto fits = [&](const Local& w) { return w.dtype == v.dtype && w.dims == v.dims && w.level == Level::Exact; };
    auto next = body.find(fits);
    outputs.push_back(next ? *next : body.leaf(v.dtype, v.dims));
  }
  bool scans = counted && outputs[0].name == go.name && d.random.percent(60);
  if (scans)
    if (auto v = body.find([](const Local& v) { return v.size() <= 200 && v.rank() < 8; })) outputs.push_back(*v);
  if (outputs.size() == 1) return false;
  body.output(outputs);
  std::vector<Local> in{trips, d.random.percent(50) ? Local{} : d.constant(DType::b1, {}, "true")};
  in.insert(in.end(), carried.begin(), carried.end());
  in.insert(in.end(), captured.begin(), captured.end());
  auto out = d.node("Loop", in, {{"captures", static_cast<int64_t>(captured.size())}},
                    static_cast<int>(outputs.size()) - 1, {&body});
  if (!out) return false;
  for (size_t k = 0; k < out->size(); ++k) d.keep(out->at(k), outputs[k + 1].level, false, HUGE_VAL);
  return true;
}

constexpr Maker kMakers[] = {{"if", 3, branch}, {"loop", 3, loop}};

}  // namespace

std::span<const Maker> branching_makers() { return kMakers; }

bool grow(Draft& d, bool bodies) {
  std::vector<std::pair<const Maker*, int>> all;
  int total = 0;
  for (auto makers : {elementwise_makers(), moving_makers(), reducing_makers(), branching_makers()})
    for (const Maker& m : makers) {
      if (m.make == branch || m.make == loop)
        if (!bodies) continue;
      total += m.weight;
      all.emplace_back(&m, total);
    }
  int64_t at = d.random.in(0, total - 1);
  return std::ranges::find_if(all, [&](auto& p) { return at < p.second; })->first->make(d);
}

}  // namespace cameo::random
