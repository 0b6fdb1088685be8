"""Text that commands an agent, or looks like the turns and tool calls of its conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_bank.bank.records import Finding
from memory_bank.base import lazy_pattern
from memory_bank.base.settings import Settings
from memory_bank.notes import characters, names
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import at, note_rule

_QUOTE_IT = "write it in a block of code if the note quotes it"

_NAMED = {
    "{STOP}": "(?:ignore|disregard|forget|override|overwrite|bypass"
    "|(?:do~not|don.t|stop|never)~(?:follow|obey|following|obeying))",
    "{NOUN}": "(?:instructions?|prompts?|directions?|directives?|guidelines?|commands?|orders?"
    "|rules?|constraints?|polic(?:y|ies)|messages?|guardrails?|context|training|programming)",
    "{PERSON}": "(?:user|human|(?:the|your)~(?:users|humans)|operator|reviewers?|anyone|anybody)",
    "{WORD}": r"(?:\w{1,30}+[^\w.!?]{1,9}+)",
    "@": r"(?:\w{1,30}+~)",
    "~": r"\W{1,9}+",
}
"""What stands for parts of a pattern; the last ones for a word in a sentence, any word, and what is
between words.

Below, the first line of each pattern has the texts with which it may start.
"""

_PATTERNS = r"""
ignore, disregard, forget, override, overwrite, bypass, do, don, stop, never
{STOP}~(?:(?:all|any|every|each|of|the|these|those|your|my|our|other|and)~){0,4}
(?:previous|prior|preceding|above|earlier|former|foregoing|initial|original|existing|current
|system|developer|safety)~@{0,2}{NOUN}

ignore, disregard, forget, override, overwrite, bypass, do, don, stop, never
{STOP}~(?:all~)?(?:of~)?your~@?{NOUN}

ignore, disregard, forget, override, overwrite, bypass, do, don, stop, never
{STOP}~all~(?:the~)?(?:instructions|prompts|guidelines|guardrails)

ignore, disregard, forget, override, overwrite, bypass, do, don, stop, never
{STOP}~(?:all|everything|anything)~(?:(?:that|you|were|was|is|said|written|told|of|instructed|the|i|we
|have|been)~){0,6}(?:above|before|previously|earlier|so~far)

ignore, disregard, forget, override, overwrite, bypass, do, don, stop, never
{STOP}~(?:all~)?(?:of~)?(?:the~)?(?:above|foregoing|preceding)
(?=\s{0,3}(?:[.!,:;]|\Z)|~(?:and|instead|then)\b)

forget
forget~(?:everything|all)~(?:that~)?you~(?:know|knew|learn(?:ed|t)|were~told|have~(?:been~told|learn(?:ed|t)))

your, new, updated, real, actual, important
(?:your~new|new|updated|real|actual|important)~(?:system~)?instructions?
(?:~(?:for|to)~(?:the~|all~)?(?:ai|llms?|assistants?|agents?|models?))?(?=\s{0,3}:)

you
you~are~now~(?:an?~)?@{0,2}(?:assistant|ai|agent|model|chatbot|dan|unrestricted|jailbroken|hacker)

you
you~(?:read|process|load|recall|retrieve|are~(?:reading|processing))~(?:this|these)
~(?:notes?|memory|memories|files?|documents?|texts?|entry)~@{0,2}?(?:call|run|execute|invoke|send|post|upload|delete|forget)

agent, assistant, llm, claude, copilot, chatgpt
(?:agents?|assistants?|llms?|claude|copilot|chatgpt)~(?:(?:that|which|who)~)?
(?:reads?|reading|process(?:es|ing)?|pars(?:es?|ing)|sees?|seeing|summari[sz](?:es?|ing))~(?:this|these)
~@{0,4}?(?:must|should|shall|ha(?:s|ve)~to|needs?~to)

as an ai, as an llm, as a l
as~an?~(?:ai|llm|(?:large~)?language~model)~@{0,3}?you~(?:must|should|shall|are|will)

act, behave, respond
(?:act|behave|respond)~as~(?:an?|the|if)~@{0,6}?(?:with~no|without(?:~any)?)
~(?:restrictions?|limits?|limitations?|rules?|filters?|guardrails?|constraints?)

no
no~longer~(?:bound|restricted|limited)~by~(?:your|any|the)

