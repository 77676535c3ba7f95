"""Runs models that cameo compiled to shared libraries; needs NumPy and nothing else.

    import cameo
    model = cameo.load("digits.so")
    probabilities = model(image)               # one array, or a tuple where the model has several outputs
    outputs = model.run({"image": image})      # a dict of arrays by name
    model = cameo.load("digits.so", device="cuda:1")
    model.run({"image": tensor}, out={"probabilities": other})  # tensors of that GPU (DLPack), in place

A sequence is a list of arrays, a map a dict of numbers, an optional what it holds or None; results are the same.

Arrays must have the declared element type and shape; a dim of None is known only at run time (`cameo build --dim
batch=1..32`): each run has the sizes of its inputs, within the bounds that model.inputs says. Lists and scalars are converted where no number changes. Results
are new arrays. bf16 travels as uint16, floats of 8 and 4 bits as uint8, which holds their codes, integers of 4 and 2 bits
as int8 and uint8; strings as arrays of objects, str or bytes in UTF-8, or of NumPy's own; arrays of ml_dtypes are taken as they are. Tensors are those of any library that speaks DLPack, on the CPU or on the model's
GPU, where they must be compact, and what was queued for them is waited for. A run has ended when it returns. A model may
be used by any number of threads. Every failure is a cameo.Error with one sentence.
"""
import _ctypes
import collections
import ctypes as c
import json
import os
import weakref

import numpy as np

__all__ = ["load", "Model", "Session", "Io", "Check", "Error"]

_ABI_MAJOR = 1
_CPU, _CUDA, _CUDA_HOST, _NONE, _TENSOR, _STRINGS = 1, 2, 3, 0, 1, 2
_SEQUENCE, _MAP, _OPTIONAL = 3, 4, 5
_NOTHING = object()  # what an optional holds that is returned; None: an output that is not
_LISTS = {_SEQUENCE: "sequence", _MAP: "map", _OPTIONAL: "optional"}
_DEVICES = {"auto": 0, "cpu": _CPU, "cuda": _CUDA}
_OK, _INVALID_ARGUMENT, _NOT_FOUND, _FAILED_PRECONDITION, _UNIMPLEMENTED, _MISMATCH, _TOO_SMALL = 0, 3, 5, 9, 12, 17, 18
_KINDS = {0: "int", 1: "uint", 2: "float", 5: "complex", 6: "bool"}  # DLPack's codes, of which 4 is bf16
_CODES = {10: "float8_e4m3fn", 11: "float8_e4m3fnuz", 12: "float8_e5m2", 13: "float8_e5m2fnuz", 14: "float8_e8m0fnu",
          17: "float4_e2m1fn"}  # and others of them, by their names in ml_dtypes


class Error(RuntimeError):
    """`code` is a cameo_status; `arg` the number of the input or output, `node` of the step, or -1."""

    def __init__(self, message, code=_INVALID_ARGUMENT, arg=-1, node=-1):
        super().__init__(message)
        self.code, self.arg, self.node = code, arg, node


class Io(collections.namedtuple("Io", "name dtype shape dim_min dim_max dim_names kind of",
                                defaults=((), (), (), "tensor", None))):
    """An input or output as the model declares it. A dim of None is known only at run time: it is dim_min to dim_max, of
    which the latter is None where it is open. A name is None where the model has none. Where the `kind` is a sequence, an
    optional or a map, `of` is the Io of its elements or values, whose shape is None where any will do, and `dtype` that
    of a map's keys."""

    def __str__(self):
        return "%s: %s" % (self.name, self.type)

    @property
    def type(self):
        if self.of:
            return "%s(%s%s)" % (self.kind, "%s, " % self.dtype if self.kind == "map" else "", self.of.type)
        if self.shape is None:
            return "%s[..]" % self.dtype
        return "%s[%s]" % (self.dtype, ", ".join(map(self._dim, range(len(self.shape)))))

    def _dim(self, d):
        if self.shape[d] is not None:
            return str(self.shape[d])
        if not self.dim_names:
            return "?"
        high = self.dim_max[d]
        return "%s=%d..%s" % (self.dim_names[d] or "?", self.dim_min[d], "" if high is None else high)


Check = collections.namedtuple("Check", "case output passed max_error tolerance")


# ---- the structures of cameo.h ---------------------------------------------------------------------------------------
class _Device(c.Structure):
    _fields_ = [("device_type", c.c_int32), ("device_id", c.c_int32)]


class _DType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class _Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", _Device), ("ndim", c.c_int32), ("dtype", _DType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class _Value(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("kind", c.c_uint32), ("tensor", _Tensor), ("items", c.c_void_p),
                ("count", c.c_int64), ("strings", c.POINTER(c.c_void_p)), ("lengths", c.POINTER(c.c_int64))]


