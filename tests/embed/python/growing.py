"""A model with a state that grows, from Python: present[batch, past + 1] is `past` with x[batch, 1] behind it, total[batch]
its sums. Argument: MODEL.so."""
import sys

import numpy as np

import cameo
from main import refused


def column(*numbers):
    return np.array(numbers, np.float32).reshape(-1, 1)


def main(library):
    model = cameo.load(library)
    session = model.session(state={"present": "past"})
    for round in range(2):
        for step in range(5):
            result = session.run({"x": column(step + 1, 10)})
            assert list(result) == ["total"], "the state stays in the session"
            assert result["total"].tolist() == [(step + 1) * (step + 2) / 2, 10 * (step + 1)], result
        for _ in range(2):
            refused(3, "input 0 `past` has 5 in dim 1 (past), which the model was built for 0 to 4",
                    lambda: session.run({"x": column(1, 1)}))
        session.reset_state()

    assert session(x=column(3)).tolist() == [3], "another batch, after the reset"
    assert session.run({"x": column(4)}, outputs=["present"])["present"].tolist() == [[3, 4]]
    present = np.zeros((1, 3), np.float32)
    assert session.run({"x": column(5)}, out={"present": present})["total"].tolist() == [12]
    assert present.tolist() == [[3, 4, 5]]
    past = column(7).T
    assert session(past, column(8)).tolist() == [15], "begun with a tensor"
    assert session(x=column(1)).tolist() == [16]
    refused(5, "there is no output `presents`", lambda: model.session(state={"presents": "past"}))
    refused(5, "there is no output `all`", lambda: session.run({"x": column(1)}, outputs=["all"]))
    assert sorted(model.run({"past": past, "x": column(8)})) == ["present", "total"]
    assert sorted(model.run({"past": past, "x": column(8)}, outputs=["total"])) == ["total"]


if __name__ == "__main__":
    main(*sys.argv[1:])
