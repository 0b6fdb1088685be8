"""Two changes of a note become one; only what can't be decided is a conflict."""

import pytest

from memory_bank.notes.merging.conflicts import Labels
from memory_bank.notes.merging.note_merge import CannotMerge, merge

HEAD = "---\nid: a\ntags: [a, b]\ncreated_at: 2026-11-21T10:00:00Z\n---\n"


def merged(base: str, ours: str, theirs: str) -> str:
    """Return the merged text, which has no conflict."""
    made = merge(base.encode(), ours.encode(), theirs.encode())
    assert made.conflicts == 0, made.data.decode()
    return made.data.decode()


def conflicting(base: str, ours: str, theirs: str) -> str:
    made = merge(base.encode(), ours.encode(), theirs.encode())
    assert made.conflicts
    return made.data.decode()


class TestBody:
    def test_texts_appended_on_both_sides_are_both_kept(self) -> None:
        assert merged("one\n", "one\n\nours\n", "one\n\ntheirs\n") == "one\n\nours\n\ntheirs\n"

    def test_items_appended_to_a_list_stay_one_list(self) -> None:
        assert merged("- a\n", "- a\n- b\n", "- a\n- c\n") == "- a\n- b\n- c\n"

    def test_a_text_that_both_appended_is_there_once(self) -> None:
        found = merged("a\n", "a\n\nsame\n\nours\n", "a\n\nsame\n\ntheirs\n")
        assert found == "a\n\nsame\n\nours\n\ntheirs\n"

    def test_two_versions_of_a_text_are_a_conflict(self) -> None:
        found = conflicting("a\n", "a\n\nx\nours\n", "a\n\nx\ntheirs\n")
        assert "<<<<<<< ours\n" in found
        assert "=======\n" in found
        assert ">>>>>>> theirs\n" in found

    def test_lines_inside_a_paragraph_are_a_conflict(self) -> None:
        conflicting("p\n", "p\nours\n", "p\ntheirs\n")
        conflicting("one two\n", "one 2\n", "1 two\n")

    def test_the_last_text_is_changed_on_one_side_and_one_is_appended_on_the_other(self) -> None:
        assert merged("a\n", "A\n", "a\n\nb\n") == "A\n\nb\n"

    def test_neighbouring_items_are_changed_one_on_each_side(self) -> None:
        assert merged("- a\n- b\n", "- A\n- b\n", "- a\n- B\n") == "- A\n- B\n"

    def test_a_section_is_moved_on_one_side_and_changed_on_the_other(self) -> None:
        base = "# T\n\n## A\n\na\n\n## B\n\nb\n"
        moved = "# T\n\n## B\n\nb\n\n## A\n\na\n"
        changed = base.replace("a\n\n", "a\n\nmore\n\n", 1)
        found = "# T\n\n## B\n\nb\n\n## A\n\na\n\nmore\n"
        assert merged(base, moved, changed) == merged(base, changed, moved) == found

    def test_two_texts_below_one_new_heading_are_a_conflict(self) -> None:
        ours, theirs = "# T\n\n## N\n\nUp to a day.\n", "# T\n\n## N\n\nUp to an hour.\n"
        found = conflicting("# T\n", ours, theirs)
        assert found.count("## N") == 1
        assert "<<<<<<< ours\nUp to a day.\n=======\nUp to an hour.\n>>>>>>> theirs\n" in found

    def test_a_text_below_a_new_heading_may_have_more_on_one_side(self) -> None:
        ours = "# T\n\n## N\n\nsame\n"
        assert merged("# T\n", ours, f"{ours}\nmore\n") == f"{ours}\nmore\n"

    def test_sections_of_one_new_heading_at_two_places_are_a_conflict(self) -> None:
        base = "# T\n\n## A\n\na\n\n## B\n\nb\n"
        ours = base.replace("## B", "## N\n\nours\n\n## B")
        conflicting(base, ours, f"{base}\n## N\n\ntheirs\n")

    def test_new_sections_may_have_the_same_headings_below(self) -> None:
        found = merged("# T\n", "# T\n\n## M\n\n### Why\n\nm\n", "# T\n\n## N\n\n### Why\n\nn\n")
        assert found.count("### Why") == 2

    def test_a_section_removed_on_one_side_and_changed_on_the_other_is_a_conflict(self) -> None:
        base = "# T\n\n## A\n\na\n\n## B\n\nb\n"
        assert "a2" in conflicting(base, "# T\n\n## B\n\nb\n", base.replace("\na\n", "\na2\n"))
        assert merged(base, "# T\n\n## B\n\nb\n", base + "\nc\n") == "# T\n\n## B\n\nb\n\nc\n"

    def test_what_looks_like_a_heading_or_an_item_in_code_is_code(self) -> None:
        base = "```sh\n# one\nrun\n```\n"
        ours, theirs = base.replace("run\n", "run\n- a\n"), base.replace("run\n", "run\n- b\n")
        conflicting(base, ours, theirs)

    def test_an_appended_fence_that_is_not_closed_swallows_nothing(self) -> None:
        conflicting("a\n", "a\n\n```\nx\n", "a\n\ntheirs\n")

    def test_an_appended_text_never_gets_below_another_heading(self) -> None:
        base = "# T\n\n## A\n\na\n\n### B\n\nb\n\n#### C\n\n"
        moved = "# T\n\n#### C\n\n## A\n\na\n\n### B\n\nb\n\n"
        for one, other in ((moved, f"{base}more\n"), (f"{base}more\n", moved)):
            assert "more" in conflicting(base, one, other)

    def test_paragraphs_are_not_joined_where_the_heading_between_them_is_removed(self) -> None:
        base = "# T\n\na\n\n# N\n\n"
        found = merge(base.encode(), b"# T\n", b"# T\n\na\n\nx\n\n# N\n\ny\n")
        assert found.conflicts
        assert b"x\ny" not in found.data

    def test_sections_that_both_added_in_another_order_or_depth_are_not_repeated(self) -> None:
        one, two = "### M\n\nfirst text\n\n", "### N\n\nsecond text\n\n"
        base, above = "# T\n\n", "## Above\n\n"
        for ours, theirs in ((one + two, two + one), (above + one, one)):
            made = merge(base.encode(), f"{base}{ours}".encode(), f"{base}{theirs}".encode())
            outside = made.data.decode().split("<<<<<<<")[0].count("first text")
            assert outside <= 1
            assert made.conflicts or made.data.decode().count("first text") == 1