class _Io(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("kind", c.c_uint32), ("name", c.c_char_p), ("dtype", _DType),
                ("ndim", c.c_int32), ("dims", c.POINTER(c.c_int64)), ("dim_min", c.POINTER(c.c_int64)),
                ("dim_max", c.POINTER(c.c_int64)), ("dim_names", c.POINTER(c.c_char_p)),
                ("run_dims", c.POINTER(c.c_int64)), ("run_dim_count", c.c_int32)]


class _Error(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("code", c.c_int32), ("node", c.c_int32), ("arg", c.c_int32),
                ("message", c.c_char * 496)]


class _Options(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("num_threads", c.c_int32), ("device", _Device), ("user", c.c_void_p),
                ("alloc", c.c_void_p), ("free", c.c_void_p), ("parallel_for", c.c_void_p),
                ("read_weights", c.c_void_p), ("log", c.c_void_p), ("weights_path", c.c_char_p)]


class _RunOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("reserved", c.c_uint32), ("flags", c.c_uint64), ("stream", c.c_void_p)]


class _Check(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("passed", c.c_int32), ("case_name", c.c_char_p), ("output", c.c_int32),
                ("reserved", c.c_int32), ("max_error", c.c_double), ("magnitude", c.c_double),
                ("tolerance", c.c_double), ("mismatches", c.c_uint64), ("worst_index", c.c_uint64),
                ("expected", c.c_double), ("got", c.c_double)]


_Status, _Handle, _Values, _ErrorPtr = c.c_int32, c.c_void_p, c.POINTER(_Value), c.POINTER(_Error)
_Report = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(_Check))


class _Plan(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("reserved", c.c_uint32), ("name", c.c_char_p), ("runs", c.c_uint64)]


class _Api(c.Structure):
    """The table as far as this module calls it; what is not called stands as a pointer."""
    _fields_ = [
        ("struct_size", c.c_uint32), ("abi_major", c.c_uint32), ("abi_minor", c.c_uint32), ("reserved", c.c_uint32),
        ("manifest", c.CFUNCTYPE(c.c_void_p, c.POINTER(c.c_size_t))),
        ("io_count", c.CFUNCTYPE(c.c_int32, c.c_int32)),
        ("io_get", c.CFUNCTYPE(_Status, c.c_int32, c.c_int32, c.POINTER(_Io))),
        ("options_init", c.CFUNCTYPE(None, c.POINTER(_Options))),
        ("model_create", c.CFUNCTYPE(_Status, c.POINTER(_Options), c.POINTER(_Handle), _ErrorPtr)),
        ("model_retain", c.c_void_p),
        ("model_release", c.CFUNCTYPE(None, _Handle)),
        ("context_create", c.CFUNCTYPE(_Status, _Handle, c.POINTER(_Handle), _ErrorPtr)),
        ("context_release", c.CFUNCTYPE(None, _Handle)),
        ("bind_state", c.CFUNCTYPE(_Status, _Handle, c.c_int32, c.c_int32, _ErrorPtr)),
        ("workspace_size", c.c_void_p),
        ("output_types", c.CFUNCTYPE(_Status, _Handle, _Values, c.c_int32, c.POINTER(_Io), c.c_int32, _ErrorPtr)),
        ("prepare", c.c_void_p),
        ("run", c.CFUNCTYPE(_Status, _Handle, _Values, c.c_int32, _Values, c.c_int32, c.POINTER(_RunOptions),
                            _ErrorPtr)),
        ("cancel", c.CFUNCTYPE(None, _Handle)),
        ("weights_get", c.c_void_p), ("weights_set", c.c_void_p), ("weights_commit", c.c_void_p),
        ("node_count", c.c_void_p), ("node_get", c.c_void_p), ("tap", c.c_void_p), ("profile", c.c_void_p),
        ("selftest", c.CFUNCTYPE(_Status, c.POINTER(_Options), _Report, c.c_void_p, _ErrorPtr)),
        ("status_string", c.c_void_p), ("synchronize", c.c_void_p), ("plan_count", c.CFUNCTYPE(c.c_int32)),
        ("plan_get", c.CFUNCTYPE(_Status, _Handle, c.c_int32, c.POINTER(_Plan))),
        ("reset_state", c.CFUNCTYPE(_Status, _Handle, _ErrorPtr)),
        ("io_element", c.CFUNCTYPE(_Status, c.c_int32, c.c_int32, c.c_int32, c.POINTER(_Io)))]


_BF16 = 4  # DLPack's code
_TEXT = 3  # no code of numbers: strings
_capsule_pointer = c.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


