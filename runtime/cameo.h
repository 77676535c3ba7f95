/* The C ABI of every compiled model: C99, append-only within a major version, no globals, nothing to free but handles.
 * Get the table with `<name>_api(CAMEO_ABI_MAJOR)`, or `cameo_model_api(CAMEO_ABI_MAJOR)` through dlsym on a `.so`.
 * Every structure that a caller passes begins with `struct_size = sizeof(it)`: a newer library then knows what an older
 * caller did not fill. Strings that the table returns live as long as the library is loaded. */
#ifndef CAMEO_H
#define CAMEO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAMEO_ABI_MAJOR 1u
#define CAMEO_ABI_MINOR 7u

/* Status numbers never change; those up to 16 are gRPC's and Abseil's. */
typedef int32_t cameo_status;
enum {
  CAMEO_OK = 0,
  CAMEO_CANCELLED = 1,           /* `cancel` stopped the run */
  CAMEO_INVALID_ARGUMENT = 3,    /* a null pointer, a wrong rank, size, type, device ... */
  CAMEO_NOT_FOUND = 5,           /* no such input, output, node, weight or golden case */
  CAMEO_OUT_OF_MEMORY = 8,       /* the allocator returned null, or threads could not be started */
  CAMEO_FAILED_PRECONDITION = 9, /* a context in use by another run, strides that `prepare` has not seen ... */
  CAMEO_OUT_OF_RANGE = 11,       /* data asked for something outside a tensor; `node` names the ONNX node */
  CAMEO_UNIMPLEMENTED = 12,      /* in the table from the first day, not in this library */
  CAMEO_INTERNAL = 13,           /* our bug, or a GPU or its driver failed: the message has the driver's words */
  CAMEO_UNAVAILABLE = 14,        /* no code in the library fits this processor or device */
  CAMEO_DATA_LOSS = 15,          /* weights could not be read */
  CAMEO_MISMATCH = 17,           /* `selftest`: an output is outside its tolerance */
  CAMEO_TOO_SMALL = 18           /* `run`: an output does not fit the caller's memory; its shape says what it needs */
};

typedef struct cameo_model cameo_model;     /* code and weights: immutable, shared by any number of threads */
typedef struct cameo_context cameo_context; /* the memory of one run at a time; any number for a model */

/* DLPack's DLDevice, DLDataType and DLTensor, layout for layout. */
typedef struct cameo_device {
  int32_t device_type; /* CAMEO_CPU, CAMEO_CUDA */
  int32_t device_id;
} cameo_device;

typedef struct cameo_dtype {
  /* 0 signed, 1 unsigned, 2 float, 3 strings (64 bits; only said of inputs and outputs), 4 bfloat, 5 complex (two
   * floats of half the bits), 6 bool; 10 float8 e4m3fn, 11 e4m3fnuz, 12 e5m2, 13 e5m2fnuz, 14 e8m0, 17 float4 e2m1 */
  uint8_t code;
  uint8_t
      bits; /* 4 and 2: elements share bytes, the first one in the lowest bits, and rows begin in the middle of one */
  uint16_t lanes; /* 1 */
} cameo_dtype;

typedef struct cameo_tensor {
  void* data; /* element-aligned, on a GPU to 16 bytes, after byte_offset; null is fine where there are no elements */
  cameo_device device;
  int32_t ndim;
  cameo_dtype dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; null: compact, row by row */
  uint64_t byte_offset;
} cameo_tensor;

enum {
  CAMEO_AUTO = 0, /* in options: what the library has code for, and a GPU (number device_id) before the CPU */
  CAMEO_CPU = 1,
  CAMEO_CUDA = 2
};
enum {
  CAMEO_KIND_NONE = 0, /* input: a bound state keeps what it holds. output: not wanted */
  CAMEO_KIND_TENSOR = 1,
  CAMEO_KIND_STRINGS = 2,
  CAMEO_KIND_SEQUENCE = 3,
  CAMEO_KIND_MAP = 4,
  CAMEO_KIND_OPTIONAL = 5
};

