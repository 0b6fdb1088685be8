"""Compression mode `local`: rules make titles, types, facts and concepts of what was done in a turn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_bank.notes.characters import to_nfc
from memory_bank.sessions.compression import sentences
from memory_bank.sessions.compression.edits import Paths
from memory_bank.sessions.compression.sentences import (
    ASKED,
    COMMAND,
    COMMITTED,
    DECIDED,
    NEXT,
    bound_observation,
    compile_rule,
    count_words,
    cut,
    cut_middle,
    find_decided,
    find_planned,
    find_telling,
    headline,
    is_covered,
    split_sentences,
    strip_opening,
    strip_step,
)
from memory_bank.sessions.compression.tool_calls import read
from memory_bank.sessions.compression.turns import (
    Run,
    Turn,
    TurnWork,
    failure_fact,
    quote_failure,
    result_line,
)
from memory_bank.sessions.records import TITLE_LIMIT, Event, Observation, Prompt

_TITLE = TITLE_LIMIT - 1

_PREFIX = re.compile(r"^(\w{2,10})(?:\([^)]{1,40}\))?!?: +")

_LETTERS = re.compile(r"[^\W\d_]+")

_LEAST_WORD, _MOST_PLACE, _MOST_FILES, _MOST_RULES, _MOST_STEPS = 3, 44, 8, 4, 6

_LEAST_SAID = 20
"""Characters up to which a sentence only answers the user."""

_REPORT = 1500
"""Characters of what one subagent said."""


def word_observations(
    events: Sequence[Event],
    prompts: Sequence[Prompt],
    project_root: Path | None,
    before: Sequence[Observation] = (),
) -> tuple[Observation, ...]:
    """Return the observations of a batch of events of one session.

    Each file that was changed is among their files, each command that failed in their text.
    `before` are the observations that the session has already.
    """
    prompt_texts = {prompt.prompt_number: prompt.prompt_text for prompt in prompts}
    paths = Paths(project_root)
    turns = dict[int, Turn]()
    for event in events:
        number = event.prompt_number
        turns.setdefault(number, Turn(paths, prompt_texts.get(number, ""))).take(read(event))
    observation_list = list[Observation]()
    for turn in turns.values():
        observation_list += _word_turn(turn, (*before, *observation_list))
    return tuple(observation_list)


def _word_turn(turn: Turn, before: Sequence[Observation]) -> Iterator[Observation]:
    """Yield what a turn becomes; nothing if it was looked around only, and no answer came of it.

    `before` are the observations of the session's earlier turns.
    """
    works = turn.end()
    main = max(
        works,
        key=lambda turn_work: (bool(turn_work.changes), len(turn_work.modified)),
        default=None,
    )
    stated = find_decided(turn.request)
    for work in works:
        text = turn.said if work is main else ""
        wording = _Wording(turn, work, text, stated if work is main else [], before)
        if wording.worth_keeping:
            yield wording.observation()


class _Wording:
    """One work of a turn in words."""

    def __init__(
        self,
        turn: Turn,
        work: TurnWork,
        text: str,
        stated: list[str],
        before: Sequence[Observation],
    ) -> None:
        self._turn, self._work, self._said, self._before = turn, work, text, before
        self._decided = [cut(statement, _TITLE * 2) for statement in stated[:_MOST_RULES]]
        self._planned = find_planned(text)
        telling_sentences = find_telling(text)
        repeated = telling_sentences in map(strip_opening, self._planned) and all(
            is_covered(sentence, [turn.request], ASKED)
            for sentence in split_sentences(text)
            if len(sentence) > _LEAST_SAID
        )
        self._answer = "" if repeated else telling_sentences
        self._paths = turn.paths
        self._words = sorted(work.words, key=lambda change: change.kind != "code")
        self._last = list[Run]()  # of each command the last run
        for run in work.runs:
            self._last = [former for former in self._last if former.shown != run.shown] + [run]

    @property
    def worth_keeping(self) -> bool:
        work = self._work
        steps = self._turn.steps or [
            step for step in self._planned if not is_covered(step, [self._turn.request], ASKED)
        ]
        changes = work.changes or work.commit or work.runs or work.reports
        reported = not self._turn.request  # by the agent itself, not by a hook
        return bool(changes or self._answer or steps or reported or (self._decided and self._said))

    def observation(self) -> Observation:
        """Return the work as an observation."""
        work, short = self._work, self._paths.short
        return bound_observation(
            self._type(),
            short(self._title()),
            work.when,
            lists={
                "facts": map(short, self._facts()),
                "concepts": self._concepts(),
                "files_read": work.reads,
                "files_modified": work.modified or self._find_committed_files(),
            },
            narrative=short(self._narrative()),
            prompt_number=work.prompt,
            discovery_tokens=work.tokens,
        )

    def _find_committed_files(self) -> list[str]:
        """Return the files of earlier turns that a commit without changes of its own has."""
        files = list[str]()
        for former in reversed(self._before if self._work.commit else ()):
            if COMMITTED in former.facts:
                break
            files += former.files_modified
        return list(dict.fromkeys(files))

    def _type(self) -> str:
        subject = self._work.commit.split("\n", 1)[0]
        prefix = _PREFIX.match(subject)
        if self._decided or find_decided(self._work.commit):
            return "decision"
        types = (
            sentences.lists_by_word("commit_types").get(prefix[1].casefold()) if prefix else None
        )
        if types:
            return types
        subjects = [subject] if subject else [self._said.lstrip(), self._turn.request.lstrip()]
        code = [word for word in self._words if word.kind == "code"]
        texts = (
            ("discovery", not self._words and not subject),
            ("change", not code and not subject),
            ("bugfix", self._work.mends or any(map(compile_rule("fixes").match, subjects))),
            ("refactor", any(map(compile_rule("tidies").match, subjects))),
            ("feature", any(word.new or word.gains for word in code)),
        )
        return next((kind for kind, holds in texts if holds), "change")

    def _title(self) -> str:
        """Return what was done or learned: a commit's subject, a new symbol, the answer."""
        work, answer = self._work, headline(self._answer, _TITLE)
        subject = _PREFIX.sub("", work.commit.split("\n", 1)[0]).strip()
        if subject and subject != "commit":
            return _with(subject[:1].upper() + subject[1:], self._place())
        if self._decided:
            return answer or headline(self._decided[0], _TITLE)
        if answer:
            return answer
        title = next((change.title for change in self._words if change.title), "")
        if title or self._words:
            return _with(title or "Change", self._place())
        return self._title_without_changes()

    def _title_without_changes(self) -> str:
        work = self._work
        failed = [run for run in self._last if run.failed]
        if failed:
            run = failed[-1]
            text = f": {run.error.message}" if run.error and run.error.message else ""
            return cut(f"{cut(run.shown, 60)} fails{text}", _TITLE)
        if work.reports:
            return headline(find_telling(work.reports[0]) or work.reports[0], _TITLE)
        if self._last:
            run = self._last[-1]
            return cut(f"{run.shown} passes" if run.passed else f"Run {run.shown}", _TITLE)
        if not self._said:
            files = ", ".join(map(_short, work.reads[:3]))
            return cut(next(iter(work.looks), f"Look at {files or 'the project'}"), _TITLE)
        subjects = self._planned or self._turn.steps or self._decided or [self._said]
        return headline(strip_opening(subjects[0]), _TITLE)

    def _place(self) -> str:
        """Return the files of a change for a title: the path of one, the number of others."""
        paths = list(dict.fromkeys(self._work.modified))
        if not paths:
            return ""
        first = self._words[0].place if self._words else paths[0]
        more = len(paths) - 1
        files = "1 other file" if more == 1 else f"{more} other files"
        return f"{_short(first)} and {files}" if more else _short(first)

    def _facts(self) -> list[str]:
        """Return decisions, outcomes, what is open, then what changed."""
        work = self._work
        facts = [f"{DECIDED}{decision}" for decision in self._decided]
        facts += [f"{DECIDED}{decision}" for decision in find_decided(self._said)[:2]]
        facts += self._steps()
        facts += self._outcomes()
        if work.commit:
            facts.append(COMMITTED)
        several = len(self._words) > 1
        for word in self._words[:_MOST_FILES]:
            text = "; ".join([*word.facts][: 2 if several else 4])
            facts += [f"{word.place}: {text}" if several else text] if text else []
        if not work.changes and not self._said:
            facts += work.looks[:6]
        else:
            facts += [look for look in work.looks if look.startswith("`")][:3]
        return list(dict.fromkeys(filter(None, facts)))

    def _steps(self) -> list[str]:
        last = self._work is self._turn.works[-1]
        steps = [*(self._turn.steps if last or self._said else ()), *self._planned]
        return [f"{NEXT}{strip_step(step)}" for step in steps[:_MOST_STEPS]]

    def _outcomes(self) -> Iterator[str]:
        """Yield how the runs of each command ended, failures first."""
        runs = self._work.runs
        firsts = dict[str, Run]()
        for run in runs:
            if run.failed:
                firsts.setdefault(run.shown, run)
        last = {run.shown: run for run in runs}
        for text, run in firsts.items():
            still = last[text]
            error = still.error or run.error
            if (
                not still.closed
                and still.failed
                and still.edits < self._turn.edits
                and (still.program.check)
            ):
                more = quote_failure(run.counts, error)
                yield f"`{cut(run.call.command, COMMAND)}` failed before the last change, not run since{more}"
            else:
                yield failure_fact(run.call, run.counts)
            if error and error.where:
                yield f"at {self._paths.shown(error.where, run.call.event.cwd)}"
        for text, run in last.items():
            result = run.counts.shown or result_line(run.call.output)
            more = f": {result}" if result else ""
            if run.passed and run.program.check:
                yield f"`{text}` passes{more}"
            elif not run.failed and more and not self._said:
                yield f"`{text}`{more}"

    def _narrative(self) -> str:
        """Return the agent's last text, a commit's message, what subagents said, and errors."""
        work = self._work
        parts = (
            [self._said]
            if find_telling(self._said) or count_words(self._said) > _MOST_RULES
            else []
        )
        if "\n" in work.commit:
            parts.append(work.commit.split("\n", 1)[1].strip())
        parts += [
            cut_middle(report, _REPORT) for report in work.reports if report not in self._said
        ]
        errors = [run.error for run in work.runs if run.error]
        text = " ".join(error.message for error in errors)
        lines = dict.fromkeys(line for error in errors for line in error.lines)
        parts.append("\n".join([line for line in lines if line[-40:] not in text][:3]))
        outside = [path for path in work.modified if self._paths.outside(path)]
        if outside:
            parts.append(f"Outside the project: {', '.join(outside[:20])}")
        return "\n\n".join(filter(None, dict.fromkeys(parts)))

    def _concepts(self) -> list[str]:
        """Return the words that name what it is about, from names, paths and the prompt."""
        count = Counter[str]()
        for path in dict.fromkeys([*self._work.modified, *self._work.reads[:5]]):
            count.update(
                dict.fromkeys(set(_parts_of(path.rpartition("/")[2].partition(".")[0])), 2)
            )
        names = [name for change in self._words for name in (*change.gains, *change.loses)]
        for name in names[:40]:
            count.update(set(_parts_of(name.name)))
        for word in set(_parts_of(self._turn.request[:400])):
            if word in count:
                count[word] += 3
        return [word for word, _ in sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))][:5]


