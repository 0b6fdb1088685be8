"""Make the summary of a session: of what the agent says, else of its prompts and observations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import BadInput
from memory_bank.sessions.compression.sentences import (
    DECIDED,
    NEXT,
    find_decided,
    find_planned,
    is_covered,
    strip_step,
)
from memory_bank.sessions.note_format import make_summary_id
from memory_bank.sessions.note_text import one_line
from memory_bank.sessions.records import SUMMARY_TEXTS, GitState, Observation, Session, Summary

_MOST = 12
"""Most lines of one text."""

# Prompts of a session that its summary has, and characters of each.
_PROMPTS = 3

_PROMPT_LENGTH = 300
"""Characters shown of a prompt."""


def build_summary(
    session: Session,
    argument: str | Mapping[str, object] | None,
    created_at: datetime,
    git: GitState | None,
) -> Summary:
    """Return the summary of a session; `given` is what the agent said of it.

    That is a text of what was completed, or a mapping with some of the six texts. What was asked
    for is taken from the prompts if it is not said; the rest only if nothing is said. Raises
    BadInput for other keys or values.
    """
    fields = _check_argument(argument)
    texts = fields or {
        key: _join_lines(lines) for key, lines in summarise(session).items() if lines
    }
    texts = {"request": _join_request(session)} | texts
    read = [file for observation in session.observations for file in observation.files_read]
    edited = [file for observation in session.observations for file in observation.files_modified]
    return Summary(
        id=make_summary_id(session.session_id),
        session_id=session.session_id,
        project=session.project,
        created_at=created_at,
        files_read=tuple(dict.fromkeys(file for file in read if file not in edited)),
        files_edited=tuple(dict.fromkeys(edited)),
        discovery_tokens=sum(observation.discovery_tokens for observation in session.observations),
        git=git,
        **{key: texts.get(key, "") for key in SUMMARY_TEXTS},
    )


def _check_argument(argument: str | Mapping[str, object] | None) -> dict[str, str]:
    if argument is None:
        return {}
    if isinstance(argument, str):
        return {"completed": argument.strip()} if argument.strip() else {}
    if unknown := argument.keys() - {*SUMMARY_TEXTS}:
        raise BadInput(
            f"a summary has no {', '.join(sorted(map(str, unknown)))[:60]}",
            f"give a text, or some of: {', '.join(SUMMARY_TEXTS)}",
        )
    return {key: text for key, value in argument.items() if (text := _check_text(key, value))}


def _check_text(key: str, value: object) -> str:
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return "\n".join(f"- {one_line(item)}" for item in value)
    raise BadInput(f"{key} of a summary is no text", "give a text, or a list of texts")


def _join_request(session: Session) -> str:
    texts = [one_line(prompt.prompt_text) for prompt in session.prompts]
    prompts = [text for text in texts if text][:_PROMPTS]
    return _join_lines(
        [f"{text[:_PROMPT_LENGTH]}{'…' * (len(text) > _PROMPT_LENGTH)}" for text in prompts]
    )


_CHANGES = frozenset(["bugfix", "feature", "refactor", "change", "decision"])

_FAILS = lazy_pattern(r"^`(?P<command>[^`]{1,200})` (?P<how>fails|failed before the last change)\b")

_PASSES = lazy_pattern(r"^`(?P<command>[^`]{1,200})` passes\b")

_OPEN = "still open: "
"""Start of the fact of an open step in notes of former versions."""

# That a summary names.
_MOST_FILES = 8


def summarise(session: Session) -> dict[str, list[str]]:
    """Return the parts of a session's summary, each as lines.

    `investigated`: the files that were read; `learned`: decisions and rules, answers, and what
    failed and why; `completed`: what changed, and the check that passed last; `next_steps`: what
    users and agents left to do, and the check that failed last. What was asked for is in the
    session's prompts.
    """
    observations = session.observations
    edited = {path for observation in observations for path in observation.files_modified}
    read = [
        path
        for observation in observations
        for path in observation.files_read
        if path not in edited
    ]
    files = list(dict.fromkeys(read))
    text = f"read {', '.join(files[:_MOST_FILES])}" if files else ""
    if len(files) > _MOST_FILES:
        text += f" and {len(files) - _MOST_FILES} more"
    failing = list(_yield_failing(observations))
    rules = [
        *(
            fact.removeprefix(DECIDED)
            for observation in observations
            for fact in observation.facts
            if DECIDED in fact[:9]
        ),
        *(rule for prompt in session.prompts for rule in find_decided(prompt.prompt_text)),
    ]
    return {
        "investigated": [text] if text else [],
        "learned": [
            *dict.fromkeys(rules),
            *(
                observation.title
                for observation in observations
                if observation.obs_type == "discovery" and observation.narrative
            ),
            *_yield_causes(observations),
        ],
        "completed": [
            *(
                observation.title
                for observation in observations
                if observation.obs_type in _CHANGES and not _is_rule(observation)
            ),
            *_find_passed_checks(observations, failing),
        ],
        "next_steps": [*_list_steps(session), *failing[-1:]],
    }


def _is_rule(observation: Observation) -> bool:
    """Return whether an observation is of a decision alone, which completes nothing."""
    facts = [fact.removeprefix(DECIDED) for fact in observation.facts if fact.startswith(DECIDED)]
    title = observation.title.rstrip("….。 ").casefold()
    return observation.obs_type == "decision" and (
        not observation.files_modified or any(rule.casefold().startswith(title) for rule in facts)
    )


def _yield_causes(observations: Sequence[Observation]) -> Iterator[str]:
    """Yield what failed and was mended, with what it said."""
    for observation in observations:
        if observation.obs_type == "bugfix" and not observation.narrative:
            yield from [fact for fact in observation.facts if _FAILS.match(fact) and ": " in fact][
                :1
            ]


def _yield_failing(observations: Sequence[Observation]) -> Iterator[str]:
    """Yield the checks whose last run failed, and was not contained in one that passed."""
    from memory_bank.sessions.compression import shell  # start-up: a start only reads summaries

    # by command: where in `found`, place of the failure, how, number of tests
    open_runs = dict[str, tuple[int, str, str, int]]()
    for number, observation in enumerate(observations):
        for fact, after in zip(observation.facts, [*observation.facts, ""][1:], strict=True):
            if failed := _FAILS.match(fact):
                command = shell.show_command(failed["command"])
                open_runs.pop(command, None)
                where = after.removeprefix("at ") if after.startswith("at ") else ""
                open_runs[command] = number, where, failed["how"], _count_tests(fact)
            elif passed := _PASSES.match(fact):
                run = shell.run_of(shell.split_commands(passed["command"]))
                for command, (_, where, _, tests) in list(open_runs.items()):
                    then, size = (
                        shell.run_of(shell.split_commands(command)),
                        (_count_tests(fact), tests),
                    )
                    if command == passed["command"] or shell.covers(run, then, where, size):
                        del open_runs[command]
    for command, (number, _, how, _) in open_runs.items():
        if shell.run_of(shell.split_commands(command)).check:
            later = any(observation.files_modified for observation in observations[number + 1 :])
            stale = later or how != "fails"
            end = "failed before the last change, not run since" if stale else "still fails"
            yield f"`{command}` {end}"


def _count_tests(fact: str) -> int:
    return sum(map(int, re.findall(r"\b(\d+) (?:failed|passed)\b", fact)))


def _find_passed_checks(
    observations: Sequence[Observation], failing: Sequence[str]
) -> Iterator[str]:
    """Yield the last check that passed."""
    facts = [
        (fact, match)
        for observation in observations
        for fact in observation.facts
        if (match := _PASSES.match(fact))
    ]
    for fact, match in facts[-1:]:
        if not any(f"`{match['command']}`" in line for line in failing):
            yield fact


def open_steps(sessions: Sequence[Session]) -> list[tuple[str, Session]]:
    """Return the next steps of sessions that nobody did since, those of the last session first.

    The sessions are sorted, the last one first. A check that failed counts for the last one only.
    """
    entries, completed = list[tuple[str, Session]](), list[str]()
    for number, session in enumerate(sessions):
        next_steps = session.summary.next_steps if session.summary else ""
        for line in (line.removeprefix("- ").strip() for line in next_steps.split("\n")):
            old = is_covered(line, completed) or is_covered(line, [step for step, _ in entries])
            if line and not old and not (number and line.startswith("`")):
                entries.append((line, session))
        completed += [
            text for observation in session.observations for text in _list_done(observation)
        ]
    return entries


def _list_done(observation: Observation) -> list[str]:
    """Return what an observation that changes files tells as done, each thing by itself."""
    if observation.obs_type not in _CHANGES or not observation.files_modified:
        return []
    facts = [fact for fact in observation.facts if not fact.startswith((NEXT, DECIDED))]
    return [" ".join((observation.title, *observation.files_modified)), *facts]


def _list_steps(session: Session) -> list[str]:
    """Return what users and agents left to do, and nobody did later."""
    observations = session.observations
    steps = list[tuple[int, str, bool]]()  # of which prompt, what, whether it is the first sentence
    for prompt in session.prompts:
        steps_planned = find_planned(prompt.prompt_text)
        steps += [(prompt.prompt_number, strip_step(sentence), False) for sentence in steps_planned]
    for observation in observations:
        for start in (NEXT, _OPEN):
            facts = [
                fact.removeprefix(start) for fact in observation.facts if fact.startswith(start)
            ]
            steps += [(observation.prompt_number, step, True) for step in facts]
    entries = list[str]()
    for number, step, agents in sorted(steps, key=lambda entry: entry[0]):
        texts = [
            text
            for observation in observations
            if observation.prompt_number >= number + agents
            for text in _list_done(observation)
        ]
        if not is_covered(step, texts) and not is_covered(step, entries):
            entries.append(step)
    return entries


def _join_lines(lines: list[str]) -> str:
    """Return one line as it is, several as a list, the last ones if there are too many."""
    lines = list(dict.fromkeys(lines))
    if len(lines) > _MOST:
        lines = [f"… {len(lines) - _MOST + 1} before", *lines[1 - _MOST :]]
    return lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
