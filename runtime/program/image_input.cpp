// A picture as an input: where its channels, rows and columns stand is read off the input's dims, or said by `layout=`.
#include "runtime/numbers.h"
#include "runtime/program/dims.h"
#include "runtime/program/file.h"
#include "runtime/program/image.h"
#include "runtime/program/input.h"

namespace rt::program {
namespace {

constexpr int64_t kMostResized = 1 << 24;  // pixels
// A picture that is to be made smaller may take these bytes, or this many times its file.
constexpr uint64_t kMostBytes = 16 << 20, kMostGrowth = 128;

struct Options {
  double mean[4] = {0, 0, 0, 0}, deviation[4] = {1, 1, 1, 1};
  double scale = -1;  // 1/255 for floats, 1 for integers
  int64_t width = 0, height = 0, crop = 0;
  uint32_t counts = 0;  // a bit for each number of numbers that a list has
  bool bgr = false;
  Slice layout;
};

struct Axes {  // of the input; strides in elements
  int32_t channels = 1, height = 0, width = 0;
  int64_t channel_stride = 0, row_stride = 0, column_stride = 0;
};

// Where they stand among the dims; -1: nowhere.
struct Places {
  int32_t channels = -1, rows = -1, columns = -1;
};

bool parse_from(double least, Slice text, double* value) {
  return parse_number(text, value) && *value >= least && *value <= __DBL_MAX__;
}

bool parse_list(double least, Slice text, double* values, Options* options) {  // a:b:c, or one for all
  int count = 0;
  for (;; ++count) {
    const size_t colon = text.find(':');
    if (count == 4 || !parse_from(least, text.upto(colon), &values[count])) return false;
    if (colon == text.size) break;
    text = text.from(colon + 1);
  }
  options->counts |= 2u << count;
  for (int i = count + 1; i < 4; ++i) values[i] = values[count];
  return true;
}

bool parse_size(Slice text, Options* options) {  // 224, or 640x480
  const size_t x = text.find('x');
  if (!parse_integer(text.upto(x), &options->width)) return false;
  options->height = options->width;
  if (x < text.size && !parse_integer(text.from(x + 1), &options->height)) return false;
  return options->width > 0 && options->height > 0 && options->width <= 32768 && options->height <= 32768 &&
         options->width * options->height <= kMostResized;
}

bool parse_option(Slice text, Options* options) {
  const size_t equals = text.find('=');
  const Slice key = text.upto(equals), value = equals < text.size ? text.from(equals + 1) : Slice();
  if (key == "mean") return parse_list(-__DBL_MAX__, value, options->mean, options);
  if (key == "std") return parse_list(__DBL_MIN__, value, options->deviation, options);
  if (key == "scale") return parse_from(0, value, &options->scale);
  if (key == "resize") return parse_size(value, options);
  if (key == "crop") return parse_integer(value, &options->crop) && options->crop > 0 && options->crop <= 32768;
  if (key == "order") return options->bgr = value == "bgr", value == "bgr" || value == "rgb";
  if (key != "layout") return false;
  options->layout = value.starts_with("n") ? value.from(1) : value;
  return options->layout == "chw" || options->layout == "hwc" || options->layout == "hw";
}

[[gnu::cold, gnu::noinline]] bool parse_options(Tool& tool, Slice text, Options* options) {
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (!parse_option(text.upto(comma), options))
      return tool.fail(kUsage,
                       "`%.*s` is no option of a picture; they are mean=A:B:C, std=A:B:C, scale=S, resize=N or WxH, "
                       "crop=N, layout=chw|hwc|hw, order=rgb|bgr",
                       width(text.upto(comma)), text.data);
    text = text.from(comma < text.size ? comma + 1 : comma);
  }
  return true;
}

bool is_channels(int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

struct Size {
  int64_t width, height;
  bool operator==(const Size&) const = default;
};

// One picture: what stands in front of its axes is 1.
bool find_places(Array* array, Slice layout, Places* places) {
  const int32_t rank = array->rank;
  const auto has_channels = [&](int32_t from_end) { return rank >= 3 && is_channels(array->dims[rank - from_end]); };
  if (layout.empty()) layout = has_channels(3) ? "chw" : has_channels(1) ? "hwc" : "hw";
  const int32_t used = layout == "hw" ? 2 : 3, last = layout == "hwc" ? 1 : 0;
  if (rank < used) return false;
  for (int32_t i = 0; i < rank - used; ++i) {
    if (array->dims[i] < 0) array->dims[i] = 1;
    if (array->dims[i] != 1) return false;
  }
  *places = {used == 2 ? -1 : last ? rank - 1 : rank - 3, rank - 2 - last, rank - 1 - last};
  return used == 2 || is_channels(array->dims[places->channels]);
}

// What is unknown of the input's rows and columns is as large as the picture.
bool find_axes(Array* array, const Places& places, Size size, Axes* axes) {
  int64_t &height = array->dims[places.rows], &columns = array->dims[places.columns];
  if (height < 0) height = size.height;
  if (columns < 0) columns = size.width;
  if (height < 1 || columns < 1 || height > 32768 || columns > 32768) return false;
  const int64_t channels = places.channels < 0 ? 1 : array->dims[places.channels];
  const bool last = places.channels > places.columns;
  axes->channels = static_cast<int32_t>(channels);
  axes->height = static_cast<int32_t>(height);
  axes->width = static_cast<int32_t>(columns);
  axes->column_stride = last ? channels : 1;
  axes->row_stride = columns * axes->column_stride;
  axes->channel_stride = last ? 1 : height * columns;
  return true;
}

// What `resize` and `crop` make of a picture.
Size resized(const Options& options, const Picture& picture) {
  return options.width ? Size{options.width, options.height} : Size{picture.width, picture.height};
}
Size cropped(const Options& options, Size whole) {
  const bool crops = options.crop && options.crop <= whole.width && options.crop <= whole.height;
  return crops ? Size{options.crop, options.crop} : whole;
}

// The middle of `whole`, channels last.
template <class T>
float* middle_of(Tool& tool, const T* pixels, Size whole, Size size, int32_t channels) {
  float* out = tool.arena.array<float>(static_cast<uint64_t>(size.width * size.height * channels));
  const int64_t top = (whole.height - size.height) / 2, left = (whole.width - size.width) / 2;
  for (int64_t y = 0; y < size.height; ++y)
    for (int64_t i = 0; i < size.width * channels; ++i)
      out[y * size.width * channels + i] = static_cast<float>(pixels[((y + top) * whole.width + left) * channels + i]);
  return out;
}

void store(const float* pixels, const Axes& axes, const Options& options, Array* array) {
  const double scale = options.scale >= 0 ? options.scale : is_float(array->dtype) ? 1.0 / 255 : 1.0;
  for (int32_t c = 0; c < axes.channels; ++c) {
    const int32_t from = options.bgr && axes.channels >= 3 && c < 3 ? 2 - c : c;
    for (int32_t y = 0; y < axes.height; ++y)
      for (int32_t x = 0; x < axes.width; ++x) {
        const double pixel = pixels[(int64_t{y} * axes.width + x) * axes.channels + from];
        const double value = (pixel * scale - options.mean[c]) / options.deviation[c];
        const double rounded = is_float(array->dtype) ? value : value + (value < 0 ? -0.5 : 0.5);
        set_number(array->dtype, array->data, c * axes.channel_stride + y * axes.row_stride + x * axes.column_stride,
                   rounded);
      }
  }
}

}  // namespace

bool read_image_input(Tool& tool, const Io& io, Slice path, Slice text, Array* array) {
  Options options;
  Places places;
  Axes axes;
  Picture picture;
  Slice file;
  const bool fixed = is_known(io);
  *array = array_of(io);
  if (!parse_options(tool, text, &options)) return false;
  const auto holds_none = [&] {
    return tool.fail(kBadData, "%s is %s, which does not hold one picture of 1, 3 or 4 channels%s",
                     Quoted(io.name).text, TypeText(io).text,
                     options.layout.empty() ? "; `layout=` says where they stand" : " in that layout");
  };
  if (!find_places(array, options.layout, &places)) return holds_none();
  const int32_t channels = places.channels < 0 ? 1 : static_cast<int32_t>(array->dims[places.channels]);
  if (options.counts & ~(2u | 1u << channels))
    return tool.fail(kUsage, "mean and std take one number, or one a channel (%d)", channels);
  if (!read_file(tool, path, &file) || !declare_picture(tool, file, path, channels, &picture)) return false;
  const Size whole = resized(options, picture), size = cropped(options, whole);
  if (!find_axes(array, places, size, &axes)) return holds_none();
  if (options.crop > size.width || options.crop > size.height)  // it was not cropped
    axes.width = axes.height = static_cast<int32_t>(options.crop);
  if (size.width != axes.width || size.height != axes.height)
    return tool.fail(kBadData, "%s takes pictures of %dx%d, `%.*s` is %ldx%ld; add `,resize=%dx%d`",
                     Quoted(io.name).text, axes.width, axes.height, width(path), path.data, size.width, size.height,
                     axes.width, axes.height);
  const bool as_is = fixed && picture.width == size.width && picture.height == size.height;
  if (!as_is && picture.bytes() > kMostBytes && picture.bytes() / kMostGrowth > file.size)
    return tool.fail(kBadData,
                     "`%.*s`: %dx%d pixels in a file of %zu bytes are not unpacked here; make it smaller first",
                     width(path), path.data, picture.width, picture.height, file.size);
  if (!take_dims(tool, io, *array, path)) return false;
  if (!read_picture(tool, file, path, &picture) || !allocate(tool, array, path)) return false;
  store(options.width
            ? middle_of(tool,
                        resize(tool, picture, static_cast<int32_t>(whole.width), static_cast<int32_t>(whole.height)),
                        whole, size, axes.channels)
            : middle_of(tool, picture.pixels, whole, size, axes.channels),
        axes, options, array);
  return true;
}

}  // namespace rt::program
