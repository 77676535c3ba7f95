"""Strings: joined = each of s with a `!` behind it, is_b = whether it is `b`, both = the sequence of s and joined; row =
what the map m has for `a` and `b`. Argument: MODEL.so."""
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
    assert [io.type for io in model.inputs] == ["object[n=1..]", "map(object, float32[?])"]
    assert model.outputs[3].type == "sequence(object[?])", model.outputs
    for given in (["a", "b", ""], np.array(["\u00e4\U0001f600", "b"]), np.array([b"b", "c"], object)):
        joined, is_b, row, both = model(given, {"b": 2.5, "\u00e4": 1})
        texts = [t.decode() if isinstance(t, bytes) else t for t in given]
        assert joined.tolist() == [t + "!" for t in texts] and joined.dtype == object
        assert is_b.tolist() == [t == "b" for t in texts] and row.tolist() == [[0, 2.5]]
        assert [one.tolist() for one in both] == [texts, joined.tolist()]
    place = np.empty(2, object)
    assert model.run({"s": ["x", "y"], "m": {}}, out={"joined": place})["joined"] is place
    assert place.tolist() == ["x!", "y!"]
    assert list(model.run({"s": ["b"], "m": {}}, outputs=["is_b"])) == ["is_b"]
    refused("it takes str", lambda: model([1.5], {}))
    refused("it takes str", lambda: model(["a"], {1: 2}))
    for wrong in (["\ud800"], np.array(["\ud800"], object)):
        refused("input `s`: ", lambda: model(wrong, {}))
    refused("surrogates", lambda: model(["a"], {"\ud800": 2}))
    refused("the model declares (None,)", lambda: model([["a"], ["b"]], {}))
    many = ["text %d" % i for i in range(10000)]
    assert model(many, {})[0].tolist() == [t + "!" for t in many]


if __name__ == "__main__":
    main(*sys.argv[1:])
