"""Outputs whose size the run computes, from Python: rows = where x[3, 5] is not zero, kept = its elements where c says so.
They are written into arrays that have room for them. Argument: MODEL.so."""
import sys

import numpy as np

import cameo


def values(count):
    x = np.zeros((3, 5), np.float32)
    x.reshape(-1)[:count] = np.arange(1, count + 1)
    return x, (x != 0).reshape(-1)


def main(library):
    model = cameo.load(library)
    room, kept = np.zeros((9, 2), np.int64), np.zeros(9, np.float32)
    for count in (4, 9, 0, 1):
        x, c = values(count)
        result = model.run({"x": x, "c": c}, out={"rows": room, "kept": kept})
        assert np.array_equal(result["rows"], np.argwhere(x)) and np.array_equal(result["kept"], x[x != 0])
        assert np.shares_memory(result["rows"], room) or not count
        assert np.array_equal(room[:count], np.argwhere(x))
    try:
        model.run(dict(zip("xc", values(10))), out={"kept": kept})
    except cameo.Error as e:
        assert e.code == 18 and e.arg == 1 and "has 10 elements in this run, there is room for 9" in str(e), (e.code, e)
    else:
        raise AssertionError("ten elements fit nine")
    assert model(*values(10))[1].shape == (10,)  # the next run has memory of its own


if __name__ == "__main__":
    main(*sys.argv[1:])
