"""Columns say of themselves, and of wrong arguments and features, what TensorFlow's do."""

import json
import re
from pathlib import Path

import pytest
from feature_columns import column_cases

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "feature_columns.json").read_text())


def plain(item):
    """Without where classes are defined, and what tensors print."""
    if isinstance(item, list):
        return [plain(value) for value in item]
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items()}
    if not isinstance(item, str):
        return item
    item = re.sub(r"(tensorflow|stillflow)[\w.]*\.(_?\w+)", r"\2", item)
    item = re.sub(r" at 0x[0-9a-f]+", "", item)
    item = re.sub(r"<(function|built-in function|class) [^>]*>", r"<\1>", item)
    return item.replace("ListWrapper(", "(")


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_columns_are_what_they_are_in_tensorflow(name):
    with tf.Graph().as_default():
        found = json.loads(json.dumps(getattr(column_cases, name)(tf)))
    for ours, theirs in zip(plain(found), plain(RECORDED[name]), strict=True):
        if name == "what_they_are":  # some of TensorFlow's columns have one spelling only
            assert ours[0] == theirs[0]
            ours, theirs = {key: ours[1][key] for key in theirs[1]}, theirs[1]
        assert ours == theirs
