// What an operator of your own is written against: one C++20 file, `cameo build model.onnx --custom my_op.cpp`. It is
// compiled freestanding (no exceptions, no standard library; <stdint.h> and its kin are there), once for the compiler,
// which asks it for shapes and meanings, and once for each processor of an artifact. models/custom/README.md says how
// to write one. The file ends with its table: CAMEO_OPERATORS({.name = "MyOp", ..}, ..)
#pragma once
#include <stdint.h>

namespace cameo::op {

inline constexpr int kVersion = 1;  // of this header: a table says by which it was compiled
inline constexpr int kMostInputs = 16, kMostOutputs = 8, kMostAttributes = 16, kMostAxes = 32;

// ---- element types --------------------------------------------------------------------------------------------------
enum Type : int {  // with the numbers of onnx.TensorProto.DataType
  same_as_first = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  b1 = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};
struct Types {
  uint32_t bits = 0;
  constexpr Types(Type t) : bits(uint32_t{1} << t) {}
  constexpr explicit Types(uint32_t b) : bits(b) {}
};
constexpr Types operator|(Types a, Types b) { return Types(a.bits | b.bits); }
constexpr Types operator|(Type a, Type b) { return Types(a) | Types(b); }
inline constexpr Types floats = f16 | bf16 | f32 | f64;
inline constexpr Types integers = i8 | i16 | i32 | i64 | u8 | u16 | u32 | u64;
inline constexpr Types numbers = floats | integers;
/// A byte an element: the number, or the code of a float. What computes with them casts them first.
inline constexpr Types narrow = u4 | i4 | u2 | i2 | f8e4m3fn | f8e4m3fnuz | f8e5m2 | f8e5m2fnuz | f8e8m0 | f4e2m1;
inline constexpr Types tensors = numbers | narrow | b1;

// ---- a number of which the compiler knows how it is computed --------------------------------------------------------
/// An element of a tensor, or a size. Nothing is computed when it is added or multiplied: the compiler notes what is to
/// be done. So there is no `if` on one, but `select`. A plain number takes the type of what it meets.
struct Scalar {
  enum Kind : int { none, computed, whole, real } kind = none;
  const void* value = nullptr;  // of `computed`
  int64_t integer = 0;
  double number = 0;
  Scalar() = default;
  Scalar(int v) : Scalar(int64_t{v}) {}
  Scalar(int64_t v) : kind(whole), integer(v), number(static_cast<double>(v)) {}
  Scalar(double v) : kind(real), number(v) {}
  Scalar(float v) : Scalar(double{v}) {}
};
/// The dims of a tensor: numbers or sizes that only a run knows.
struct Dims {
  Scalar at[kMostAxes];
  int rank = 0;
  template <class... S>
  static Dims of(const S&... dims) {
    static_assert(sizeof...(S) <= kMostAxes);
    Dims d;
    ((d.at[d.rank++] = Scalar(dims)), ...);
    return d;
  }
  void append(const Scalar& dim) {
    if (rank < kMostAxes) at[rank] = dim;
    ++rank;  // more than there may be is refused where it is used
  }
  Scalar& operator[](int axis) { return at[axis < 0 ? axis + rank : axis]; }
  const Scalar& operator[](int axis) const { return at[axis < 0 ? axis + rank : axis]; }
};

namespace detail {
/// What the compiler answers while it asks an operator. Each function ends the operator's own when it is misused.
struct Compiler {
  void (*fail)(const char* sentence);
  void (*apply)(const char* operation, const Scalar* arguments, int count, Scalar* result);
  void (*cast)(const Scalar* x, Type to, Scalar* result);
  void (*dim)(int input, int axis, Scalar* result);
  void (*content)(int input, int64_t element, Scalar* result);
  void (*broadcast)(Dims* result);
  int64_t (*known)(const Scalar* size, bool required, bool* is_known);
  void (*require)(const Scalar* condition, const char* sentence);
  void (*output)(int i, Type type, const Dims* dims);
  void (*scratch)(const Scalar* bytes);
  void (*load)(int input, const Scalar* index, int count, Scalar* result);  // count < 0: what broadcasts to the output
  void (*index)(int axis, Scalar* result);
  void (*variable)(const Scalar* extent, Scalar* result);
  void (*fold)(const char* kind, const Scalar* variable, const Scalar* body, Scalar* result);
};
inline const Compiler* compiler = nullptr;  // null in an artifact

template <class... S>
Scalar apply(const char* operation, const S&... x) {
  const Scalar arguments[] = {Scalar(x)...};
  Scalar result;
  compiler->apply(operation, arguments, sizeof...(x), &result);
  return result;
}
}  // namespace detail

#define CAMEO_OP_BINARY(symbol, operation) \
  inline Scalar operator symbol(const Scalar& a, const Scalar& b) { return detail::apply(operation, a, b); }
CAMEO_OP_BINARY(+, "add")
CAMEO_OP_BINARY(-, "sub")
CAMEO_OP_BINARY(*, "mul")
CAMEO_OP_BINARY(/, "div")   // integers: toward zero, and x / 0 is 0
CAMEO_OP_BINARY(%, "fmod")  // the sign of the dividend, as in C++
CAMEO_OP_BINARY(==, "eq")
CAMEO_OP_BINARY(!=, "ne")
CAMEO_OP_BINARY(<, "lt")
CAMEO_OP_BINARY(<=, "le")
CAMEO_OP_BINARY(&, "bit_and")
CAMEO_OP_BINARY(|, "bit_or")
CAMEO_OP_BINARY(^, "bit_xor")
CAMEO_OP_BINARY(<<, "shl")
CAMEO_OP_BINARY(>>, "shr")
CAMEO_OP_BINARY(&&, "logical_and")
CAMEO_OP_BINARY(||, "logical_or")
#undef CAMEO_OP_BINARY
inline Scalar operator>(const Scalar& a, const Scalar& b) { return b < a; }
inline Scalar operator>=(const Scalar& a, const Scalar& b) { return b <= a; }
inline Scalar operator-(const Scalar& a) { return detail::apply("neg", a); }
inline Scalar operator~(const Scalar& a) { return detail::apply("bit_not", a); }
inline Scalar operator!(const Scalar& a) { return detail::apply("logical_not", a); }
#define CAMEO_OP_TWO(name) \
  inline Scalar name(const Scalar& a, const Scalar& b) { return detail::apply(#name, a, b); }
CAMEO_OP_TWO(min)
CAMEO_OP_TWO(max)
CAMEO_OP_TWO(pow)
CAMEO_OP_TWO(floor_div)  // of integers, toward minus infinity
CAMEO_OP_TWO(mod)        // the sign of the divisor
#undef CAMEO_OP_TWO
#define CAMEO_OP_ONE(name) \
  inline Scalar name(const Scalar& x) { return detail::apply(#name, x); }
CAMEO_OP_ONE(abs)
CAMEO_OP_ONE(sign)
CAMEO_OP_ONE(floor)
CAMEO_OP_ONE(ceil)
CAMEO_OP_ONE(round)  // half to even
CAMEO_OP_ONE(trunc)
CAMEO_OP_ONE(sqrt)
CAMEO_OP_ONE(exp)
CAMEO_OP_ONE(expm1)
CAMEO_OP_ONE(log)
CAMEO_OP_ONE(log1p)
CAMEO_OP_ONE(sin)
CAMEO_OP_ONE(cos)
CAMEO_OP_ONE(tan)
CAMEO_OP_ONE(asin)
CAMEO_OP_ONE(acos)
CAMEO_OP_ONE(atan)
CAMEO_OP_ONE(sinh)
CAMEO_OP_ONE(cosh)
CAMEO_OP_ONE(tanh)
CAMEO_OP_ONE(asinh)
CAMEO_OP_ONE(acosh)
CAMEO_OP_ONE(atanh)
CAMEO_OP_ONE(erf)
CAMEO_OP_ONE(sigmoid)
CAMEO_OP_ONE(softplus)
CAMEO_OP_ONE(is_nan)
CAMEO_OP_ONE(is_inf)
#undef CAMEO_OP_ONE
inline Scalar select(const Scalar& condition, const Scalar& yes, const Scalar& no) {
  return detail::apply("select", condition, yes, no);
}
inline Scalar cast(const Scalar& x, Type to) {
  Scalar result;
  detail::compiler->cast(&x, to, &result);
  return result;
}

// ---- attributes and tensors -----------------------------------------------------------------------------------------
template <class T>
struct List {
  const T* data = nullptr;
  int64_t count = 0;
  T operator[](int64_t i) const { return i >= 0 && i < count ? data[i] : T{}; }
  const T* begin() const { return data; }
  const T* end() const { return data + count; }
};

/// Row-major and compact. One that is absent has no type.
struct Tensor {
  void* data = nullptr;
  const int64_t* dims = nullptr;
  int rank = 0;
  Type type = same_as_first;
  explicit operator bool() const { return type != same_as_first; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  int64_t size() const { return product(0, rank); }
  int64_t product(int begin, int end) const {
    int64_t n = 1;
    for (int axis = begin; axis < end; ++axis) n *= dims[axis];
    return n;
  }
};

enum class Kind : int { integer, number, text, integers, numbers, texts, tensor };
struct Attribute {
  const char* name = nullptr;
  Kind kind = Kind::integer;
  int64_t count = 0;
  const int64_t* integers = nullptr;
  const double* numbers = nullptr;
  const char* const* texts = nullptr;
  Tensor tensor = {};
};

/// The attributes that a node has, the defaults of others included. Asking for one that it has not is a failure.
class Attributes {
 public:
  const Attribute* list = nullptr;
  int attribute_count = 0;

  bool has_attribute(const char* name) const { return find(name); }
  int64_t integer(const char* name) const {
    const Attribute* a = find(name, Kind::integer);
    return a ? a->integers[0] : static_cast<int64_t>(element(name, "an integer"));
  }
  /// A float, an integer, or the element of a tensor that has one.
  double number(const char* name) const {
    const Attribute* a = find(name, Kind::number);
    return a ? a->numbers[0] : element(name, "a number");
  }
  const char* text(const char* name) const {
    const Attribute* a = need(name, Kind::text, "a text");
    return a ? a->texts[0] : "";
  }
  List<int64_t> integers(const char* name) const {
    const Attribute* a = need(name, Kind::integers, "a list of integers");
    return a ? List<int64_t>{a->integers, a->count} : List<int64_t>{};
  }
  List<double> numbers(const char* name) const {
    const Attribute* a = need(name, Kind::numbers, "a list of numbers");
    return a ? List<double>{a->numbers, a->count} : List<double>{};
  }
  List<const char*> texts(const char* name) const {
    const Attribute* a = need(name, Kind::texts, "a list of texts");
    return a ? List<const char*>{a->texts, a->count} : List<const char*>{};
  }
  Tensor tensor(const char* name) const {
    const Attribute* a = need(name, Kind::tensor, "a tensor");
    return a ? a->tensor : Tensor{};
  }

 protected:
  void fail_joined(const char* const* parts, int count) const {
    char sentence[512];
    int n = 0;
    for (int i = 0; i < count; ++i)
      for (const char* c = parts[i]; *c && n < 511; ++c) sentence[n++] = *c;
    sentence[n] = 0;
    report(sentence);
  }
  /// Ends a rule; a run goes on, and fails behind it.
  void report(const char* sentence) const {
    if (detail::compiler && !failure)
      detail::compiler->fail(sentence);
    else if (failure && !failure[0])
      for (int i = 0; i < kMostFailure - 1 && sentence[i]; ++i) failure[i] = sentence[i];
  }
  static constexpr int kMostFailure = 256;
  char* failure = nullptr;  // of a run: kMostFailure zeros at first

 private:
  static bool equal(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return *a == *b;
  }
  const Attribute* find(const char* name) const {
    for (int i = 0; i < attribute_count; ++i)
      if (equal(list[i].name, name)) return list + i;
    return nullptr;
  }
  const Attribute* find(const char* name, Kind kind) const {
    const Attribute* a = find(name);
    return a && a->kind == kind ? a : nullptr;
  }
  const Attribute* need(const char* name, Kind kind, const char* what) const {
    const Attribute* a = find(name, kind);
    if (!a) miss(name, what);
    return a;
  }
  void miss(const char* name, const char* what) const {
    const char* const parts[] = {"asks for the attribute `", name, "` as ", what,
                                 find(name) ? ", which it is not" : ", which the node does not have"};
    fail_joined(parts, 5);
  }
  template <class T>
  static double first(const void* data) {
    return static_cast<double>(*static_cast<const T*>(data));
  }
  double element(const char* name, const char* what) const {
    if (const Attribute* a = find(name, Kind::integer)) return static_cast<double>(a->integers[0]);
    const Attribute* a = find(name, Kind::tensor);
    if (a && a->tensor.size() == 1) switch (a->tensor.type) {
        case f32: return first<float>(a->tensor.data);
        case f64: return first<double>(a->tensor.data);
        case i8: return first<int8_t>(a->tensor.data);
        case i16: return first<int16_t>(a->tensor.data);
        case i32: return first<int32_t>(a->tensor.data);
        case i64: return first<int64_t>(a->tensor.data);
        case u8:
        case b1: return first<uint8_t>(a->tensor.data);
        case u16: return first<uint16_t>(a->tensor.data);
        case u32: return first<uint32_t>(a->tensor.data);
        case u64: return first<uint64_t>(a->tensor.data);
        default: break;
      }
    miss(name, what);
    return 0;
  }
};

// ---- what an operator is asked --------------------------------------------------------------------------------------
/// A node of the model.
class Node : public Attributes {
 public:
  int version = 0;  // of the opset, the newest of `since` that the model has
  int input_count = 0, output_count = 0;
  const Type* types = nullptr;  // of the inputs; an absent one has none
  const int* ranks = nullptr;
  const bool* wanted = nullptr;  // outputs

  bool has(int input) const { return input >= 0 && input < input_count && types[input] != same_as_first; }
  bool has_output(int i) const { return i >= 0 && i < output_count && wanted[i]; }
  Type type(int input) const { return has(input) ? types[input] : same_as_first; }
  int rank(int input) const { return has(input) ? ranks[input] : 0; }
  /// A negative axis counts from the end.
  Scalar dim(int input, int axis) const {
    Scalar result;
    detail::compiler->dim(input, axis, &result);
    return result;
  }
  Dims dims(int input) const {
    Dims d;
    for (int axis = 0; axis < rank(input); ++axis) d.append(dim(input, axis));
    return d;
  }
  /// The shape that all inputs broadcast to.
  Dims broadcast() const {
    Dims d;
    detail::compiler->broadcast(&d);
    return d;
  }
  /// Whether it is a number that is known when compiling, and not a size that only a run knows.
  bool is_known(const Scalar& size) const {
    bool known = false;
    detail::compiler->known(&size, false, &known);
    return known;
  }
  /// That number; where it is not known, the node is refused.
  int64_t value(const Scalar& size) const {
    bool known = false;
    return detail::compiler->known(&size, true, &known);
  }
  /// An element of an input of integers that decides a shape: of a constant its number, else a size that a run reads
  /// off its data before it begins.
  Scalar content(int input, int64_t element = 0) const {
    Scalar result;
    detail::compiler->content(input, element, &result);
    return result;
  }
  /// Refuses the node: "`MyOp` <sentence>".
  [[noreturn]] void fail(const char* sentence) const {
    report(sentence);
    __builtin_trap();  // the compiler does not come back
  }
  /// What must hold of sizes: refuses the node where it does not, and a run where only that knows.
  void require(const Scalar& condition, const char* sentence) const { detail::compiler->require(&condition, sentence); }
};

/// For a shape rule: gives each output a type and dims.
class Shape : public Node {
 public:
  void output(int i, Type type, const Dims& dims) { detail::compiler->output(i, type, &dims); }
  /// Memory for `run`, one piece a thread, 64-byte aligned.
  void scratch(const Scalar& bytes) { detail::compiler->scratch(&bytes); }
};

/// For a meaning: one element of an output.
class Element : public Node {
 public:
  int output = 0;  // which
  /// The input's element that broadcasts to this one.
  Scalar in(int input) const { return load_at(input, nullptr, -1); }
  /// Where this one stands.
  Scalar index(int axis) const {
    Scalar result;
    detail::compiler->index(axis, &result);
    return result;
  }
  /// The element of an input at an index; outside of it, 0.
  template <class... S>
  Scalar load(int input, const S&... index) const {
    const Scalar at[] = {Scalar(index)..., Scalar()};
    return load_at(input, at, sizeof...(index));
  }
  /// Over i from 0 to extent, of body(i): a loop of the kernel.
  template <class Body>
  Scalar sum(const Scalar& extent, Body body) const {
    return fold("Sum", extent, body);
  }
  template <class Body>
  Scalar product(const Scalar& extent, Body body) const {
    return fold("Prod", extent, body);
  }
  template <class Body>
  Scalar smallest(const Scalar& extent, Body body) const {
    return fold("Min", extent, body);
  }
  template <class Body>
  Scalar largest(const Scalar& extent, Body body) const {
    return fold("Max", extent, body);
  }

 private:
  Scalar load_at(int input, const Scalar* index, int count) const {
    Scalar result;
    detail::compiler->load(input, index, count, &result);
    return result;
  }
  template <class Body>
  Scalar fold(const char* kind, const Scalar& extent, Body body) const {
    Scalar variable, result;
    detail::compiler->variable(&extent, &variable);
    const Scalar of = body(variable);
    detail::compiler->fold(kind, &variable, &of, &result);
    return result;
  }
};

/// For a function over whole tensors: what one thread does of a run.
class Run : public Attributes {
 public:
  const Tensor *inputs = nullptr, *outputs = nullptr;
  int input_count = 0, output_count = 0;
  int64_t begin = 0, end = 1;  // its part of the axis `split`, else all of it
  void* scratch = nullptr;

  Tensor in(int i) const { return i < input_count ? inputs[i] : Tensor{}; }
  Tensor out(int i) const { return i < output_count ? outputs[i] : Tensor{}; }
  bool has(int input) const { return static_cast<bool>(in(input)); }
  bool has_output(int i) const { return static_cast<bool>(out(i)); }
  /// The run ends behind this function, with a status: "node `NAME`: <sentence>".
  void fail(const char* sentence) const { report(sentence); }
  void keep_failure_in(char* sentence) { failure = sentence; }
  static constexpr int failure_bytes() { return kMostFailure; }
};

// ---- what a file declares -------------------------------------------------------------------------------------------
enum Presence : int { required, optional, variadic /* the last one: any number of them */ };
struct Input {
  const char* name = nullptr;
  Types types = numbers;
  Presence presence = required;
  int same_as = -1;  // it must have the element type of that input
};
struct Output {
  const char* name = nullptr;
  Type type = same_as_first;  // where there is no `shape`
  Presence presence = required;
};
struct Declared {  // an attribute
  const char* name = nullptr;
  Kind kind = Kind::integer;
  Presence presence = required;  // of one without a default
  bool has_default = false;
  int64_t integer = 0;
  double number = 0;
  const char* text = "";
  constexpr Declared() = default;
  constexpr Declared(const char* n, Kind k, Presence p = required) : name(n), kind(k), presence(p) {}
  constexpr Declared(const char* n, int v) : name(n), has_default(true), integer(v) {}
  constexpr Declared(const char* n, double v) : name(n), kind(Kind::number), has_default(true), number(v) {}
  constexpr Declared(const char* n, const char* v) : name(n), kind(Kind::text), has_default(true), text(v) {}
};

struct Operator {
  const char* name = nullptr;
  const char* domain = "";
  int since[8] = {1};  // versions of the domain's opset at which it changed, oldest first
  Input inputs[kMostInputs] = {};
  Output outputs[kMostOutputs] = {{"y"}};
  Declared attributes[kMostAttributes] = {};
  /// Types and dims of the outputs. May be left out beside `element`: then they have the shape that the inputs
  /// broadcast to.
  void (*shape)(Shape&) = nullptr;
  /// What one element of an output is: fused with its neighbours, for every target. Either this or `run`.
  Scalar (*element)(const Element&) = nullptr;
  /// Writes whole outputs, on the processor.
  void (*run)(const Run&) = nullptr;
  int split = -1;    // `run`: the axis of the first output that threads may share; -1: one thread does all
  double work = 10;  // `run`: operations for an element of the first output, roughly
};

struct Table {
  int version, count;
  uint64_t operator_bytes;
  const Operator* operators;
  const detail::Compiler** compiler;
};

}  // namespace cameo::op

#ifndef CAMEO_OPERATORS_NAME  // the compiler gives each copy of the file a name of its own
#define CAMEO_OPERATORS_NAME cameo_operators
#endif
#ifdef CAMEO_OPERATORS_EXPORTED
#define CAMEO_OPERATORS_VISIBILITY "default"
#else
#define CAMEO_OPERATORS_VISIBILITY "hidden"
#endif
/// The file's table, its last line: CAMEO_OPERATORS({.name = .., ..}, {..})
#define CAMEO_OPERATORS(...)                                                                                      \
  static constexpr cameo::op::Operator cameo_operator_rows[] = {__VA_ARGS__};                                     \
  extern "C" __attribute__((visibility(CAMEO_OPERATORS_VISIBILITY))) const cameo::op::Table CAMEO_OPERATORS_NAME; \
  const cameo::op::Table CAMEO_OPERATORS_NAME = {                                                                 \
      cameo::op::kVersion, sizeof cameo_operator_rows / sizeof *cameo_operator_rows, sizeof(cameo::op::Operator), \
      cameo_operator_rows, &cameo::op::detail::compiler};
