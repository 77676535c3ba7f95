"""Two states that are appended in place, ya = pa and xa behind it, and yb likewise, against NumPy: steps of any length,
tensors and resets in between, both bound or one, outputs wanted or not. Arguments: BOUNDED.so (P up to 32) OPEN.so
GPU.so GPU_OPEN.so, as the first two, with a GPU's code too: there states swap."""
import sys

import numpy as np

import cameo

STATES = {"ya": "pa", "yb": "pb"}
MOST = 32


class Walk:
    """Random steps of one session, beside the arrays that its states should be."""

    def __init__(self, model, states, seed):
        self.session, self.states = model.session(state=states), states
        self.random = np.random.default_rng(seed)
        self.begin()

    def begin(self):
        self.batch = int(self.random.integers(1, 4))
        self.past = {name: np.zeros((self.batch, 3, 0, 16), np.float32) for name in STATES.values()}

    def numbers(self, shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def inputs(self):
        length = int(self.random.integers(1, 6))
        inputs = {"x" + key: self.numbers((self.batch, 3, length, 16)) for key in "ab"}
        for name in self.past:
            if name not in self.states.values():
                inputs[name] = self.past[name]
            elif self.random.random() < .15:
                inputs[name] = self.past[name] = self.numbers(self.past[name].shape)
        return inputs

    def step(self):
        if self.random.random() < .1:
            self.session.reset_state()
            self.begin()
        inputs, wanted = self.inputs(), [name for name in ("ya", "yb", "s") if self.random.random() < .5]
        results = self.session.run(inputs, outputs=wanted)
        for key in "ab":
            self.past["p" + key] = np.concatenate([self.past["p" + key], inputs["x" + key]], 2)
        for name, array in results.items():
            expected = self.past["pa"].sum(2) if name == "s" else self.past["p" + name[1]]
            assert array.shape == expected.shape and np.abs(array - expected).max() <= (name == "s") * 1e-4, name

    def fill(self):
        """To the bound of the input, where it has one."""
        while self.past["pa"].shape[2] <= MOST:
            self.step()
        try:
            self.session.run(self.inputs(), outputs=[])
        except cameo.Error as e:
            assert "which the model was built for 0 to %d" % MOST in str(e), e
        else:
            raise AssertionError("a state beyond its bound was taken")


def main(bounded, unbounded, gpu, gpu_unbounded):
    for seed, states in enumerate((STATES, {"ya": "pa"}) * 4):
        Walk(cameo.load(bounded), states, seed).fill()
        Walk(cameo.load(gpu, device="cuda" if seed < 2 else "cpu"), states, seed).fill()
        walks = [Walk(cameo.load(unbounded, threads=2), states, seed)]
        if seed < 2:
            walks.append(Walk(cameo.load(gpu_unbounded, device="cuda"), states, seed))
        for walk in walks:
            for _ in range(60):
                walk.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
