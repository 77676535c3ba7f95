// Sizes that only a run knows (Symbol): how inputs give them, the dims that follow, and the memory that they ask for.
#pragma once

#include "runtime/model.h"

namespace rt {

/// Where the size of dim `d` stands in a table of sizes; -1: it is a number.
inline int32_t size_place(const Io& io, int32_t d) { return io.dim_sizes ? io.dim_sizes[d] : -1; }
/// Whether one that a run gives stands there, not one that is computed of those.
inline bool is_symbol(const Program& program, int32_t place) {
  return place >= 0 && place < static_cast<int32_t>(program.symbol_count);
}
inline int64_t dim_of(const Io& io, int32_t d, const int64_t* table) {
  const int32_t place = size_place(io, d);
  return place < 0 ? io.dims[d] : table[place];
}
inline bool has_sizes(const Io& io) {
  for (int32_t d = 0; d < io.rank; ++d)
    if (size_place(io, d) >= 0) return true;
  return false;
}
bool lacks_bound(const Io& io);
inline bool is_open(const Io& io) {  // a dim has no upper bound
  return __builtin_expect(io.dim_sizes != nullptr, 0) && lacks_bound(io);
}
uint64_t most_bytes(const Io& io);  // of one that is not open

/// What a run has just learned: the symbols at these places; or before it, nothing yet.
struct Learned {
  uint32_t from = 0, to = 0;
  bool decides(uint32_t learned) const { return to ? learned > from && learned <= to : learned == 0; }
};

/// What only programs with sizes ask for: Program::sizing of the others is null.
struct Sizing {
  /// Fills `table`, Program::size_count long, from the shapes of the inputs, and checks all that depends on them. An
  /// input whose dims are numbers is not looked at.
  cameo_status (*find)(const cameo_model& model, const cameo_value* in, int64_t* table, cameo_error* error);
  /// What stands behind the symbols, and whether tensors may be as large as it makes them; checked is what `news`
  /// decides.
  cameo_status (*compute)(const Program& program, int64_t* table, cameo_error* error, Learned news);

  /// The context's table, the dims of its inputs and outputs, and the plan for them. An input of CAMEO_KIND_NONE is a
  /// state that is yet to begin: its dims are what the others say, and the lowest where they say nothing.
  cameo_status (*fit)(cameo_context* context, const cameo_value* in, cameo_error* error);
  cameo_status (*fit_to_symbols)(cameo_context* context, const int64_t* symbols, cameo_error* error);
  /// All that follows from what a run has learned, and memory for it.
  cameo_status (*fit_learned)(cameo_context* context, Learned news, cameo_error* error);
  /// A Sizes row. A fault of the run, kSizeFault, where what it learns does not fit.
  void (*learn)(cameo_context* context, const Row& row);

  /// Memory for the sizes that the context has been fitted to: kept, and anew where it is too small.
  cameo_status (*reserve_output)(cameo_context* context, int32_t index, cameo_error* error);  // an open one
  cameo_status (*reserve_blocks)(cameo_context* context, cameo_error* error, Learned news);
  /// The same for outputs and blocks of a context that is yet to be created; `bounded` where no run makes them grow.
  bool (*is_bounded)(const cameo_model& model);
  uint64_t (*grown_bytes)(const cameo_model& model, const int64_t* table);
};

/// A table of sizes for one call, if that `asks` for them.
class SizeTable {
 public:
  SizeTable(const cameo_model& model, bool asks);
  SizeTable(const SizeTable&) = delete;
  ~SizeTable();
  cameo_status find(const cameo_value* in, int32_t count, cameo_error* error) const;
  const int64_t* get() const { return table_; }

 private:
  uint64_t bytes() const { return model_.program->size_count * sizeof(int64_t); }

  const cameo_model& model_;
  int64_t* table_;
};

}  // namespace rt
