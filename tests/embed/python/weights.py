"""A model whose weights are in a file, from Python: found beside the library, named by its path, and not there.
Arguments: MODEL.so, with golden cases, and FILE.weights."""
import os
import pathlib
import sys

import cameo


def main(library, weights):
    apart = os.path.join(os.path.dirname(weights), "moved.weights")
    for model in (cameo.load(library), cameo.load(library, weights=weights),
                  cameo.load(library, weights=pathlib.Path(weights))):
        assert model.selftest() and all(check.passed for check in model.selftest())
        with open("/proc/self/maps") as maps:
            assert weights in maps.read(), "the file is mapped"
    os.rename(weights, apart)
    try:
        cameo.load(library)
    except cameo.Error as e:
        assert e.code == 15 and "cannot open the weights `%s`: No such file" % weights in str(e), e
    else:
        raise AssertionError("there is no file")
    assert all(check.passed for check in cameo.load(library, weights=apart).selftest())


if __name__ == "__main__":
    main(*sys.argv[1:])
