"""A model that leaves sizes to its runs, from Python: y[batch, n] = x * x + b[n], and the same without its axes. Each run
has the sizes of its inputs. Argument: MODEL.so."""
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import cameo


def refused(sentence, call):
    try:
        call()
    except cameo.Error as e:
        assert e.code == 3 and sentence in str(e), "refused with %d: %s" % (e.code, e)
    else:
        raise AssertionError("was not refused: " + sentence)


def values(batch, n):
    x, b = np.arange(batch * n, dtype=np.float32).reshape(batch, n), np.arange(n, dtype=np.float32)
    return x, b, x * x + b


def check_run(model, batch, n):
    x, b, expected = values(batch, n)
    y, flat = model(x, b)
    assert y.shape == (batch, n) and flat.shape == (batch * n,), (y.shape, flat.shape)
    assert (y == expected).all() and (flat == expected.ravel()).all()


def check_memory():
    """What results leave is used again, never what one still holds."""
    memory = cameo._Memory(2)
    address = lambda array: array.ctypes.data
    first, second = (memory.empty((40000,), np.dtype(np.float32)) for _ in range(2))
    second[:] = 7
    places = {address(first), address(second)}
    view, first = first[1:2], None
    other = memory.empty((40000,), np.dtype(np.float32))
    assert address(other) not in places, "a view holds it"
    view = None
    third = memory.empty((200, 199), np.dtype(np.float32))
    assert third.shape == (200, 199) and third.flags.writeable and address(third) in places, "the view is gone"
    third[:] = 1
    assert (second == 7).all()
    assert memory.empty((3, 0), np.dtype(np.int64)).shape == (3, 0)


def main(library):
    check_memory()
    model = cameo.load(library)
    x = model.inputs[0]
    assert x.shape == (None, None) and x.dim_min == (1, 1) and x.dim_max == (4, 5) and x.dim_names == ("batch", "n"), x
    assert str(x) == "x: float32[batch=1..4, n=1..5]", x
    assert model.outputs[1].dim_max == (20,)

    for batch, n in ((2, 3), (4, 5), (1, 1), (3, 2)):
        check_run(model, batch, n)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda i: check_run(model, 1 + i % 4, 1 + i % 5), range(200)))

    session = model.session()
    for batch, n in ((2, 3), (4, 5), (2, 3)):
        check_run(session, batch, n)
    assert session.runs_of_plans() == {"": 1, "batch=2, n=3": 2}, session.runs_of_plans()

    x, b, expected = values(3, 4)
    out = np.zeros((3, 4), np.float32)
    assert model.run({"x": x, "b": b}, out={"y": out})["y"] is out and (out == expected).all()
    assert (model(x.tolist(), b.tolist())[0] == expected).all()

    big, long = values(8, 2)[:2], values(2, 5)[1]
    refused("input 0 `x` has 8 in dim 0 (batch), which the model was built for 1 to 4", lambda: model(*big))
    refused("input 1 `b` has 5 in dim 0 (n), but input 0 `x` has 4 in dim 1", lambda: model(x, long))
    refused("output 0 `y` has 3 in dim 0, which is 2 in this run", lambda: model.run([x[:2], b], out={"y": out}))
    refused("output `y` cannot be written into float32; it takes an array of float32[batch=1..4, n=1..5]",
            lambda: model.run([x, b], out={"y": out.ravel()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
