"""What a hook adds to an agent's session: context at its start and to a prompt, and a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.agents.capture import open_queue
from memory_bank.agents.clients import SERVERS, load_texts
from memory_bank.agents.hook_bank import HookBank
from memory_bank.bank.bank import Conditions, open_bank
from memory_bank.base.detached import start_background
from memory_bank.base.errors import Busy, StorageFailed
from memory_bank.base.setting_sections import BANK
from memory_bank.base.text import Quotes, estimate
from memory_bank.search.document_changes import IndexLimits
from memory_bank.search.manifest.document_rows import count_values, find_by_field

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.bank.records import ShownNote
    from memory_bank.sessions.records import GitState


QUESTION = """\
Before you stop: this session changed files, and nothing of what you learned is saved yet. Save it \
now in your own words, for the agent that works here next, then stop:
- a decision, or a fact that is not plain from the code: `remember`
- what matters only for this work: `session_note`
- if you have these tools, too (session_id {session}): what you did step by step, what failed and \
why: `store_observation`; what was asked, learned, completed, and the next steps: `end_session` \
with `summary`
These are tools of the MCP server memory-bank; without them use the command `memory-bank remember`.
If nothing is worth saving, stop now; you are not asked again."""
"""What an agent is asked once, before it stops."""

_RULES = "\nThe user said what may be worth a note (`remember`, type decision):"

_MOST_NOTES = 5

_OF_WORK = frozenset(
    """
    1 2 3 4 5 a add again agreed ahead all already alright also amazing an and any anything app are
    as at awesome back be because before best better bit both branch bravo bring bug bugs build but
    can carry change changes check cheers choice choose chosen class clean cleanup code comment
    comments commit continue cool correct could create current d delete dependencies dependency deps
    do does done drop else end enough everything exactly excellent explain fail failed failing fails
    fair file files fine finish finished first fix fixed fixes for forgot format formatting forward
    from full function functions get go going good great green happened hello help hey hi hold how i
    idea improve in install installed instead is issue it its job just keep keeps last later latest
    leave left let lgtm like line lines lint ll local locally look looks lot main make makes may me
    mean merge method methods mistake module more much my nah name names naming need never new next
    nice no nope not nothing now of off ok okay old on once one open option options or others our
    out over package packages part pass passes perfect plan please point possible pr previous
    problem proceed project proposal pull push put question quick quickly read ready really rebase
    red redo refactor refactored rename repeat repo repository request rerun rest retry revert
    review right roll run s same save script second see ship short shorter should show similar
    simple simpler skip so some something sorry sounds start status step steps still stop suggest
    suggestion suite super sure take task tasks tell test tests thank thanks that the them then
    there these they thing things think this three thx tidy time to too try two ty type types typo
    typos understand undo unit up update us use used variable version versions wait want was way we
    well what whatever why will with wonderful work working works would write wrong yeah yep yes yet
    you your
    """.split()  # noqa: SIM905  (quoted words are no easier to read)
)
"""Words of prompts about the work itself, such as `go on` or `commit and push`."""

_MOST_PROMPT = 2_000
"""Characters of a prompt that are searched for."""

_DAY = 10
"""Characters of the date in a timestamp."""

HEAD = "Notes of this project's memory that may help:"


_RULE = "rule"

_LIKELY = 0.5
"""Least likelihood that a note bears on a prompt. Of 34 prompts with a decision record in two
projects it is .59 or more for 32, of 28 without one below for 24."""

_CERTAIN = 0.8
"""Likelihood from which one word of the subject in a note's title is enough."""

_AGREEING = 2
"""Words of a prompt's subject that a note must have to be shown."""

_MOST_EXCERPT = 300
"""Tokens of the best note and of rules; others get what a weak match gets."""

_RULED = "Rules of this project for the files that were named:"

_MOST_RULES = 10

_INDEX_SECONDS = 0.5
"""Seconds of reading notes that changed; with all else less than two, on a busy machine too."""

_MOST_NOTE_BYTES = 64_000
"""Bytes of a note from which on it is left to the background: it may take half a second."""

_MOST_REFILLED = 500
"""Passages from which on a retriever that lost its entries is left to the background."""

_RULE_SECONDS = 1.0
"""Longest wait for git, which knows what was reviewed."""


def read_git_state(bank: HookBank) -> GitState | None:
    """Return the state of git in a bank's work tree."""
    from memory_bank.sessions.state import git_state

    return git_state(Path(bank.root))


