"""A model from Python. Arguments: PICTURE.pgm MODEL.so. Exit code 77 and a sentence where NumPy is missing."""
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
