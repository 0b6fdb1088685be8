"""Front matter's keys in our words, tags, dates, hashes and slugs."""

import json
import subprocess
import sys
import unicodedata
from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base import dates
from memory_bank.base.errors import BadInput
from memory_bank.notes import identity, schema
from memory_bank.notes.front_matter import read_metadata, set_keys, split
from memory_bank.notes.note import Entity, Meta


def read(block: str, *inline: str) -> Meta:
    """Read a YAML block that has no faults."""
    values, faults = read_metadata(split(f"---\n{block}\n---\n"))
    meta, more = schema.read_meta(values, inline)
    assert not faults + more
    return meta


class TestReadMeta:
    """Tolerant reading."""

    def test_all_our_own_keys_are_read(self) -> None:
        meta = read(
            "id: 012345678901\ntitle: A\ntype: decision\nstatus: archived\ntags: [a, b]\n"
            "aliases: [x, y]\ncreated_at: 2026-11-21T10:00:00Z\nupdated_at: 2026-11-22T10:00:00Z\n"
            "source_type: agent\nsource_agent: claude\nentity_refs: [{kind: person, id: sarah}]\n"
            "file_refs: [src/a b.py]\nsymbol_refs: ['a.py::F']\nmine: {deep: [1, yes]}"
        )
        assert meta == Meta(
            id="012345678901",
            title="A",
            type="decision",
            status="archived",
            tags=("a", "b"),
            aliases=("x", "y"),
            created_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
            updated_at=datetime(2026, 11, 22, 10, tzinfo=UTC),
            source_type="agent",
            source_agent="claude",
            entity_refs=(Entity("person", "sarah"),),
            file_refs=("src/a b.py",),
            symbol_refs=("a.py::F",),
            extra={"mine": {"deep": [1, "yes"]}},
        )

    def test_no_front_matter_says_nothing(self) -> None:
        assert schema.read_meta({}) == (Meta(), ())
        assert read("title:\ntags:\nid: ''\ncreated:") == Meta()

    @pytest.mark.parametrize(
        ("written", "title"),
        [
            ("012", "012"), ("12:30", "12:30"), ("yes", "yes"), ("1.10", "1.10"), ("0.98", "0.98"),
            ("2024-01-01", "2024-01-01"), ("true", "true"), ("0", "0"), ("[[Note]]", "[[Note]]"),
            ("'  a '", "a"), ("|\n  a\n  b", "a b"), ("~", ""),
        ],
    )  # fmt: skip
    def test_a_title_is_text_whatever_it_looks_like(self, written: str, title: str) -> None:
        assert read(f"title: {written}").title == title

    @pytest.mark.parametrize(
        ("block", "tags"),
        [
            ("tags: [A, ' b ', '#c', 012, yes, 1.10, a]", ("a", "b", "c", "012", "yes", "1.10")),
            ("tags: a, b c", ("a", "b-c")),
            ("tags: a b", ("a", "b")),
            ("tags: '#a #b/c'", ("a", "b/c")),
            ("tag: x", ("x",)),
            ("tag: #x", ()),
            ("tags: 2024", ("2024",)),
            ("Tags:\n- a\n-\n- ''\n- [b, [c]]\n- d e, f", ("a", "b", "c", "d-e", "f")),
            ("tags: [a]\ntag: b", ("a", "b")),
            ("tags: '[[a]], [[B]]'", ("a", "b")),
            ("tags: [[a]]", ("a",)),
        ],
    )
    def test_tags_are_lists_or_texts_and_inline_tags_come_last(
        self, block: str, tags: tuple[str, ...]
    ) -> None:
        assert read(block, "Inline", "A") == read("", *tags, "inline", "a")
        assert read(block).tags == tags

    @pytest.mark.parametrize(
        ("block", "created", "updated"),
        [
            ("date: 2010-01-10 13:07:09", "2010-01-10T13:07:09Z", None),
            ("created: 1634067145297", "2021-10-12T19:32:25Z", None),
            ("created-at: 2024-10-11", "2024-10-11T00:00:00Z", None),
            ("Lastmod: 2024-10-12", None, "2024-10-12T00:00:00Z"),
            ("modified: '2024-10-12'", None, "2024-10-12T00:00:00Z"),
            ("updated: 2024-10-12", None, "2024-10-12T00:00:00Z"),
        ],
    )  # fmt: skip
    def test_dates_have_every_usual_key_and_shape(
        self, block: str, created: str | None, updated: str | None
    ) -> None:
        meta = read(block)
        assert (meta.created_at and dates.format_iso(meta.created_at)) == created
        assert (meta.updated_at and dates.format_iso(meta.updated_at)) == updated
        assert not meta.extra

    def test_of_two_keys_that_say_the_same_the_other_one_stays(self) -> None:
        meta = read("date: 2024-10-12\ncreated: 2024-10-11")
        assert meta.created_at == datetime(2024, 10, 11, tzinfo=UTC)
        assert meta.extra == {"date": "2024-10-12"}

    @pytest.mark.parametrize(
        ("block", "status", "extra"),
        [
            ("status: Archived", "archived", {}),
            ("archived: true", "archived", {}),
            ("archived: yes", "archived", {}),
            ("archived: 1", "archived", {}),
            ("archived: false", "active", {}),
            ("archived: 2024-01-01", "active", {"archived": "2024-01-01"}),
            ("status: accepted", "active", {"status": "accepted"}),
            ("status: active\narchived: true", "archived", {}),
        ],
    )
    def test_a_status_of_the_user_counts_as_active_and_is_kept(
        self, block: str, status: str, extra: dict[str, object]
    ) -> None:
        meta = read(block)
        assert (meta.status, meta.extra) == (status, extra)

    @pytest.mark.parametrize(
        ("block", "kind"),
        [
            ("type: Decision", "decision"),
            ("type: Recipe", "Recipe"),
            ("type: [[Book]]", "[[Book]]"),
        ],
    )
    def test_an_unknown_type_is_never_mapped(self, block: str, kind: str) -> None:
        assert read(block).type == kind

    def test_references_are_lists_texts_and_mappings(self) -> None:
        meta = read(
            "entity_refs:\n- person:sarah\n- person: bob\n- {kind: t, id: 12}\n- url:http://x\n"
            "file_refs: '[[src/a, b.py]]'\nsymbol_refs: [A, [B]]\nalias: X, Y"
        )
        assert meta.entity_refs == (
            Entity("person", "sarah"),
            Entity("person", "bob"),
            Entity("t", "12"),
            Entity("url", "http://x"),
        )
        assert meta.file_refs == ("src/a, b.py",)
        assert meta.symbol_refs == ("A", "B")
        assert meta.aliases == ("X", "Y")

    @pytest.mark.parametrize(
        ("raw", "key"),
        [
            ({"title": ["a", "b"]}, "title"),
            ({"tags": {"a": 1}}, "tags"),
            ({"tags": ["b", {"a": 1}]}, "tags"),
            ({"created": "{{date}}"}, "created"),
            ({"date": True}, "date"),
            ({"status": ["x"]}, "status"),
            ({"entity_refs": ["sarah"]}, "entity_refs"),
            ({"file_refs": {"a": 1}}, "file_refs"),
        ],
    )
    def test_a_fault_names_the_key_and_the_value_stays_findable(
        self, raw: dict[str, object], key: str
    ) -> None:
        meta, faults = schema.read_meta({**raw, "id": "x"})
        assert meta.id == "x"
        assert meta.extra == raw
        assert [key in fault.reason for fault in faults] == [True]

    def test_dates_and_odd_numbers_become_text_for_json(self) -> None:
        raw: dict[str, object] = {
            "day": date(2024, 1, 2),
            "first": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
            "clock": time(10, 30),
            "odd": [float("nan"), float("inf"), 1 << 20_000, b"x", 1.5, None],
        }
        meta, faults = schema.read_meta(raw)
        assert not faults
        found = json.loads(json.dumps(meta.extra, allow_nan=False))
        assert found["day"] == "2024-01-02"
        assert found["clock"] == "10:30:00"
        assert found["odd"][4:] == [1.5, None]

    @given(st.dictionaries(
        st.sampled_from(["id", "title", "tags", "tag", "date", "created", "status", "archived",
                         "entity_refs", "file_refs", "aliases", "type", "x"]) | st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes()
            | st.dates() | st.times(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8,
        ),
    ))  # fmt: skip
    def test_whatever_is_in_front_matter_the_answer_fits_json(self, raw: dict[str, object]) -> None:
        meta, _ = schema.read_meta(raw)
        json.dumps(meta.extra, allow_nan=False)
        assert all(isinstance(text, str) for text in (meta.id, meta.title, meta.type, *meta.tags))

    def test_an_edit_reaches_the_key_that_the_file_already_uses(self) -> None:
        raw: dict[str, object] = {"Tag": "a", "modified": "2024-01-01", "title": "x"}
        assert [schema.spelled_key(raw, name) for name in ("tags", "updated_at", "title", "id")] == [
            "Tag", "modified", "title", "id",
        ]  # fmt: skip
        text = "---\nmodified: 2024-01-01 # c\n---\n"
        key = schema.spelled_key(read_metadata(split(text))[0], "updated_at")
        new = set_keys(text, {key: datetime(2026, 1, 2, tzinfo=UTC)})
        assert new == "---\nmodified: 2026-01-02T00:00:00Z # c\n---\n"


