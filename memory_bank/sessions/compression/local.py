"""Compression mode `local`: rules make observations and summaries, the same ones each time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_bank.sessions.compression import outcomes, shell, titles
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.drafts import Draft, Happening, Sort, cut, grouped
from memory_bank.sessions.compression.edits import FileChange
from memory_bank.sessions.compression.tool_calls import ToolCall, read
from memory_bank.sessions.records import Event, Observation, Prompt, Session

_MOST_OPEN = 5

_REPLACES = re.compile(
    r"s(?P<mark>[/|#,@])(?P<old>.+?)(?P=mark)(?P<new>.*?)(?P=mark)(?P<flags>\w*)"
)

_HERE = re.compile(r"^\$\(cat <<-?['\"]?(\w+)['\"]?\n|\n[ \t]*(?:EOF|END|MSG|COMMIT|EOM)\n?\)?\s*$")

_MESSAGE = ("-m", "--message", "-am", "-qm", "-qam", "-aqm", "-sm", "-asm")


def drafts(
    events: Sequence[Event], prompts: Sequence[Prompt], project_root: Path | None
) -> tuple[Draft, ...]:
    """Return the observations of a batch of events of one session.

    Each event is behind one of them. Each file that was changed is among their files, each command
    that failed is in their text.
    """
    batch = _Batch(Paths(project_root))
    for event in events:
        batch.take(read(event))
    batch.end()
    asked = {prompt.prompt_number: prompt.prompt_text for prompt in prompts}
    found = grouped(batch.items, asked)
    words = titles.Wording(asked, batch.paths)
    return tuple(words.draft(item) for item in sorted(found, key=lambda one: (one.when, one.order)))


class _Batch:
    """The events of a batch, taken one after the other."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.items = list[Happening]()
        self._edits = dict[tuple[int, str], Happening]()
        self._failing = dict[str, tuple[Happening, shell.ProgramRun]]()
        self._looks = list[ToolCall]()
        self._steps: tuple[tuple[str, str], ...] = ()
        self._uncommitted = list[Happening]()
        self._taken = set[ToolCall]()
        self._made = 0

    def take(self, call: ToolCall) -> None:
        """Add one call."""
        if self._looks and self._looks[-1].event.prompt_number != call.event.prompt_number:
            self._fold(None)
        if call.kind == "edit" and call.changes:
            self._edit(call, call.changes)
        elif call.kind == "command" and call.command:
            self._command(call)
        elif call.kind == "agent" and not call.failed:
            item = self._item("agent", call)
            item.title, item.narrative = outcomes.agent(call)
            self._fold(item)
        elif call.kind == "plan":
            self._steps = call.steps or self._steps
            self._looks.append(call)
        else:
            self._looks.append(call)

    def end(self) -> None:
        """Fold what is left, and note the open steps of the plan."""
        self._fold(None)
        if self._steps and self.items:
            still = [step for step, status in self._steps if status == "open" and step]
            self.items[-1].facts += [f"still open: {step}" for step in still[:_MOST_OPEN]]

    def _behind(self, item: Happening, call: ToolCall) -> None:
        """Put an event behind an item, unless it is behind one already."""
        if call not in self._taken:
            self._taken.add(call)
            item.take(call)

    def _item(self, sort: Sort, call: ToolCall, *, own: bool = True) -> Happening:
        self._made += 1
        item = Happening(sort, call.event.prompt_number, self._made, call.event.created_at)
        if own:
            self._behind(item, call)
        self.items.append(item)
        return item

    def _fold(self, item: Happening | None) -> None:
        """Add what was read meanwhile to an item; without one, to the last of the prompt."""
        waiting, self._looks = self._looks, []
        if not waiting:
            return
        prompt = waiting[0].event.prompt_number
        if item is None:
            same = [one for one in self.items if one.prompt == prompt and one.sort != "failure"]
            item = same[-1] if same else None
        alone = item is None
        if item is None:
            item = self._item("look", waiting[0], own=False)
        for call in waiting:
            self._behind(item, call)
        outcomes.add(item, waiting, self.paths, alone=alone)

    def _edit(self, call: ToolCall, changes: Sequence[FileChange]) -> Happening | None:
        first: Happening | None = None
        for change in changes:
            path = self.paths.shown(change.path, call.event.cwd)
            moved = self.paths.shown(change.moved_to, call.event.cwd) if change.moved_to else ""
            key = call.event.prompt_number, path
            item = self._edits.get(key)
            if item is None:
                item = self._edits[key] = self._item("edit", call, own=False)
                self._uncommitted.append(item)
            shown = FileChange(
                path, change.action, change.removed, change.added, change.kept, moved
            )
            item.changes.setdefault(path, []).append(shown)
            item.modified += filter(None, (path, moved))
            item.when = max(item.when, call.event.created_at)
            for failure, _ in self._failing.values():
                if item not in failure.fixes:
                    failure.fixes.append(item)
            first = first or item
        if first:
            self._behind(first, call)
            self._fold(first)
        return first

    def _command(self, call: ToolCall) -> None:
        steps = shell.steps(call.command)
        looking = shell.only_looks(steps)
        run = shell.run_of(steps)
        counts = outcomes.Tests(0, 0) if looking else outcomes.tests(call.output)
        failed = call.failed or counts.failed > 0
        silent = not run.sure or (call.exit_code is None and isinstance(call.answer, str))
        if not failed and not looking and silent:
            failed = outcomes.says_failure(call.output)
        passes = run.sure or (not run.selected and outcomes.says_success(call.output))
        if looking:
            self._looks.append(call)
            return
        written = _writes(steps, failed=call.failed)
        if written:
            self._edit(call, [_written(write) for write in written])
        commit = None if failed else _commit(steps)
        if failed:
            self._failure(call, run, counts, owned=bool(written))
        elif commit is not None:
            self._commit(call, commit)
        elif not (passes and self._pass(call, run, counts)) and not written:
            self._other(call, run, counts if passes else None)

    def _failure(
        self, call: ToolCall, run: shell.ProgramRun, counts: outcomes.Tests, *, owned: bool
    ) -> None:
        shown = cut(shell.shown(call.command), 160)
        problem = outcomes.problem(call.output)
        known = self._failing.get(shown)
        item = known[0] if known else self._item("failure", call, own=False)
        if not owned:
            self._behind(item, call)
        item.times += known is not None
        item.command, item.runner, item.where = shown, run.runner, problem.where
        item.message = self.paths.short(problem.message)
        item.narrative = "\n".join(problem.lines)
        item.facts = [*item.facts, outcomes.failure_fact(call, counts)]
        if problem.where:
            item.facts.append(f"at {self.paths.shown(problem.where, call.event.cwd)}")
        self._failing[shown] = item, run
        self._fold(item)

    def _pass(self, call: ToolCall, run: shell.ProgramRun, counts: outcomes.Tests) -> bool:
        """Resolve the failures that a command that passes covers; tell whether there were any."""
        shown = cut(shell.shown(call.command), 160)
        found = [
            key
            for key, (item, then) in self._failing.items()
            if key == shown or shell.covers(run, then, item.where)
        ]
        owner: Happening | None = None
        for key in found:
            failure, _ = self._failing.pop(key)
            fixes = [item for item in failure.fixes if item in self.items]
            if fixes:
                owner = titles.main_edit(fixes)
                owner.resolved.append(failure)
                owner.events += failure.events
                owner.tokens += failure.tokens
                owner.reads += failure.reads
                self.items.remove(failure)
            else:
                owner = failure
                failure.facts.append(f"{shown} passes later, without an edit between")
        if owner:
            self._behind(owner, call)
            owner.facts.append(_passes(shown, counts))
            self._fold(owner)
        return owner is not None

    def _other(self, call: ToolCall, run: shell.ProgramRun, counts: outcomes.Tests | None) -> None:
        """Take a check, or anything else that did not fail; `counts` is None if it did not pass."""
        shown = cut(shell.shown(call.command), 160)
        prompt = call.event.prompt_number
        before = [one for one in self.items if one.prompt == prompt and one.sort == "edit"]
        if run.check and before:
            self._behind(before[-1], call)
            if counts is not None:
                before[-1].facts.append(_passes(shown, counts))
            self._fold(before[-1])
            return
        last = self.items[-1] if self.items else None
        if last and last.sort in ("run", "check") and last.prompt == prompt:
            self._behind(last, call)
            item = last
        else:
            item = self._item("check" if run.check else "run", call)
        outcomes.ran(item, call, shown, counts if run.check else None)
        self._fold(item)

    def _commit(self, call: ToolCall, message: str) -> None:
        """Make one item of the edits that a commit has."""
        edits = [item for item in self._uncommitted if item in self.items]
        same = [item for item in edits if item.prompt == call.event.prompt_number]
        edits, self._uncommitted = same or edits, []
        if not edits:
            item = self._item("run", call)
            item.commit = message
            outcomes.ran(item, call, cut(shell.shown(call.command), 160), None)
        else:
            item, *others = edits
            item.describe()
            for other in others:
                other.describe()
                item.absorb(other)
                self.items.remove(other)
                for failure, _ in self._failing.values():
                    failure.fixes = [item if fix is other else fix for fix in failure.fixes]
            self._behind(item, call)
            item.commit = message
            item.prompt = call.event.prompt_number
        self._edits = {
            key: one for key, one in self._edits.items() if one in self.items and not one.commit
        }
        self._fold(item)


