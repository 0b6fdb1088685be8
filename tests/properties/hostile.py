"""Texts that are made to take a parser long: each grows with the number it is given."""

from collections.abc import Callable

Text = Callable[[int], str]


def again(unit: str, before: str = "", after: str = "") -> Text:
    """Repeat a unit up to a number of characters; `{}` in it counts up."""
    if "{}" not in unit:
        return lambda size: before + unit * (size // len(unit)) + after
    return lambda size: (
        before + "".join(unit.replace("{}", str(i)) for i in range(size // (len(unit) + 3))) + after
    )


def halves(first: str, second: str, between: str = "") -> Text:
    """Repeat one unit, then another."""
    return lambda size: again(first)(size // 2) + between + again(second)(size // 2)


def deep(line: str, most: int = 10**9) -> Text:
    """Indent each line one step more than the one before, up to a depth, then start anew."""

    def text(size: int) -> str:
        depth = min(most, int(size**0.5))
        stair = "".join("  " * step + line for step in range(depth))
        return stair * max(1, size // len(stair))

    return text


LINKS: dict[str, Text] = {
    "open wikilinks": again("[["), "brackets": again("["), "closed brackets": again("]("),
    "bracket pairs": halves("[", "]"), "nested links": lambda n: "[" * n + "a" + "](x)" * (n // 4),
    "open destinations": again("[a]("), "angle destinations": again("[a](<"),
    "parentheses": again("[a](b("), "titles": again('[a](b "'), "mixed titles": again("[a](b '(\" "),
    "blank destination": lambda n: "[a](" + " " * n + "[a](", "wikilinks": again("[[a{}]] "),
    "links": again("[x](y{}.md) "), "images": again("![a](b) ![["), "escapes": again("\\["),
    "percent": again("%41", "[a](", ")"), "entities in a link": again("&#1", "[a](", ")"),
    "definitions": again("[r{}]: /x\n"), "definitions apart": again("[r{}]: /x\n\n"),
    "one definition": again("[a]: b\n"), "open definitions": again("[a]:\n"),
    "open labels": again("[a\n"), "open definition titles": again("[a]: b '\n"),
    "references": again("[a]", "[a]: b\n\n"), "open references": again("[x][a", "[a]: b\n\n"),
    "long labels": again("[" + "b" * 990 + "]", "[a]: b\n\n"), "footnotes": again("[^{}]: a [^{}]\n\n"),
    "autolinks": again("<http:a"), "addresses": again("a<b@c."), "address": again("a@", "<"),
}  # fmt: skip
BLOCKS: dict[str, Text] = {
    "headings": again("# a\n"), "a heading over many": halves("a", "## b\n", "\n=\n"),
    "a title over many": lambda n: "# " + halves("a", "## b\n", "\n")(n), "setext": again("a\n=\n"),
    "a long setext heading": again("a\n", after="==="), "heading of stars": again("*", "# "),
    "heading of emphasis": again("*a **b ", "# "), "heading of marks": again("# ", "# "),
    "heading of block ids": again("a ^b ", "# "), "heading of entities": again("&amp;", "# "),
    "heading of escapes": again("\\*", "# "), "heading of blanks": again(" ", "# a", "b"),
    "quotes": again(">"), "spaced quotes": again("> "), "quoted lines": again("> a\n"),
    "lazy lines": again("b\n", ">" * 9 + "a\n"), "quoted fences": again("> ```\n"),
    "lists": again("- "), "list lines": again("- a\n"), "empty items": again("-\n\n"),
    "loose items": again("- a\n\n  b\n"), "numbers": again("1) "), "tasks": again("- [ ] [[a]]\n"),
    "nested lists": deep("- a\n"), "stairs of lists": deep("* a\n", 40), "rules": again("* * *\n"),
    "table": again("|[[x]]|y|\n", "|a|b|\n|-|-|\n"), "bars": again("|"), "tables": again("a|b\n-|\n"),
    "columns": lambda n: again("|a")(n) + "|\n" + again("|-")(n) + "|\n" + again("|[b")(n) + "|\n",
    "escaped cells": lambda n: again("|a")(n) + "|\n" + again("|-")(n) + "|\n" + again("|[\\\\\\|")(n),
    "escaped bars": again("\\|", "|a|\n|-|\n|", "[[x]]|\n"), "dashes and bars": again("|-|\n"),
    "fences": again("```\n"), "fences in turn": again("```a\n~~~\n"), "a long fence": halves("`", "a\n", "\n"),
    "fences in lists": again("- ```\n"), "indented": again("    a\n\n"), "html blocks": again("<div>\n\n"),
    "scripts": again("<script>\n"), "blank lines": again("\n"), "line ends": again("a\r\n\rb\n\n\r"),
}  # fmt: skip
INLINE: dict[str, Text] = {
    "emphasis": again("*_"), "open emphasis": again("**a *b"), "backticks": again("`"),
    "backticks of all lengths": lambda n: "".join("`" * i + "a" for i in range(int((2 * n) ** 0.5))),
    "odd backticks": again("`a``b"), "comments": again("<!--"), "less": again("<"), "tags": again("<a "),
    "attributes": again('<a b="'), "an open tag": again(" b", "x <a"), "instructions": again("<?"),
    "entities": again("&amp;"), "inline tags": again("#t{} "), "a long inline tag": again("a/", "#"), "slashes": again("/", "#a"),
    "fields": again("key:: [[a]]\n"), "a field": again("[[a]], ", "k:: "), "open fields": again("(k:: [[a]] "),
    "blanks in a field": halves(" ", "[[b]] ", "k: [[a]]"), "a label's commas": halves(",", "[[b]]", "x"),
    "an indented field": halves(" ", "[[a]] "), "words of relations": again("fixes [[a]] and "),
    "block ids": again("a ^b{}\n"), "carets": again(" ^a"), "stars before a link": again("*" * 1900 + " [[a]]\n\n"),
    "dashes before a link": again("- " * 900 + "[[a]]\n\n"), "open links in lines": again("[[" * 900 + " [[a]]\n\n"),
    "a long line": again("word "), "a long word": again("a"), "sentences": again("a. "), "dots": again(".)"),
    "identifiers": again("aB1"), "spaces": again(" ", "a", "b"), "tabs": again("\t"), "kanji": again("漢字。"),
    "marks": again("\u0301", "a"), "marks in disorder": again("\u0301\u0327", "a"),
    "marks in a link": again("\u0301\u0327", "[[a", "]]"), "marks in a tag": again("\u0301\u0327", "#a"),
    "hangul": again("\u1100\u1161\u11a8"), "line separators": again("a\u2028"), "templates": again("{{a}}"),
}  # fmt: skip
YAML: dict[str, Text] = {
    "keys": again("k{}: v\n"), "one key": again("k: v\n"), "open lists": again("[", "k: "),
    "list": again("a, ", "k: [", "]"), "map": again("k{}: 1, ", "{", "}"), "dashes": again("- "),
    "aliases of a text": lambda n: "a: &a " + halves("b", "*a, ", "\nc: [")(n) + "]",
    "aliases of a map": lambda n: "a: &a {" + halves("b: c, ", "*a, ", "}\nc: [")(n) + "]",
    "aliases of blanks": lambda n: "a: &a [" + halves(" ", "*a, ", "]\nc: [")(n) + "]",
    "doubling aliases": lambda n: "a0: &x0 b\n" + "".join(
        f"a{i}: &x{i} [*x{i - 1}, *x{i - 1}]\n" for i in range(1, n // 30)),
    "anchors": again("a{}: &x b\n"), "merges": again("<<: *a\n", "a: &a {b: c}\n"),
    "text": again("a b ", "title: "), "lines of text": again("  b\n", "title: a\n"),
    "escapes": again("\\n", 'title: "', '"'), "an open string": again('\\"', 'title: "'),
    "quotes": again("''", "title: '", "'"), "open quotes": again("a''", "title: '"),
    "quotes in a comment": again("a''", "# '"), "quotes in a block": again("a''", "x: |\n  '"),
    "block text": again("  a\n", "title: |\n"), "blocks": again("k{}: |\n  a\n\n"),
    "blanks behind a block": again("   \n", "title: |\n  a\n", "x: 1"), "digits": again("9", "a: "),
    "digits of a date": again("0", "created: 2026-01-01T"), "blanks in a date": again(" ", "created: '2026", "x'"),
    "directives": again("%TAG !a{}! x\n"), "a tag": again("%41", "a: !<", "> b"), "colons": again("a: "),
    "tags": again("t{} ", "tags: "), "signs in a tag": again("#", "tags: [a", "b]"), "no tags": again("{}, ", "tags: [", "]"),
    "blanks in a tag": again(" ", "tags: 'a", "b,c'"), "tag of marks": again("\u0301\u0327", "tags: [a", "]"),
    "equal tags": again("a, ", "tags: [", "]"), "block tags": again("- t{}\n", "tags:\n"), "names": again("a{}, ", "aliases: [", "]"),
    "dots of a file": again("./", "file_refs: ['", "a.py']"),
    "wikilinks": again("[[a]]", "up: "), "open wikilinks": again("[[", "up: '", "'"), "complex keys": again("? "),
    "nested maps": lambda n: "".join(" " * i + "a:\n" for i in range(int((2 * n) ** 0.5))), "carriage returns": again("a: b\r"),
    "spellings": again("created-at: x{}\nCreated_At: x\n"), "holes": again("{{b}}, ", "a: [", "]"), "comments": again("#\n"),
}  # fmt: skip
TOML: dict[str, Text] = {
    "dotted key": again("a.", after="a = 1"), "quoted key": again('"a".', after="b = 1"), "table": again("a.", "[", "a]"),
    "keys": again("k{} = 1\n"), "array": again("1, ", "a = [", "]"), "lines of an array": again("1,\n", "a = [\n", "]"),
    "open arrays": again("[", "a = "), "open tables": again("{a = ", "a = "), "tables": again("[t{}]\n"),
    "arrays of tables": again("[[t]]\n[t.a]\n"), "comments in a string": again("x # ", 'a = "', '"'),
    "lines of a string": again("x\n", 'a = """\n', '"""'), "escaped lines": again("\\\n", 'a = """', '"""'),
    "digits": again("9", "a = "), "hex digits": again("f", "a = 0x"), "underscores": again("1_", "a = ", "1"),
    "deep keys": again("x." * 30 + "k{} = 1\n"), "inline table": again("k{} = 1, ", "a = {", "z = 1}"),
    "dates": again("1979-05-27, ", "a = [", "]"), "quotes": again('"'), "comments": again("# x\n"),
}  # fmt: skip
FENCES: dict[str, Text] = {
    "front matter fences": again("---\n"), "dots": again("...\n", "---\n"), "pluses": again("+++\n"),
    "blanks behind a fence": again(" ", "---\n--- ", "x\n---\n"), "fences with words": again("---  x\n", "---\n"),
    "no key": again("abc", "---\n\n", "\n---\n"), "never closed": again("a: b\n", "---\n"),
}  # fmt: skip


def _inside(fence: str, text: Text) -> Text:
    return lambda size: f"{fence}\n{text(size)}\n{fence}\n# A\n\nbody [[x]]\n"


TEXTS: dict[str, Text] = {
    **LINKS, **BLOCKS, **INLINE, **FENCES,
    **{f"YAML: {name}": _inside("---", text) for name, text in YAML.items()},
    **{f"TOML: {name}": _inside("+++", text) for name, text in TOML.items()},
}  # fmt: skip
