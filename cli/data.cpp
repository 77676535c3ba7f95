// See data.h. A tensor's own name decides which value it is, if the model has one of that name; else the file's number.
#include "cli/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "cli/console.h"
#include "cli/sizes.h"
#include "runtime/program/file.h"
#include "runtime/program/image.h"
#include "runtime/program/input.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

bool natural_less(const fs::path& a, const fs::path& b) {
  const std::string x = a.filename(), y = b.filename();
  return rt::program::natural_order({x.data(), x.size()}, {y.data(), y.size()}) < 0;
}

struct NumberedFile {
  fs::path path;
  size_t number;
};

/// PREFIX_N.pb, in the order of their numbers.
std::vector<NumberedFile> numbered_files(const fs::path& folder, std::string_view prefix) {
  std::vector<NumberedFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix) || !name.ends_with(".pb")) continue;
    size_t number = 0;
    const char *begin = name.data() + prefix.size(), *end = name.data() + name.size() - 3;
    const auto [at, bad] = std::from_chars(begin, end, number);
    if (bad == std::errc() && at == end) files.push_back({entry.path(), number});
  }
  std::ranges::sort(files, {}, &NumberedFile::number);
  return files;
}

bool holds_data(const fs::path& folder) {
  return !numbered_files(folder, "input_").empty() || !numbered_files(folder, "output_").empty();
}

NamedTensor read_value(const fs::path& file, const Type& type) {
  try {
    return value_from_pb(map_file(file).bytes, type);
  } catch (const CompileError& e) {
    throw Failure(kBadData, fmt::format("`{}`: {}", printable(file.string()), e.what()));
  }
}

template <class NameAt>
size_t place_of(const NamedTensor& t, const NumberedFile& file, size_t count, std::string_view what,
                const NameAt& name_at) {
  for (size_t i = 0; i < count; ++i)
    if (!t.name.empty() && t.name == name_at(i)) return i;
  if (file.number < count) return file.number;
  throw Failure(kBadData, fmt::format("`{}` is for {} {}, the model has {}", printable(file.path.string()), what,
                                      file.number, count));
}

std::string dims_text(const std::vector<int64_t>& dims) { return fmt::format("{}", fmt::join(dims, "x")); }

/// Whether a value has a type whose dims are numbers, or sizes that only a run knows. What a list holds is the run's to
/// judge.
bool fits(const Tensor& t, const Type& type) {
  if (t.is_list() || type.is_list()) return t.is_list() == type.is_list();
  bool same = t.dtype() == type.dtype && t.rank() == type.rank();
  for (size_t d = 0; same && d < type.shape.size(); ++d)
    same = !type.shape[d].is_static() || type.shape[d].is_static(t.dims()[d]);
  return same;
}

void require_fit(const Tensor& t, const Interface::Io& io, const fs::path& file) {
  if (fits(t, io.type)) return;
  throw Failure(kBadData,
                fmt::format("`{}`: the model takes {}, `{}` holds {}[{}]", printable(io.name), to_string(io.type),
                            printable(file.string()), name(t.dtype()), dims_text(t.dims())));
}

void read_values(const fs::path& folder, std::string_view prefix, std::string_view what,
                 const std::vector<Interface::Io>& ios, std::vector<Tensor>& values) {
  values.resize(ios.size());
  for (const NumberedFile& file : numbered_files(folder, prefix)) {
    NamedTensor t = read_value(file.path, file.number < ios.size() ? ios[file.number].type : Type());
    const size_t at = place_of(t, file, ios.size(), what, [&](size_t i) { return ios[i].name; });
    require_fit(t.tensor, ios[at], file.path);
    values[at] = std::move(t.tensor);
  }
}

// ---- shapes of `-i` -------------------------------------------------------------------------------------------------
/// The runtime's readers, fed with the model's declarations.
class Readers {
 public:
  explicit Readers(const Graph& graph) : graph_(graph), names_(graph.inputs().size()), ios_(graph.inputs().size()) {
    for (size_t i = 0; i < ios_.size(); ++i) {
      names_[i] = graph.input_name(static_cast<int>(i));
      ios_[i].name = names_[i].c_str();
    }
    program_.name = "model";
    program_.inputs = ios_.data();
    program_.input_count = static_cast<uint32_t>(ios_.size());
    tool_.program = &program_;
  }

