"""A model from Python. Arguments: PICTURE.pgm MODEL.so. Exit code 77 and a sentence where NumPy is missing."""
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed for", sys.executable)
    sys.exit(77)
import cameo


def refused(code, sentence, call):
    try:
        call()
    except cameo.Error as e:
        assert e.code == code and sentence in str(e), "refused with %d: %s" % (e.code, e)
    else:
        raise AssertionError("was not refused: " + sentence)


def read_picture(path):
    with open(path) as file:
        return np.array(file.read().split()[4:], np.float32).reshape(1, 1, 8, 8) / np.float32(255)


class Tensor:
    """Of a library that speaks DLPack and is not NumPy."""
    requires_grad = False

    def __init__(self, array):
        self.array, self.dtype = array, "a dtype of its own"

    def __array__(self, *_):
        raise TypeError("not by this way")

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, stream=None):
        if self.requires_grad:
            raise BufferError("cannot export a tensor that requires grad")
        return self.array.__dlpack__()

    def detach(self):
        return Tensor(self.array)


def check_inputs(model, image, probabilities):
    """Whatever is given: the right answer, or one sentence."""
    def same(given):
        assert (model.run(given)["probabilities"] == probabilities).all()
    tensor, with_grad = Tensor(image), Tensor(image)
    with_grad.requires_grad = True
    padded = np.zeros((1, 1, 8, 16), np.float32)
    padded[..., ::2] = image
    readonly = image.copy()
    readonly.flags.writeable = False
    for value in (image, image.tolist(), tensor, with_grad, Tensor(padded[..., ::2]), image.astype(">f4"), readonly,
                  padded[..., ::2], image[..., ::-1][..., ::-1], np.asfortranarray(image)):
        same({"image": value})
        same([value])
    for value, sentence in ((1.5, "has the shape ()"), ([1, [2, 3]], "input `image`: "), ("cat", "are no numbers"),
                            (None, "no value for input"), (object(), "are no numbers"), ({}, "are no numbers"),
                            (image.astype(bool), "elements of bool"), (image.astype(np.float16), "elements of float16"),
                            (image.astype(object), "elements of object"), (image + 0j, "elements of complex64"),
                            (Tensor(image.astype(np.float64)), "elements of float64"), (image[0], "has the shape (1, 8, 8)")):
        refused(3, sentence, lambda: model.run({"image": value}))
    refused(3, "`inputs` is of type ndarray", lambda: model.run(image))
    refused(3, "`inputs` lists 2 values, the model has 1", lambda: model.run([image, image]))
    refused(3, "`out` is of type", lambda: model.run([image], out=image))
    refused(5, "cannot load", lambda: cameo.load("no\0file"))
    out = np.zeros((1, 10), np.float32)
    assert model.run([image], out=[Tensor(out)])["probabilities"].array is out and (out == probabilities).all()
    assert (np.from_dlpack(model(image)) == probabilities).all()
    for place in (readonly, out[:, ::2], out.astype(np.float64), [0] * 10, 3):
        refused(3, "output `probabilities`", lambda: model.run([image], out={"probabilities": place}))


def check_conversions():
    """The types that the model at hand has not."""
    io = lambda t: cameo.Io("x", np.dtype(t), (3,))
    of = lambda values, t, code=0: cameo._converted(values, io(t), cameo._DType(code, 16, 1), 0)
    assert of([1.0, -2.5, 3.0e38], np.uint16, 4).tolist() == [0x3f80, 0xc020, 0x7f62], "floats as bf16"
    assert of([float("nan"), 1.00390625, 1.01171875], np.uint16, 4).tolist() == [0x7fc0, 0x3f80, 0x3f82], "to nearest even"
    assert of([1, 0, True], np.bool_).tolist() == [True, False, True]
    assert of([255, 0, 1], np.uint8).tolist() == [255, 0, 1]
    assert of([2 ** 53 + 1, 1.0, 2 ** 63 - 1], np.int64).tolist() == [2 ** 53 + 1, 1, 2 ** 63 - 1]
    assert of([2 ** 63 + 1, 1, 0], np.uint64).tolist() == [2 ** 63 + 1, 1, 0]
    for values, t in (([256, 0, 0], np.uint8), ([-1, 0, 0], np.uint64), ([1.5, 0, 0], np.int64), ([2, 0, 0], np.bool_),
                      ([float("nan"), 0, 0], np.int32), ([1.0, 2 ** 63, 0], np.int64), ([float("inf"), 0, 0], np.uint64)):
        refused(3, "numbers that %s has not" % np.dtype(t), lambda: of(values, t))


