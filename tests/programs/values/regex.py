"""Regular expressions: what they match in many texts, as bytes, and what is said of wrong ones."""

import numpy as np

from programs.values import case

TEXTS = [
    "", "a", "b", "ab", "ba", "aab", "abcabc", "aXb\nb a", "foo_bar-12 baz 3.14",
    "\u00e9t\u00e9 \u4e2d\u6587 \u0391\u03b1",
    "k K \u212a s \u017f \u00b5\u03bc", "a.b|c*d\\e", "line one\nline two\n", " \t\x0b\x0c\r\n", "((x))[y]{z}",
    "\u00c9\u00e0\U0001f600!",
    "aaaaaaaaaa", "2019-10-14", "user@host.example",
]  # fmt: skip

PATTERNS = [
    "", "a", "ab", ".", "a*", "a+", "a?", "a*?", "a+?", "a??", "(a)(b)?", "(a|ab)(c|bcd)(d*)", "a|b", "a||b",
    "(?:ab)+",
    "(a*)*", "(a*)+", "(|a)*", "(|a)+", "(a|b)*?c", "a{2}", "a{2,}", "a{2,3}", "a{2,3}?", "a{0}", "a{,2}", "a{", "^",
    "$",
    "(?m)^", "(?m)$", "^a", "b$", r"\Aa", r"b\z", r"\b", r"a\B", r"\ba", r"\d+", r"\D+", r"\s+", r"\S+", r"\w+",
    r"\W+",
    "[abc]+", "[^abc]+", "[a-c]x?", "[]a]", "[^]a]", "[a-]", "[--a]", "[a-b-c]", r"[\d-z]+", r"[\w.]+@[\w.]+",
    "[[:alpha:]]+", "[[:^alpha:]]+", "[[:alnum:]]", "[[:ascii:]]+", "[[:blank:]]", "[[:cntrl:]]", "[[:digit:]]",
    "[[:graph:]]+", "[[:lower:]]+", "[[:print:]]+", "[[:punct:]]", "[[:space:]]", "[[:upper:]]", "[[:word:]]+",
    "[[:xdigit:]]+", "[[.a.]]", r"\pL+", r"\PL+", r"\p{Lu}", r"\p{^Lu}", r"\p{Greek}+", r"\P{Greek}+", r"[\pN_]+",
    r"[^\pL]+", r"\p{Han}", r"\p{Any}", "(?i)A", "(?i)[A-B]+", "(?i)k", "(?i)S", "(?i)\u03bc", "(?i)\u00e9",
    "(?i)[^a]",
    "(?i)a(?-i)B", "(?i:a)b", "(?s).+", "(?s-m:.)", "(?U)a+", "(?U)a+?", "(?U:a+)a", "(?P<name>a)(b)", "(?im)^B",
    r"\.", r"\|\*", r"\\", r"\x61", r"\x{4e2d}", r"\141", r"\07", r"\t\v", r"\Qa.b|\E", r"\Qa", r"x\Q\Ey", r"\n",
    r"(\d{4})-(\d{2})", r"(\w+)\s(\w+)", r"(?:(?:(?:a*)*)*)*", "((a)|b)*", "(a+)(b+)", "(a{0,2})(a*)", "(?:)*", "^*",
    r"\b+",
    "a(?i)b|c", "(?:a|(?i)b)c?", "[^\\x00-\\x{10FFFF}]", "[\u4e00-\u9fff]+", "x{99999999999}", r"\_",
    # Wrong ones.
    "*a", "a**", "a*+", "a{2}{3}", "a{1001}", "a{2,1}", "(a{100}){100}", "((a{9}){9}){13}", "(", "a)", "[a", "[z-a]",
    "\\", r"\Z", r"\y", r"\1", r"\8", r"\x", r"\x{110000}", r"\xg", r"\x4", "(?P<>a)", "(?P=n)", "(?=a)", "(?<n>a)",
    "(?",
    "(?i", "(?z)", "(?i-)", "(?-)", "(?i:a", r"\p{Foo}", r"\pX", r"\p{", r"[a-\d]", "[]", "[^]", "{2}", "a|*", "(*a)",
    r"\Q\E*", r"\E", "(?P<name", "(?P<name>", "(a{500}){3}", r"\G", r"\u0041", r"[\b]", r"[a\]", r"\x{}", r"\x{41",
    "a++",
    "a???", "(?a)", "a\\", r"\p", r"[\p{Foo}]", "[a-", "[\\", "x{1,1001}", "((x{0}){1000}){1000}",
]  # fmt: skip

REWRITES = [r"\0\0", r"<\1,\2>", r"\9", "", r"\\0", r"\x", r"a\x", "\\", r"\1\x"]


def random_patterns(count):
    """Patterns of all kinds of parts, put together at random."""
    random = np.random.RandomState(7)
    atoms = ["a", "b", "c", ".", "[ab]", "[^a]", "(?:)", "^", "$", r"\b", r"\w", "\u00e9", "aa"]
    operators = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}"]

    def pattern(depth):
        kind = random.randint(6 if depth else 1)
        if kind == 0:
            return atoms[random.randint(len(atoms))]
        if kind == 1:
            return "(" + pattern(depth - 1) + ")"
        if kind == 2:
            return "(" + pattern(depth - 1) + "|" + pattern(depth - 1) + ")"
        if kind == 3:
            return "(" + pattern(depth - 1) + ")" + operators[random.randint(len(operators))]
        return pattern(depth - 1) + pattern(depth - 1)

    return [pattern(4) for _ in range(count)]


def cases(tf):
    texts = [text.encode("utf-8") for text in TEXTS]

    def as_bytes(strings):
        return tf.decode_raw(tf.reduce_join(strings, 0, separator="\x01"), tf.uint8)

    def replace(pattern, rewrite, is_global):
        return lambda: as_bytes(tf.strings.regex_replace(texts, tf.constant(pattern), rewrite, is_global))

    def match(pattern):
        return lambda: tf.strings.regex_full_match(texts, tf.constant(pattern))

    found = {}
    for i, pattern in enumerate(PATTERNS + random_patterns(150)):
        found["replace_{}".format(i)] = case(replace(pattern, r"<\0|\1|\2>", True))
        found["first_{}".format(i)] = case(replace(pattern, r"<\0|\1|\2>", False))
        found["match_{}".format(i)] = case(match(pattern))
    for i, rewrite in enumerate(REWRITES):
        for is_global in (True, False):
            found["rewrite_{}_{}".format(i, is_global)] = case(replace("(a)(b)?", rewrite, is_global))
    return found