  void add(const std::string& value, InputShapes& shapes) {
    rt::program::Slice spec;
    int32_t index = -1;
    check(rt::program::split_name(tool_, {value.data(), value.size()}, ios_.data(), program_.input_count, "input",
                                  &index, &spec));
    const std::string text(spec.data, spec.size);
    if (index < 0 && text.starts_with('@') && fs::is_directory(text.substr(1))) {
      shapes.merge(shapes_of_data_set(text.substr(1), graph_));
    } else if (index < 0 && text.ends_with(".npz")) {
      for (const auto& array : arrays_of(text.substr(1))) shapes.insert(array);
    } else if (index >= 0 || ios_.size() == 1) {
      add_one(static_cast<size_t>(std::max(index, 0)), text, shapes);
    }
  }

 private:
  void check(bool ok) {
    if (!ok) throw Failure(tool_.code, tool_.message);
  }
  rt::program::Slice read(const std::string& path) {
    rt::program::Slice file;
    check(rt::program::read_file(tool_, keep(path), &file));
    return file;
  }
  rt::program::Slice read_header(const std::string& path) {
    rt::program::Slice start;
    uint64_t size = 0;
    check(rt::program::read_start(tool_, keep(path), rt::program::kNpyHeader + 12, &start, &size));
    return start;
  }
  rt::program::Slice keep(const std::string& text) {  // for as long as the readers live
    rt::program::Text copy(tool_.arena);
    copy.add({text.data(), text.size()});
    return copy.slice();
  }
  static std::vector<int64_t> dims_of(const rt::program::Array& array) { return {array.dims, array.dims + array.rank}; }

  InputShapes arrays_of(const std::string& path) {
    rt::program::NpzEntries entries;
    rt::program::Array array;
    InputShapes shapes;
    const rt::program::Slice file = read(path), what = keep(path);
    check(rt::program::list_npz(tool_, file, what, &entries));
    for (const auto& entry : std::span(entries.items, entries.count)) {
      const std::string name(entry.name.data, entry.name.size);
      if (entries.count > 1 && std::ranges::find(names_, name) == names_.end()) continue;
      check(rt::program::declare_npz(tool_, file, entry, what, &array));
      shapes[name] = dims_of(array);
    }
    return shapes;
  }

  void add_one(size_t input, const std::string& spec, InputShapes& shapes) {
    if (graph_.type(graph_.inputs()[input]).is_list()) return;
    const std::string path = spec.starts_with('@') ? spec.substr(1) : "";
    rt::program::Array array;
    if (path.ends_with(".npy") || path.ends_with(".pb")) {
      check(path.ends_with(".pb") ? rt::program::declare_pb(tool_, read(path), keep(path), &array)
                                  : rt::program::declare_npy(tool_, read_header(path), keep(path), &array));
      shapes[names_[input]] = dims_of(array);
    } else if (path.ends_with(".npz")) {
      const InputShapes all = arrays_of(path);
      const auto it = all.size() == 1 ? all.begin() : all.find(names_[input]);
      if (it != all.end()) shapes[names_[input]] = it->second;
    } else if (!path.empty()) {
      add_picture(input, path, shapes);
    } else {
      add_literal(input, spec, shapes);
    }
  }

  /// `2x3xf32=..`, or the nesting of a list.
  void add_literal(size_t input, const std::string& spec, InputShapes& shapes) {
    std::vector<int64_t> dims;
    if (spec.starts_with('[')) {
      shapes[names_[input]] = dims_of_list(spec);
      return;
    }
    const size_t equals = spec.find('=');
    if (equals == std::string::npos) {
      double number = 0;
      const bool scalar =
          rt::program::parse_number({spec.data(), spec.size()}, &number) || spec == "true" || spec == "false";
      if (scalar && rank_of(input) == 0) shapes[names_[input]] = {};
      return;
    }
    for (size_t at = 0; at < equals;) {
      int64_t n = 0;
      const auto [end, error] = std::from_chars(spec.data() + at, spec.data() + equals, n);
      if (error != std::errc() || *end != 'x') break;
      dims.push_back(n);
      at = static_cast<size_t>(end - spec.data()) + 1;
    }
    shapes[names_[input]] = dims;
  }
  /// Of the first list at each depth; the artifact checks the others.
  static std::vector<int64_t> dims_of_list(std::string_view text) {
    std::vector<int64_t> dims;
    size_t depth = 0;
    std::vector<bool> closed;
    for (char c : text) {
      if (c == '[') {
        if (depth == dims.size()) dims.push_back(1), closed.push_back(false);
        ++depth;
      } else if (c == ']' && depth > 0) {
        closed[--depth] = true;
      } else if (c == ',' && depth > 0 && !closed[depth - 1]) {
        ++dims[depth - 1];
      }
    }
    return dims;
  }

  int rank_of(size_t input) const { return graph_.type(graph_.inputs()[input]).rank(); }