CYCLES = """
import gc, os, sys, threading, cameo, numpy
image, library = numpy.zeros((1, 1, 8, 8), numpy.float32), sys.argv[1]
def cycle(i):
    model = cameo.load(library, threads=1 + i % 2)
    model(image)
    session = model.session()
    session.itself, session.model, model.itself, model.all = session, model, model, [session, model]
def failing():
    model = cameo.load(library)
    model(image, image)
errors = []
for i in range(20):
    cycle(i)
    try:
        failing()
    except cameo.Error as e:
        errors.append(e)  # its traceback has the frame that has the model
        e.itself = e
assert library in open("/proc/self/maps").read()
errors.clear()
gc.collect()
assert library not in open("/proc/self/maps").read(), "cycles keep nothing loaded"
model = cameo.load(library, threads=2)
session = model.session()
pid = os.fork()
if pid == 0:
    session(image), model(image), model.close(), session.close()
    del model, session
    gc.collect()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0, "a forked child"
threads = [threading.Thread(target=lambda: [model(image) for _ in range(200)]) for _ in range(4)]
for thread in threads: thread.start()
def run_until_closed(session):
    try:
        while True: session(image)
    except cameo.Error as e:
        assert "closed" in str(e) or "in use" in str(e), e
while any(thread.is_alive() for thread in threads):
    session = model.session()
    runner = threading.Thread(target=run_until_closed, args=[session])
    runner.start(), session.close(), runner.join()
session = model.session()
daemon = threading.Thread(target=lambda: [model(image) for _ in range(10 ** 9)], daemon=True)
daemon.start()
kept = [model, session]
kept.append(kept)
sys.kept = kept  # to the very end
"""


def check_lifetimes(library):
    ran = subprocess.run([sys.executable, "-c", CYCLES, library], stderr=subprocess.PIPE, universal_newlines=True)
    assert ran.returncode == 0, (ran.returncode, ran.stderr)


def main(picture, library):
    image = read_picture(picture)
    model = cameo.load(library)
    assert str(model) == "cameo.Model(image: float32[1, 1, 8, 8] -> probabilities: float32[1, 10])", model
    assert model.inputs[0].shape == (1, 1, 8, 8) and model.outputs[0].dtype == np.float32
    assert isinstance(model.manifest, dict)

    probabilities = model(image)
    print("the digit is a", probabilities.argmax())
    assert probabilities.argmax() == 3 and abs(probabilities.sum() - 1) < 1e-5
    assert (model.run({"image": image})["probabilities"] == probabilities).all()
    assert (model(image=image.tolist()) == probabilities).all(), "a list takes the declared type"
    padded = np.zeros((1, 1, 8, 16), np.float32)
    padded[..., ::2] = image
    assert (model(padded[..., ::2]) == probabilities).all(), "strides are the array's own matter"
    assert all(check.passed for check in model.selftest())
    with ThreadPoolExecutor(4) as threads:
        assert all((p == probabilities).all() for p in threads.map(model, [image] * 64)), "any number of threads"

    check_inputs(model, image, probabilities)
    check_conversions()
    check_lifetimes(library)

    refused(3, "elements of float64, the model declares float32", lambda: model(image.astype(np.float64)))
    refused(3, "shape (1, 8, 8), the model declares (1, 1, 8, 8)", lambda: model(image[0]))
    refused(3, "no value for input `image`", lambda: model())
    refused(3, "given twice", lambda: model(image, image=image))
    refused(3, "2 inputs given, the model has 1", lambda: model(image, image))
    refused(5, "there is no input `picture`; the model has `image`", lambda: model.run({"picture": image}))
    refused(5, "cannot load the model", lambda: cameo.load("no_such_model.so"))
    refused(3, "num_threads is -1", lambda: cameo.load(library, threads=-1))

    two = cameo.load(library, threads=2)  # models share nothing but the library
    assert (two(image) == probabilities).all()
    two.close()
    refused(9, "the model is closed", lambda: two(image))
    session = model.session()
    model.close()
    assert (session(image) == probabilities).all(), "a session keeps its library loaded"
    session.close()
    with open("/proc/self/maps") as maps:
        assert library not in maps.read(), "a closed model's library is unloaded"


if __name__ == "__main__":
    main(*sys.argv[1:])
