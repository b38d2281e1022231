"""Reading the vectors of tests/data/random (see the README there), and holding arrays to them."""

import hashlib
import json
from pathlib import Path

import numpy as np

DIRECTORY = Path(__file__).parent / "data" / "random"


def load(name):
    """The content of a file."""
    return json.loads((DIRECTORY / f"{name}.json").read_text())


def cases(name):
    """The cases of a file."""
    return load(name)["cases"]


def case_id(case):
    return case["id"]


def seeds(case):
    return {"seed": case.get("seed", 0), "seed2": case.get("seed2", 0)}


def _dtype(name):
    return np.dtype("<u2" if name == "bfloat16" else name).newbyteorder("<")


def assert_matches(spec, value, most_ulps=0):
    """Holds `value` to a recorded array: bit for bit, or within `most_ulps` for float64."""
    value = np.asarray(value)
    assert list(value.shape) == spec["shape"]
    if spec["dtype"] == "bfloat16":
        value = value.view(np.uint16)
    assert value.dtype == _dtype(spec["dtype"])
    flat = value.reshape(-1)
    if "sha256" in spec:
        if most_ulps == 0:
            assert hashlib.sha256(flat.tobytes()).hexdigest() == spec["sha256"]
        pieces = [(spec["first16"], flat[:16]), (spec["last16"], flat[-16:])]
    else:
        pieces = [(spec.get("hex", spec.get("values")), flat)]
    for recorded, found in pieces:
        _assert_equal(_array(recorded, spec["dtype"]), found, most_ulps)


def _array(recorded, dtype):
    if isinstance(recorded, str):
        return np.frombuffer(bytes.fromhex(recorded), _dtype(dtype))
    return np.array(recorded, _dtype(dtype))


def _assert_equal(expected, found, most_ulps):
    if most_ulps == 0:
        assert expected.tobytes() == found.tobytes()
    else:
        np.testing.assert_array_less(np.abs(expected - found), (most_ulps + 0.5) * np.spacing(np.abs(expected)))
