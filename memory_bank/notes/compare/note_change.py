"""The immutable records of how a note changed."""

from __future__ import annotations

from typing import Literal

from memory_bank.base import NamedTuple

ChangeKind = Literal["added", "changed", "removed", "renamed"]
"""Of a note or section; `renamed` has the same text under another name."""

START = "(start)"
"""What views call the section above the first heading."""


class TextSpan(NamedTuple):
    """A part of a diff by words."""

    kind: Literal["equal", "insert", "delete"]
    text: str
    """Of an equal span, the text after the change: white space may differ before it."""

    @property
    def marked(self) -> str:
        """Its text with the marks of `git diff --word-diff`."""
        if self.kind == "equal":
            return self.text
        return f"[-{self.text}-]" if self.kind == "delete" else f"{{+{self.text}+}}"


class ClaimChange(NamedTuple):
    """A sentence, list item, table row or line of code that changed."""

    kind: Literal["added", "changed", "removed"]
    line: int
    """1-based line of the file after the change where it starts; of a removed one, where it was."""
    spans: tuple[TextSpan, ...]
    """Its diff by words; one span if it was added or removed."""


class SectionChange(NamedTuple):
    """How a section changed."""

    kind: ChangeKind
    headings: tuple[str, ...]
    """Headings above it and its own, outermost first; empty before the first heading. Of a removed
    section, those before."""
    old_headings: tuple[str, ...] | None
    """The headings before, if they were others."""
    line: int
    """1-based line of the file after the change where it starts; of a removed one, where it was."""
    end_line: int
    """The line after its last."""
    claims: tuple[ClaimChange, ...]
    """Changed claims in their order; of an added or removed section, all its claims."""
    shortened: str | None = None
    """Why its claims are not listed: the text is too long."""

    @property
    def title(self) -> str:
        """Its headings, or what stands for none."""
        return " › ".join(self.headings) or START


class KeyChange(NamedTuple):
    """A key of the front matter that changed."""

    key: str
    kind: Literal["added", "changed", "removed"]
    before: str | None
    """Its value as JSON; None if there was none."""
    after: str | None
    gained: tuple[str, ...] = ()
    """New items of a list."""
    lost: tuple[str, ...] = ()


class LinkChange(NamedTuple):
    """A link that a note gained or lost."""

    target: str
    """As written, with `#heading` or `^block`."""
    type: str
    line: int
    """1-based line of the file after the change; of a lost link, before it."""
    times: int = 1


class NoteChange(NamedTuple):
    """How a note changed between two revisions."""

    path: str
    """The note's path in the bank; of a removed note, the former one."""
    old_path: str | None
    """The former path of a note that was moved or renamed."""
    kind: ChangeKind
    """`renamed` for a note that was moved, even if its text changed as well."""
    file: str
    """The path of its file below the work tree, with forward slashes."""
    title: str
    sections: tuple[SectionChange, ...] = ()
    front_matter: tuple[KeyChange, ...] = ()
    gained: tuple[LinkChange, ...] = ()
    lost: tuple[LinkChange, ...] = ()
    tokens_before: int = 0
    """Estimated tokens of the whole note; 0 of an added one."""
    tokens_after: int = 0
    words_added: int = 0
    words_removed: int = 0
    old_file: str | None = None
    """The former path below the work tree of a note that was moved or renamed."""
    remark: str | None = None
    """What else is to say: only white space changed, or why its text was not compared."""
    compared: bool = True
    """Whether its texts were compared; if not, `remark` says why."""
    checked: bool = True
    """Whether it was read at all, so that rules could check it; if not, `remark` says why."""
