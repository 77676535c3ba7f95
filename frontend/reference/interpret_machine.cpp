// Running a tape: registers in one allocation, blocks in row-major order, Loads typed by their tensor.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/ir/check.h"
#include "frontend/ir/diagnostic.h"
#include "frontend/ir/minifloat.h"
#include "frontend/reference/interpret_contract.h"

namespace cameo::tape {
namespace {

/// Calls f with a reader of the tensor's elements: index -> double, or int64_t.
template <class F>
void with_floats(const Tensor& t, F f) {
  switch (t.dtype()) {
    case DType::f32: return f([p = t.as<float>().data()](int64_t i) -> double { return p[i]; });
    case DType::f64: return f([p = t.as<double>().data()](int64_t i) { return p[i]; });
    case DType::f16: return f([p = t.as<uint16_t>().data()](int64_t i) -> double { return half_to_float(p[i]); });
    case DType::bf16: return f([p = t.as<uint16_t>().data()](int64_t i) -> double { return bfloat_to_float(p[i]); });
    default: break;
  }
  if (!is_minifloat(t.dtype()))
    throw CompileError(Code::E0403, fmt::format("the interpreter does not compute with {}", name(t.dtype())));
  f([p = t.as<uint8_t>().data(), type = t.dtype()](int64_t i) { return minifloat_value(type, p[i]); });
}
template <class F>
void with_ints(const Tensor& t, F f) {
  auto reader = [&]<class T>(T) { f([p = t.as<T>().data()](int64_t i) { return static_cast<int64_t>(p[i]); }); };
  switch (t.dtype()) {
    case DType::i64:
    case DType::u64:
    case DType::str: return reader(int64_t{});
    case DType::i32: return reader(int32_t{});
    case DType::u32: return reader(uint32_t{});
    case DType::i16: return reader(int16_t{});
    case DType::u16: return reader(uint16_t{});
    case DType::i8:
    case DType::i4:
    case DType::i2: return reader(int8_t{});
    case DType::u8:
    case DType::b1:
    case DType::u4:
    case DType::u2: return reader(uint8_t{});
    default: throw CompileError(Code::E0403, fmt::format("the interpreter does not compute with {}", name(t.dtype())));
  }
}

[[noreturn]] void fail_range(int64_t index, size_t axis, int64_t extent, bool audited) {
  if (audited)
    internal_error(fmt::format("index {} was proven to be within axis {} of extent {}", index, axis, extent));
  throw CompileError(Code::E0304,
                     fmt::format("index {} is out of range for axis {} of extent {}", index, axis, extent));
}

bool inside(int64_t index, int64_t extent) { return static_cast<uint64_t>(index) < static_cast<uint64_t>(extent); }

}  // namespace

class Machine {
 public:
  Machine(const Tape& tape, std::span<const Dual> operands, const Tape::Mode& mode)
      : tape_(tape), operands_(operands), mode_(mode) {
    allocate(mode.shadow);
    for (auto& [reg, e] : tape.constants_) {
      Lanes& l = lanes_[reg];
      if (!is_float(e.type()))
        *l.ints = e.int_value();
      else
        *l.rounded = e.float_value();
      if (l.unrounded) *l.unrounded = *l.rounded;
    }
  }

  void run(const std::function<void(const Tape::Block&)>& sink) {
    std::span<const int64_t> dims(tape_.dims_);
    int64_t outer = *element_count(dims.first(tape_.split_)), inner = *element_count(dims.subspan(tape_.split_));
    if (mode_.in_order) {
      for (int64_t point = 0; point < outer; ++point)
        for (int64_t at = 0; at < inner; at += tape_.block_) run_block(point, at, inner, sink);
    } else {  // what a chunk of the inner axes reads is read by all outer points while it is near
      for (int64_t at = 0; at < inner; at += tape_.block_)
        for (int64_t point = 0; point < outer; ++point) run_block(point, at, inner, sink);
    }
  }

 private:
  void allocate(bool shadow) {
    auto size_of = [&](const Tape::Register& r) { return static_cast<size_t>(r.uniform ? 1 : tape_.block_); };
    size_t floats = 0, ints = 0;
    for (auto& r : tape_.registers_) (r.floating ? floats : ints) += size_of(r) * (r.floating && shadow ? 2 : 1);
    floats_.resize(floats);
    ints_.resize(ints);
    double* f = floats_.data();
    int64_t* i = ints_.data();
    for (auto& r : tape_.registers_) {
      Lanes l;
      l.uniform = r.uniform;
      if (r.floating) {
        l.rounded = std::exchange(f, f + size_of(r));
        if (shadow) l.unrounded = std::exchange(f, f + size_of(r));
      } else {
        l.ints = std::exchange(i, i + size_of(r));
      }
      lanes_.push_back(l);
    }
    offsets_.resize(tape_.block_);
    inside_.resize(tape_.block_);
  }