  /// One picture, where the input's channels are known: its own size, or that of `resize=` and `crop=`.
  void add_picture(size_t input, const std::string& text, InputShapes& shapes) {
    const size_t comma = text.find(',');
    const std::string path = text.substr(0, comma), options = comma == std::string::npos ? "" : text.substr(comma);
    const Shape& shape = graph_.type(graph_.inputs()[input]).shape;
    if (!rt::program::is_picture(keep(path)) || shape.size() < 3) return;
    const auto is_channels = [](const Dim& d) { return d.is_static(1) || d.is_static(3) || d.is_static(4); };
    const size_t n = shape.size();
    const bool first = is_channels(shape[n - 3]);
    if (!first && !is_channels(shape[n - 1])) return;
    rt::program::Picture picture;
    check(rt::program::declare_picture(tool_, read(path), keep(path),
                                       static_cast<int32_t>(shape[first ? n - 3 : n - 1].value()), &picture));
    int64_t width = picture.width, height = picture.height;
    size_of_options(options, width, height);
    std::vector<int64_t> dims(n - 3, 1);
    const int64_t channels = shape[first ? n - 3 : n - 1].value();
    for (int64_t d : first ? std::vector{channels, height, width} : std::vector{height, width, channels})
      dims.push_back(d);
    shapes[names_[input]] = dims;
  }
  static void size_of_options(const std::string& options, int64_t& width, int64_t& height) {
    for (std::string_view key : {",resize=", ",crop="}) {
      const size_t at = options.find(key);
      if (at == std::string::npos) continue;
      const char *begin = options.data() + at + key.size(), *end = options.data() + options.size();
      auto [next, error] = std::from_chars(begin, end, width);
      height = width;
      if (next != end && *next == 'x') std::from_chars(next + 1, end, height);
    }
  }

  const Graph& graph_;
  std::vector<std::string> names_;
  std::vector<rt::Io> ios_;
  rt::Program program_;
  rt::program::Tool tool_;
};

}  // namespace

std::vector<fs::path> find_data_sets(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw Failure(
        kBadData,
        fmt::format("`{}` is no folder; `test` takes folders that hold input_0.pb, or test_data_set_0 with it",
                    printable(folder.string())));
  if (holds_data(folder)) return {folder};
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && holds_data(entry.path())) sets.push_back(entry.path());
  if (sets.empty())
    throw Failure(kBadData,
                  fmt::format("no test data in `{}`: looked for input_0.pb there and in folders like test_data_set_0",
                              printable(folder.string())));
  std::ranges::sort(sets, natural_less);
  return sets;
}

DataSet read_data_set(const fs::path& folder, const Interface& io) {
  DataSet data;
  data.name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
  read_values(folder, "input_", "input", io.inputs, data.inputs);
  const std::string what = fmt::format("`{}`", printable(folder.string()));
  for (size_t i = 0; i < io.inputs.size(); ++i)
    if (data.inputs[i].dtype() == DType::undefined)
      throw Failure(kBadData,
                    fmt::format("{} has no input_{}.pb for input `{}`", what, i, printable(io.inputs[i].name)));
  data.sizes = sizes_of_data(io, data.inputs, what);
  const Interface bound = data.sizes.empty() ? io : bind_interface(io, data.sizes);
  for (size_t i = 0; i < io.inputs.size(); ++i)
    if (!fits(data.inputs[i], bound.inputs[i].type))
      throw Failure(kBadData, fmt::format("{}: input `{}` has {}, where the model takes {} at {}", what,
                                          printable(io.inputs[i].name), dims_text(data.inputs[i].dims()),
                                          to_string(bound.inputs[i].type), to_string(data.sizes)));
  read_values(folder, "output_", "output", bound.outputs, data.outputs);
  return data;
}

InputShapes shapes_of_data_set(const fs::path& folder, const Graph& graph) {
  InputShapes shapes;
  const size_t count = graph.inputs().size();
  const auto name_at = [&](size_t i) { return graph.input_name(static_cast<int>(i)); };
  for (const NumberedFile& file : numbered_files(folder, "input_")) {
    const NamedTensor t = read_value(file.path, file.number < count ? graph.type(graph.inputs()[file.number]) : Type());
    if (t.tensor.is_list()) continue;  // --shape says more of what it holds
    shapes[name_at(place_of(t, file, count, "input", name_at))] = t.tensor.dims();
  }
  return shapes;
}

InputShapes shapes_of_values(const std::vector<std::string>& values, const Graph& graph) {
  InputShapes shapes;
  Readers readers(graph);
  for (const std::string& value : values) readers.add(value, shapes);
  return shapes;
}

}  // namespace cameo
