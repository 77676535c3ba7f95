"""Elements of 8 and 4 bits that NumPy has no types for: codes = x / 0.5 as f8e4m3fn, nibbles = the same as i4, and
y = w * 0.5 of an i4. Argument: MODEL.so."""
import sys

import numpy as np

import cameo

CODES = {0.: 0x00, 1.: 0x38, -2.: 0xc0, 448.: 0x7e, 0.5: 0x30}  # of f8e4m3fn


def refused(sentence, call):
    try:
        call()
    except cameo.Error as e:
        assert e.code == 3 and sentence in str(e), "refused with %d: %s" % (e.code, e)
    else:
        raise AssertionError("was not refused: " + sentence)


def main(library):
    model = cameo.load(library)
    assert [str(io.dtype) for io in model.inputs + model.outputs] == ["float32", "int8", "uint8", "int8", "float32"]
    for n in (1, 2, 3):  # odd numbers of elements, too
        x = np.resize(np.array(list(CODES), np.float32), (n, 7)) / 2
        w = np.resize(np.arange(-8, 8, dtype=np.int8), (n, 5))
        result = model.run({"x": x, "w": w})
        assert (result["codes"] == np.resize(np.array(list(CODES.values()), np.uint8), (n, 7))).all()
        assert (result["nibbles"] == np.clip(np.rint(x * 2), -8, 7)).all() and result["nibbles"].dtype == np.int8
        assert (result["y"] == w * 0.5).all()
        place = np.zeros((n, 7), np.int8)
        assert model.run({"x": x, "w": w.tolist()}, out={"nibbles": place})["nibbles"] is place
        assert (place == result["nibbles"]).all()
    refused("4 bits do not", lambda: model(np.zeros((1, 7), np.float32), np.full((1, 5), 8, np.int8)))
    refused("the model declares int8", lambda: model(np.zeros((1, 7), np.float32), np.zeros((1, 5), np.uint8)))


if __name__ == "__main__":
    main(*sys.argv[1:])