  void run_block(int64_t point, int64_t at, int64_t inner, const std::function<void(const Tape::Block&)>& sink) {
    int64_t lanes = std::min(tape_.block_, inner - at);
    set_outer(point);
    if (at != at_) fill_varying(at, lanes);
    at_ = at;
    execute(tape_.code_, lanes);
    std::vector<Lanes> roots;
    for (uint32_t r : tape_.roots_) roots.push_back(lanes_[r]);
    sink({point * inner + at, lanes, roots});
  }

  void set_outer(int64_t point) {
    for (int axis = tape_.split_ - 1; axis >= 0; point /= tape_.dims_[axis--])
      *lanes_[tape_.index_[axis]].ints = point % tape_.dims_[axis];
  }
  void fill_varying(int64_t at, int64_t lanes) {
    int64_t repeat = 1;  // lanes for which an axis stays
    for (int axis = static_cast<int>(tape_.dims_.size()) - 1; axis >= tape_.split_; --axis) {
      int64_t extent = tape_.dims_[axis], value = at / repeat % extent, left = repeat - at % repeat;
      int64_t* p = lanes_[tape_.index_[axis]].ints;
      for (int64_t i = 0; i < lanes; ++i) {
        p[i] = value;
        if (--left) continue;
        left = repeat;
        if (++value == extent) value = 0;
      }
      repeat *= extent;
    }
  }

  void execute(const Program& code, int64_t lanes) {
    for (const Instr& i : code) {
      int64_t n = i.uniform ? 1 : lanes;
      if (i.load)
        i.load->linear ? load_linear(i, n) : load_any(i, n);
      else if (i.fold)
        run_fold(i, lanes, n);
      else if (i.contract)
        run_contract(i, n);
      else
        run_operation(i, n);
    }
  }

  void run_operation(const Instr& i, int64_t n) {
    run_plain(i, lanes_, n);
    if (!mode_.round_f32 || i.type != DType::f32) return;
    double* values = lanes_[i.out].rounded;
    for (int64_t j = 0; j < n; ++j) values[j] = static_cast<float>(values[j]);
  }

  void run_fold(const Instr& i, int64_t lanes, int64_t n) {
    const FoldCode& f = *i.fold;
    const Lanes &extent = lanes_[f.extent], &acc = lanes_[i.out], &best = lanes_[f.best];
    int64_t steps = extent.uniform ? *extent.ints : *std::max_element(extent.ints, extent.ints + n);
    const int64_t* outer = active_;
    std::vector<int64_t> mask(extent.uniform ? 0 : n);
    start_fold(f, acc, n);
    for (int64_t k = 0; k < steps; ++k) {
      *lanes_[f.var].ints = k;
      if (!extent.uniform) {
        for (int64_t j = 0; j < n; ++j) mask[j] = k < extent.ints[j] && (!outer || outer[j]);
        active_ = mask.data();
      }
      execute(f.code, lanes);
      step_fold(f, k, extent, lanes_[f.body], acc, best, n);
    }
    active_ = outer;
  }

  /// The lanes row by row, so that the indices of both sides change by constants within one.
  void run_contract(const Instr& i, int64_t n) {
    const ContractCode& c = *i.contract;
    auto& run = contracts_[&c];
    const Lanes& out = lanes_[i.out];
    if (!run) run = std::make_unique<ContractRun>(c, operands_, out.unrounded != nullptr);
    const bool varies = tape_.row_axis_ >= tape_.split_;
    const int64_t row = c.one_row || !varies ? n : std::min(n, tape_.dims_[tape_.row_axis_]);
    CAMEO_CHECK(n % row == 0, "blocks of whole rows");
    std::vector<int64_t> bases[2], steps[2];
    for (int64_t first = 0; first < n; first += row) {
      for (int s = 0; s < 2; ++s) {
        bases[s].clear();
        steps[s].clear();
        for (const ContractCode::Axis& axis : c.side[s].axes) {
          int64_t base = *lanes_[axis.base].ints;
          for (size_t a = 0; a < axis.lane.size(); ++a)
            base += axis.lane[a] * lanes_[tape_.index_[tape_.split_ + a]].ints[i.uniform ? 0 : first];
          bases[s].push_back(base);
          steps[s].push_back(varies ? axis.lane[tape_.row_axis_ - tape_.split_] : 0);
        }
      }
      run->run_row(bases, steps, row, out.rounded + first, out.unrounded ? out.unrounded + first : nullptr);
    }
  }

  /// Calls f(destination, reader) for the rounded tensor, and for its shadow.
  template <class F>
  void each_run(const Instr& i, F f) {
    const Dual& x = operands_[i.load->operand];
    const Lanes &out = lanes_[i.out], &outside = lanes_[i.load->outside];
    if (is_float(i.type)) {
      with_floats(x.rounded, [&](auto get) { f(out.rounded, get, outside.rounded); });
      if (out.unrounded) with_floats(x.unrounded, [&](auto get) { f(out.unrounded, get, outside.unrounded); });
    } else {
      with_ints(x.rounded, [&](auto get) { f(out.ints, get, outside.ints); });
    }
  }