from
from~now~on~you~(?:are|must|will|should|shall)

pretend
pretend~(?:that~)?(?:you~are|to~be~(?:an?|the)~@?(?:ai|assistant|system|developer|administrator|admin))

enter, enable, activate, switch
(?:enter|enable|activate|switch~to)~(?:dan|god|jailbreak|developer|unrestricted)~mode

do, don, never
(?:do~not|don.t|never)~(?:tell|inform|mention|reveal|alert|notify)~{WORD}{0,4}?{PERSON}

without
without~(?:telling|informing|mentioning|alerting|notifying)~{WORD}{0,3}?{PERSON}

run, execute, invoke, call, eval, paste
(?:run|execute|invoke|call|eval|paste)~(?:the|this|these|following)~@{0,5}?
(?:silently|quietly|secretly|covertly|without~(?:asking|confirm\w{0,9}|approval|permission))

silently, quietly, secretly, covertly
(?:silently|quietly|secretly|covertly)~(?:run|execute|invoke|call|eval)~(?:the|this|these|following)

secretly, covertly
(?:secretly|covertly)~(?:send|upload|forward|post|copy|install|delete|commit|push)

exfiltrate
exfiltrate~@{0,5}?(?:keys?|secrets?|passwords?|credentials?|tokens?|data|files?)

send, post, upload, forward, email
(?:send|post|upload|forward|email)~@{0,6}?(?:keys?|secrets?|passwords?|credentials?|environment|env
|conversation)~@{0,3}?to~(?:this|the~following)~\w

reveal, print, show, repeat, output, display, leak
(?:reveal|print|show|repeat|output|display|leak)~(?:me~)?(?:all~)?(?:of~)?your~@{0,2}
(?:prompt|instructions|rules)

take, override, supersede
(?:takes?~precedence~over|overrides?|supersedes?)~(?:all|any|every)~(?:of~)?(?:the~)?
(?:other|previous|prior|earlier|existing|system)~@?{NOUN}

if
if~you~(?:are|re)~an?~(?:ai|llm|language~model|artificial)

ignorier
ignorier\w{0,3}~(?:sie~)?@{0,2}(?:vorherigen?|bisherigen?|obigen?|vorigen?|früheren?)~@?
(?:anweisung|instruktion|regel|befehl|vorgabe)\w{0,3}

vergiss
vergiss~@{0,3}(?:vorherigen?|bisherigen?|obigen?)

ignore, oublie
(?:ignore[zrs]?|oublie[zrs]?)~@{0,3}(?:instructions|consignes|règles)~@?
(?:précédentes|antérieures|ci-dessus)

ignor, olvida
(?:ignor(?:a|e|en|ar)|olvida)~@{0,3}(?:instrucciones|indicaciones|reglas|órdenes|instruções|istruzioni)
~@?(?:anteriores|previas|prévias|precedenti)

игнорируй, забудь
(?:игнорируй\w{0,3}|забудь\w{0,3})~@{0,3}(?:предыдущ|прежн|вышеуказанн)\w{1,5}~@?
(?:инструкци|указани|правил|команд)\w{0,5}
"""

_PATTERNS_WITHOUT_SPACES = r"""
忽略, 无视, 無視, 忘记
(?:忽略|无视|無視|忘记)[^。\r\n]{0,8}(?:之前|以上|先前|上述|前面|所有)[^。\r\n]{0,8}(?:指令|指示|说明|提示|規則|规则)

以前, 上記, これまで, 前
(?:以前|上記|これまで|前)の?[^。\r\n]{0,8}(?:指示|命令|指令)[^。\r\n]{0,6}(?:無視|忘れ)
"""


def _compile_patterns(patterns: str, edge: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield each text with which a pattern starts, with the pattern."""
    for block in patterns.strip().split("\n\n"):
        starts, _, lines = block.partition("\n")
        pattern = lines.replace("\n", "")
        for name, part in _NAMED.items():
            pattern = pattern.replace(name, part)
        compiled = re.compile(f"{edge}(?:{pattern}){edge}", re.IGNORECASE)
        yield from ((start, compiled) for start in starts.split(", "))


_COMMANDS: dict[str, list[re.Pattern[str]]] = {}