class TestTags:
    """Tags for readers and for writers."""

    def test_tags_are_lower_case_without_spaces_and_none_twice(self) -> None:
        tags = ["#Foo Bar", "foo-bar", " ", "#", "", "E\u0301", "É", "a/B", "## x #", "İ"]
        assert schema.normalise_tags(tags) == ("foo-bar", "é", "a/b", "x", "i̇")

    @given(st.lists(st.text()))
    def test_normalised_tags_are_normal(self, tags: list[str]) -> None:
        once = schema.normalise_tags(tags)
        assert schema.normalise_tags(once) == once

    @pytest.mark.parametrize("tag", ["", " ", "#", "# "])
    def test_an_empty_tag_of_a_writer_is_refused(self, tag: str) -> None:
        assert schema.check_tags(["A", "a b"]) == ("a", "a-b")
        with pytest.raises(BadInput, match="is empty"):
            schema.check_tags(["a", tag])


class TestDates:
    """Points in time."""

    @pytest.mark.parametrize(
        ("value", "wanted"),
        [
            ("2023-05-08", "2023-05-08T00:00:00Z"),
            ("2023-05-08 13:56", "2023-05-08T13:56:00Z"),
            ("2023-05-08T13:56:01.5Z", "2023-05-08T13:56:01Z"),
            ("2023-05-08T13:56:01.123456789z", "2023-05-08T13:56:01Z"),
            ("2023-05-08T13:56:00+02:00", "2023-05-08T11:56:00Z"),
            ("2017-04-05 16:16:01 -0800", "2017-04-06T00:16:01Z"),
            ("2017-04-05 16:16 UTC", "2017-04-05T16:16:00Z"),
            ("2017-04-05T9:16:00 +02", "2017-04-05T07:16:00Z"),
            ("2023-5-8", "2023-05-08T00:00:00Z"),
            ("2023/05/08", "2023-05-08T00:00:00Z"),
            ("2023-05", "2023-05-01T00:00:00Z"),
            ("2023", "2023-01-01T00:00:00Z"),
            (2023, "2023-01-01T00:00:00Z"),
            (2023.05, "2023-05-01T00:00:00Z"),
            ("20230508", "2023-05-08T00:00:00Z"),
            (20230508, "2023-05-08T00:00:00Z"),
            ("20230508T135600Z", "2023-05-08T13:56:00Z"),
            ("[[2023-05-08]]", "2023-05-08T00:00:00Z"),
            (1634067145, "2021-10-12T19:32:25Z"),
            (1634067145297, "2021-10-12T19:32:25Z"),
            ("1634067145297", "2021-10-12T19:32:25Z"),
            (1634067145.297, "2021-10-12T19:32:25Z"),
            (0, "1970-01-01T00:00:00Z"),
            (date(2023, 5, 8), "2023-05-08T00:00:00Z"),
            (datetime(2023, 5, 8, 1, tzinfo=UTC).replace(tzinfo=None), "2023-05-08T01:00:00Z"),
            (datetime(2023, 5, 8, 1, tzinfo=timezone(timedelta(hours=2))), "2023-05-07T23:00:00Z"),
        ],
    )  # fmt: skip
    def test_dates_are_utc(self, value: object, wanted: str) -> None:
        moment = dates.to_datetime(value)
        assert moment is not None
        assert moment.tzinfo is UTC
        assert dates.format_iso(moment) == wanted
        assert dates.to_datetime(wanted) == moment.replace(microsecond=0)

    @pytest.mark.parametrize(
        "value",
        ["", "tomorrow", "2023-13-01", "{{date}}", "09/27/2021", "12:30", True, None, [], {},
         float("nan"), float("inf"), 10**30, "9" * 17, 1.5, "2023-02-30", time(1)],
    )  # fmt: skip
    def test_what_is_no_date_is_none(self, value: object) -> None:
        assert dates.to_datetime(value) is None

    @given(st.datetimes(timezones=st.timezones()) | st.datetimes())
    def test_our_own_text_is_read_back_to_the_second(self, moment: datetime) -> None:
        if 1 < moment.year < 9999:  # a zone may lead out of what Python can hold
            text = dates.format_iso(moment)
            back = dates.to_datetime(text)
            assert back is not None
            assert dates.format_iso(back) == text