  void load_linear(const Instr& i, int64_t n) {
    const LoadCode& l = *i.load;
    bool within = true;
    for (size_t d = 0; d < l.index.size(); ++d) {
      const LoadCode::Index& x = l.index[d];
      int64_t index = *lanes_[x.reg].ints;
      if (inside(index, x.extent)) continue;
      if (l.checked || x.audited) fail_range(index, d, x.extent, x.audited);
      within = false;
    }
    int64_t step = l.step, base = *lanes_[l.base].ints + step * at_;
    bool same = lanes_[l.outside].uniform;
    each_run(i, [&](auto* out, auto get, const auto* outside) {
      if (!within)
        for (int64_t j = 0; j < n; ++j) out[j] = outside[same ? 0 : j];
      else if (step == 1)
        for (int64_t j = 0; j < n; ++j) out[j] = get(base + j);
      else
        for (int64_t j = 0; j < n; ++j) out[j] = get(base + step * j);
    });
  }

  void load_any(const Instr& i, int64_t n) {
    const LoadCode& l = *i.load;
    // an index outside of its axis may be of any size: what it gives is not used, and must only not overflow
    const auto scaled = [](int64_t index, int64_t stride) {
      return static_cast<uint64_t>(index) * static_cast<uint64_t>(stride);
    };
    const auto sum = [](int64_t a, uint64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + b); };
    int64_t base = 0;
    bool within = true, all = true;
    std::fill_n(offsets_.begin(), n, 0);
    std::fill_n(inside_.begin(), n, 1);
    for (size_t d = 0; d < l.index.size(); ++d) {
      const LoadCode::Index& x = l.index[d];
      const int64_t* index = lanes_[x.reg].ints;
      if (x.uniform) {
        base = sum(base, scaled(*index, x.stride));
        if (inside(*index, x.extent)) continue;
        if (l.checked || x.audited) fail_range(*index, d, x.extent, x.audited);
        within = false;
        continue;
      }
      for (int64_t j = 0; j < n; ++j) offsets_[j] = sum(offsets_[j], scaled(index[j], x.stride));
      if (x.proven) continue;
      all = false;
      for (int64_t j = 0; j < n; ++j) inside_[j] &= inside(index[j], x.extent);
      if (l.checked || x.audited)
        for (int64_t j = 0; j < n; ++j)
          if (!inside(index[j], x.extent) && (!active_ || active_[j])) fail_range(index[j], d, x.extent, x.audited);
    }
    bool same = lanes_[l.outside].uniform;
    each_run(i, [&](auto* out, auto get, const auto* outside) {
      for (int64_t j = 0; j < n; ++j)
        out[j] = within && (all || inside_[j]) ? get(base + offsets_[j]) : outside[same ? 0 : j];
    });
  }

  const Tape& tape_;
  std::span<const Dual> operands_;
  const Tape::Mode mode_;
  std::vector<Lanes> lanes_;
  std::vector<double> floats_;
  std::vector<int64_t> ints_, offsets_;
  std::vector<uint8_t> inside_;
  std::map<const ContractCode*, std::unique_ptr<ContractRun>> contracts_;
  int64_t at_ = -1;                  // of the block's first lane among the points that the varying axes span
  const int64_t* active_ = nullptr;  // lanes that the folds around still run; null: all
};

void Tape::run(std::span<const Dual> operands, const Mode& mode, const std::function<void(const Block&)>& sink) const {
  if (*element_count(dims_) > 0) Machine(*this, operands, mode).run(sink);
}

void store(Dual& out, int64_t first, int64_t lanes, const Lanes& v) {
  DType t = out.rounded.dtype();
  CAMEO_CHECK(is_float(t) == (v.rounded != nullptr), "a value of the output's kind");
  auto at = [&](int64_t i) { return v.uniform ? 0 : i; };
  auto put = [&]<class T>(Tensor& to, const T* values, auto convert) {
    using R = decltype(convert(*values));
    R* p = to.mutable_as<R>().data() + first;
    for (int64_t i = 0; i < lanes; ++i) p[i] = convert(values[at(i)]);
  };
  auto put_int = [&]<class R>(R) { put(out.rounded, v.ints, [](int64_t x) { return static_cast<R>(x); }); };
  switch (t) {
    case DType::f32: put(out.rounded, v.rounded, [](double x) { return static_cast<float>(x); }); break;
    case DType::f64: put(out.rounded, v.rounded, [](double x) { return x; }); break;
    case DType::f16: put(out.rounded, v.rounded, [](double x) { return float_to_half(static_cast<float>(x)); }); break;
    case DType::bf16:
      put(out.rounded, v.rounded, [](double x) { return float_to_bfloat(static_cast<float>(x)); });
      break;
    case DType::b1: put(out.rounded, v.ints, [](int64_t x) { return static_cast<uint8_t>(x != 0); }); break;
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f4e2m1:
    case DType::f8e8m0: put(out.rounded, v.rounded, [t](double x) { return minifloat_code(t, x); }); break;
    default:
      switch (byte_size(t)) {
        case 8: put_int(int64_t{}); break;
        case 4: put_int(int32_t{}); break;
        case 2: put_int(int16_t{}); break;
        default: put_int(int8_t{}); break;
      }
  }
  if (v.unrounded) put(out.unrounded, v.unrounded, [](double x) { return x; });
}

}  // namespace cameo::tape