class TestFrontMatter:
    def test_a_comment_is_there_once_if_a_key_below_it_moved(self) -> None:
        base = "---\na: 1\n# why\nb: 2\n---\n"
        found = merged(base, "---\nc: 3\na: 1\n# why\nb: 2\n---\n", "---\nb: 2\n# why\na: 1\n---\n")
        assert found.count("# why") == 1

    def test_tags_are_merged_as_sets(self) -> None:
        ours, theirs = HEAD.replace("[a, b]", "[a, b, c]"), HEAD.replace("[a, b]", "[b, d]")
        assert merged(HEAD, ours, theirs) == HEAD.replace("[a, b]", "[b, c, d]")

    def test_new_keys_of_both_sides_are_kept_in_place(self) -> None:
        ours = HEAD.replace("tags", "status: archived\ntags")
        theirs = HEAD.replace("---\n", "file_refs: [x.py]\n---\n").replace(
            "file_refs: [x.py]\n", "", 1
        )
        found = merged(HEAD, ours, theirs)
        assert "status: archived\ntags" in found
        assert "Z\nfile_refs: [x.py]\n---\n" in found

    @pytest.mark.parametrize("key", ["status", "type", "mood"])
    def test_a_key_with_two_new_values_is_a_conflict(self, key: str) -> None:
        base, ours, theirs = (f"---\n{key}: {value}\nid: x\n---\nt\n" for value in "abc")
        assert conflicting(base, ours, theirs) == (
            f"---\n<<<<<<< ours\n{key}: b\n=======\n{key}: c\n>>>>>>> theirs\nid: x\n---\nt\n"
        )
        assert merged(base, ours, base) == merged(base, base, ours) == ours

    def test_dates_of_update_are_the_later_one(self) -> None:
        base, ours, theirs = (f"---\nupdated: 2026-11-{day}\n---\n" for day in (20, 22, 21))
        assert merged(base, ours, theirs) == merged(base, theirs, ours) == ours

    def test_one_of_two_confirmations_stays_whichever_side_is_merged(self) -> None:
        base, ours, theirs = (f"---\nverified_commit: {end * 40}\n---\n" for end in "fac")
        assert merged(base, ours, theirs) == merged(base, theirs, ours) == theirs
        assert merged(
            "---\na: 1\n---\n",
            ours.replace("---\n", "---\na: 1\n", 1),
            theirs.replace("---\n", "---\na: 1\n", 1),
        ).endswith(theirs[4:])

    def test_comments_quotes_and_order_stay(self) -> None:
        base = "---\n# mine\ntags: ['a', \"b\"] # why\nmood: good\n---\nt\n"
        ours = base.replace('"b"]', '"b", c]')
        theirs = base.replace('"b"]', '"b", d]').replace("mood: good", "mood: 'bad'  # so")
        assert merged(base, ours, theirs) == (
            "---\n# mine\ntags: ['a', \"b\", c, d] # why\nmood: 'bad'  # so\n---\nt\n"
        )

    def test_a_comment_is_never_dropped(self) -> None:
        base = "---\ntags: [a]\n---\n"
        ours, theirs = base.replace("[a]", "[a, b]"), base.replace("[a]", "[a, c] # said")
        assert "# said" in conflicting(base, ours, theirs)

    def test_a_list_removed_on_one_side_loses_what_the_other_did_not_add(self) -> None:
        without = HEAD.replace("tags: [a, b]\n", "")
        assert "tags: [c]\n" in merged(HEAD, without, HEAD.replace("[a, b]", "[a, b, c]"))
        assert merged(HEAD, without, HEAD) == without

    def test_toml_is_merged_by_lines(self) -> None:
        base = "+++\na = 1\nb = 2\nc = 3\n+++\nt\n"
        found = merged(base, base.replace("a = 1", "a = 9"), base.replace("c = 3", "c = 9"))
        assert found == "+++\na = 9\nb = 2\nc = 9\n+++\nt\n"


