"""Lines of text with attributes: which parts are bold or of a colour, and which are commands to be chosen.

Segments are (begin, end, attribute) or (begin, end, [attributes]); an attribute is a text or a MenuItem.
"""

from __future__ import annotations

import copy
import re

from stillflow.files import gfile

REGEX_MATCH_LINES_KEY = "regex_match_lines"
INIT_SCROLL_POS_KEY = "init_scroll_pos"
MAIN_MENU_KEY = "mm:"


class RichLine:
    """A line, made of parts by `+`.

    Args:
      text: its text.
      font_attr: the attribute of all of it.
    """

    def __init__(self, text="", font_attr=None):
        self.text = text
        self.font_attr_segs = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other):
        if not isinstance(other, (str, RichLine)):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        line = RichLine()
        line.text = self.text + (other if isinstance(other, str) else other.text)
        line.font_attr_segs = list(self.font_attr_segs)
        if isinstance(other, RichLine):
            line.font_attr_segs += [(a + len(self), b + len(self), attr) for a, b, attr in other.font_attr_segs]
        return line

    def __len__(self):
        return len(self.text)


class RichTextLines:
    """Several lines.

    Args:
      lines: a list of texts, or one.
      font_attr_segs: {number of a line: its segments}.
      annotations: {number of a line, or a text: anything}.

    Raises ValueError for lines of another type.
    """

    def __init__(self, lines, font_attr_segs=None, annotations=None):
        if not isinstance(lines, (list, str)):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self._lines = [lines] if isinstance(lines, str) else lines
        self._font_attr_segs = font_attr_segs or {}
        self._annotations = annotations or {}

    @property
    def lines(self):
        """The texts."""
        return self._lines

    @property
    def font_attr_segs(self):
        """{number of a line: its segments}."""
        return self._font_attr_segs

    @property
    def annotations(self):
        """{number of a line, or a text: anything}."""
        return self._annotations

    def num_lines(self):
        """The number of lines."""
        return len(self._lines)

    def slice(self, begin, end):
        """The lines from `begin` to before `end`. Raises ValueError for negative numbers."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")

        def within(parts):
            kept = {}
            for key, part in parts.items():
                if not isinstance(key, int):
                    kept[key] = part
                elif begin <= key < end:
                    kept[key - begin] = part
            return kept

        return RichTextLines(self.lines[begin:end], within(self.font_attr_segs), within(self.annotations))

    def extend(self, other):
        """Adds the lines of another."""
        count = self.num_lines()
        self._lines.extend(other.lines)
        self._font_attr_segs.update(_shifted(other.font_attr_segs, count))
        self._annotations.update(_shifted(other.annotations, count))

    def append(self, line, font_attr_segs=None):
        """Adds a line."""
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line):
        """Adds a RichLine."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line, font_attr_segs=None):
        """Puts a line, or a list of them, before the others; the segments are of the first."""
        before = RichTextLines(line, {0: font_attr_segs} if font_attr_segs else None)
        count = before.num_lines()
        self._lines = before.lines + self._lines
        self._font_attr_segs = {**_shifted(self._font_attr_segs, count), **before.font_attr_segs}
        self._annotations = _shifted(self._annotations, count)

    def write_to_file(self, file_path):
        """Writes the texts to a file. Raises tf.errors.OpError if that is not possible."""
        with gfile.GFile(file_path, "w") as file:
            file.write("".join(f"{line}\n" for line in self._lines))


def _shifted(parts, count):
    return {key + count if isinstance(key, int) else key: part for key, part in parts.items()}


def rich_text_lines_from_rich_line_list(rich_text_list, annotations=None):
    """RichTextLines of a list of RichLines and texts."""
    lines = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        if isinstance(line, RichLine):
            lines.append_rich_line(line)
        else:
            lines.append(line)
    return lines


def regex_find(orig_screen_output, regex, font_attr):
    """The same lines, with an attribute where a regular expression matches.

    The annotation REGEX_MATCH_LINES_KEY has the numbers of the lines. Raises ValueError for what is no expression.
    """
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    segments = copy.deepcopy(orig_screen_output.font_attr_segs)
    found = []
    for i, line in enumerate(orig_screen_output.lines):
        matches = [(*match.span(), font_attr) for match in pattern.finditer(line)]
        if matches:
            found.append(i)
            segments[i] = sorted([*segments.get(i, []), *matches], key=lambda segment: segment[0])
    output = RichTextLines(orig_screen_output.lines, segments, orig_screen_output.annotations)
    output.annotations[REGEX_MATCH_LINES_KEY] = found
    return output


def wrap_rich_text_lines(inp, cols):
    """The lines cut into pieces of at most `cols` characters.

    Returns:
      RichTextLines, and for each line of before the number of its first piece.

    Raises ValueError for arguments of other types.
    """
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    out = RichTextLines(
        [], annotations={key: value for key, value in inp.annotations.items() if isinstance(key, str)}
    )
    firsts = []
    for i, line in enumerate(inp.lines):
        firsts.append(out.num_lines())
        if i in inp.annotations:
            out.annotations[out.num_lines()] = inp.annotations[i]
        for begin in range(0, max(1, len(line)), cols):
            out.append(line[begin : begin + cols], _cut(inp.font_attr_segs.get(i, ()), begin, cols))
    return out, firsts


def _cut(segments, begin, cols):
    cut = [(max(0, a - begin), min(cols, b - begin), attr) for a, b, attr in segments]
    return [(a, b, attr) for a, b, attr in cut if a < b]


class MenuItem:
    """A command that can be chosen.

    Args:
      caption: what is shown.
      content: the command.
      enabled: whether it can be chosen now.
    """

    def __init__(self, caption, content, enabled=True):
        self._caption = caption
        self._content = content
        self._enabled = enabled

    @property
    def caption(self):
        """What is shown."""
        return self._caption

    @property
    def content(self):
        """The command."""
        return self._content

    def is_enabled(self):
        """Whether it can be chosen."""
        return self._enabled

    def disable(self):
        """Takes it out of choice."""
        self._enabled = False

    def enable(self):
        """Allows it to be chosen."""
        self._enabled = True


class Menu:
    """Several MenuItems in a line."""

    def __init__(self, name=None):
        self._name = name
        self._items: list = []

    def append(self, item):
        """Adds an item at the end."""
        self._items.append(item)

    def insert(self, index, item):
        """Adds an item before that of a number."""
        self._items.insert(index, item)

    def num_items(self):
        """The number of items."""
        return len(self._items)

    def captions(self):
        """The captions of the items."""
        return [item.caption for item in self._items]

    def caption_to_item(self, caption):
        """The item with that caption. Raises LookupError if there is none."""
        for item in self._items:
            if item.caption == caption:
                return item
        raise LookupError(f'There is no menu item with the caption "{caption}"')

    def format_as_single_line(self, prefix=None, divider=" | ", enabled_item_attrs=None, disabled_item_attrs=None):
        """RichTextLines of one line: the captions, each followed by the divider, with attributes."""
        text = prefix or ""
        segments = []
        for item in self._items:
            begin = len(text)
            text += item.caption
            attributes = [item, *_listed(enabled_item_attrs)] if item.is_enabled() else _listed(disabled_item_attrs)
            if attributes:
                segments.append((begin, len(text), attributes))
            text += divider
        return RichTextLines(text, {0: segments})


def _listed(attributes):
    if attributes is None:
        return []
    return attributes if isinstance(attributes, list) else [attributes]