/* What goes in and comes out. An output whose tensor.data is null is owned by the context: `run` fills the tensor in,
 * and it is valid until the next run, prepare or release of that context; it is on the CPU unless tensor.device asks
 * for the model's GPU. In an array all struct_size are equal.
 * Since minor version 7, an output whose size only a run computes may have memory of the caller's too: `count` says for
 * how many elements there is room, strides are null, and `run` sets ndim and shape, which point to memory of the
 * context's, to what came out, compact. If that is more than `count`, the run ends with CAMEO_TOO_SMALL, and shape says
 * what there must be room for. */
typedef struct cameo_value {
  uint32_t struct_size;
  uint32_t kind;
  cameo_tensor tensor;
  /* Sequence: its elements. Map: keys, then values, one tensor of one axis each. Optional: none or one. An output of
   * these kinds is the context's, with all that it holds: `run` sets items and count. Of an output's tensor see above.
   */
  const struct cameo_value* items;
  int64_t count;
  const char* const* strings; /* of a string tensor, `lengths` bytes each, UTF-8; an output's last as its tensor does */
  const int64_t* lengths;
} cameo_value;

/* An input or output as the model declares it. */
typedef struct cameo_io {
  uint32_t struct_size;
  uint32_t kind;
  const char* name;
  cameo_dtype dtype;
  int32_t ndim;
  const int64_t* dims;    /* -1: known only at run time */
  const int64_t* dim_min; /* bounds of each dim; equal to dims where it is fixed; dim_max -1: open */
  const int64_t* dim_max;
  const char* const* dim_names; /* null, or a null entry, where the model names none */

  /* Since minor version 2. For `output_types`: the caller's memory for that many sizes, or null. */
  int64_t* run_dims;
  int32_t run_dim_count;
} cameo_io;

/* The caller owns it, message included. `node` and `arg` are -1 where the error has none. */
typedef struct cameo_error {
  uint32_t struct_size;
  cameo_status code;
  int32_t node; /* index for node_get */
  int32_t arg;  /* number of the input or output */
  char message[496];
} cameo_error;

/* Callbacks may be null: then the library does it itself; alloc and free are given both or none. All must be callable
 * from any thread. */
typedef struct cameo_options {
  uint32_t struct_size;
  int32_t num_threads; /* 0: what the model was built for, else as many as this process may use */
  cameo_device device;
  void* user; /* first argument of every callback */
  /* The CPU's memory; a GPU's is its driver's. */
  void* (*alloc)(void* user, size_t bytes, size_t alignment, cameo_device device);
  void (*free)(void* user, void* memory, size_t bytes, size_t alignment, cameo_device device);
  /* Calls body(arg, i) once for each i in [0, count), in any order, on any threads, and returns when all have returned.
   */
  void (*parallel_for)(void* user, int32_t count, void (*body)(void* arg, int32_t i), void* arg);
  /* Weights that are not in the library (`--weights=file`), from `offset` bytes behind the first one on; in the file
   * that begins at byte 4096. 0 means that all bytes were read; they are compared with what the library was built with.
   * Null: the library maps the file, read-only and shared with all that map it. */
  int32_t (*read_weights)(void* user, uint64_t offset, void* to, size_t bytes);
  void (*log)(void* user, int32_t level, const char* message); /* 0 note, 1 warning */

  /* Since minor version 3. The file of the weights that are not in the library, read during the call alone; null: the
   * one that was written with the library, in the same place beside it. */
  const char* weights_path;
} cameo_options;

enum {
  /* On a GPU: `run` returns when all is queued. What inputs and outputs of the GPU hold is then a matter of the stream;
   * no output may be the CPU's. What fails is answered by the next call that waits: `synchronize`, or `run`, which then
   * does nothing else. On the CPU it does nothing. */
  CAMEO_RUN_ASYNC = 1
};

