// C++17 over the C ABI: Model and Context own what they hold, a failure is a cameo::Error, and nothing else is needed
// than the C++ library. A run into the caller's own memory allocates nothing.
//
//   cameo::Model model("digits.so");                       // or cameo::Model model(digits_api), linked in
//   cameo::Context context(model);
//   std::vector<float> scores = context.run({pixels}).at(0).to_vector<float>();
//
//   cameo::Context on_gpu(cameo::Model("digits.so", cameo::Options().on("cuda:0")));
//   on_gpu.set_stream(stream);
//   on_gpu.run({{pixels_there, 64, cameo::cuda(0)}}, {{scores_there, 10, cameo::cuda(0)}});
//
// Where a model leaves sizes to its runs (`cameo build --dim batch=1..32`), each run has those of its inputs:
//
//   const cameo::Tensor& scores = context.run({{pixels, {3, 1, 8, 8}}}).at(0);   // scores.shape() is {3, 10}
//   context.run({pixels});                                                       // where one size is left, count says
//   it context.output_shapes({{pixels, {3, 1, 8, 8}}});                             // without a run
//
// Sequences, optionals and maps are lists of tensors: context.run({cameo::Input::list({a, b})}), result.items()[0].
//
// A model may be used by any number of threads, a context by one at a time; a context keeps its model loaded.
#ifndef CAMEO_HPP
#define CAMEO_HPP

#include <dlfcn.h>

#include <array>
#include <complex>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cameo.h"

