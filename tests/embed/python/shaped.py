"""A model of which an input says what shape the other one takes: y = relu(x[2, 6]) reshaped to `shape`. Argument:
MODEL.so."""
import sys

import numpy as np

import cameo


def refused(sentence, call):
    try:
        call()
    except cameo.Error as e:
        assert e.code == 3 and sentence in str(e), "refused with %d: %s" % (e.code, e)
    else:
        raise AssertionError("was not refused: " + sentence)


def main(library):
    model = cameo.load(library)
    x = np.arange(-6, 6, dtype=np.float32).reshape(2, 6)
    relu = np.maximum(x, 0)
    for runs in (model, model.session()):
        for shape, dims in (((3, 4), (3, 4)), ((1, 12), (1, 12)), ((-1, 6), (2, 6)), ((0, -1), (2, 6))):
            y = runs(x, np.array(shape, np.int64))
            assert y.shape == dims and (y == relu.reshape(dims)).all(), (shape, y)
        refused("node `/to_shape` does not fit these sizes", lambda: runs(x, np.array((5, 5), np.int64)))
        apart = np.array((2, 0, 6, 0), np.int64)[::2]
        assert runs(x, apart).shape == (2, 6)


if __name__ == "__main__":
    main(*sys.argv[1:])