typedef struct cameo_run_options {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t flags; /* CAMEO_RUN_ASYNC; others are refused */
  void* stream;   /* CUDA: the caller's stream, of the GPU's primary context; null: the context's own */
} cameo_run_options;

/* One step of the compiled model and the ONNX nodes it computes. */
typedef struct cameo_node {
  uint32_t struct_size;
  int32_t name_count;
  const char* const* names; /* of ONNX nodes */
  const char* kernel;       /* the step's own name */
  uint64_t flops;           /* of one execution; 0: not known */
  uint64_t bytes;           /* read and written by one execution; 0: not known */
} cameo_node;

/* An intermediate value, compact, as a tap sees it; valid during the call. */
typedef struct cameo_tap {
  uint32_t struct_size;
  int32_t node;
  const char* name; /* of the ONNX value */
  const cameo_tensor* tensor;
} cameo_tap;

/* One output of one golden case, compared. Integers must be equal; floats may differ by `tolerance`. */
typedef struct cameo_check {
  uint32_t struct_size;
  int32_t passed;
  const char* case_name;
  int32_t output;
  int32_t reserved;
  double max_error;     /* largest absolute difference; infinite where only one side is NaN or infinite */
  double magnitude;     /* largest finite absolute value that was expected */
  double tolerance;     /* absolute; what was used */
  uint64_t mismatches;  /* elements outside it */
  uint64_t worst_index; /* of the largest difference, in row-major order */
  double expected, got; /* there */
} cameo_check;

/* One of the ways in which the model computes. Since minor version 4. */
typedef struct cameo_plan {
  uint32_t struct_size;
  uint32_t reserved;
  const char* name; /* the sizes that it was made for, `batch=1, seq=64`; of the one for all others "" */
  uint64_t runs;    /* of the context, that ended well */
} cameo_plan;

