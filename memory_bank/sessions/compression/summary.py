"""The summary of a session that nobody worded: of its observations, by rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_bank.sessions.model import Observation, Session

_CHANGES = frozenset(["bugfix", "feature", "refactor", "change"])
_FAILS = re.compile(r"^`(?P<command>[^`]{1,200})` fails\b")
_PASSES = re.compile(r"^`(?P<command>[^`]{1,200})` passes\b")
_OPEN = "still open: "
_MOST_FILES = 8


def summarise(session: Session) -> dict[str, list[str]]:
    """Return the parts of a session's summary, each as lines.

    `investigated`: what was looked into, with the files; `learned`: decisions, and what failed and
    why; `completed`: what changed, and the checks that passed last; `next_steps`: the open steps of
    the plan, and the command that failed last. What was asked for is in the session's prompts.
    """
    found = session.observations
    discoveries = [one for one in found if one.obs_type == "discovery"]
    failing = list(_failing(found))
    looked = [one.title for one in discoveries if not any(map(_FAILS.match, one.facts[:1]))]
    edited = {path for one in found for path in one.files_modified}
    read = [path for one in found for path in one.files_read if path not in edited]
    files = list(dict.fromkeys(read))
    told = f"read {', '.join(files[:_MOST_FILES])}" if files else ""
    if len(files) > _MOST_FILES:
        told += f" and {len(files) - _MOST_FILES} more"
    changed = [one.title for one in found if one.obs_type in _CHANGES]
    return {
        "investigated": [*looked, *filter(None, [told])],
        "learned": [
            *map(_decision, (one for one in found if one.obs_type == "decision")),
            *_causes(found),
        ],
        "completed": [*changed, *_passed(found, failing)],
        "next_steps": [
            *_open_steps(found),
            *(f"`{command}` still fails" for command in failing[-1:]),
        ],
    }


def _decision(one: Observation) -> str:
    repeated = one.subtitle.startswith(one.title[:40])
    return one.title if repeated or not one.subtitle else f"{one.title}: {one.subtitle}"


def _causes(found: Sequence[Observation]) -> Iterator[str]:
    """Yield what failed, with what it said."""
    for one in found:
        if one.obs_type in ("bugfix", "discovery"):
            yield from (fact for fact in one.facts[:1] if _FAILS.match(fact) and ": " in fact)


def _failing(found: Sequence[Observation]) -> Iterator[str]:
    """Yield the commands whose last run failed, in the order of these runs."""
    state = dict[str, bool]()
    for fact in (fact for one in found for fact in one.facts):
        for pattern, fails in ((_FAILS, True), (_PASSES, False)):
            if match := pattern.match(fact):
                state.pop(match["command"], None)
                state[match["command"]] = fails
    fixed = {fact for one in found if one.obs_type in _CHANGES for fact in one.facts}
    for command, fails in state.items():
        if fails and not any(fact.startswith(f"`{command}` fails") for fact in fixed):
            yield command


def _passed(found: Sequence[Observation], failing: Sequence[str]) -> Iterator[str]:
    """Yield the last check that passed."""
    facts = [fact for one in found for fact in one.facts if _PASSES.match(fact)]
    last = facts[-1:] if facts else []
    yield from (fact for fact in last if not any(f"`{command}`" in fact for command in failing))


def _open_steps(found: Sequence[Observation]) -> list[str]:
    """Return the steps of the plan as they were last told."""
    for one in reversed(found):
        steps = [fact.removeprefix(_OPEN) for fact in one.facts if fact.startswith(_OPEN)]
        if steps:
            return steps
    return []
