import re

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.bank.records import Finding
from memory_bank.base.rendering import escape_hidden
from memory_bank.review.sarif import workflow_commands
from tests.review.reviews import finding, findings


def read(output: str) -> list[tuple[str, dict[str, str], str]]:
    """Read the commands of a step's output as the runner does: line by line, each from its start.

    Every line of ours must be a command; the runner takes `##[command]` only of lines that are none.
    """
    commands = []
    for line in re.split(r"\r\n|\r|\n", output)[:-1]:
        assert line.startswith("::"), line
        head, end, message = line[2:].partition("::")
        assert end, line
        name, _, rest = head.partition(" ")
        pairs = (one.split("=", 1) for one in rest.split(",") if one)
        commands.append((name, {key: plain(value) for key, value in pairs}, plain(message)))
    return commands


def plain(text: str) -> str:
    for escaped, character in (
        ("%0D", "\r"),
        ("%0A", "\n"),
        ("%3A", ":"),
        ("%2C", ","),
        ("%25", "%"),
    ):
        text = text.replace(escaped, character)
    return text


def test_a_finding_marks_its_line() -> None:
    found = finding("leads to no heading: 50%", fix="facts/bm25#K", line=3)
    assert workflow_commands([found]) == (
        "::warning file=.memories/facts/bm25.md,line=3,endLine=3,title=broken-link::"
        "leads to no heading: 50%25%0AFix: facts/bm25#K\n"
    )


def test_columns_are_given_if_the_finding_is_in_one_line() -> None:
    one = finding(column=5, end_column=9)
    two = finding(column=5, end_line=4, end_column=2)
    assert "line=3,endLine=3,col=5,endColumn=9," in workflow_commands([one])
    assert "line=3,endLine=4,title=" in workflow_commands([two])


def test_severities_are_the_levels_of_github() -> None:
    found = [finding(severity=severity) for severity in ("error", "warning", "info")]
    assert [name for name, _, _ in read(workflow_commands(found))] == ["error", "warning", "notice"]


def test_ten_of_a_level_are_shown_and_the_others_are_counted() -> None:
    found = [finding(str(number), severity="info") for number in range(30)]
    found += [finding("last", severity="error")]
    *shown, rest = read(workflow_commands(found))
    assert [message for _, _, message in shown] == [*map(str, range(9)), "last"]
    assert rest[0] == "notice"
    assert rest[2].startswith("21 more findings")


def test_a_long_message_is_cut() -> None:
    assert len(workflow_commands([finding("word " * 10_000)])) < 2200


def test_only_new_findings_are_annotated() -> None:
    assert workflow_commands([finding(new=False)]) == workflow_commands([]) == ""


@settings(deadline=None)
@given(st.lists(findings, min_size=1, max_size=3))
def test_no_text_starts_another_command(found: list[Finding]) -> None:
    commands = read(workflow_commands(found))
    new = [one for one in found if one.new]
    assert len(commands) == len(new)
    for (name, properties, message), one in zip(commands, new, strict=True):
        assert name in {"error", "warning", "notice"}
        assert set(properties) == {"file", "line", "endLine", "title"}
        fix = f"\nFix: {one.fix}" if one.fix else ""
        assert message == escape_hidden(one.message + fix)
        assert properties["title"] == one.rule


@settings(deadline=None)
@given(findings)
def test_the_output_has_no_character_that_a_reader_does_not_see(found: Finding) -> None:
    (line,) = workflow_commands([found._replace(new=True)]).splitlines()
    assert escape_hidden(line) == line
    assert "\x1b" not in line
