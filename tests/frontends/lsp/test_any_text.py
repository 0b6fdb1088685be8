"""Whatever is typed, an editor gets an answer, and every place in it is in the text."""

from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.frontends.lsp import completion, open_texts, problems, rename
from memory_bank.frontends.lsp.open_texts import Texts, link_at, parse_text, read_links
from memory_bank.frontends.lsp.source_code import symbols_around, word_at

PARTS = st.sampled_from(
    [
        "---\n", "tags: [a, ", "type: ", "title: A\n", "file_refs: [x.py]\n", "# H\n", "## ", "===\n",
        "[[", "]]", "[[n]]", "[[n#H]]", "[[#H]]", "[[n^b]]", "![[", "|", "#", "^b", "](n.md#h)", "[a", "[1]: n.md\n",
        "😀", "日", "\r\n", "\n", "\r", "\u2028", " ", "`", "```\n", "\ufeff", "| [[n\\|x]] |\n", "|--|\n", "> ", "- ", "\t", "\0",
    ]
)  # fmt: skip
CODE = st.sampled_from(
    ["def f():\n", "    ", "class A:\n", "return f()\n", '"""doc"""\n', "@x\n", "# c\n", "f", "(", "😀", "\r\n", "\0", "\n"]
)  # fmt: skip
NOTE = "# H\n\nx ^b\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PARTS, max_size=25).map("".join), st.data())
def test_any_note_is_answered(
    tmp_path: Path, opening: Callable[..., Bank], text: str, data: st.DataObject
) -> None:
    root = tmp_path / "project" / ".memories"
    if not root.exists():
        root.mkdir(parents=True)
        (root / "n.md").write_text(NOTE)
        bank = opening(tmp_path / "project")
        bank.catch_up()
    bank = opening(tmp_path / "project")
    texts = Texts(bank, {"t.md": text})
    offset = data.draw(st.integers(0, len(text)))
    spans = [
        (one.start, one.end) for one in completion.list_choices(texts, "t.md", text, offset)[0]
    ]
    spans += [(one.start, one.end) for one in problems.list_problems(texts, "t.md")]
    spans += [(one.start, one.end) for one in problems.list_fixes(texts, "t.md", offset, offset)]
    note = texts.note("t.md")
    if note is not None:
        spans += [(one.first, one.last) for one in read_links(note)]
        open_texts.part_at(note, offset)
        if (written := link_at(note, offset)) is not None:
            (goal,) = open_texts.leads_to(texts, "t.md", [written.link])
            open_texts.find_references(texts, goal)
        if (what := rename.find_renameable(texts, "t.md", offset)) is not None:
            spans.append((what.start, what.end))
            try:
                made = rename.rename(texts, what, "Other name")
            except MemoryBankError:
                pass
            else:
                spans += [(one.start, one.end) for one in made.edits if one.path == "t.md"]
    assert all(0 <= start <= end <= len(text) for start, end in spans)


@given(st.lists(CODE, max_size=20).map("".join), st.data())
def test_any_source_file_is_answered(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    _, start, end = word_at(text, offset)
    file = parse_text("a.py", text)
    assert file is not None
    symbols_around(file, data.draw(st.integers(1, 30)))
    assert 0 <= start <= end <= len(text)
