"""Sequences, optionals and maps: joined = the elements of the sequence s, one after the other, same = s; row = the
values of the map m for 5 and 7, maps = [{1: .., 2: ..}] of that; has and kept: of the optional o. Argument: MODEL.so."""
import sys

import numpy as np

import cameo


def refused(sentence, call):
    try:
        call()
    except cameo.Error as e:
        assert sentence in str(e), e
    else:
        raise AssertionError("was not refused: " + sentence)


def equal(one, other):
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in zip(one, other))


def main(library):
    model = cameo.load(library)
    types = [io.type for io in model.inputs + model.outputs]
    assert types[:3] == ["sequence(float32[?])", "map(int64, float32[?])", "optional(float32[2])"], types
    assert types[6] == "sequence(map(int64, float32[2]))", types
    pair = np.array([8, 9], np.float32)
    session = model.session()
    for n in (1, 3, 2):  # each run's own number of elements, and sizes
        s = [np.arange(k, dtype=np.float32) for k in range(n + 1)]
        result = session.run({"s": s, "m": {7: 0.5, 3: 9}, "o": pair if n == 3 else None})
        assert np.array_equal(result["joined"], np.concatenate(s)) and equal(result["same"], s)
        assert result["row"].tolist() == [[0, 0.5]] and result["maps"] == [{1: 0, 2: 0.5}]
        assert bool(result["has"]) == (n == 3)
        assert np.array_equal(result["kept"], pair) if n == 3 else result["kept"] is None
    assert equal(session(s, {}, None)[1], s)
    refused("float32", lambda: model([np.zeros(2)], {}, None))
    refused("has the shape", lambda: model([np.zeros((2, 2), np.float32)], {}, None))
    refused("takes a dict", lambda: model(s, [1], None))
    refused("takes a list", lambda: model(1, {}, None))
    for given in ({1.5: 2}, {"a": 1}, {"7": 1}, {2 ** 63: 1}, {(1, 2): 3}, {7: "0.5"}, {7: [1, 2]}, {7: None}):
        refused("input `", lambda: model(s, given, None))
    big = {2 ** 53 + 1: 1, 7.0: 0.5}
    assert model.run({"s": s, "m": big})["row"].tolist() == [[0, 0.5]]
    refused("no value for input `s`", lambda: model.run({"m": {}}))
    refused("not written into memory", lambda: model.run({"s": s, "m": {}}, out={"same": pair}))
    refused("index 0 is outside", lambda: model([], {}, None))  # nothing to join


if __name__ == "__main__":
    main(*sys.argv[1:])
