"""Make the summary of a session: of what the agent says, else of its prompts and observations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memory_bank.base.errors import BadInput
from memory_bank.sessions.compression.sentences import (
    DECIDED,
    NEXT,
    covered,
    decided,
    planned,
    step_of,
)
from memory_bank.sessions.note_format import summary_id
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.records import SUMMARY_TEXTS, GitState, Observation, Session, Summary

_MOST = 12
"""Most lines of one text."""

_PROMPTS = 3

_PROMPT_LENGTH = 300


def summary_of(
    session: Session,
    given: str | Mapping[str, object] | None,
    created_at: datetime,
    git: GitState | None,
) -> Summary:
    """Return the summary of a session; `given` is what the agent said of it.

    That is a text of what was completed, or a mapping with some of the six texts. What was asked
    for is taken from the prompts if it is not said; the rest only if nothing is said. Raises
    BadInput for other keys or values.
    """
    said = _said(given)
    texts = {"request": _request(session)} | (said or _local(session))
    read = [file for one in session.observations for file in one.files_read]
    edited = [file for one in session.observations for file in one.files_modified]
    return Summary(
        id=summary_id(session.session_id),
        session_id=session.session_id,
        project=session.project,
        created_at=created_at,
        files_read=tuple(dict.fromkeys(file for file in read if file not in edited)),
        files_edited=tuple(dict.fromkeys(edited)),
        discovery_tokens=sum(one.discovery_tokens for one in session.observations),
        git=git,
        **{key: texts.get(key, "") for key in SUMMARY_TEXTS},
    )


def _said(given: str | Mapping[str, object] | None) -> dict[str, str]:
    if given is None:
        return {}
    if isinstance(given, str):
        return {"completed": given.strip()} if given.strip() else {}
    if unknown := given.keys() - {*SUMMARY_TEXTS}:
        raise BadInput(
            f"a summary has no {', '.join(sorted(map(str, unknown)))[:60]}",
            f"give a text, or some of: {', '.join(SUMMARY_TEXTS)}",
        )
    return {key: text for key, value in given.items() if (text := _text(key, value))}


def _text(key: str, value: object) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {one_line(item)}" for item in value)
    raise BadInput(f"{key} of a summary is no text", "give a text, or a list of texts")


def _request(session: Session) -> str:
    texts = [one_line(prompt.prompt_text) for prompt in session.prompts]
    shown = [text for text in texts if text][:_PROMPTS]
    return _listed(
        [f"{text[:_PROMPT_LENGTH]}{'…' * (len(text) > _PROMPT_LENGTH)}" for text in shown]
    )


def _local(session: Session) -> dict[str, str]:
    """Return what observations tell."""
    return {key: _listed(lines) for key, lines in summarise(session).items() if lines}


_CHANGES = frozenset(["bugfix", "feature", "refactor", "change", "decision"])

_FAILS = re.compile(r"^`(?P<command>[^`]{1,200})` (?P<how>fails|failed before the last change)\b")

_PASSES = re.compile(r"^`(?P<command>[^`]{1,200})` passes\b")

_OPEN = "still open: "
"""Start of the fact of an open step in notes of former versions."""

_MOST_FILES = 8


def summarise(session: Session) -> dict[str, list[str]]:
    """Return the parts of a session's summary, each as lines.

    `investigated`: the files that were read; `learned`: decisions and rules, answers, and what
    failed and why; `completed`: what changed, and the check that passed last; `next_steps`: what
    users and agents left to do, and the check that failed last. What was asked for is in the
    session's prompts.
    """
    found = session.observations
    edited = {path for one in found for path in one.files_modified}
    read = [path for one in found for path in one.files_read if path not in edited]
    files = list(dict.fromkeys(read))
    told = f"read {', '.join(files[:_MOST_FILES])}" if files else ""
    if len(files) > _MOST_FILES:
        told += f" and {len(files) - _MOST_FILES} more"
    failing = list(_failing(found))
    rules = [
        *(fact.removeprefix(DECIDED) for one in found for fact in one.facts if DECIDED in fact[:9]),
        *(rule for prompt in session.prompts for rule in decided(prompt.prompt_text)),
    ]
    return {
        "investigated": [told] if told else [],
        "learned": [
            *dict.fromkeys(rules),
            *(one.title for one in found if one.obs_type == "discovery" and one.narrative),
            *_causes(found),
        ],
        "completed": [
            *(one.title for one in found if one.obs_type in _CHANGES and not _is_rule(one)),
            *_passed(found, failing),
        ],
        "next_steps": [*_steps(session), *failing[-1:]],
    }


def _is_rule(one: Observation) -> bool:
    """Return whether an observation is of a decision alone, which completes nothing."""
    said = [fact.removeprefix(DECIDED) for fact in one.facts if fact.startswith(DECIDED)]
    title = one.title.rstrip("….。 ").casefold()
    return one.obs_type == "decision" and (
        not one.files_modified or any(rule.casefold().startswith(title) for rule in said)
    )


def _causes(found: Sequence[Observation]) -> Iterator[str]:
    """Yield what failed and was mended, with what it said."""
    for one in found:
        if one.obs_type == "bugfix" and not one.narrative:
            yield from [fact for fact in one.facts if _FAILS.match(fact) and ": " in fact][:1]


def _failing(found: Sequence[Observation]) -> Iterator[str]:
    """Yield the checks whose last run failed, and was not contained in one that passed."""
    from memory_bank.sessions.compression import shell  # start-up: a start only reads summaries

    # by command: where in `found`, place of the failure, how, number of tests
    open_runs = dict[str, tuple[int, str, str, int]]()
    for number, one in enumerate(found):
        for fact, after in zip(one.facts, [*one.facts, ""][1:], strict=True):
            if failed := _FAILS.match(fact):
                command = shell.shown(failed["command"])
                open_runs.pop(command, None)
                where = after.removeprefix("at ") if after.startswith("at ") else ""
                open_runs[command] = number, where, failed["how"], _tests(fact)
            elif passed := _PASSES.match(fact):
                run = shell.run_of(shell.steps(passed["command"]))
                for command, (_, where, _, tests) in list(open_runs.items()):
                    then, size = shell.run_of(shell.steps(command)), (_tests(fact), tests)
                    if command == passed["command"] or shell.covers(run, then, where, size):
                        del open_runs[command]
    for command, (number, _, how, _) in open_runs.items():
        if shell.run_of(shell.steps(command)).check:
            later = any(one.files_modified for one in found[number + 1 :])
            stale = later or how != "fails"
            end = "failed before the last change, not run since" if stale else "still fails"
            yield f"`{command}` {end}"


def _tests(fact: str) -> int:
    return sum(map(int, re.findall(r"\b(\d+) (?:failed|passed)\b", fact)))


def _passed(found: Sequence[Observation], failing: Sequence[str]) -> Iterator[str]:
    """Yield the last check that passed."""
    facts = [(fact, match) for one in found for fact in one.facts if (match := _PASSES.match(fact))]
    for fact, match in facts[-1:]:
        if not any(f"`{match['command']}`" in line for line in failing):
            yield fact


def open_steps(sessions: Sequence[Session]) -> list[tuple[str, Session]]:
    """Return the next steps of sessions that nobody did since, those of the last session first.

    The sessions are sorted, the last one first. A check that failed counts for the last one only.
    """
    kept, done = list[tuple[str, Session]](), list[str]()
    for number, session in enumerate(sessions):
        said = session.summary.next_steps if session.summary else ""
        for line in (line.removeprefix("- ").strip() for line in said.split("\n")):
            old = covered(line, done) or covered(line, [step for step, _ in kept])
            if line and not old and not (number and line.startswith("`")):
                kept.append((line, session))
        done += [text for one in session.observations for text in _done(one)]
    return kept


def _done(one: Observation) -> list[str]:
    """Return what an observation that changes files tells as done, each thing by itself."""
    if one.obs_type not in _CHANGES or not one.files_modified:
        return []
    facts = [fact for fact in one.facts if not fact.startswith((NEXT, DECIDED))]
    return [" ".join((one.title, *one.files_modified)), *facts]


def _steps(session: Session) -> list[str]:
    """Return what users and agents left to do, and nobody did later."""
    found = session.observations
    steps = list[tuple[int, str, bool]]()  # of which prompt, what, whether it is the first sentence
    for prompt in session.prompts:
        said = planned(prompt.prompt_text)
        steps += [(prompt.prompt_number, step_of(one), False) for one in said]
    for one in found:
        for start in (NEXT, _OPEN):
            told = [fact.removeprefix(start) for fact in one.facts if fact.startswith(start)]
            steps += [(one.prompt_number, step, True) for step in told]
    kept = list[str]()
    for number, step, agents in sorted(steps, key=lambda one: one[0]):
        done = [
            text for one in found if one.prompt_number >= number + agents for text in _done(one)
        ]
        if not covered(step, done) and not covered(step, kept):
            kept.append(step)
    return kept


def _listed(lines: list[str]) -> str:
    """Return one line as it is, several as a list, the last ones if there are too many."""
    lines = list(dict.fromkeys(lines))
    if len(lines) > _MOST:
        lines = [f"… {len(lines) - _MOST + 1} before", *lines[1 - _MOST :]]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
