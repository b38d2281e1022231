"""Reading a corpus, with a sentence for everything that can be wrong with it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import unicodedata
from pathlib import Path

from stillflow._corpus import Corpus, find_non_text

BOOKS = Path(__file__).parent / "books.txt.bz2"
_OPENERS: dict = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


class CorpusError(Exception):
    """What is wrong with a corpus, in one sentence."""


def read(path: Path) -> bytes:
    """The text in a file, unpacked. Raises CorpusError if there is none."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        raise CorpusError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise CorpusError(f"{path} is a directory, not a text file.") from None
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from None
    if not text.strip():
        raise CorpusError(f"{path} is empty.")
    offset = find_non_text(text)
    if offset >= 0:
        raise CorpusError(f"{path} is not UTF-8 text: byte {offset} is 0x{text[offset]:02x}.")
    return text


def spelled_alike(text: bytes) -> bytes:
    """UTF-8 text of which the words can be told by ASCII's marks alone, without capitals.

    Marks, symbols and spaces beyond ASCII become blanks, separators of lines and paragraphs newlines; what is
    invisible within words, such as soft hyphens, goes.
    """
    if text.isascii():
        return text
    characters = text.decode("utf-8").lower()
    table = {ord(c): _in_place_of(c) for c in set(characters) if not c.isascii()}
    return characters.translate(table).encode()


_LINE_ENDS = {"\x85": "\n", "\u2028": "\n", "\u2029": "\n\n"}


def _in_place_of(character):
    kind = unicodedata.category(character)
    if kind[0] in "LMN":
        return character
    if kind == "Cf":
        return ""
    return _LINE_ENDS.get(character, " ")


def load(path: Path, min_count: int, most_words: int, window: int) -> Corpus:
    """The words of a file. Raises CorpusError if they are too few to learn from."""
    corpus = Corpus(spelled_alike(read(path)), min_count, most_words)
    if len(corpus.words) < 2:
        raise CorpusError(
            f"{path} has {len(corpus.words)} words that occur {min_count} times or more: at least 2 are needed."
        )
    if corpus.kept_word_count <= window:
        raise CorpusError(f"{path} has {corpus.kept_word_count} words, no more than the window of {window}.")
    return corpus
