"""An edit of front matter keeps all other bytes, or isn't made."""

import string
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from memory_bank.base.errors import UnreadableNote
from memory_bank.memory.change import archive_text, restore_text
from memory_bank.notes.front_matter import compose_text, read_metadata, set_keys, split
from memory_bank.notes.schema import read_meta
from memory_bank.notes.yaml import reread_value

# Values as people write them; {} stands for the line end.
SHAPES = [
    "x", "012", "'it''s'", '"a: b"  # c', "[a, b]", '[a,"b c", d ] # c', "[[Note]]", "yes", "1.50",
    "", "  # nothing", "{{a: 1, b: [x]}}", "|{}  one{}   two # text", ">-  # c{}  one{}{}  two{}",
    "|+{}  one{}{}", "{}- a{}- 'b' # c{}# d{}- c", "{}  - a: 1{}    b: 2{}  - {{kind: p}}",
    "{}  k: v{}  l:{}    - 1", '"two{}  lines"', "[a, # c{}  b,{}  c,{}]", "plain{}  two lines # c",
    "{}  later # c", "!!str 5", "2026-11-21T10:00:00Z", "é 😀 # ü", "{}-{}- b", "{}  # c{}  - x",
    "[]", "{}- - a{}  - b{}- c",
]  # fmt: skip
SEPARATORS = ["", "", "", "# a comment{}", "{}", "  {}# c: d{}"]
KEYS = ["title", "tags", "id", "on", "2024", "my key", "ключ", "a.b", "x-y", "'quoted'"]

texts = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["012", "a: b", "- a", "x #y", "", "yes", "[x]", "a\nb", "2026-11-21", "plain", "a, b", "'"]
)
scalars = (
    texts
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.datetimes(timezones=st.just(UTC))
)
lists = st.lists(st.sampled_from(["a", "b", "c", "b c", "d: e", "[x]", "#"]), max_size=5) | (
    st.lists(st.dictionaries(st.sampled_from(["kind", "id", "a b"]), texts, min_size=1), max_size=3)
)
values = scalars | lists


@dataclass(frozen=True)
class Block:
    """A block in pieces: what stands before, in and behind each key's lines."""

    keys: tuple[str, ...]
    entries: tuple[str, ...]
    separators: tuple[str, ...]
    newline: str

    def pieces(self) -> list[str]:
        """Return what stands between the keys, and the keys' lines, by turns."""
        pairs = zip(self.separators, (*self.entries, ""), strict=True)
        return [piece for pair in pairs for piece in pair]

    def text(self) -> str:
        """Return the block."""
        return "".join(self.pieces())


