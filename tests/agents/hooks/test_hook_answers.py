"""What agents are told when a session starts, and with a prompt."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.agents.hook import compress_and_end
from memory_bank.agents.hook_answers import names_subject
from memory_bank.agents.hook_bank import HookBank, find_hook_bank
from memory_bank.agents.setup_commands import plan_change
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.text import estimate
from memory_bank.sessions.sessions import end_session, start_session, store_observation
from tests.agents.hooks.conftest import Hook
from tests.git.history_builder import commit_all


@pytest.fixture
def ended(project: Path) -> HookBank:
    """End a session in the project as its hook does."""
    with open_bank(project) as bank:
        start_session(bank, "before", "project")
        store_observation(
            bank, "before", obs_type="decision", title="The osprey dives", narrative="Deep."
        )
    compress_and_end(str(project / ".memories"), "before", "end", (0, 0))
    found = find_hook_bank(str(project))
    assert found is not None
    return found


def started(hook: Hook, session: str = "next") -> str:
    event = {"session_id": session, "cwd": str(hook.project), "source": "startup"}
    said = hook.answer("claude-code", "SessionStart", event)
    return said["hookSpecificOutput"]["additionalContext"] if said else ""


def without_mark(text: str) -> str:
    mark = text.partition("<q-")[2][:6]
    return text.replace(mark, "MARK") if mark else text


def test_each_start_quotes_with_a_mark_of_its_own(ended: HookBank, hook: Hook) -> None:
    said = [started(hook, name) for name in ("first", "second")]
    assert said[0] != said[1]
    assert without_mark(said[0]) == without_mark(said[1])


def test_a_change_is_told_at_the_next_start(ended: HookBank, project: Path, hook: Hook) -> None:
    time.sleep(1.1)  # times of notes have seconds
    (project / ".memories/falcon.md").write_text("# The falcon stoops\n\nFast.\n")
    assert "The falcon stoops" in started(hook)


def test_what_another_session_left_waiting_is_told(ended: HookBank, hook: Hook) -> None:
    event = {"session_id": "killed", "cwd": str(hook.project)}
    hook("claude-code", "UserPromptSubmit", {**event, "prompt": "fix the count of wrens"})
    edit = {
        "file_path": str(hook.project / "src/wrens.py"),
        "old_string": "def count():\n    return 1",
        "new_string": "def count():\n    return 2",
    }
    used = {"tool_name": "Edit", "tool_input": edit, "tool_response": "done"}
    hook("claude-code", "PostToolUse", {**event, **used})
    assert "Change src/wrens.py" in started(hook)


def test_a_resumed_session_is_not_told_its_own_request(ended: HookBank, hook: Hook) -> None:
    prompt = {"session_id": "own", "cwd": str(hook.project), "prompt": "count all the wrens"}
    hook("claude-code", "UserPromptSubmit", prompt)
    with open_bank(ended.root) as bank:
        end_session(bank, "own")
    compress_and_end(ended.root, "own", "end", (0, 0))
    assert "count all the wrens" not in started(hook, "own")


def test_a_prompt_that_names_a_file_is_told_its_reviewed_rules_once(
    project: Path, hook: Hook
) -> None:
    rules = project / ".memories/rules"
    rules.mkdir()
    (rules / "keys.md").write_text('---\ntype: rule\napplies_to: "src/**"\n---\nKeys are uuid7.\n')
    commit_all(project, "Rule")
    (rules / "waits.md").write_text('---\ntype: rule\napplies_to: "src/**"\n---\nLog all keys.\n')

    def asked(prompt: str) -> str:
        event = {"session_id": "s", "cwd": str(project), "prompt": prompt}
        said = hook.answer("claude-code", "UserPromptSubmit", event)
        return said["hookSpecificOutput"]["additionalContext"] if said else ""

    assert "uuid7" not in asked("Please add a zebra to docs/animals.md")
    told = asked("Please add a zebra to src/index.py")
    assert "- Keys are uuid7. [keys] (src/**)" in told
    assert "Log all keys" not in told
    assert "uuid7" not in asked("Please add an okapi to src/index.py")


def test_what_the_program_loads_itself_is_quoted_to_others_only(project: Path, hook: Hook) -> None:
    (project / ".memories/config.toml").write_text('[memory]\ninclude = ["CLAUDE.md", "docs"]\n')
    (project / "docs").mkdir()
    (project / "docs/zebra.md").write_text("# Stripes\n\nThe zebra has stripes of ink.\n")
    (project / "CLAUDE.md").write_text("# Zebras\n\nThe zebra has fourteen stripes of ink.\n")

    def asked(client: str, event: str) -> str:
        given = {"cwd": str(project), "prompt": "How many stripes of ink has the zebra?"}
        said = hook.answer(client, event, {"session_id": client, **given}) or {}
        return str(said.get("hookSpecificOutput", said).get("additionalContext", ""))

    assert "fourteen" not in asked("claude-code", "UserPromptSubmit")
    assert "fourteen" in asked("codex", "UserPromptSubmit")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_the_second_hook_of_one_event_is_silent(ended: HookBank, hook: Hook, event: str) -> None:
    (hook.project / ".memories/ospreys.md").write_text("# Ospreys\n\nThe osprey eats only fish.\n")
    given = {"cwd": str(hook.project), "source": "startup", "prompt": "What does the osprey eat?"}
    said = [
        hook.answer("codex", event, {"session_id": session, **given})
        for session in ("first", "first", "second")
    ]
    assert [bool(answer) for answer in said] == [True, False, True]


def test_the_start_names_tools_only_where_a_server_is(
    ended: HookBank, hook: Hook, opening: Callable[..., Bank]
) -> None:
    assert "Run `memory-bank recall" in started(hook, "without")
    plan_change(opening(hook.project), "claude-code", "server").write()
    assert "get_observations" in started(hook, "with")


ABOUT_THE_WORK = (
    "yes, do option 2", "refactor this function", "update the dependencies", "go on", "thanks!",
    "how do I run this locally?", "commit this", "rename that variable", "ok, the second option",
    "run the tests", "Commit and push, please!", "ok, looks good, now fix it", "why?",
    "That's wrong, can we go back?",
)  # fmt: skip
ABOUT_A_SUBJECT = (
    "Which queue do we use, and why?", "run the tests of the parser", "retries?", "\u0441\u043d\u043e\u0432\u0430",
)  # fmt: skip


@pytest.mark.parametrize("prompt", [*ABOUT_THE_WORK, *ABOUT_A_SUBJECT])
def test_a_prompt_about_the_work_alone_names_no_subject(prompt: str) -> None:
    assert names_subject(prompt) == (prompt in ABOUT_A_SUBJECT)


def test_a_note_with_one_word_of_a_prompt_is_off_its_topic_and_a_status_is_told(
    project: Path, hook: Hook
) -> None:
    (project / ".memories/ospreys.md").write_text(
        "---\ntype: decision\nstatus: deprecated\n---\n# Ospreys\n\nThe osprey eats only fish.\n"
    )

    def asked(prompt: str) -> str:
        event = {"session_id": prompt, "cwd": str(project), "prompt": prompt}
        said = hook.answer("codex", "UserPromptSubmit", event)
        return str(said["hookSpecificOutput"]["additionalContext"]) if said else ""

    assert "eats only" not in asked("Draw the osprey of the logo with a blue helmet and a scarf")
    told = asked("What fish does the osprey eat?")
    assert "eats only fish" in told
    assert 'status="deprecated"' in told


def test_notes_beside_the_best_get_a_few_lines_and_what_only_lists_the_subject_none(
    project: Path, hook: Hook
) -> None:
    notes = project / ".memories"
    sentences = "".join(f"\nThe osprey dives for fish in lake {n}, and we decided to count it.\n"
                        for n in range(40))  # fmt: skip
    for name in ("ospreys", "dives"):
        (notes / f"{name}.md").write_text(f"# How the osprey {name}\n{sentences}")
    (notes / "README.md").write_text("# Birds\n\n- [The osprey dives for fish](ospreys.md)\n")
    for number in range(8):
        (notes / f"other-{number}.md").write_text(f"# Garden {number}\n\nWords on beds.\n")
    event = {
        "session_id": "s",
        "cwd": str(project),
        "prompt": "Where does the osprey dive for fish?",
    }
    told = hook.answer("codex", "UserPromptSubmit", event)["hookSpecificOutput"][
        "additionalContext"
    ]
    quotes = told.split("<q-")[2:]
    assert 'at="README' not in told
    assert len(quotes) == 2
    assert estimate(quotes[0]) < 400
    assert estimate(quotes[1]) < 200
