"""Seeds for second random numbers of one sample."""

from __future__ import annotations

import hashlib

from stillflow.names import public


@public(
    "python.ops.distributions.util.gen_new_seed",
    "contrib.distributions.python.ops.distribution_util.gen_new_seed",
)
def derived_seed(seed, salt):
    """Another seed: 31 bits of the MD5 of this one's digits and a word; None for None."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:8], 16) & 0x7FFFFFFF