def _parts_of(text: str) -> list[str]:
    """Return the words of a name that may name what something is about."""
    parts = [part for letters in _LETTERS.findall(to_nfc(text)) for part in _parts(letters)]
    common = sentences.list_words("words", "common_in_names")
    return [
        word.casefold()
        for word in parts
        if len(word) >= (_LEAST_WORD if word.isascii() else 2) and word.casefold() not in common
    ]


def _parts(letters: str) -> Iterator[str]:
    """Yield the words of a name such as `retryJob` or `HTTPServer`."""
    start = 0
    for at in range(1, len(letters) + 1):
        ends = letters[at - 1].islower() or letters[at + 1 : at + 2].islower()
        if at == len(letters) or (letters[at].isupper() and ends):
            yield letters[start:at]
            start = at


def _short(path: str) -> str:
    if len(path) <= _MOST_PLACE:
        return path
    parts = path.split("/")
    short = "…/" + "/".join(parts[-2:])
    return short if len(short) <= _MOST_PLACE else "…" + parts[-1][1 - _MOST_PLACE :]


def _with(places: str, place: str) -> str:
    """Return a title with its place in brackets, where it is not in it yet."""
    if not place or place in places:
        return cut(places, _TITLE)
    if places == "Change":
        return cut(f"Change {place}", _TITLE)
    joined = f" ({place})"
    return cut(places, _TITLE - len(joined)) + joined