class TestBothMadeTheNote:
    OURS = (
        "---\nid: b\ntags: [x]\ncreated_at: 2026-11-22T10:00:00Z\nsource_agent: codex\n---\nSame\n"
    )
    THEIRS = (
        "---\nid: a\ntags: [z]\ncreated_at: 2026-11-21T10:00:00Z\nsource_agent: claude\n---\nSame\n"
    )

    def test_the_same_text_becomes_one_note_with_the_older_id(self) -> None:
        found = merged("", self.OURS, self.THEIRS)
        assert found == self.THEIRS.replace("[z]", "[x, z]")

    def test_another_text_is_a_conflict_as_a_whole(self) -> None:
        theirs = self.THEIRS.replace("Same", "Other")
        made = merge(b"", self.OURS.encode(), theirs.encode(), Labels("HEAD", "feature"))
        assert made.are_two_notes
        assert made.data.decode() == (
            f"<<<<<<< HEAD\n{self.OURS}=======\n{theirs}>>>>>>> feature\n"
        )

    def test_an_empty_file_is_no_second_note(self) -> None:
        assert merged("", "", self.OURS) == merged("", self.OURS, "") == self.OURS

    def test_a_note_that_came_by_two_ways_has_no_text_twice(self) -> None:
        head = "---\nid: a\n---\n"
        one = merge(b"", f"{head}# T\n\nthe text\n".encode(), f"{head}the text\n".encode())
        assert one.conflicts or one.data.count(b"the text") == 1

    def test_one_note_that_came_by_two_ways_is_merged_as_one(self) -> None:
        theirs = self.OURS + "\nmore\n"
        assert merged("", self.OURS, theirs) == theirs


class TestForm:
    def test_line_ends_mark_and_final_newline_of_the_side_that_changed_them(self) -> None:
        base = "a\n\nb\n"
        ours = "\ufeffa\r\n\r\nb\r\n\r\nours\r\n"
        assert merged(base, ours, "A\n\nb\n") == "\ufeffA\r\n\r\nb\r\n\r\nours\r\n"
        assert merged(base, "A\n\nb\n", ours) == "\ufeffA\r\n\r\nb\r\n\r\nours\r\n"
        assert merged("a\n\nb", "a\n\nb\n", "A\n\nb") == "A\n\nb\n"
        assert merged("a", "a\n\nours", "a\n\ntheirs") == "a\n\nours\n\ntheirs"

    def test_mixed_line_ends_stay_as_they_are(self) -> None:
        assert merged("a\r\nb\nc\n", "A\r\nb\nc\n", "a\r\nb\nC\n") == "A\r\nb\nC\n"

    @pytest.mark.parametrize(
        "wrong",
        [
            b"\xff",
            b"\0",
            b"---\nid: [\n---\n",
            b"---\nid: a\n",
            b"<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n",
        ],
    )
    def test_what_is_no_readable_note_is_left_to_git(self, wrong: bytes) -> None:
        with pytest.raises(CannotMerge):
            merge(b"", wrong, b"text\n")

    def test_a_long_line_takes_no_time(self) -> None:
        long = "# " + " " * 200_000 + "x\n" + "- " * 100_000 + "\n"
        assert merged(long, long + "\nours\n", long + "\ntheirs\n").endswith("ours\n\ntheirs\n")
