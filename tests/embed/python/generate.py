"""Generates text with a GPT-2 that decodes one token a run and keeps its keys and values as states, and proves it equal
to recomputing every token from nothing, with keys and values as plain arrays. Arguments: MODEL.so [TOKENS]."""
import sys

import numpy as np

import cameo

PROMPT = [464, 3280, 284, 262]  # "The answer to the"


def step(token, past):
    """What a run takes beside the keys and values of the `past` tokens before."""
    return {"input_ids": np.full((1, 1), token), "position_ids": np.full((1, 1), past),
            "attention_mask": np.ones((1, past + 1), np.int64)}


def generate(session, count):
    """The tokens behind the prompt, each the likeliest, and the logits of each."""
    tokens, logits = list(PROMPT), []
    for past in range(len(PROMPT) + count - 1):
        result = session.run(step(tokens[past], past))["logits"]
        if past + 1 >= len(PROMPT):
            logits.append(result)
            tokens.append(int(result.argmax()))
    return tokens[len(PROMPT):], logits


def recompute(model, tokens):
    """The logits behind these tokens."""
    caches = {io.name: np.zeros([d if d is not None else 0 for d in io.shape], np.float32)
              for io in model.inputs if io.name.startswith("past_key_values")}
    for past, token in enumerate(tokens):
        result = model.run({**step(token, past), **caches})
        caches = {name: result[name.replace("past_key_values", "present")] for name in caches}
    return result["logits"]


def main(library, count="16"):
    model = cameo.load(library)
    caches = [io.name for io in model.inputs if io.name.startswith("past_key_values")]
    session = model.session(state={name.replace("past_key_values", "present"): name for name in caches})
    tokens, logits = generate(session, int(count))
    print("tokens", *tokens)
    for done in range(len(tokens)):
        assert (recompute(model, PROMPT + tokens[:done]) == logits[done]).all(), "token %d" % done
    session.reset_state()
    again, _ = generate(session, int(count))
    assert again == tokens, again


if __name__ == "__main__":
    main(*sys.argv[1:])