def _passes(shown: str, counts: outcomes.Tests) -> str:
    return f"`{shown}` passes" + (f": {counts.shown}" if counts.shown else "")


def _writes(steps: Sequence[shell.SimpleCommand], *, failed: bool) -> list[shell.Write]:
    """Return what commands write; of some that failed all but the last one were done."""
    written = [write for step in steps for write in shell.writes(step)]
    if not failed or not steps:
        return written
    undone = {one for one in shell.writes(steps[-1]) if one.path not in steps[-1].outputs}
    return [one for one in written if one not in undone]


def _written(write: shell.Write) -> FileChange:
    """Return what a command line does to a file as a change."""
    if write.how == "move":
        return FileChange(write.path, "move", moved_to=write.moved_to)
    if write.how == "delete":
        return FileChange(write.path, "delete")
    replaced = _REPLACES.fullmatch(write.text.strip())
    if replaced is not None:
        old, new = (text.replace(r"\b", "") for text in replaced.group("old", "new"))
        times = 2 if "g" in replaced["flags"] else 1  # in more places than one, as a rename is
        return FileChange(write.path, "update", (old,) * times, (new,) * times)
    lines = tuple(write.text.splitlines())
    return FileChange(write.path, "add" if write.how == "add" else "update", added=lines)


def _commit(steps: Sequence[shell.SimpleCommand]) -> str | None:
    """Return the message of a `git commit`; None if there is none among the commands."""
    for step in steps:
        if step.program == "git-commit":
            given = [_HERE.sub("", text) for text in shell.option(step, *_MESSAGE)]
            return "\n\n".join(text.strip() for text in given) or step.here
    return None


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
