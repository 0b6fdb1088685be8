"""Text that looks like the turns and tool calls of an agent's conversation."""

import re
from collections.abc import Iterator

from memory_bank.config import Settings
from memory_bank.lint.base import Place, at
from memory_bank.notes.note_text import NoteText

SUMMARY = "a text looks like a tool call, or a turn of an agent's conversation"
SEVERITY = "warning"
_MARKS = re.compile(
    r"</?(?:[a-z]{1,9}:)?(?:function_calls?|function_results?|tool_calls?|tool_use|tool_results?"
    r"|tool_response|invoke|system-reminder|system_prompt|user_query|important_instructions?"
    r"|assistant|system)(?=[\s>/])[^<>\r\n]{0,200}>"
    r"|<\|[a-z_]{3,40}\|>|\[/?INST\]|<</?SYS>>"
    r"|\"(?:tool_calls|function_call|tool_use_id)\"\s{0,9}:"
    r"|\"type\"\s{0,9}:\s{0,9}\"(?:tool_use|tool_result|function_call)\""
    r"|^[ ]{0,3}#{2,6}[ ]{0,3}(?:instruction|system prompt)\s{0,3}:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TURN = re.compile(
    r"^[ \t]{0,9}(?:>[ ]?){0,5}[*_#\[]{0,4}(system|assistant|human|user|developer)[*_\]]{0,4}"
    r"[ ]{0,3}:[*_]{0,3}[ \t]{1,9}(\S[^\r\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)
_TO_AGENT = re.compile(r"\b(?:you (?:are|must|will|should)|ignore|instructions?)\b", re.IGNORECASE)
_FIX = "write it in a block of code if the note quotes it"


def check_note(note: NoteText, _: Settings) -> Iterator[Place]:
    """Yield each look-alike outside code, with its words.

    A line that starts with `system:`, `developer:` or `user:` counts if a turn of the other side is
    in the note too, or if it speaks to an agent.
    """
    start = note.body_start
    for found in _MARKS.finditer(note.text, start):
        if not note.in_code(found.start()):
            yield _place(note, *found.span(), f"looks like a tool call: {found[0][:80]!r}")
    turns = [one for one in _TURN.finditer(note.text, start) if not note.in_code(one.start(1))]
    roles = {one[1].casefold() for one in turns}
    for one in turns:
        role = one[1].casefold()
        alone = role not in {"assistant", "human"} and not (roles & {"assistant", "human"} - {role})
        if not alone or _TO_AGENT.search(one[2]):
            message = f"looks like a turn of a conversation: {one[0].strip()[:80]!r}"
            yield _place(note, one.start(1), one.end(), message)


def _place(note: NoteText, start: int, end: int, message: str) -> Place:
    return at(note, start, end, message, _FIX)._replace(words=note.text[start:end])