def stop_question(bank: HookBank, session_id: str) -> str:
    """Return what to ask an agent that is about to stop; empty if nothing, or not again."""
    if not (bank.capture and bank.ask_at_stop):
        return ""
    queue = open_queue(bank)
    try:
        if not queue.ask(session_id):
            return ""
        prompt_texts = [prompt.prompt_text for prompt in queue.prompts(session_id)]
    finally:
        queue.close()
    from memory_bank.sessions.compression.sentences import find_decided

    rules = list(dict.fromkeys(rule for text in prompt_texts for rule in find_decided(text)))[
        :_MOST_RULES
    ]
    rule_lines = "".join(f"\n- {json.dumps(rule, ensure_ascii=False)}" for rule in rules)
    rules_text = f"{_RULES}{rule_lines}" if rule_lines else ""
    return QUESTION.format(session=json.dumps(session_id)) + rules_text


def _open(root: str) -> Bank:
    """Open a bank of which an agent that waits gets an answer in short time and little memory."""
    limits = IndexLimits(_INDEX_SECONDS, _MOST_NOTE_BYTES, _MOST_REFILLED)
    return open_bank(root, conditions=Conditions(limits=limits))


def start_context(hook_bank: HookBank, session_id: str, quotes: Quotes, client: str = "") -> str:
    """Return what an agent is told when its session starts, quoted; empty if that is nothing.

    Rules that its program, the `client`, has read in its files of instructions are left out.
    """
    from memory_bank.sessions.start import start_text

    with _open(hook_bank.root) as bank:
        quote = quotes.introduced
        rules = partial(_list_untold_rules, client=client)
        more = _offer_more(bank, client)
        return start_text(bank, hook_bank.project, session_id, rules=rules, quote=quote, more=more)


def _offer_more(bank: Bank, client: str) -> str:
    """Return what to tell an agent of asking for more: only tools that its program has."""
    from memory_bank.agents.client_files import find_bundle_file
    from memory_bank.agents.server_install import has_server
    from memory_bank.sessions.start import ALL_TOOLS, FIRST_TOOLS, NO_TOOLS

    if find_bundle_file(client, SERVERS, bank.layout.project):
        return FIRST_TOOLS
    return ALL_TOOLS if has_server(client, bank) else NO_TOOLS


@contextmanager
def _index_rest(bank: Bank) -> Iterator[None]:
    """Have what is not indexed within the limits indexed in the background."""
    problem = True
    try:
        yield
        problem = bool(bank.problem)
    finally:
        if problem:
            start_background(str(bank.layout.root))


def _list_untold_rules(bank: Bank, client: str) -> Sequence[str]:
    """Return the rules that no file tells which the client loads."""
    fields = ("type", "rule"), ("pin", "true")
    if not bank.read(lambda view: any(find_by_field(view.manifest, *field) for field in fields)):
        return ()
    from memory_bank.agents.rule_files import (
        list_unread_rules,  # start-up: most banks have no rules
    )

    return list_unread_rules(bank, client)


_JOINED = 4
"""Most tokens that a quote has more than its parts, which are estimated alone."""


def prompt_context(
    hook_bank: HookBank, prompt: str, session_id: str, quotes: Quotes, client: str = ""
) -> tuple[str, Sequence[str]]:
    """Return excerpts of the notes that answer a prompt, quoted, and the paths of these notes.

    A note that the session was shown is left out, and what its program, the `client`, loads itself.

    They fit `sessions.prompt_tokens`; a note that is only a weak match is left out, and a prompt
    that names no subject gets none. Access counts stay as they are, since nobody asked for these
    notes.
    """
    if hook_bank.prompt_tokens <= 0 or not names_subject(prompt):
        return "", ()
    from memory_bank.memory.retrieval.recall import recall
    from memory_bank.memory.retrieval.recall_bank import fit_to_tokens

    with _open(hook_bank.root) as bank, _index_rest(bank):
        # by words: loading the table of vectors would take as long as all the rest
        answer = recall(
            bank,
            prompt[:_MOST_PROMPT],
            _MOST_NOTES,
            "lexical",
            detail="note",
            count_access=False,
            scope=BANK,
        )
        ruled = _map_rules(bank, prompt[:_MOST_PROMPT], client)
        loaded = [
            *_list_shown_notes(hook_bank, session_id),
            *_list_loaded_notes(bank, answer.notes, client),
        ]
    lines = {path: line for path, line in ruled.items() if line and path not in loaded}
    loaded += ruled
    notes = [note for note in answer.notes if note.path not in loaded]
    notes = sorted(_choose_agreeing(notes, prompt), key=lambda note: note.meta.type != _RULE)
    best = next((note for note in notes if note.meta.type != _RULE), None)
    head = f"{HEAD} {quotes.notice}"
    if lines:
        head = "\n".join((head, _RULED, quotes.quote("\n".join(lines.values()), {})))
    fitting = fit_to_tokens(
        answer._replace(
            notes=tuple(
                note if note is best or note.meta.type == _RULE else note._replace(weak=True)
                for note in notes
            )
        ),
        hook_bank.prompt_tokens - estimate(head),
        lambda note: estimate(_quote_note(note, quotes)) + _JOINED,
        most=_MOST_EXCERPT,
    )
    notes = [note for note in fitting.notes if note.content]
    if not (notes or lines):
        return "", ()
    text = "\n".join((head, *(_quote_note(note, quotes, note.content) for note in notes)))
    return text, [*lines, *(note.path for note in notes)]


