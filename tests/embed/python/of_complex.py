"""Complex numbers: y = x transposed, of complex64, and w = z twice, of complex128. Argument: MODEL.so."""
import sys

import numpy as np

import cameo


def main(library):
    model = cameo.load(library)
    assert [str(io.dtype) for io in model.inputs] == ["complex64", "complex128"]
    z = np.array([0.1 - 1e300j, np.nan + 1j])
    for n in (1, 4):
        x = (np.arange(3 * n) - 2j).astype(np.complex64).reshape(n, 3)
        unaligned = np.zeros(2 * 16 + 8, np.uint8)[8:].view(np.complex128)  # to its parts alone
        unaligned[:] = z
        for given, wide in ((x, z), (x.tolist(), z.tolist()), (np.asfortranarray(x), z[::-1][::-1]), (x, unaligned)):
            result = model.run({"x": given, "z": wide})
            assert (result["y"] == x.T).all() and result["y"].dtype == np.complex64
            assert np.array_equal(result["w"], np.concatenate([z, z]), equal_nan=True)
        place = np.zeros((3, n), np.complex64)
        assert model.run({"x": x, "z": z}, out={"y": place})["y"] is place and (place == x.T).all()
    try:
        model(np.zeros((1, 3), np.float32), z)
    except cameo.Error as e:
        assert e.code == 3 and "the model declares complex64" in str(e), e
    else:
        raise AssertionError("float32 was not refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
