"""A model with code for a GPU, on the driver that LD_LIBRARY_PATH gives. Arguments: PICTURE.pgm MODEL.so."""
import ctypes as c
import sys

import numpy as np

import cameo
from main import read_picture, refused

driver = c.CDLL("libcuda.so.1")


def entry(name, *types):
    """As the driver hands it out."""
    address = c.c_void_p()
    assert driver.cuGetProcAddress_v2(name.encode(), c.byref(address), 12000, c.c_uint64(0), None) == 0, name
    call = c.CFUNCTYPE(c.c_int, *types)(address.value)

    def checked(*arguments):
        assert call(*arguments) == 0, name
    return checked


context, stream = c.c_void_p(), c.c_void_p()
entry("cuDevicePrimaryCtxRetain", c.c_void_p, c.c_int)(c.byref(context), 0)
entry("cuCtxPushCurrent", c.c_void_p)(context)
entry("cuStreamCreate", c.c_void_p, c.c_uint)(c.byref(stream), 0)
allocate, free = entry("cuMemAlloc", c.c_void_p, c.c_size_t), entry("cuMemFree", c.c_void_p)
to_gpu = entry("cuMemcpyHtoD", c.c_void_p, c.c_void_p, c.c_size_t)
from_gpu = entry("cuMemcpyDtoHAsync", c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p)


class DLTensor(c.Structure):  # as DLPack has it, written out anew
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.c_void_p),
                ("strides", c.c_void_p), ("byte_offset", c.c_uint64), ("manager", c.c_void_p), ("deleter", c.c_void_p)]


class Tensor:
    """f32 in the GPU's memory."""
    asked, memories = None, []

    def __init__(self, array, strides=None):
        self.bytes, self.dims = array.nbytes, array.shape
        memory = c.c_void_p()
        allocate(c.byref(memory), self.bytes)
        self.memory = memory
        self.memories.append(memory)
        to_gpu(memory, array.ctypes.data, self.bytes)
        self.shape = (c.c_int64 * array.ndim)(*array.shape)
        self.strides = strides and (c.c_int64 * array.ndim)(*strides)
        self.tensor = DLTensor(memory.value, 2, 0, array.ndim, 2, 32, 1, c.addressof(self.shape),
                               c.addressof(self.strides) if strides else None)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        self.asked = stream
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return new(c.addressof(self.tensor), b"dltensor", None)

    def read(self):
        array = np.empty(self.dims, np.float32)
        from_gpu(array.ctypes.data, self.memory, self.bytes, stream)
        return array


def main(picture, library):
    image = read_picture(picture)
    on_cpu, model = cameo.load(library, device="cpu"), cameo.load(library, device="cuda:0")
    expected = on_cpu(image)
    assert np.abs(model(image) - expected).max() < 1e-6 and (cameo.load(library)(image) == model(image)).all()

    given, scores = Tensor(image), Tensor(np.zeros((1, 10), np.float32))
    for s, asked in ((None, 1), (stream.value, stream.value)):
        results = model.run({"image": given}, out={"probabilities": scores}, stream=s)
        assert results["probabilities"] is scores and given.asked == scores.asked == asked
        assert (scores.read() == model(image)).all()
    assert (model(given) == model(image)).all(), "from the GPU to the host"
    into = np.zeros((1, 10), np.float32)
    assert model.run({"image": image}, out={"probabilities": into})["probabilities"] is into
    assert (into == model(image)).all()

    refused(3, "is on device type 2, expected 1 (CPU)", lambda: on_cpu(given))
    refused(3, "not compact", lambda: model(Tensor(image, strides=(64, 64, 1, 8))))
    refused(3, "dim 3", lambda: model(Tensor(np.zeros((1, 1, 8, 4), np.float32))))
    refused(8 + 6, "there is no GPU 3", lambda: cameo.load(library, device="cuda:3"))
    for device in ("gpu", "cuda:", "cpu:0", "cuda:-1"):
        refused(3, "there is no device `%s`" % device, lambda: cameo.load(library, device=device))
    wide = into.astype(np.float64)
    refused(3, "cannot be written into float64", lambda: model.run({"image": image}, out={"probabilities": wide}))
    print("on the GPU the digit is a", model(given).argmax())
    on_cpu.close(), model.close()
    for memory in Tensor.memories:
        free(memory)
    entry("cuStreamDestroy", c.c_void_p)(stream)
    entry("cuDevicePrimaryCtxRelease", c.c_int)(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