class TestHashes:
    """Content, its hash, and ids."""

    def test_what_looks_the_same_is_the_same(self) -> None:
        content = "\r\n \t\r\n  E\u0301  \r\n\rb\t\n\n"
        assert identity.normalise(content) == "  É\n\nb"
        assert identity.content_hash(content) == identity.content_hash("  É\n\nb\n")
        assert identity.content_hash("a") != identity.content_hash("b")
        assert len(identity.content_hash("")) == 64

    @given(st.text())
    def test_normalised_content_is_normal(self, content: str) -> None:
        assert identity.normalise(identity.normalise(content)) == identity.normalise(content)

    def test_an_id_is_twelve_hex_digits_of_content_and_time(self) -> None:
        moment = datetime(2026, 11, 21, 10, tzinfo=UTC)
        found = identity.note_id("x", moment)
        assert (len(found), int(found, 16) >= 0) == (12, True)
        assert found == identity.note_id("x", moment.astimezone(timezone(timedelta(hours=1))))
        assert found != identity.note_id("x", moment + timedelta(seconds=1))


class TestSlug:
    """File names."""

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("Tantivy over Whoosh!", "tantivy-over-whoosh"),
            ("  --a__b..c/d\\e  ", "a-b-c-d-e"),
            ("Don\u2019t panic's", "dont-panics"),
            ("E\u0301te\u0301", "été"),
            ("漢字 かな", "漢字-かな"),
            ("हिन्दी भाषा", "हिन्दी-भाषा"),
            ("ជំនួយ និង", "ជំនួយ-និង"),
            ("می\u200cخواهم", "میخواهم"),
            ("❤️ love", "love"),
            ("…", "note"), ("", "note"), ("\u0301", "note"),
            ("CON", "note-con"), ("com1", "note-com1"), ("com¹", "note-com¹"),
            ("console", "console"),
            ("a" * 80, "a" * 60),
            ("word " * 20, "word-word-word-word-word-word-word-word-word-word-word-word"),
        ],
    )  # fmt: skip
    def test_letters_and_digits_of_every_script_stay(self, text: str, wanted: str) -> None:
        assert identity.make_slug(text) == wanted

    @given(st.text(max_size=300), st.integers(8, 80))
    def test_the_slug_of_a_slug_is_itself_and_within_both_limits(
        self, text: str, limit: int
    ) -> None:
        found = identity.make_slug(text, limit)
        assert found
        assert len(found) <= limit
        assert len(found.encode()) <= 150
        assert unicodedata.is_normalized("NFC", found)
        assert not found.startswith("-")
        assert not found.endswith("-")
        assert identity.make_slug(found, limit) == found

    @pytest.mark.parametrize(
        ("kind", "folder"),
        [
            ("plan", "plans"), ("journal", "journal"), ("fact", "facts"), ("session", "sessions"),
            ("observation", "observations"), ("reflection", "reflections"), ("change", "changes"),
            ("decision", "decisions"), ("bugfix", "bugfixes"), ("feature", "features"),
            ("refactor", "refactors"), ("discovery", "discoveries"), ("Recipe", "recipe"),
            ("../x", "x"), ("", "notes"),
        ],
    )  # fmt: skip
    def test_each_type_has_its_folder(self, kind: str, folder: str) -> None:
        assert schema.folder_for_type(kind) == folder
        assert kind in schema.KNOWN_TYPES or folder not in {"plans", "facts"}


def test_the_schema_loads_no_parser() -> None:
    code = "import sys, memory_bank.notes.schema; print({'yaml', 'frontmatter'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_title_tags_and_faults_are_bounded() -> None:
    tags = [f"t{i}" for i in range(1500)]
    meta, faults = schema.read_meta({"title": "a" * 5000, "tags": tags}, ["x"])
    assert meta.title == "a" * 300
    assert len(meta.tags) == 1000
    assert [fault.reason for fault in faults] == [
        "front matter: title is longer than 300 characters, the rest is cut",
        "only the first 1,000 of 1,501 tags count",
    ]
    _, faults = schema.read_meta({"tags": [{"a": 1}] * 5000})
    assert len(faults) == 1


def test_a_tag_is_bounded_since_it_goes_with_each_passage() -> None:
    meta, faults = schema.read_meta({"tags": ["kept", "a" * 201]}, ["b/" * 50_000])
    assert meta.tags == ("kept",)
    assert [fault.reason for fault in faults] == ["tags: 2 longer than 200 characters do not count"]
    assert schema.check_tags(["a" * 200]) == ("a" * 200,)
    with pytest.raises(BadInput, match="201 characters"):
        schema.check_tags(["a" * 201])