def _list_shown_notes(bank: HookBank, session_id: str) -> list[str]:
    """Return the paths of the notes that a session was shown, and of its own.

    Where the queue can't be read, they are unknown: storing the prompt reports that.
    """
    queue = open_queue(bank)
    try:
        return [*queue.shown(session_id), queue.note(session_id)]
    except (StorageFailed, Busy, OSError):
        return []
    finally:
        queue.close()


def _list_loaded_notes(bank: Bank, notes: Sequence[ShownNote], client: str) -> list[str]:
    """Return the paths of those notes that are files which the client loads itself."""
    included = [note.path for note in notes if bank.roots.is_included(note.path)]
    if not included:
        return []

    files = load_texts(client, bank.layout.project)
    return [path for path in included if bank.roots.file(path).resolve() in files]


def _map_rules(bank: Bank, prompt: str, client: str) -> dict[str, str]:
    """Map the paths of the reviewed rules for the files that a prompt names to their lines.

    The line of a rule is empty if the client has read it in its files of instructions.
    """
    from memory_bank.base.filenames import APPLIES_TO, named_files

    files = named_files(prompt)
    if not files or not bank.read(lambda view: count_values(view.manifest, APPLIES_TO)):
        return {}
    from memory_bank.memory import rules, rules_block  # start-up: they load the parser of Markdown

    project_rules = rules.select_rules(rules.list_indexed_rules(bank, _RULE_SECONDS).rules, files)
    chosen = [project_rule for project_rule in project_rules if project_rule.applies_to][
        :_MOST_RULES
    ]
    if not chosen:
        return {}

    texts = load_texts(client, bank.layout.project).values()
    rule_lines = {line for text in texts for line in text.splitlines()}
    lines = {
        project_rule.path: rules_block.describe_rule(project_rule, whole=True)
        for project_rule in chosen
    }
    return {path: "" if line in rule_lines else line for path, line in lines.items()}


def _quote_note(note: ShownNote, quotes: Quotes, text: str = "") -> str:
    about: dict[str, object] = {
        "at": f"{note.path}:{note.line}",
        "type": note.meta.type,
        "by": note.meta.source_type,
        "edited_by": " ".join(note.edited_by),
        "trust": note.trust,
        "created_at": note.created_at[:_DAY],
        "status": note.meta.status if note.meta.status != "active" else "",
        "superseded_by": note.superseded_by or "",
        "newer": note.newer or "",
        "stale": note.stale,
    }
    return quotes.quote(text, about)


def names_subject(prompt: str) -> bool:
    """Tell whether a prompt has a word that a note can be about, not only words of work."""
    return bool(_find_subject(prompt))


def _find_subject(prompt: str) -> frozenset[str]:
    """Return the words of a prompt that a note can be about."""
    words = frozenset(re.findall(r"[^\W_]+", prompt[:_MOST_PROMPT].lower())) - _OF_WORK
    if not words:
        return words
    from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS

    return words - STOP_WORDS


def _choose_agreeing(notes: Iterable[ShownNote], prompt: str) -> Iterator[ShownNote]:
    """Yield the notes that probably bear on a prompt and have two words of its subject.

    Its only word is enough; so is one in the title of a note that is all but certain. One
    that has less than half of the words is marked as weak: it gets few tokens.
    """
    from memory_bank.search.retrievers.keyword import analyzer

    subject = {stem for word in _find_subject(prompt) for stem in analyzer.stem_words(word)}

    def count_shared(text: str) -> int:
        having = {*analyzer.stem_words(text), *analyzer.stem_words(analyzer.identifier_parts(text))}
        return len(subject & having)

    for note in notes:
        if note.weak or note.relevance_score < _LIKELY:
            continue
        text = " ".join((note.title, note.heading, " ".join(note.meta.tags), note.content))
        agreeing = count_shared(analyzer.clean_text(text))
        if agreeing >= min(_AGREEING, len(subject)):
            yield note._replace(weak=agreeing * 2 < len(subject))
        elif note.relevance_score >= _CERTAIN and count_shared(note.title):
            yield note
