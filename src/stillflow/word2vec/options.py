"""The options of `stillflow word2vec` and their defaults."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass
class Options:
    """Everything that decides the result, and where it goes."""

    corpus: Path | None = None  # None: the books that come with the package
    out: Path = Path("word2vec")
    dim: int = 100
    window: int = 5
    negatives: int = 64
    batch: int = 512
    epochs: int = 5
    learning_rate: float = 0.05
    subsample: float = 1e-4
    min_count: int = 5
    most_words: int = 0
    seed: int = 1
    threads: int = 0
    evaluate: tuple[Path, ...] = ()
    plot_words: int = 400


_HELP = {
    "corpus": "text file, plain or .gz, .bz2, .xz; by default four books in English",
    "out": "directory for what is written",
    "dim": "length of the vectors",
    "window": "most words on each side that count as neighbours",
    "negatives": "random words that a batch is contrasted with",
    "batch": "pairs in a batch",
    "epochs": "times that the text is gone through",
    "learning_rate": "at the start; it falls to almost nothing at the end",
    "subsample": "share of the text above which a word is dropped at random; 0 keeps all",
    "min_count": "words that occur less often are left out",
    "most_words": "size of the vocabulary at most; 0 for no limit",
    "seed": "another seed, another result; the same seed, the same bits",
    "threads": "0 for one per processor; the result does not depend on it",
    "evaluate": "files of word pairs with scores, or of analogies",
    "plot_words": "words in the picture; 0 for no picture",
}


# Numbers that a program holds in 32 or 64 bits; a batch and its negatives are counted together.
_MOST = {
    **dict.fromkeys(("negatives", "batch"), 2**30 - 1),
    **dict.fromkeys(("dim", "epochs", "threads"), 2**31 - 1),
    **dict.fromkeys(("seed", "min_count", "most_words", "plot_words"), 2**63 - 1),
}


def add_arguments(parser: argparse.ArgumentParser):
    """Adds an argument for each option."""
    for field in fields(Options):
        name = "--" + field.name.replace("_", "-")
        if field.name == "evaluate":
            parser.add_argument(name, nargs="+", type=Path, default=[], metavar="FILE", help=_HELP[field.name])
            continue
        kind = Path if field.name in ("corpus", "out") else type(field.default)
        default = "" if field.default is None else f" (default: {field.default})"
        parser.add_argument(name, type=kind, default=field.default, help=_HELP[field.name] + default)


def from_arguments(arguments: argparse.Namespace) -> Options:
    """Raises ValueError, in a sentence, for numbers that make no sense."""
    options = Options(**{field.name: getattr(arguments, field.name) for field in fields(Options)})
    options.evaluate = tuple(options.evaluate)
    for name in ("dim", "window", "negatives", "batch", "epochs", "min_count"):
        if getattr(options, name) < 1:
            raise ValueError(f"--{name.replace('_', '-')} must be at least 1, and is {getattr(options, name)}")
    for name in ("learning_rate", "subsample", "most_words", "seed", "threads", "plot_words"):
        if not getattr(options, name) >= 0:
            raise ValueError(f"--{name.replace('_', '-')} must not be negative, and is {getattr(options, name)}")
    for name in ("learning_rate", "subsample"):
        if getattr(options, name) == math.inf:
            raise ValueError(f"--{name.replace('_', '-')} must be a number, and is infinite")
    for name, most in _MOST.items():
        if getattr(options, name) > most:
            raise ValueError(f"--{name.replace('_', '-')} must be at most {most}, and is {getattr(options, name)}")
    if options.window > 255:
        raise ValueError(f"--window must be at most 255, and is {options.window}")
    return options