for _start, _command in (
    *_compile_patterns(_PATTERNS, r"\b"),
    *_compile_patterns(_PATTERNS_WITHOUT_SPACES, ""),
):
    _COMMANDS.setdefault(_start, []).append(_command)


@note_rule("warning", "a text commands an agent ('ignore previous instructions')")
def agent_command(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield such words outside code; invisible and look-alike characters don't hide them."""
    text, offsets = note.text, range(len(note.text) + 1)
    for start, end in _list_spans(text, offsets):
        yield from _yield_command(note, start, end)
    if text.isascii():
        return
    plain, places = characters.remove_invisible(names.to_latin(text))
    if plain != text:
        starts = {start for start, _ in _list_spans(text, offsets)}
        for start, end in _list_spans(plain, places):
            if start not in starts:
                yield from _yield_command(note, start, end)


def _list_spans(text: str, offsets: range | list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end in sorted(_yield_matches(text)):
        if not spans or offsets[start] >= spans[-1][1]:
            spans.append((offsets[start], offsets[end]))
    return spans


def _yield_matches(text: str) -> Iterator[tuple[int, int]]:
    """Yield where patterns match: they are tried only where a text has one of their starts."""
    lower = text.replace("İ", "I").lower()  # the one letter that becomes longer
    for start, commands in _COMMANDS.items():
        place = lower.find(start)
        while place >= 0:
            for command in commands:
                if match := command.match(text, place):
                    yield match.span()
            place = lower.find(start, place + len(start))


def _yield_command(note: NoteText, start: int, end: int) -> Iterator[Finding]:
    if start >= note.body_start and not note.in_code(start):
        words = " ".join(note.text[start:end].split())
        yield at(note, start, end, f"commands an agent: {words!r}", _QUOTE_IT, words=words)


_MARKS = lazy_pattern(
    r"</?(?:[a-z]{1,9}:)?(?:function_calls?|function_results?|tool_calls?|tool_use|tool_results?"
    r"|tool_response|invoke|system-reminder|system_prompt|user_query|important_instructions?"
    r"|assistant|system)(?=[\s>/])[^<>\r\n]{0,200}>"
    r"|<\|[a-z_]{3,40}\|>|\[/?INST\]|<</?SYS>>"
    r"|\"(?:tool_calls|function_call|tool_use_id)\"\s{0,9}:"
    r"|\"type\"\s{0,9}:\s{0,9}\"(?:tool_use|tool_result|function_call)\""
    r"|^[ ]{0,3}#{2,6}[ ]{0,3}(?:instruction|system prompt)\s{0,3}:[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)

_TURN = lazy_pattern(
    r"^[ \t]{0,9}(?:>[ ]?){0,5}[*_#\[]{0,4}(system|assistant|human|user|developer)[*_\]]{0,4}"
    r"[ ]{0,3}:[*_]{0,3}[ \t]{1,9}(\S[^\r\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)

_TO_AGENT = lazy_pattern(
    r"\b(?:you (?:are|must|will|should)|ignore|instructions?)\b", re.IGNORECASE
)


@note_rule("warning", "a text looks like a tool call or an agent's turn")
def tool_call(note: NoteText, _: Settings) -> Iterator[Finding]:
    """Yield each look-alike outside code, with its words.

    A line that starts with `system:`, `developer:` or `user:` counts if a turn of the other side is
    in the note too, or if it speaks to an agent.
    """
    start = note.body_start
    for mark in _MARKS.finditer(note.text, start):
        if not note.in_code(mark.start()):
            yield _look_alike(note, *mark.span(), f"looks like a tool call: {mark[0][:80]!r}")
    turns = [
        match for match in _TURN.finditer(note.text, start) if not note.in_code(match.start(1))
    ]
    roles = {match[1].casefold() for match in turns}
    for match in turns:
        role = match[1].casefold()
        alone = role not in {"assistant", "human"} and not (roles & {"assistant", "human"} - {role})
        if not alone or _TO_AGENT.search(match[2]):
            message = f"looks like a turn of a conversation: {match[0].strip()[:80]!r}"
            yield _look_alike(note, match.start(1), match.end(), message)


def _look_alike(note: NoteText, start: int, end: int, message: str) -> Finding:
    return at(note, start, end, message, _QUOTE_IT, words=note.text[start:end])
