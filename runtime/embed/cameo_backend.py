"""ONNX's backend interface (onnx.backend.base) on cameo: each model is compiled by `cameo build`, loaded and run. Needs onnx
and NumPy.

    import cameo_backend
    y, = cameo_backend.run_model(onnx.load("model.onnx"), [x])
    prepared = cameo_backend.prepare(model, device="CUDA")   # once; then prepared.run([x]) any number of times

The compiler is $CAMEO, else the `cameo` that was installed with this file, else the one on the PATH. ONNX's own tests run
on it unmodified:

    import onnx.backend.test, unittest
    globals().update(onnx.backend.test.BackendTest(cameo_backend, __name__).test_cases)
    unittest.main()
"""
import os
import shutil
import subprocess
import tempfile

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, Device, DeviceType, namedtupledict

import cameo

__all__ = ["CameoBackend", "CameoBackendRep", "prepare", "run_model", "run_node", "supports_device", "is_compatible"]


def _compiler():
    prefix = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    for path in (os.environ.get("CAMEO"), shutil.which(os.path.join(prefix, "bin", "cameo")), shutil.which("cameo")):
        if path:
            return path
    raise cameo.Error("there is no compiler `cameo` on the PATH; $CAMEO says where it is")


def _call(verb, model, *flags):
    """What the compiler says of a model: its exit code and its errors."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        onnx.save(model, path)
        done = subprocess.run([_compiler(), "-q", verb, path, *flags], capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def _numpy_type(tensor_type):
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor_type.elem_type))


def _of_type(value, declared):
    """A value of cameo's as onnx has it: elements that NumPy has no type for are those of ml_dtypes."""
    kind = declared.WhichOneof("value")
    if kind == "optional_type":
        return None if value is None else _of_type(value, declared.optional_type.elem_type)
    if kind == "sequence_type":
        return [_of_type(item, declared.sequence_type.elem_type) for item in value]
    if kind == "map_type":
        return value
    wanted = _numpy_type(declared.tensor_type)
    if wanted == value.dtype or wanted.kind in "OU":
        return value
    return value.view(wanted) if wanted.itemsize == value.itemsize else value.astype(wanted)


class CameoBackendRep(BackendRep):
    """A model that was compiled. `run` takes a list of inputs in the model's order, or a dict by name, and returns a named
    tuple of all outputs."""

    def __init__(self, compiled, outputs):
        self._compiled, self._outputs = compiled, outputs

    def run(self, inputs, **kwargs):
        names = [io.name for io in self._compiled.inputs]
        given = inputs if hasattr(inputs, "items") else dict(zip(names, inputs, strict=True))
        results = self._compiled.run(given)
        values = [_of_type(results[output.name], output.type) for output in self._outputs]
        return namedtupledict("Outputs", [output.name for output in self._outputs])(*values)


class CameoBackend(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether every operator of the model can be compiled (`cameo check`)."""
        return _call("check", model)[0] == 0

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """Compiles the model; what keeps it from that is a cameo.Error in the compiler's words."""
        where = Device(device)
        on_gpu = where.type == DeviceType.CUDA
        super().prepare(model, device, **kwargs)  # onnx checks it
        handle, library = tempfile.mkstemp(suffix=".so")
        os.close(handle)
        try:
            code, errors = _call("build", model, "-o", library, *(["--target=cuda:host,cpu"] if on_gpu else []))
            if code:
                raise cameo.Error(errors)
            compiled = cameo.load(library, device="cuda:%d" % where.device_id if on_gpu else "cpu")
        finally:
            os.unlink(library)
        return CameoBackendRep(compiled, list(model.graph.output))

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """One operator: a model of its own, with the inputs' types and what `outputs_info`, pairs of type and shape, says
        of its outputs."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)

        def declared(name, dtype, shape):
            return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

        arrays = [np.asarray(value) for value in inputs]
        ins = [declared(name, array.dtype, array.shape) for name, array in zip(filter(None, node.input), arrays)]
        if outputs_info is None:
            outs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output]
        else:
            outs = [declared(name, dtype, shape) for name, (dtype, shape) in zip(node.output, outputs_info)]
        opset = [onnx.helper.make_opsetid(node.domain, kwargs["opset_version"])] if "opset_version" in kwargs else None
        graph = onnx.helper.make_graph([node], "node", ins, outs)
        model = onnx.helper.make_model(graph, opset_imports=opset)
        return cls.run_model(onnx.shape_inference.infer_shapes(model), arrays, device)

    @classmethod
    def supports_device(cls, device):
        """The CPU; CUDA where a GPU is."""
        kind = Device(device).type
        return kind == DeviceType.CPU or (kind == DeviceType.CUDA and os.path.exists("/dev/nvidiactl"))


is_compatible = CameoBackend.is_compatible
prepare = CameoBackend.prepare
run_model = CameoBackend.run_model
run_node = CameoBackend.run_node
supports_device = CameoBackend.supports_device
