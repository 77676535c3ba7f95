"""Strings: joined = each of s with a `!` behind it, is_b = whether it is `b`. Argument: MODEL.so."""
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
    assert [str(io.dtype) for io in model.inputs + model.outputs] == ["object", "object", "bool"]
    for given in (["a", "b", ""], np.array(["\u00e4\U0001f600", "b"]), np.array([b"b", "c"], object)):
        joined, is_b = model(given)
        texts = [t.decode() if isinstance(t, bytes) else t for t in given]
        assert joined.tolist() == [t + "!" for t in texts] and joined.dtype == object
        assert is_b.tolist() == [t == "b" for t in texts]
    place = np.empty(2, object)
    assert model.run({"s": ["x", "y"]}, out={"joined": place})["joined"] is place
    assert place.tolist() == ["x!", "y!"]
    assert list(model.run({"s": ["b"]}, outputs=["is_b"])) == ["is_b"]
    refused("it takes str", lambda: model([1.5]))
    refused("the model declares (None,)", lambda: model([["a"], ["b"]]))
    many = ["text %d" % i for i in range(10000)]
    assert model(many)[0].tolist() == [t + "!" for t in many]


if __name__ == "__main__":
    main(*sys.argv[1:])