@st.composite
def blocks(draw: st.DrawFn) -> Block:
    """Draw a block of keys in all shapes, with one kind of line end or a mixture."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=5))
    newlines = draw(st.sampled_from([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]]))

    def filled(template: str) -> str:
        count = template.replace("{{", "").count("{}")
        ends = draw(st.lists(st.sampled_from(newlines), min_size=count, max_size=count))
        return template.format(*ends)

    entries = []
    for key in keys:
        shape = filled(draw(st.sampled_from(SHAPES)))
        space = "" if shape[:1] in {"", "\r", "\n"} else " "
        entries.append(f"{key}:{space}{shape}{draw(st.sampled_from(newlines))}")
    separators = tuple(filled(draw(st.sampled_from(SEPARATORS))) for _ in range(len(keys) + 1))
    return Block(tuple(key.strip("'") for key in keys), tuple(entries), separators, newlines[0])


def edited(text: str, changes: Mapping[str, object]) -> tuple[str, str]:
    """Return the text after a change, or why it was refused."""
    try:
        return set_keys(text, changes), ""
    except UnreadableNote as error:
        return text, str(error)


@given(blocks(), st.sampled_from([key.strip("'") for key in KEYS]), st.none() | values, st.data())
def test_all_other_bytes_stay(block: Block, key: str, value: object, data: st.DataObject) -> None:
    """Only the lines of the changed key differ, and only this key says something else."""
    newline = block.newline
    opening, closing = f"---{newline}", f"---{newline}"
    body = data.draw(st.sampled_from(["", "# A\r\n\r\nb\n", "---\nx", " \n\n  \n", "a: 1\n---\n"]))
    text = f"{opening}{block.text()}{closing}{body}"
    before, faults = read_metadata(split(text))
    assert not faults
    new, refused = edited(text, {key: value})
    if refused:
        # Only removals: an indented comment would become text of the block scalar above, or a
        # blank line and comments would be left, which are a rule and a heading.
        assert value is None
        assert "would not say" in refused or "would end elsewhere" in refused
        return
    head, tail = opening + block.text(), closing + body
    if key in block.keys:
        index = block.keys.index(key)
        head = opening + "".join(block.pieces()[: 2 * index + 1])
        tail = "".join(block.pieces()[2 * index + 2 :]) + tail
        if "|+" in block.entries[index]:  # the blank lines below are its own, and go with it
            tail = tail.lstrip("\r\n ")
    assert new.startswith(head)
    assert new.endswith(tail)
    assert len(new) >= len(head) + len(tail)
    if value is not None:
        changed = {**before, key: reread_value(value)}
    else:
        changed = {name: old for name, old in before.items() if name != key}
    after, _ = read_metadata(split(new))
    assert {name: repr(v) for name, v in after.items()} == {
        name: repr(v) for name, v in changed.items()
    }
    assert split(new).body == body
    assert set_keys(new, {key: value}) == new


@given(blocks(), st.dictionaries(st.sampled_from([k.strip("'") for k in KEYS]), st.none() | values))
def test_several_keys_at_once(block: Block, changes: dict[str, object]) -> None:
    """Several changes are each of them, one after the other."""
    text = f"---{block.newline}{block.text()}---{block.newline}body"
    try:
        together = set_keys(text, changes)
        single = text
        for key, value in changes.items():
            single = set_keys(single, {key: value})
    except UnreadableNote:
        return
    assert read_metadata(split(together))[0] == read_metadata(split(single))[0]
    assert split(together).body == "body"
    assert set_keys(together, changes) == together


PIECES = [
    "a", "b", ": ", ":", " ", "  ", "\n", "\n", "\n", "- ", "[", "]", "{", "}", ", ", "#", " #",
    "'", '"', "|", ">", "|+", "\r\n", "\r", "&x ", "*x", "? ", "é", "😀", "---\n", "...\n", "!t ",
    "<<: ",
    "a: b\n", "c: [d, e]\n", "f:\n- g\n- h\n", "\t", "\u2028", "\x85", "@", "%", "~", "\\", "=",
]  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.sampled_from(["a", "c", "f", "b", "new"]),
    st.none() | st.sampled_from(["x", "x: y", ["d"], ["g", "i"], [{"k": "v"}], True, "a\nb"]),
)
@example("a: |+\n \n# x\n", "b", "x")
def test_any_block(block: str, key: str, value: object) -> None:
    """Whatever stands between the fences: edited as asked, or refused and nothing changed."""
    text = f"---\n{block}\n---\nbody\n"
    parts = split(text)
    before, _ = read_metadata(parts)
    try:
        new = set_keys(text, {key: value})
    except UnreadableNote:
        return
    after, _ = read_metadata(split(new))
    assert split(new).body == parts.body
    assert {k: repr(v) for k, v in after.items() if k != key} == {
        k: repr(v) for k, v in before.items() if k != key
    }
    assert after.get(key) == (None if value is None else reread_value(value))
    assert set_keys(new, {key: value}) == new


plain_keys = st.text(string.ascii_letters + string.digits + " _-é.:#", min_size=1, max_size=12)
nested = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(st.dictionaries(plain_keys, nested, max_size=5), st.text(st.characters(codec="utf-8")))
def test_composed_text_reads_back(raw: dict[str, object], body: str) -> None:
    """What was composed is read, by us and, as to text, by any YAML 1.1 reader."""
    text = compose_text(raw, body)
    parts = split(text)
    values_read, faults = read_metadata(parts)
    assert not faults
    assert repr(values_read) == repr(reread_value(raw))
    assert parts.body.rstrip("\r\n") == body.rstrip("\r\n")
    assert text.endswith("\n")
    other = yaml.safe_load(parts.block) or {}
    for key, value in raw.items():
        if isinstance(value, str):
            assert other[key] == value
    # A write of the same values changes nothing.
    assert set_keys(text, raw) == text
    later = datetime(2030, 1, 1, tzinfo=UTC) + timedelta(days=len(raw))
    assert read_metadata(split(set_keys(text, {"zz": later})))[0]["zz"] == reread_value(later)


STATUSES = ["", "status:{}", "status: active{}", "status: 'accepted' # c{}", "archived: no{}"]


@given(blocks(), st.sampled_from(STATUSES), st.sampled_from(["yaml", "none", "bare", "empty"]))
def test_undoing_archive_gives_every_byte_back(block: Block, status: str, kind: str) -> None:
    newline = block.newline
    text = {
        "yaml": f"---{newline}{block.text()}{status.format(newline)}---{newline}# Body",
        "none": f"# Body{newline}{newline}---{newline}text",
        "bare": f"---{newline}{newline}A thematic break{newline}---{newline}",
        "empty": f"---{newline}---{newline}{newline}# Body",
    }[kind]
    for before in (text, f"\ufeff{text}"):
        try:
            done = archive_text(before)
        except UnreadableNote:
            continue
        assert done != before
        assert read_meta(read_metadata(split(done))[0])[0].status == "archived"
        assert archive_text(done) == done
        assert restore_text(done) == before


@pytest.mark.parametrize(
    "text",
    [
        "+++\n+++\nbody", "+++\na = 1\n+++\n", "+++\nstatus = 'x'\n[t]\nb = 1\n+++\n", "", "\n\n",
        "---\nstatus: draft\n...\nbody", "---\nStatus: draft\n---\n", "---\n# c\n---\n", "---\r\na: 1\r\n---",
    ],
)  # fmt: skip
def test_undoing_archive_gives_rare_front_matter_back(text: str) -> None:
    assert archive_text(text) != text
    assert restore_text(archive_text(text)) == text