typedef struct cameo_api {
  uint32_t struct_size;
  uint32_t abi_major, abi_minor;
  uint32_t reserved;

  /* Any thread, valid before a model is created. */
  const char* (*manifest)(size_t* bytes); /* JSON; bytes may be null */
  int32_t (*io_count)(int32_t is_output);
  cameo_status (*io_get)(int32_t is_output, int32_t index, cameo_io* io);
  void (*options_init)(cameo_options* options); /* set struct_size first; fills the rest with defaults */

  /* options and error may be null everywhere. A handle is written only on CAMEO_OK, and released once for each create
   * and retain; after that it must not be used, and releasing null does nothing. A context in a run must not be
   * released. After the last release of a model and its contexts nothing of the library is running: dlclose is legal.
   */
  cameo_status (*model_create)(const cameo_options* options, cameo_model** model, cameo_error* error);
  void (*model_retain)(cameo_model* model);
  void (*model_release)(cameo_model* model);
  cameo_status (*context_create)(cameo_model* model, cameo_context** context,
                                 cameo_error* error); /* retains the model */
  void (*context_release)(cameo_context* context);

  /* From the next run on, what `output` held is what `input` reads where it is given as CAMEO_KIND_NONE; an input that
   * is given as a tensor sets the state anew. Types of both must agree, and dims where both are fixed. A size known
   * only at run time is as large as the run before left it: a cache of `past` steps that comes out with `past + 1`
   * grows with every run, until one would exceed the bounds of the input; that run fails, and the state stays as it
   * was. A state begins with zeros, and with those sizes that the inputs of its first run ask for, or the least. */
  cameo_status (*bind_state)(cameo_context* context, int32_t output, int32_t input, cameo_error* error);

  /* Any thread; nothing runs, and of `in` only kinds and shapes are read, and elements that decide shapes. `in` may be
   * null (with 0) where all sizes are fixed; elsewhere workspace_size wants it only where a size has no upper bound,
   * and is the same for all sizes if all have one. `out` is filled as io_get does it; with `in`, an output that has a
   * size known only at run time and `run_dims` gets its sizes in a run with `in` there, and dims, dim_min and dim_max
   * point to them. */
  cameo_status (*workspace_size)(const cameo_model* model, const cameo_value* in, int32_t in_count, size_t* bytes,
                                 size_t* alignment, cameo_error* error);
  cameo_status (*output_types)(const cameo_model* model, const cameo_value* in, int32_t in_count, cameo_io* out,
                               int32_t out_count, cameo_error* error);

  /* Checks the inputs and allocates what runs with values of these sizes and strides need: a run allocates nothing. Not
   * needed where every input is compact and every size has an upper bound. A run of sizes without one, larger than any
   * before, allocates if this did not. */
  cameo_status (*prepare)(cameo_context* context, const cameo_value* in, int32_t in_count, cameo_error* error);

  /* One caller at a time for a context. Inputs and outputs may not overlap. After a failure the outputs hold anything.
   */
  cameo_status (*run)(cameo_context* context, const cameo_value* in, int32_t in_count, cameo_value* out,
                      int32_t out_count, const cameo_run_options* options, cameo_error* error);
  void (*cancel)(cameo_context* context); /* any thread: the run in progress stops at the next step; else nothing */

  cameo_status (*weights_get)(const cameo_model* model, const char* name, cameo_tensor* tensor, cameo_error* error);
  cameo_status (*weights_set)(cameo_model* model, const char* name, const cameo_tensor* tensor, cameo_error* error);
  cameo_status (*weights_commit)(cameo_model* model, cameo_error* error);

  int32_t (*node_count)(void);
  cameo_status (*node_get)(int32_t index, cameo_node* node);
  /* `callback` sees every intermediate value that has a name, on the running thread; null ends that. Allocates. */
  cameo_status (*tap)(cameo_context* context, void (*callback)(void* user, const cameo_tap* value), void* user,
                      cameo_error* error);
  /* Every run adds each node's time to nanoseconds[node]; the array is the caller's; null ends that. `count` is
     node_count(), or twice that: then nanoseconds[node_count() + node] counts the node's executions. */
  cameo_status (*profile)(cameo_context* context, uint64_t* nanoseconds, int32_t count, cameo_error* error);

  /* Runs the embedded golden cases; CAMEO_MISMATCH if one fails, CAMEO_NOT_FOUND if there is none. */
  cameo_status (*selftest)(const cameo_options* options, void (*report)(void* user, const cameo_check* check),
                           void* user, cameo_error* error);
  const char* (*status_string)(cameo_status status);

  /* Since minor version 1. */
  /* Waits for the run that CAMEO_RUN_ASYNC left queued, if there is one, and answers what became of it. */
  cameo_status (*synchronize)(cameo_context* context, cameo_error* error);

  /* Since minor version 4. */
  /* Any thread. Plan 0 takes all sizes, the others those that the library was built for with `--bucket`, which they
   * take exactly: no run is padded. `context` may be null; else `runs` says how often it took which plan. */
  int32_t (*plan_count)(void);
  cameo_status (*plan_get)(const cameo_context* context, int32_t index, cameo_plan* plan);

  /* Since minor version 5. */
  /* The next run begins all states of the context anew, as the first one did. They stay bound. */
  cameo_status (*reset_state)(cameo_context* context, cameo_error* error);

  /* Since minor version 6. */
  /* Any thread. What the elements of a sequence or of an optional are, and the values of a map; of those that are such
   * themselves their elements at depth 1, and so on. `ndim` -1: of any rank. Of a map that `io_get` or this describes
   * `dtype` is that of its keys. */
  cameo_status (*io_element)(int32_t is_output, int32_t index, int32_t depth, cameo_io* io);
} cameo_api;

typedef const cameo_api* (*cameo_get_api)(uint32_t abi_major); /* null: another major version */

#ifdef __cplusplus
}
#endif
#endif /* CAMEO_H */