namespace cameo {

/// `code` is one of CAMEO_INVALID_ARGUMENT ..; `node` and `arg` are -1 where the error has none.
class Error : public std::runtime_error {
 public:
  explicit Error(const cameo_error& e) : std::runtime_error(e.message), code(e.code), node(e.node), arg(e.arg) {}
  Error(cameo_status code, const std::string& message, int arg = -1)
      : std::runtime_error(message), code(code), arg(arg) {}
  cameo_status code;
  int node = -1, arg = -1;
};

/// Elements of 16-bit floats, as bits.
struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
/// Floats of 8 bits, by DLPack's code.
template <uint8_t Code>
struct Float8 {
  uint8_t bits;
};
using Float8E4M3FN = Float8<10>;
using Float8E4M3FNUZ = Float8<11>;
using Float8E5M2 = Float8<12>;
using Float8E5M2FNUZ = Float8<13>;
using Float8E8M0 = Float8<14>;
/// Types whose elements share bytes: values are given and read as those bytes.
constexpr cameo_dtype kStrings{3, 64, 1};  // in UTF-8; not in memory of this type
constexpr cameo_dtype kInt4{0, 4, 1}, kUint4{1, 4, 1}, kInt2{0, 2, 1}, kUint2{1, 2, 1}, kFloat4E2M1{17, 4, 1};

namespace detail {
template <class T>
constexpr uint8_t float8_code = 0;
template <uint8_t Code>
constexpr uint8_t float8_code<Float8<Code>> = Code;
template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
}  // namespace detail

/// The ABI's element type of a C++ type.
template <class T>
constexpr cameo_dtype dtype_of() {
  using U = std::remove_cv_t<T>;
  constexpr auto bits = static_cast<uint8_t>(sizeof(U) * 8);
  if constexpr (std::is_same_v<U, bool>) return {6, bits, 1};
  if constexpr (detail::float8_code<U> != 0) return {detail::float8_code<U>, bits, 1};
  if constexpr (std::is_same_v<U, Half>) return {2, bits, 1};
  if constexpr (std::is_same_v<U, BFloat16>) return {4, bits, 1};
  if constexpr (std::is_same_v<U, float> || std::is_same_v<U, double>) return {2, bits, 1};
  if constexpr (detail::is_complex<U>) return {5, bits, 1};
  static_assert(std::is_same_v<U, bool> || std::is_same_v<U, Half> || std::is_same_v<U, BFloat16> ||
                    std::is_same_v<U, float> || std::is_same_v<U, double> || std::is_integral_v<U> ||
                    detail::is_complex<U> || detail::float8_code<U> != 0,
                "a tensor's elements are numbers, bool, std::complex of float or double, cameo::Half, cameo::BFloat16 "
                "or a cameo::Float8");
  return {static_cast<uint8_t>(std::is_signed_v<U> ? 0 : 1), bits, 1};
}
inline bool operator==(cameo_dtype a, cameo_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline bool operator!=(cameo_dtype a, cameo_dtype b) { return !(a == b); }

/// As in f32, i64, bool, bf16, f8e4m3fn.
inline std::string to_string(cameo_dtype type) {
  constexpr const char* codes[] = {"f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "?", "?", "f4e2m1"};
  if (type.code == 6) return "bool";
  if (type.code == 3) return "str";
  if (type.code >= 10 && type.code <= 17) return codes[type.code - 10];
  const char* kind = type.code == 0   ? "i"
                     : type.code == 1 ? "u"
                     : type.code == 2 ? "f"
                     : type.code == 4 ? "bf"
                     : type.code == 5 ? "c"
                                      : "?";
  return kind + std::to_string(type.bits);
}

/// Where numbers stand: in the memory of the GPU with this number. Without it they are the CPU's.
inline cameo_device cuda(int number = 0) { return {CAMEO_CUDA, number}; }

/// An input or output as the model declares it. A dim of -1 is known only at run time: then its bounds differ from it,
/// of which the upper one may be -1, open; its name may be empty.
struct Io {
  std::string name;
  cameo_dtype dtype;
  std::vector<int64_t> dims, dim_min, dim_max;
  std::vector<std::string> dim_names;
  uint32_t kind = CAMEO_KIND_TENSOR;
  std::vector<Io> of;     // of a sequence or an optional what it holds, of a map its values: one; none of a tensor
  bool any_rank = false;  // of such, where any will do

  bool is_fixed() const {
    for (int64_t d : dims)
      if (d < 0) return false;
    return true;
  }
  /// Of a fixed shape.
  size_t size() const {
    size_t n = 1;
    for (int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
  std::string type() const {
    constexpr const char* kinds[] = {"", "", "", "sequence", "map", "optional"};
    if (!of.empty())
      return std::string(kinds[kind]) + "(" + (kind == CAMEO_KIND_MAP ? to_string(dtype) + ", " : "") + of[0].type() +
             ")";
    if (any_rank) return to_string(dtype) + "[..]";
    std::string s = to_string(dtype) + "[";
    for (size_t i = 0; i < dims.size(); ++i) s += (i ? "," : "") + dim_text(i);
    return s + "]";
  }

 private:
  std::string dim_text(size_t i) const {  // 8, batch=1..32, batch=1..
    if (dims[i] >= 0) return std::to_string(dims[i]);
    if (dim_names.size() <= i) return "?";
    return (dim_names[i].empty() ? "?" : dim_names[i]) + "=" + std::to_string(dim_min[i]) + ".." +
           (dim_max[i] < 0 ? "" : std::to_string(dim_max[i]));
  }
};

namespace detail {

template <class C>
using element_of = std::remove_pointer_t<decltype(std::declval<C&>().data())>;
template <class C, class = void>
struct is_contiguous : std::false_type {};
template <class C>
struct is_contiguous<C, std::void_t<element_of<C>, decltype(std::declval<C&>().size())>>
    : std::bool_constant<!std::is_void_v<element_of<C>>> {};

/// Numbers in the caller's memory: without a shape they take the declared one, if there are as many; of a dim that is
/// known only at run time, and alone in that, their number says the size.
class Numbers {
 public:
  bool given() const { return kind_ != Kind::None; }
  /// Refers to this and to `io`.
  cameo_tensor as(const Io& io, const char* what, int index) const {
    cameo_tensor tensor = tensor_;
    if (kind_ == Kind::Counted) {
      tensor.ndim = static_cast<int32_t>(io.dims.size());
      if (!io.is_fixed()) {
        infer_shape(io, what, index);
        tensor.shape = shape_.data();
      } else {
        if (count_ != io.size()) throw misfit(io, what, index);
        tensor.shape = const_cast<int64_t*>(io.dims.data());
      }
    } else if (!tensor.shape) {
      tensor.shape = const_cast<int64_t*>(shape_.data());
    }
    return tensor;
  }
  const char* const* texts() const { return texts_.data(); }
  const int64_t* lengths() const { return lengths_.data(); }

 protected:
  Numbers() = default;
  /// Refers to the strings.
  explicit Numbers(const std::vector<std::string>& strings) : Numbers(nullptr, strings.size(), kStrings) {
    for (const std::string& text : strings) {
      texts_.push_back(text.data());
      lengths_.push_back(static_cast<int64_t>(text.size()));
    }
  }
  Numbers(const std::vector<std::string>& strings, std::initializer_list<int64_t> shape)
      : Numbers(nullptr, shape, kStrings) {
    Numbers all(strings);
    texts_.swap(all.texts_);
    lengths_.swap(all.lengths_);
  }
  Numbers(const void* data, size_t count, cameo_dtype type, cameo_device device = {CAMEO_CPU, 0})
      : kind_(Kind::Counted), count_(count) {
    tensor_.data = const_cast<void*>(data);
    tensor_.device = device;
    tensor_.dtype = type;
  }
  Numbers(const void* data, std::initializer_list<int64_t> shape, cameo_dtype type) : Numbers(data, 0, type) {
    if (shape.size() > shape_.size())
      throw Error(CAMEO_INVALID_ARGUMENT,
                  "a shape of " + std::to_string(shape.size()) + " dims is too long here; give a cameo_tensor instead");
    kind_ = Kind::Shaped;
    for (int64_t n : shape) shape_[static_cast<size_t>(tensor_.ndim++)] = n;
  }
  explicit Numbers(const cameo_tensor& tensor) : kind_(Kind::Shaped), tensor_(tensor) {}

 private:
  void infer_shape(const Io& io, const char* what, int index) const {
    int64_t *unknown = nullptr, others = 1;
    size_t unknowns = 0;
    for (size_t d = 0; d < io.dims.size() && io.dims.size() <= shape_.size(); ++d) {
      shape_[d] = io.dims[d];
      if (io.dims[d] < 0) unknown = &shape_[d], ++unknowns;
      if (io.dims[d] >= 0) others *= io.dims[d];
    }
    if (unknowns != 1 || !others || static_cast<int64_t>(count_) % others) throw misfit(io, what, index);
    *unknown = static_cast<int64_t>(count_) / others;
  }
  Error misfit(const Io& io, const char* what, int index) const {
    const std::string where = std::string(what) + " " + std::to_string(index) + " `" + io.name + "`";
    if (!io.is_fixed())
      return {CAMEO_INVALID_ARGUMENT,
              where + " is " + io.type() + ", which " + std::to_string(count_) + " elements do not make; give a shape",
              index};
    return {CAMEO_INVALID_ARGUMENT,
            where + " has " + std::to_string(count_) + " elements, the model declares " + io.type() + ", which has " +
                std::to_string(io.size()),
            index};
  }

  enum class Kind { None, Counted, Shaped };
  Kind kind_ = Kind::None;
  size_t count_ = 0;
  mutable std::array<int64_t, 8> shape_{};  // what was given, or inferred for a run
  cameo_tensor tensor_{};
  std::vector<const char*> texts_;
  std::vector<int64_t> lengths_;
};

}  // namespace detail

/// What a run reads: a vector, array or span of numbers, a pointer with a count or a shape, or any cameo_tensor
/// (strides, DLPack). An Input refers to the caller's memory.
class Input : public detail::Numbers {
 public:
  Input() = default;  // the state that Context::bind_state keeps
  template <class C, class = std::enable_if_t<detail::is_contiguous<const C>::value>>
  Input(const C& numbers) : Numbers(numbers.data(), numbers.size(), dtype_of<detail::element_of<const C>>()) {}
  template <class C, class = std::enable_if_t<detail::is_contiguous<const C>::value>>
  Input(const C& numbers, std::initializer_list<int64_t> shape)
      : Numbers(numbers.data(), shape, dtype_of<detail::element_of<const C>>()) {
    check_count(numbers.size(), shape);
  }
  Input(const std::vector<std::string>& strings) : Numbers(strings) {}
  Input(const std::vector<std::string>& strings, std::initializer_list<int64_t> shape) : Numbers(strings, shape) {
    check_count(strings.size(), shape);
  }
  template <class T>
  Input(const T* data, size_t count, cameo_device device = {CAMEO_CPU, 0})
      : Numbers(data, count, dtype_of<T>(), device) {}
  template <class T>
  Input(const T* data, std::initializer_list<int64_t> shape) : Numbers(data, shape, dtype_of<T>()) {}
  Input(const void* data, std::initializer_list<int64_t> shape, cameo_dtype type) : Numbers(data, shape, type) {}
  Input(const cameo_tensor& tensor) : Numbers(tensor) {}
  /// A sequence of these, an optional of one or of none, a map of keys and values.
  static Input list(std::vector<Input> items) {
    Input input;
    input.items_ = std::make_shared<const std::vector<Input>>(std::move(items));
    return input;
  }
  /// Null of a tensor.
  const std::vector<Input>* items() const { return items_.get(); }

 private:
  static void check_count(size_t given, std::initializer_list<int64_t> shape) {
    size_t count = 1;
    for (int64_t n : shape) count *= static_cast<size_t>(n);
    if (count != given)
      throw Error(CAMEO_INVALID_ARGUMENT,
                  std::to_string(given) + " elements given for a shape of " + std::to_string(count));
  }

  std::shared_ptr<const std::vector<Input>> items_;
};

/// Where a run writes; an Output of nothing is not wanted. Of a size that only the run computes it is room for at least
/// that: Context::output says what came, a run for which it is too small ends with CAMEO_TOO_SMALL.
class Output : public detail::Numbers {
 public:
  Output() = default;
  template <class C,
            class = std::enable_if_t<detail::is_contiguous<C>::value && !std::is_const_v<detail::element_of<C>>>>
  Output(C& numbers) : Numbers(numbers.data(), numbers.size(), dtype_of<detail::element_of<C>>()) {}
  template <class T>
  Output(T* data, size_t count, cameo_device device = {CAMEO_CPU, 0}) : Numbers(data, count, dtype_of<T>(), device) {}
  template <class T>
  Output(T* data, std::initializer_list<int64_t> shape) : Numbers(data, shape, dtype_of<T>()) {}
  Output(void* data, std::initializer_list<int64_t> shape, cameo_dtype type) : Numbers(data, shape, type) {}
  Output(const cameo_tensor& tensor) : Numbers(tensor) {}
};

/// An output that its context owns: valid until the next run of that context.
class Tensor {
 public:
  explicit Tensor(const cameo_tensor& tensor) : tensor_(tensor) {}
  explicit Tensor(const cameo_value& value) : tensor_(value.tensor), texts_(value.strings), lengths_(value.lengths) {
    if (value.kind == CAMEO_KIND_STRINGS) tensor_.dtype = kStrings;
    for (int64_t i = 0; value.kind > CAMEO_KIND_STRINGS && i < value.count; ++i) items_.emplace_back(value.items[i]);
  }

  /// Of a sequence or an optional what it holds, of a map its keys and its values; such has no elements of its own.
  const std::vector<Tensor>& items() const { return items_; }
  cameo_dtype dtype() const { return tensor_.dtype; }
  std::vector<int64_t> shape() const { return {tensor_.shape, tensor_.shape + tensor_.ndim}; }
  size_t size() const {
    size_t n = 1;
    for (int32_t d = 0; d < tensor_.ndim; ++d) n *= static_cast<size_t>(tensor_.shape[d]);
    return n;
  }
  /// Throws if the elements are no T.
  template <class T>
  const T* data() const {
    if (dtype() != dtype_of<T>())
      throw Error(CAMEO_INVALID_ARGUMENT,
                  "the output has " + to_string(dtype()) + " elements, read as " + to_string(dtype_of<T>()));
    return reinterpret_cast<const T*>(static_cast<const char*>(tensor_.data) + tensor_.byte_offset);
  }
  /// Of any type; elements of 4 and 2 bits share bytes, the first one in the lowest bits.
  const uint8_t* bytes() const { return static_cast<const uint8_t*>(tensor_.data) + tensor_.byte_offset; }
  size_t byte_count() const { return (size() * tensor_.dtype.bits + 7) / 8; }
  template <class T>
  std::vector<T> to_vector() const {
    return std::vector<T>(data<T>(), data<T>() + size());  // in braces two pointers make two bools
  }
  /// Throws if the elements are no strings.
  std::vector<std::string> strings() const {
    if (dtype() != kStrings)
      throw Error(CAMEO_INVALID_ARGUMENT, "the output has " + to_string(dtype()) + " elements, read as strings");
    std::vector<std::string> all;
    for (size_t i = 0; i < size(); ++i) all.emplace_back(texts_[i], static_cast<size_t>(lengths_[i]));
    return all;
  }
  const cameo_tensor& raw() const { return tensor_; }

 private:
  cameo_tensor tensor_;
  const char* const* texts_ = nullptr;
  const int64_t* lengths_ = nullptr;
  std::vector<Tensor> items_;
};

/// What a model is created with; num_threads = 0 is the default, callbacks may stay null.
struct Options : cameo_options {
  explicit Options(int threads = 0) : cameo_options{} {
    struct_size = sizeof(cameo_options);
    num_threads = threads;
    device = {CAMEO_AUTO, 0};
  }
  /// "cpu", "cuda" (the first GPU), "cuda:1" .., or "auto", the default: the first GPU if the library has code for it,
  /// else the CPU.
  Options& on(const std::string& where) {
    const std::string number = where.substr(where.compare(0, 5, "cuda:") == 0 ? 5 : where.size());
    if (where == "auto") return device = {CAMEO_AUTO, 0}, *this;
    if (where == "cpu") return device = {CAMEO_CPU, 0}, *this;
    if (where == "cuda") return device = cuda(), *this;
    if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != number.npos)
      throw Error(CAMEO_INVALID_ARGUMENT, "there is no device `" + where + "`; there are auto, cpu, cuda, cuda:1");
    return device = cuda(std::stoi(number)), *this;
  }
  /// The file of the weights of a library that was built with `--weights=file`, where it is not beside the library.
  Options& weights(std::string path) { return weights_file = std::move(path), *this; }

  std::string weights_file;  // `weights_path` of the call, unless empty
};

namespace detail {
/// As the ABI takes them; they refer to `options`.
inline cameo_options given(const Options& options) {
  cameo_options plain = options;
  if (!options.weights_file.empty()) plain.weights_path = options.weights_file.c_str();
  return plain;
}
}  // namespace detail

/// One output of one golden case that `selftest` compared.
struct Check {
  std::string case_name;
  int output;
  bool passed;
  double max_error, tolerance;
};

/// Code and weights. A copy shares both; one that was moved from has none, and its functions throw.
class Model {
 public:
  /// The file of a shared library; a name without a slash is a file of the working directory.
  explicit Model(const std::string& path, const Options& options = Options()) : state_(std::make_shared<State>()) {
    state_->open(path);
    create(options);
  }
  /// A model that is linked in: cameo::Model(NAME_api).
  explicit Model(cameo_get_api get, const Options& options = Options()) : state_(std::make_shared<State>()) {
    if (!get) throw Error(CAMEO_INVALID_ARGUMENT, "the model's function is null");
    state_->api = get(CAMEO_ABI_MAJOR);
    create(options);
  }

  const std::vector<Io>& inputs() const { return state().inputs; }
  const std::vector<Io>& outputs() const { return state().outputs; }
  /// Throws if there is none of that name.
  int input_index(const std::string& name) const { return index_of(inputs(), name, "input"); }
  int output_index(const std::string& name) const { return index_of(outputs(), name, "output"); }
  /// JSON.
  std::string manifest() const {
    size_t bytes = 0;
    const char* text = api().manifest(&bytes);
    return {text, bytes};
  }
  /// Runs the embedded golden cases. A case outside its tolerance is a Check that has not passed; that there are no
  /// cases is an Error.
  std::vector<Check> selftest(const Options& options = Options()) const {
    const cameo_options given = detail::given(options);
    std::vector<Check> checks;
    const auto report = [](void* to, const cameo_check* c) {
      static_cast<std::vector<Check>*>(to)->push_back(
          {c->case_name, c->output, c->passed != 0, c->max_error, c->tolerance});
    };
    cameo_error error{};
    error.struct_size = sizeof error;
    const cameo_status status = api().selftest(&given, report, &checks, &error);
    if (status != CAMEO_OK && status != CAMEO_MISMATCH) throw Error(error);
    return checks;
  }

  const cameo_api& api() const { return *state().api; }
  cameo_model* handle() const { return state().handle; }

 private:
  struct State {
    void* library = nullptr;
    const cameo_api* api = nullptr;
    cameo_model* handle = nullptr;
    std::vector<Io> inputs, outputs;

    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() {
      if (handle) api->model_release(handle);
      if (library) dlclose(library);
    }

    void open(const std::string& path) {
      library = dlopen((path.find('/') == path.npos ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!library) throw Error(CAMEO_NOT_FOUND, std::string("cannot load the model: ") + dlerror());
      void* symbol = dlsym(library, "cameo_model_api");
      if (!symbol)
        throw Error(
            CAMEO_INVALID_ARGUMENT,
            "`" + path + "` is no compiled model: it has no `cameo_model_api`; `cameo build -o x.so` makes one");
      api = reinterpret_cast<cameo_get_api>(symbol)(CAMEO_ABI_MAJOR);
    }
    Io element(bool is_output, int32_t index, int32_t depth) const {
      cameo_io io{};
      io.struct_size = sizeof io;
      Io element;
      if (api->abi_minor < 6 || api->io_element(is_output, index, depth, &io) != CAMEO_OK) return element;
      element.kind = io.kind;
      element.dtype = io.dtype;
      element.any_rank = io.ndim < 0;
      if (io.ndim > 0) element.dims = {io.dims, io.dims + io.ndim};
      if (io.kind > CAMEO_KIND_STRINGS) element.of.push_back(this->element(is_output, index, depth + 1));
      return element;
    }
    std::vector<Io> declared(bool is_output) const {
      std::vector<Io> ios;
      for (int32_t i = 0; i < api->io_count(is_output); ++i) {
        cameo_io io{};
        io.struct_size = sizeof io;
        api->io_get(is_output, i, &io);
        Io declared;
        declared.name = io.name;
        declared.kind = io.kind;
        declared.dtype = io.dtype;
        declared.dims = {io.dims, io.dims + io.ndim};
        declared.dim_min = {io.dim_min, io.dim_min + io.ndim};
        declared.dim_max = {io.dim_max, io.dim_max + io.ndim};
        for (int32_t d = 0; d < io.ndim; ++d)
          declared.dim_names.emplace_back(io.dim_names && io.dim_names[d] ? io.dim_names[d] : "");
        if (io.kind > CAMEO_KIND_STRINGS) declared.of.push_back(element(is_output, i, 0));
        ios.push_back(std::move(declared));
      }
      return ios;
    }
  };

  const State& state() const {
    if (!state_) throw Error(CAMEO_FAILED_PRECONDITION, "the model was moved from");
    return *state_;
  }
  void create(const Options& options) {
    if (!state_->api)
      throw Error(CAMEO_UNIMPLEMENTED, "the model has another major version of the ABI than " +
                                           std::to_string(CAMEO_ABI_MAJOR) + "; build it anew");
    cameo_error error{};
    error.struct_size = sizeof error;
    const cameo_options given = detail::given(options);
    if (state_->api->model_create(&given, &state_->handle, &error) != CAMEO_OK) throw Error(error);
    state_->inputs = state_->declared(false);
    state_->outputs = state_->declared(true);
  }
  static int index_of(const std::vector<Io>& ios, const std::string& name, const char* what) {
    std::string known;
    for (size_t i = 0; i < ios.size(); ++i) {
      if (ios[i].name == name) return static_cast<int>(i);
      known += (i ? ", `" : "`") + ios[i].name + "`";
    }
    throw Error(CAMEO_NOT_FOUND, std::string("there is no ") + what + " `" + name + "`; the model has " + known);
  }

  std::shared_ptr<State> state_;
};

/// The memory of one run at a time. One that was moved from has none, and its functions throw.
class Context {
 public:
  explicit Context(Model model) : model_(std::move(model)) {
    in_.resize(model_.inputs().size());
    out_.resize(model_.outputs().size());
    for (const Io& io : model_.outputs()) shapes_.push_back(io.dims);
    cameo_error error = no_error();
    check(api().context_create(model_.handle(), &handle_, &error), error);
  }
  Context(Context&& other) noexcept
      : model_(std::move(other.model_)),
        handle_(std::exchange(other.handle_, nullptr)),
        stream_(other.stream_),
        in_(std::move(other.in_)),
        out_(std::move(other.out_)),
        shapes_(std::move(other.shapes_)),
        results_(std::move(other.results_)) {}
  Context& operator=(Context&& other) noexcept {
    Context(std::move(other)).swap(*this);
    return *this;
  }
  ~Context() {
    if (handle_) api().context_release(handle_);
  }
  void swap(Context& other) noexcept {
    std::swap(model_, other.model_);
    std::swap(handle_, other.handle_);
    in_.swap(other.in_);
    lists_.swap(other.lists_);
    out_.swap(other.out_);
    shapes_.swap(other.shapes_);
    results_.swap(other.results_);
    std::swap(stream_, other.stream_);
  }

  const Model& model() const { return model_; }

  /// All inputs in the model's order. The result lists all outputs, in memory of the context.
  const std::vector<Tensor>& run(std::initializer_list<Input> in) { return run_owned(in.begin(), in.size()); }
  const std::vector<Tensor>& run(const std::vector<Input>& in) { return run_owned(in.data(), in.size()); }
  /// Into the caller's memory; allocates nothing.
  void run(std::initializer_list<Input> in, std::initializer_list<Output> out) {
    run_into(in.begin(), in.size(), out.begin(), out.size());
  }
  void run(const std::vector<Input>& in, const std::vector<Output>& out) {
    run_into(in.data(), in.size(), out.data(), out.size());
  }
  /// What the last run into the caller's memory left there, with its shape; after CAMEO_TOO_SMALL, the shape that there
  /// must be room for.
  Tensor output(size_t index) const { return Tensor(out_.at(index)); }
  /// The ABI's own values, and its status in place of an exception.
  cameo_status run(const cameo_value* in, int32_t in_count, cameo_value* out, int32_t out_count,
                   cameo_error* error) noexcept {
    if (!handle_) return moved_from(error);
    cameo_run_options options{};
    options.struct_size = sizeof options;
    options.stream = stream_;
    return api().run(handle(), in, in_count, out, out_count, &options, error);
  }
  /// On a GPU, runs are queued on this CUstream of its primary context; null: on the context's own.
  void set_stream(void* stream) noexcept { stream_ = stream; }

  /// How many runs of this context each plan had: the sizes that it was built for with `--bucket`, as `seq=64`; of the
  /// plan for all others "".
  std::vector<std::pair<std::string, uint64_t>> runs_of_plans() const {
    require_handle();
    std::vector<std::pair<std::string, uint64_t>> runs;
    if (api().abi_minor < 4) return runs;
    cameo_plan plan{};
    plan.struct_size = sizeof plan;
    for (int32_t i = 0; api().plan_get(handle_, i, &plan) == CAMEO_OK; ++i) runs.emplace_back(plan.name, plan.runs);
    return runs;
  }

  /// From the next run on, an empty Input at `input` reads what `output` held; zeros at first. It is as large as the
  /// run before left it, up to the bounds of `input`. Where it grows, a run that does not ask for it is faster.
  void bind_state(const std::string& output, const std::string& input) {
    require_handle();
    cameo_error error = no_error();
    check(api().bind_state(handle(), model_.output_index(output), model_.input_index(input), &error), error);
  }
  /// The next run begins all states anew.
  void reset_state() {
    require_handle();
    cameo_error error = no_error();
    if (api().abi_minor < 5)
      throw Error(CAMEO_UNIMPLEMENTED, "the library is older than reset_state; build it anew, or open another context");
    check(api().reset_state(handle(), &error), error);
  }
  /// The shapes of all outputs of a run with these inputs, of which only the shapes matter.
  std::vector<std::vector<int64_t>> output_shapes(std::initializer_list<Input> in) {
    require_handle();
    fill_inputs(in.begin(), in.size());
    std::vector<std::vector<int64_t>> shapes;
    std::vector<cameo_io> ios(model_.outputs().size());
    for (const Io& io : model_.outputs()) shapes.push_back(io.dims);
    for (size_t i = 0; i < ios.size(); ++i) {
      ios[i].struct_size = sizeof(cameo_io);
      ios[i].run_dims = shapes[i].data();
      ios[i].run_dim_count = static_cast<int32_t>(shapes[i].size());
    }
    cameo_error error = no_error();
    check(api().output_types(model_.handle(), in_.data(), static_cast<int32_t>(in_.size()), ios.data(),
                             static_cast<int32_t>(ios.size()), &error),
          error);
    return shapes;
  }
  /// Allocates what runs with inputs that are not compact, or with sizes without an upper bound, need.
  void prepare(std::initializer_list<Input> in) {
    require_handle();
    fill_inputs(in.begin(), in.size());
    cameo_error error = no_error();
    check(api().prepare(handle(), in_.data(), static_cast<int32_t>(in_.size()), &error), error);
  }
  /// From any thread: the run in progress throws an Error with CAMEO_CANCELLED.
  void cancel() noexcept {
    if (handle_) api().cancel(handle_);
  }

  const cameo_api& api() const { return model_.api(); }
  cameo_context* handle() const { return handle_; }

 private:
  static cameo_error no_error() {
    cameo_error error{};
    error.struct_size = sizeof error;
    return error;
  }
  static void check(cameo_status status, const cameo_error& error) {
    if (status != CAMEO_OK) throw Error(error);
  }

  static cameo_status moved_from(cameo_error* error) noexcept {
    constexpr char message[] = "the context was moved from";
    if (error && error->struct_size >= sizeof *error) {
      error->code = CAMEO_FAILED_PRECONDITION;
      error->node = error->arg = -1;
      std::memcpy(error->message, message, sizeof message);
    }
    return CAMEO_FAILED_PRECONDITION;
  }
  void require_handle() const {
    cameo_error error = no_error();
    if (!handle_) check(moved_from(&error), error);
  }

  const std::vector<Tensor>& run_owned(const Input* in, size_t in_count) {
    require_handle();
    fill_inputs(in, in_count);
    for (size_t i = 0; i < out_.size(); ++i) {
      out_[i] = value_of(cameo_tensor{});  // no data: the context's
      out_[i].kind = model_.outputs()[i].kind;
    }
    run_filled();
    results_.clear();
    for (const cameo_value& v : out_) results_.emplace_back(v);
    return results_;
  }
  void run_into(const Input* in, size_t in_count, const Output* out, size_t out_count) {
    require_handle();
    fill_inputs(in, in_count);
    fill(out_, out, out_count, model_.outputs(), "output");
    for (size_t i = 0; i < out_.size(); ++i) {
      cameo_tensor& tensor = out_[i].tensor;
      out_[i].count = static_cast<int64_t>(Tensor(tensor).size());
      if (tensor.ndim <= 0) continue;
      shapes_[i].assign(tensor.shape, tensor.shape + tensor.ndim);  // `output` outlives the Outputs
      tensor.shape = shapes_[i].data();
    }
    run_filled();
  }
  void run_filled() {
    cameo_error error = no_error();
    check(run(in_.data(), static_cast<int32_t>(in_.size()), out_.data(), static_cast<int32_t>(out_.size()), &error),
          error);
  }
  static cameo_value value_of(const cameo_tensor& tensor) {
    cameo_value value{};
    value.struct_size = sizeof value;
    value.kind = tensor.dtype == kStrings ? CAMEO_KIND_STRINGS : CAMEO_KIND_TENSOR;
    value.tensor = tensor;
    return value;
  }
  static cameo_value value_of(const detail::Numbers& numbers, const Io& io, const char* what, int index) {
    cameo_value value = value_of(numbers.given() ? numbers.as(io, what, index) : cameo_tensor{});
    if (!numbers.given()) value.kind = CAMEO_KIND_NONE;
    value.strings = numbers.texts();
    value.lengths = numbers.lengths();
    return value;
  }
  /// A list, whose values stay here until the next run.
  cameo_value list_of(const std::vector<Input>& items, const Io& io, int index) {
    if (io.of.empty())
      throw Error(CAMEO_INVALID_ARGUMENT,
                  "input " + std::to_string(index) + " has a list where the model declares " + io.type(), index);
    std::vector<cameo_value>& values = lists_.emplace_back();
    const Io keys{"", io.dtype, {-1}, {}, {}, {}, CAMEO_KIND_TENSOR, {}, false};
    for (size_t i = 0; i < items.size(); ++i) {
      const Io& of = io.kind == CAMEO_KIND_MAP && i == 0 ? keys : io.of[0];
      values.push_back(items[i].items() ? list_of(*items[i].items(), of, index)
                                        : value_of(items[i], of, "an item of input", index));
    }
    cameo_value list = value_of(cameo_tensor{});
    list.kind = io.kind;
    list.items = values.data();
    list.count = static_cast<int64_t>(values.size());
    return list;
  }
  void fill_inputs(const Input* inputs, size_t count) {
    fill(in_, inputs, count, model_.inputs(), "input");
    lists_.clear();
    for (size_t i = 0; i < count; ++i)
      if (const Io& io = model_.inputs()[i]; inputs[i].items() && !io.of.empty())
        in_[i] = list_of(*inputs[i].items(), io, static_cast<int>(i));
  }
  template <class N>  // Input or Output
  static void fill(std::vector<cameo_value>& values, const N* numbers, size_t count, const std::vector<Io>& ios,
                   const char* what) {
    if (count != ios.size())
      throw Error(CAMEO_INVALID_ARGUMENT,
                  std::to_string(count) + " " + what + "s given, the model has " + std::to_string(ios.size()));
    for (size_t i = 0; i < count; ++i) values[i] = value_of(numbers[i], ios[i], what, static_cast<int>(i));
  }

  Model model_;
  cameo_context* handle_ = nullptr;
  void* stream_ = nullptr;
  std::vector<cameo_value> in_, out_;
  std::vector<std::vector<int64_t>> shapes_;    // of outputs in the caller's memory
  std::deque<std::vector<cameo_value>> lists_;  // what `items` of in_ point to
  std::vector<Tensor> results_;
};

}  // namespace cameo
#endif  // CAMEO_HPP
