"""An artifact through its C ABI, on raw addresses: what tests on a GPU need besides cameo.py, whose structures it uses."""
import ctypes as c
import math
import os

import cameo

CPU, CUDA = 1, 2


class Artifact:
    """A library on one device; it never falls back to another one."""

    def __init__(self, path, device=CUDA):
        self.library = c.CDLL(os.path.abspath(path))
        get = self.library.cameo_model_api
        get.restype, get.argtypes = c.POINTER(cameo._Api), [c.c_uint32]
        self.api = get(cameo._ABI_MAJOR).contents
        self.options = cameo._Options(struct_size=c.sizeof(cameo._Options), device=cameo._Device(device, 0))
        self.inputs, self.outputs = self._declared(0), self._declared(1)

    def _declared(self, is_output):
        ios = [cameo._Io(struct_size=c.sizeof(cameo._Io)) for _ in range(self.api.io_count(is_output))]
        for i, io in enumerate(ios):
            self.api.io_get(is_output, i, c.byref(io))
        return ios

    def selftest(self):
        """Runs the embedded golden cases: a dict for each output. A cameo.Error is no wrong result, but a failure."""
        checks = []

        def report(_, check):
            checks.append({name: _plain(getattr(check.contents, name)) for name, *_ in cameo._Check._fields_[1:]})

        cameo._call(self.api.selftest, c.byref(self.options), cameo._Report(report), None,
                    allowed=(cameo._OK, cameo._MISMATCH))
        return checks


class Session:
    """A model and a context, and a run on memory that stays where it is: addresses, all on the device `where`."""

    def __init__(self, artifact, inputs, outputs, where):
        self.api, self.model, self.context = artifact.api, c.c_void_p(), c.c_void_p()
        cameo._call(self.api.model_create, c.byref(artifact.options), c.byref(self.model))
        cameo._call(self.api.context_create, self.model, c.byref(self.context))
        self.values = [(cameo._Value * max(len(ios), 1))(*(_value(io, address, where) for io, address in zip(ios, addresses)))
                       for ios, addresses in ((artifact.inputs, inputs), (artifact.outputs, outputs))]
        self.arguments = self.context, self.values[0], len(inputs), self.values[1], len(outputs), None

    def run(self):
        """Returns when the outputs are written."""
        cameo._call(self.api.run, *self.arguments)

    def close(self):
        self.api.context_release(self.context)
        self.api.model_release(self.model)


def _plain(value):
    """As JSON can say it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _value(io, address, where):
    tensor = cameo._Tensor(address, cameo._Device(where, 0), io.ndim, io.dtype, io.dims, None, 0)
    return cameo._Value(struct_size=c.sizeof(cameo._Value), kind=cameo._TENSOR, tensor=tensor)
