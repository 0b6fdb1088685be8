"""Reviews to render, and texts that try to be more than text."""

from collections.abc import Sequence

from hypothesis import strategies as st

from memory_bank.bank.records import OtherNote, ReviewFinding
from memory_bank.notes.note_change import (
    ClaimChange,
    KeyChange,
    LinkChange,
    NoteChange,
    SectionChange,
    TextSpan,
)
from memory_bank.review.records import HEADINGS, Review, RuleWithFindings, Side, TokenChange

SENTINEL = "ζ"
"""A letter of every untrusted text, and of nothing that the formats say themselves."""
HOSTILE = (
    "@octocat", "@org/team", "fixes #1", "closes GH-2", "a/b#3", "https://evil.example", "www.evil.example",
    "me@evil.example", "<img src=x onerror=alert(1)>", "</code>", "</details>", "</summary>", "<script>",
    "<!-- memory-bank review -->", "-->", "![a](https://evil.example/a.png)", "[a](b)", "](", "[a]: b",
    "`", "``", "```", "````", "~~~", "|", "\\", "\\`", "$x$", "$`", "{0}", "{", "}", "%", "%0A", ":", "::", ",",
    "::set-output name=a::b", "\n::stop-commands::x", "\r::error::x", "\r\n::add-mask::x", "##[add-mask]x",
    "\n", "\r", "\r\n", "\n\n", "\u2028", "\x85", "\x0b", "\x0c", "\x1b[31m", "\t", "    ", "\n# head", "\n- [x] item",
    "\n> [!NOTE]", "\n---\n", "\u202e", "\u200b", "\ufeff", "\U000e0041", "\ud800", "\0", "&lt;", "&#64;a", ":smile:", "𝔘", "é",
)  # fmt: skip

texts = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text(max_size=4)), min_size=1, max_size=6
).map(lambda parts: SENTINEL + "".join(parts) + SENTINEL)


def finding(
    message: str = "the link is ambiguous",
    *,
    rule: str = "broken-link",
    severity: str = "warning",
    file: str = ".memories/facts/bm25.md",
    line: int = 3,
    fix: str | None = None,
    new: bool = True,
    **places: object,
) -> ReviewFinding:
    path = file.removeprefix(".memories/")
    return ReviewFinding(rule, severity, path, line, message, fix, file=file, new=new, **places)  # type: ignore[arg-type]


findings = st.builds(
    finding,
    texts,
    rule=st.sampled_from(["broken-link", "secret", *HEADINGS]),
    severity=st.sampled_from(["error", "warning", "info"]),
    file=texts,
    line=st.integers(1, 5000),
    fix=st.none() | texts,
    new=st.booleans(),
    words=texts,
    other=st.none() | st.builds(OtherNote, texts, texts),
)


def note(path: str = "facts/bm25.md", **fields: object) -> NoteChange:
    given: dict[str, object] = {
        "old_path": None, "kind": "changed", "file": f".memories/{path}", "title": "BM25",
        "sections": (section(claim(("equal", "k1 is "), ("delete", "1.5"), ("insert", "1.2"))),),
        "tokens_before": 40, "tokens_after": 42, "words_added": 1, "words_removed": 1,
    }  # fmt: skip
    return NoteChange(path, **{**given, **fields})  # type: ignore[arg-type]


def section(
    *claims: ClaimChange, headings: Sequence[str] = ("BM25", "Parameters")
) -> SectionChange:
    return SectionChange("changed", tuple(headings), None, 5, 9, claims)


def claim(*spans: tuple[str, str], kind: str = "changed") -> ClaimChange:
    return ClaimChange(kind, 6, tuple(TextSpan(*one) for one in spans))  # type: ignore[arg-type]


def review(*found: ReviewFinding, changes: Sequence[NoteChange] = (), **fields: object) -> Review:
    rules = sorted({(one.rule, one.severity) for one in found})
    names = dict(rules)
    given: dict[str, object] = {
        "base": Side("main", "a" * 40), "head": Side("topic", "b" * 40),
        "prefix": ".memories/", "changes": tuple(changes), "findings": found,
        "rules": tuple(RuleWithFindings(name, severity, f"a {name}") for name, severity in names.items()),
        "tokens": TokenChange(40, 42), "notices": (),
    }  # fmt: skip
    return Review(**{**given, **fields})  # type: ignore[arg-type]


@st.composite
def hostile_reviews(draw: st.DrawFn) -> Review:
    """Draw a review in which every text that a pull request can choose is hostile."""
    text = lambda: draw(texts)  # noqa: E731
    spans = (("equal", text()), ("delete", text()), ("insert", text()), ("equal", text()))
    parts = section(
        claim(*spans), claim(("insert", text()), kind="added"), headings=(text(), text())
    )
    keys = (
        KeyChange(text(), "changed", text(), text()),
        KeyChange("tags", "changed", "[]", "[]", (text(),), (text(),)),
    )
    links = (LinkChange(text(), text(), 3), LinkChange(text(), "related_to", 4, 2))
    change = note(
        text(), old_path=text(), old_file=text(), file=text(), title=text(), sections=(parts,), front_matter=keys,
        gained=links, lost=links, remark=text(),
    )  # fmt: skip
    return review(
        *draw(st.lists(findings, max_size=4)),
        changes=[change],
        notices=(text(),),
        base=Side(text(), None),
    )