def _call(function, *arguments, allowed=(_OK,)):
    error = _Error(struct_size=c.sizeof(_Error))
    status = function(*arguments, c.byref(error))
    if status not in allowed:
        raise Error(_text(error.message), error.code, error.arg, error.node)
    return status


def _text(name):
    return name.decode("utf-8", "replace")


def _numpy_type(t):
    if (t.code, t.bits) == (_BF16, 16):
        return np.dtype(np.uint16)
    if t.code == 6:
        return np.dtype(np.bool_)
    if t.code in _CODES:
        return np.dtype(np.uint8)
    if t.code == _TEXT:
        return np.dtype(object)
    if t.code not in _KINDS:
        raise Error("the model has elements of DLPack code %d, which NumPy has no type for" % t.code, _UNIMPLEMENTED)
    return np.dtype("%s%d" % (_KINDS[t.code], max(t.bits, 8)))


def _packed(array, t):
    """A byte an element to what the model takes, in which several share one, the first of them in its lowest bits."""
    each = 8 // t.bits
    bits = np.zeros(-(-array.size // each) * each, np.uint8)
    bits[:array.size] = array.reshape(-1).view(np.uint8) & ((1 << t.bits) - 1)
    return np.bitwise_or.reduce(bits.reshape(-1, each) << np.arange(0, 8, t.bits, dtype=np.uint8), axis=1)


def _unpacked(tensor, t, dtype):
    shape = tuple(tensor.shape[:tensor.ndim])
    count = int(np.prod(shape, dtype=np.int64))
    size = -(-count * t.bits // 8)
    if size == 0:
        return np.empty(shape, dtype)
    data = np.frombuffer((c.c_uint8 * size).from_address(tensor.data + tensor.byte_offset), np.uint8)
    bits = (data[:, None] >> np.arange(0, 8, t.bits, dtype=np.uint8)).reshape(-1)[:count] & ((1 << t.bits) - 1)
    if t.code == 0:  # the sign fills the byte
        bits = (bits << (8 - t.bits)).view(np.int8) >> (8 - t.bits)
    return bits.astype(dtype).reshape(shape)


# ---- what users see --------------------------------------------------------------------------------------------------
def load(path, threads=0, device="auto", weights=None):
    """The model in a shared library that `cameo build MODEL -o x.so` wrote; threads=0 takes its default. `device` is
    "cpu", "cuda" (the first GPU), "cuda:1" .., or "auto": the first GPU if the library has code for it, else the CPU.
    `weights` is the file of a library that was built with `--weights=file`, where it is not beside the library."""
    return Model(path, threads, device, weights)


def _device(text):
    kind, colon, number = str(text).partition(":")
    if kind not in _DEVICES or bool(colon) != number.isdecimal() or (colon and kind != "cuda"):
        raise Error("there is no device `%s`; there are auto, cpu, cuda, cuda:1" % text)
    return _Device(_DEVICES[kind], int(number or 0))


def _when_gone(owner, release, *needed):
    """Calls release(*needed) once `owner` is gone, however it goes: what is needed is held until then, also where the
    owner is part of a cycle. So a context outlives no model, and a model no library, by construction. What is left when
    the process ends goes with it."""
    weakref.finalize(owner, release, *needed).atexit = False


class _Library:
    """A shared library that is loaded."""

    def __init__(self, path):
        try:
            library = c.CDLL(path)
        except (OSError, ValueError) as e:
            raise Error("cannot load the model: %s" % e, _NOT_FOUND) from None
        _when_gone(self, _ctypes.dlclose, library._handle)
        try:
            get = library.cameo_model_api
        except AttributeError:
            raise Error("`%s` is no compiled model: it has no `cameo_model_api`; `cameo build -o x.so` makes one" %
                        path) from None
        get.restype, get.argtypes = c.POINTER(_Api), [c.c_uint32]
        table = get(_ABI_MAJOR)
        if not table:
            raise Error("the model has another major version of the ABI than %d; build it anew" % _ABI_MAJOR,
                        _UNIMPLEMENTED)
        self.api = table.contents


def _release_model(library, model):
    library.api.model_release(model)


def _release_context(loaded, context):
    loaded.api.context_release(context)


class _Loaded:
    """A model of a library. Whoever uses it refers to this."""

    def __init__(self, path, threads, device, weights):
        device = _device(device)
        library = _Library(os.path.abspath(os.fspath(path)))
        self.api = library.api
        self.options = _Options(struct_size=c.sizeof(_Options), num_threads=threads, device=device,
                                weights_path=None if weights is None else os.fsencode(weights))
        self.model = _Handle()
        _call(self.api.model_create, c.byref(self.options), c.byref(self.model))
        _when_gone(self, _release_model, library, self.model)
        self.input_types, self.inputs = self._declared(0)
        self.output_types, self.outputs = self._declared(1)

    def _declared(self, is_output):
        types, ios = [], []
        for i in range(self.api.io_count(is_output)):
            io = _Io(struct_size=c.sizeof(_Io))
            self.api.io_get(is_output, i, c.byref(io))
            if io.kind in _LISTS:
                types.append(_List(self.api, is_output, i, io))
                ios.append(types[-1].io)
                continue
            shape, low, high = (tuple(None if d < 0 else d for d in dims[:io.ndim])
                                for dims in (io.dims, io.dim_min, io.dim_max))
            names = io.dim_names[:io.ndim] if io.dim_names else [None] * io.ndim
            types.append(io.dtype)
            ios.append(Io(_text(io.name), _numpy_type(io.dtype), shape, low, high,
                          tuple(name and _text(name) for name in names)))
        return types, ios


class _List:
    """What a sequence, an optional or a map holds. `io` says it to users; `of` is such a type, or DLPack's of tensors."""

    bits = 8  # its memory is the context's

    def __init__(self, api, is_output, index, io, depth=0):
        element = _Io(struct_size=c.sizeof(_Io))
        api.io_element(is_output, index, depth, c.byref(element))
        self.kind, self.key = io.kind, io.dtype
        if element.kind in _LISTS:
            self.of = _List(api, is_output, index, element, depth + 1)
            held = self.of.io
        else:
            shape = None if element.ndim < 0 else tuple(None if d < 0 else d for d in element.dims[:element.ndim])
            self.of, held = element.dtype, Io("", _numpy_type(element.dtype), shape)
        self.io = Io(_text(io.name or b""), _numpy_type(io.dtype) if io.kind == _MAP else None, (), kind=_LISTS[io.kind],
                     of=held)

    def fill(self, value, given, index, kept):
        """The value for what is given; what it points to is kept."""
        if self.kind == _MAP:
            if not hasattr(given, "items"):
                raise Error("input %d takes a dict" % index, arg=index)
            given, types = [list(given.keys()), list(given.values())], [self.key, self.of]
        else:
            if self.kind == _OPTIONAL:
                given = [] if given is None else [given]
            elif not hasattr(given, "__iter__"):
                raise Error("input %d takes a list" % index, arg=index)
            given = list(given)
            types = [self.of] * len(given)
        items = (_Value * max(len(given), 1))()
        for item, held, t in zip(items, given, types):
            item.struct_size = c.sizeof(_Value)
            if isinstance(t, _List):
                t.fill(item, held, index, kept)
            else:
                io = self.io.of if self.kind != _MAP else Io(self.io.name, _numpy_type(t), (len(held),))
                kept.append(_fill(item, _converted(held, io, t, index), t, None))
        kept.append(items)
        value.struct_size, value.kind = c.sizeof(_Value), self.kind
        value.items, value.count = c.addressof(items), len(given)

    def read(self, value, memory):
        items = (_Value * value.count).from_address(value.items) if value.count else ()
        if self.kind == _MAP:
            keys, values = (_read(v, _numpy_type(t), memory) for v, t in zip(items, (self.key, self.of)))
            return dict(zip(keys.tolist(), values.tolist()))
        held = [self.of.read(v, memory) if isinstance(self.of, _List) else _read(v, self.io.of.dtype, memory)
                for v in items]
        return held if self.kind == _SEQUENCE else held[0] if held else _NOTHING


class Model:
    """Code and weights of one library. `inputs` and `outputs` are lists of Io."""

    def __init__(self, path, threads=0, device="auto", weights=None):
        self._loaded = loaded = _Loaded(path, threads, device, weights)
        self._free = collections.deque()  # sessions that no call uses; append and pop are atomic
        self.inputs, self.outputs = loaded.inputs, loaded.outputs

    def run(self, inputs, out=None, stream=None, outputs=None):
        """A dict of arrays by input name to a dict of arrays by output name. Outputs in the dict `out` are written into
        those arrays; one whose size the run computes into the front of an array that has room for it, of which a view of
        its shape is returned. `stream` is the address of a CUDA stream to run on. Returned are the `outputs` of these names, and
        those in `out`; without names, all."""
        return self._borrow(lambda session: session.run(inputs, out, stream, outputs))

    def __call__(self, *arrays, **named):
        """Inputs in the model's order or by name; one array, or a tuple of arrays."""
        return self._borrow(lambda session: session(*arrays, **named))

    def session(self, state=None):
        """A context of its own. With state={output: input} an input that is left out reads what that output held after
        the run before (zeros at first), as large as it was. Such outputs stay in the session: run returns one only where
        `outputs` or `out` names it."""
        return Session(self._open(), state or {})

    def selftest(self):
        """Runs the embedded golden cases: a list of Check."""
        checks, loaded = [], self._open()

        def report(_, check):
            k = check.contents
            checks.append(Check(_text(k.case_name), self.outputs[k.output].name, bool(k.passed),
                                k.max_error, k.tolerance))

        _call(loaded.api.selftest, c.byref(loaded.options), _Report(report), None, allowed=(_OK, _MISMATCH))
        return checks

    @property
    def manifest(self):
        size = c.c_size_t()
        loaded = self._open()
        return json.loads(c.string_at(loaded.api.manifest(c.byref(size)), size.value))

    def close(self):
        """Frees the model; its library is unloaded once no run and no session uses it."""
        self._loaded = None
        self._free.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return "cameo.Model(%s -> %s)" % ("; ".join(map(str, self.inputs)), "; ".join(map(str, self.outputs)))

    def _open(self):
        loaded = self._loaded
        if loaded is None:
            raise Error("the model is closed", _FAILED_PRECONDITION)
        return loaded

    def _borrow(self, use):
        loaded = self._open()
        try:
            session = self._free.pop()
        except IndexError:
            session = Session(loaded, {})
        try:
            return use(session)
        finally:
            self._free.append(session)
            if self._loaded is None:  # closed during the run
                self._free.clear()


class _Context:
    """The memory of one run at a time. A run refers to it, so that closing its session meanwhile does no harm."""

    def __init__(self, loaded):
        self.loaded, self.handle = loaded, _Handle()
        _call(loaded.api.context_create, loaded.model, c.byref(self.handle))
        _when_gone(self, _release_context, loaded, self.handle)
        self.memory = _Memory(len(loaded.outputs))


class _Memory:
    """Of results: what no array uses any more is used again, for pages that are new cost more than filling them."""

    def __init__(self, most):
        self._free = collections.deque(maxlen=most)

    def empty(self, shape, dtype):
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if size < 1 << 17:  # which malloc keeps too
            return np.empty(shape, dtype)
        block = self._take(size)
        place = (c.c_byte * size).from_address(block.ctypes.data)
        _when_gone(place, self._free.append, block)  # by any thread
        return np.frombuffer(place, dtype).reshape(shape)

    def _take(self, size):
        for _ in range(len(self._free)):
            try:
                block = self._free.popleft()
            except IndexError:  # another thread was faster
                break
            if size <= block.nbytes <= 2 * size:
                return block
            self._free.append(block)
        return np.empty(size, np.uint8)


class Session:
    """One context of a model: one run at a time."""

    def __init__(self, loaded, state):
        self._context = context = _Context(loaded)
        self._bound, self._kept = set(), set()  # inputs, outputs
        for output, name in _named(state, loaded.outputs, "state").items():
            o, i = _index(loaded.outputs, output, "output"), _index(loaded.inputs, name, "input")
            _call(loaded.api.bind_state, context.handle, o, i)
            self._bound.add(i)
            self._kept.add(o)

    def reset_state(self):
        """The next run begins all states anew."""
        context = self._open()
        if context.loaded.api.abi_minor < 5:
            raise Error("the library is older than reset_state; build it anew, or open another session", _UNIMPLEMENTED)
        _call(context.loaded.api.reset_state, context.handle)

    def run(self, inputs, out=None, stream=None, outputs=None):
        model = self._open().loaded
        given, wanted = [None] * len(model.inputs), self._returned(outputs)
        for name, array in _named(inputs, model.inputs, "inputs").items():
            given[_index(model.inputs, name, "input")] = array
        for name, array in _named({} if out is None else out, model.outputs, "out").items():
            wanted[_index(model.outputs, name, "output")] = array
        results = self._run(given, wanted, stream)
        return {io.name: _given(array) for io, array in zip(model.outputs, results) if array is not None}

    def __call__(self, *arrays, **named):
        inputs = self._open().loaded.inputs
        if len(arrays) > len(inputs):
            raise Error("%d inputs given, the model has %d" % (len(arrays), len(inputs)))
        given = list(arrays) + [None] * (len(inputs) - len(arrays))
        for name, array in named.items():
            i = _index(inputs, name, "input")
            if i < len(arrays):
                raise Error("input `%s` is given twice" % name, arg=i)
            given[i] = array
        results = [_given(array) for array in self._run(given, self._returned(None)) if array is not None]
        return results[0] if len(results) == 1 else tuple(results)

    def runs_of_plans(self):
        """How many runs of this session each plan had, by the sizes that it was built for with `--bucket`, `seq=64`;
        the one for all others is ""."""
        context = self._open()
        api, plan, runs = context.loaded.api, _Plan(struct_size=c.sizeof(_Plan)), {}
        for i in range(api.plan_count() if api.abi_minor >= 4 else 0):
            api.plan_get(context.handle, i, c.byref(plan))
            runs[_text(plan.name)] = plan.runs
        return runs

    def close(self):
        self._context = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _open(self):
        context = self._context
        if context is None:
            raise Error("the session is closed", _FAILED_PRECONDITION)
        return context

    def _returned(self, names):
        """Whether each output is returned."""
        outputs = self._open().loaded.outputs
        if names is None:
            return [o not in self._kept for o in range(len(outputs))]
        numbers = {_index(outputs, name, "output") for name in names}
        return [o in numbers for o in range(len(outputs))]

    @staticmethod
    def _shapes(model, values_in, wanted):
        """Of each output, as far as it is known before the run; else None."""
        shapes = [None if io.of or None in io.shape else io.shape for io in model.outputs]
        asks = any(place is True and shape is None and not io.of
                   for place, shape, io in zip(wanted, shapes, model.outputs))
        if not asks or any(value.kind == _NONE for value in values_in):
            return shapes
        sizes = [(c.c_int64 * len(io.shape))(*[-1] * len(io.shape)) for io in model.outputs]
        types = (_Io * len(sizes))()
        for io, dims in zip(types, sizes):
            io.struct_size, io.run_dims, io.run_dim_count = c.sizeof(_Io), dims, len(dims)
        _call(model.api.output_types, model.model, values_in, len(values_in), types, len(types))
        return [shape or (None if io.of or -1 in dims[:] else tuple(dims))
                for shape, dims, io in zip(shapes, sizes, model.outputs)]

    def _run(self, given, wanted, stream=None):
        """`wanted`: for each output an array to write into, or whether it is returned. What is not is None."""
        context = self._open()
        model = context.loaded
        values_in, values_out = (_Value * len(given))(), (_Value * len(model.outputs))()
        kept = []
        for i, (io, array) in enumerate(zip(model.inputs, given)):
            values_in[i].struct_size, values_in[i].kind = c.sizeof(_Value), _NONE
            if array is None and i in self._bound:
                continue
            if io.of and (array is not None or io.kind == "optional"):
                model.input_types[i].fill(values_in[i], array, i, kept)
                continue
            if array is None:
                missing = [m.name for m, a in zip(model.inputs, given) if a is None]
                raise Error("no value for input `%s`" % "`, `".join(missing), arg=i)
            if not _is_on_gpu(array):
                array = _converted(array, io, model.input_types[i], i)
            kept.append(_fill(values_in[i], array, model.input_types[i], stream))
        shapes = self._shapes(model, values_in, wanted)
        results = [None if isinstance(place, bool) else place for place in wanted]
        for io, array in zip(model.outputs, results):
            if io.of and array is not None:
                raise Error("output `%s` is %s, which is not written into memory of yours" % (io.name, io.type))
        for i, (io, array) in enumerate(zip(model.outputs, results)):
            if model.output_types[i].bits < 8:  # the context's own, which is unpacked
                if array is not None and not _is_on_gpu(array):
                    _place(array, io, model.output_types[i], i)
                    array = None
            elif io.dtype == object:  # of the context's heap, which is copied
                pass
            elif wanted[i] is True and shapes[i] is not None:
                array = results[i] = context.memory.empty(shapes[i], io.dtype)
            if array is not None and io.dtype != object:
                array = array if _is_on_gpu(array) else _place(array, io, model.output_types[i], i)
                kept.append(_fill(values_out[i], array, model.output_types[i], stream))
                values_out[i].count = int(np.prod(values_out[i].tensor.shape[:values_out[i].tensor.ndim], dtype=np.int64))
            else:
                is_wanted = wanted[i] is not False
                kind = model.output_types[i].kind if io.of else _STRINGS if io.dtype == object else _TENSOR
                values_out[i].struct_size, values_out[i].kind = c.sizeof(_Value), kind if is_wanted else _NONE
        options = _RunOptions(struct_size=c.sizeof(_RunOptions), stream=stream)
        _call(model.api.run, context.handle, values_in, len(given), values_out, len(results), c.byref(options))
        for i, (io, array) in enumerate(zip(model.outputs, results)):
            tensor, t = values_out[i].tensor, model.output_types[i]
            if io.of:
                results[i] = t.read(values_out[i], context.memory) if wanted[i] is True else None
            elif io.dtype == object and wanted[i] is not False:
                texts = _texts(values_out[i])
                if array is None:
                    results[i] = texts
                else:
                    _place(array, io, t, i)[...] = texts
            elif wanted[i] is True and array is None:
                results[i] = _unpacked(tensor, t, io.dtype) if t.bits < 8 else _copy(tensor, io.dtype, context.memory)
            elif array is not None:
                results[i] = _front(array, tuple(tensor.shape[:tensor.ndim]), io, i)
                if t.bits < 8 and not _is_on_gpu(array):
                    results[i][...] = _unpacked(tensor, t, io.dtype)
        return results


def _given(result):
    return None if result is _NOTHING else result


def _named(given, ios, what):
    """A dict by name, of one or of a list in the model's order."""
    if isinstance(given, (list, tuple)):
        if len(given) != len(ios):
            raise Error("`%s` lists %d values, the model has %d" % (what, len(given), len(ios)))
        return {io.name: value for io, value in zip(ios, given)}
    if not hasattr(given, "items"):
        raise Error("`%s` is of type %s; it takes a dict by name, or a list in the model's order" %
                    (what, type(given).__name__))
    return given


def _index(ios, name, what):
    for i, io in enumerate(ios):
        if io.name == name:
            return i
    raise Error("there is no %s `%s`; the model has %s" % (what, name, ", ".join("`%s`" % io.name for io in ios)),
                _NOT_FOUND)


def _converted(array, io, dtype, index):
    """A compact array of the declared type and shape. Arrays keep their type, so a wrong one is the caller's error."""
    try:
        if io.dtype == object:
            return _strings(array, io, index)
        typed = hasattr(array, "dtype")
        array = _on_cpu(array, dtype) if typed else _from_numbers(array, io, dtype)
    except Error:
        raise
    except Exception as e:  # of any library
        raise Error("input `%s`: %s" % (io.name, e), arg=index) from None
    if array.dtype.name == "bfloat16" and dtype.code == _BF16:
        array = array.view(np.uint16)
    if array.dtype.name == _CODES.get(dtype.code):
        array = array.view(np.uint8)
    if dtype.bits < 8 and array.dtype.name == "%s%d" % (_KINDS.get(dtype.code), dtype.bits):
        array = array.astype(io.dtype)
    if array.dtype.newbyteorder("=") != io.dtype:
        raise Error("input `%s` has elements of %s, the model declares %s; convert it with .astype(\"%s\")" %
                    (io.name, array.dtype, io.dtype, io.dtype), arg=index)
    if dtype.bits < 8:
        low = -(1 << dtype.bits >> 1) if dtype.code == 0 else 0
        if array.size and not low <= int(array.min()) <= int(array.max()) < low + (1 << dtype.bits):
            raise Error("input `%s` holds numbers that %d bits do not" % (io.name, dtype.bits), arg=index)
    if not _has_shape(array, io):
        raise Error("input `%s` has the shape %s, the model declares %s" % (io.name, array.shape, io.shape), arg=index)
    return np.require(array, io.dtype, ["C", "A"])


def _strings(array, io, index):
    """As bytes in UTF-8, each an object."""
    given = np.asarray(array, object)
    if not _has_shape(given, io):
        raise Error("input `%s` has the shape %s, the model declares %s" % (io.name, given.shape, io.shape), arg=index)
    made = np.empty(given.shape, object)
    for i, text in enumerate(given.flat):
        if not isinstance(text, (str, bytes)):
            raise Error("input `%s` has an element of type %s; it takes str, or bytes in UTF-8" %
                        (io.name, type(text).__name__), arg=index)
        made.flat[i] = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)
    return made


def _texts(value):
    texts = np.empty(tuple(value.tensor.shape[:value.tensor.ndim]), object)
    for i in range(texts.size):
        text = c.string_at(value.strings[i], value.lengths[i]) if value.lengths[i] else b""
        texts.flat[i] = text.decode("utf-8", "surrogateescape")
    return texts


def _has_shape(array, io):
    return io.shape is None or len(array.shape) == len(io.shape) and all(d is None or d == n for d, n in zip(io.shape, array.shape))


def _from_numbers(given, io, dtype):
    """What a list or a scalar holds, in the declared type; floats are rounded, else no number changes."""
    array = np.asarray(given)
    if array.dtype.kind not in ("biufc" if io.dtype.kind == "c" else "biuf"):
        raise ValueError("what is given are no numbers in rows of one length")
    if dtype.code in _CODES:
        raise ValueError("give an array of ml_dtypes.%s, or of uint8 with its codes" % _CODES[dtype.code])
    if dtype.code == _BF16:  # to nearest even
        bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
        rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16
        return np.where(np.isnan(array), 0x7fc0, rounded).astype(np.uint16)
    if io.dtype.kind in "iu" and array.dtype.kind == "f":  # as NumPy has integers beside floats, and rounds them
        array = np.asarray(given, object)
    try:
        with np.errstate(all="ignore"):
            made = array.astype(io.dtype)
    except (ValueError, OverflowError):
        made = None
    if made is None or (io.dtype.kind not in "fc" and not np.array_equal(made, array)):
        raise ValueError("it holds numbers that %s has not" % io.dtype)
    return made


def _dlpack_device(array):
    return array.__dlpack_device__()[0] if hasattr(array, "__dlpack_device__") else None


def _is_on_gpu(array):
    return _dlpack_device(array) == _CUDA


def _on_cpu(array, declared):
    """As an array of NumPy's, over the same memory where that is possible."""
    if isinstance(array, np.ndarray) or _dlpack_device(array) is None:
        return np.asarray(array)
    if _dlpack_device(array) not in (_CPU, _CUDA_HOST):
        raise ValueError("it is on DLPack device type %d; the CPU (1) and CUDA (2) are read" % _dlpack_device(array))
    if getattr(array, "requires_grad", False):
        array = array.detach()
    capsule = array.__dlpack__()
    tensor = c.cast(_capsule_pointer(capsule, b"dltensor"), c.POINTER(_Tensor)).contents
    if (tensor.dtype.code == _BF16) != (declared.code == _BF16):
        raise ValueError("it has elements of DLPack code %d, the model declares %d" % (tensor.dtype.code, declared.code))
    dtype, dims = _numpy_type(tensor.dtype), tensor.shape[:tensor.ndim]
    if 0 in dims:
        return np.empty(dims, dtype)
    memory = (c.c_byte * dtype.itemsize).from_address(tensor.data + tensor.byte_offset)
    memory.kept = capsule  # with the array, which refers to its memory
    strides = [n * dtype.itemsize for n in tensor.strides[:tensor.ndim]] if tensor.strides else None
    return np.lib.stride_tricks.as_strided(np.frombuffer(memory, dtype), dims, strides or _compact(dims, dtype))


def _compact(dims, dtype):
    strides, step = [], dtype.itemsize
    for dim in reversed(dims):
        strides.insert(0, step)
        step *= dim
    return strides


def _place(array, io, dtype, index):
    """Where an output is written, as an array of NumPy's."""
    try:
        place = array if isinstance(array, np.ndarray) else _on_cpu(array, dtype) if _dlpack_device(array) else None
    except Exception as e:  # of any library
        raise Error("output `%s`: %s" % (io.name, e), arg=index) from None
    if place is None or place.dtype != io.dtype or not _has_shape(place, io):
        raise Error("output `%s` cannot be written into %s; it takes an array of %s" %
                    (io.name, getattr(array, "dtype", type(array).__name__), io.type), arg=index)
    if not (place.flags.c_contiguous and place.flags.writeable and place.flags.aligned):
        raise Error("output `%s` is not contiguous, or cannot be written" % io.name, arg=index)
    return place


def _front(array, shape, io, index):
    """What came out into the array: all of it, or so many elements in front as the run computed."""
    if tuple(getattr(array, "shape", shape)) == shape:
        return array
    count = int(np.prod(shape, dtype=np.int64))
    room = int(np.prod(array.shape, dtype=np.int64))
    if count > room:
        raise Error("output %d `%s` has %d elements in this run, there is room for %d" % (index, io.name, count, room),
                    _TOO_SMALL, index)
    return array.reshape(-1)[:count].reshape(shape)


def _fill(value, array, dtype, stream):
    """What must live as long as the value."""
    value.struct_size, value.kind = c.sizeof(_Value), _STRINGS if dtype.code == _TEXT else _TENSOR
    if dtype.code == _TEXT:
        texts = (c.c_char_p * max(array.size, 1))(*array.flat)
        lengths = (c.c_int64 * max(array.size, 1))(*map(len, array.flat))
        shape = (c.c_int64 * max(array.ndim, 1))(*array.shape)
        value.strings, value.lengths = c.cast(texts, c.POINTER(c.c_void_p)), lengths
        value.tensor = _Tensor(None, _Device(_CPU, 0), array.ndim, dtype, shape, None, 0)
        return texts, lengths, shape, array
    if _is_on_gpu(array):  # 1 is the default stream, which the context's own is in order with
        capsule = array.__dlpack__(stream=stream or 1)
        value.tensor = c.cast(_capsule_pointer(capsule, b"dltensor"), c.POINTER(_Tensor)).contents
        return capsule, array
    shape, dims = (c.c_int64 * max(array.ndim, 1))(*array.shape), array.ndim
    if dtype.bits < 8:
        array = _packed(array, dtype)
    value.tensor = _Tensor(array.ctypes.data, _Device(_CPU, 0), dims, dtype, shape, None, 0)
    return shape, array


def _read(value, dtype, memory):
    return _texts(value) if dtype == object else _copy(value.tensor, dtype, memory)


def _copy(tensor, dtype, memory):
    array = memory.empty(tuple(tensor.shape[:tensor.ndim]), dtype)
    if array.nbytes:
        c.memmove(array.ctypes.data, tensor.data + tensor.byte_offset, array.nbytes)
    return array
