"""PyYAML 3: yaml.load(text), which has to be told how by now."""

from __future__ import annotations

import functools


def restore(yaml):
    """yaml.load with a loader by default."""
    load = yaml.load

    @functools.wraps(load)
    def load_without_loader(stream, Loader=yaml.FullLoader):  # noqa: N803
        return load(stream, Loader)

    yaml.load = load_without_loader
