"""Tell what a person typed from what programs send as a prompt: notices, other agents, commands.

Hooks and transcripts both ask here, so that a machine's text never becomes a rule of the user.
"""

from __future__ import annotations

import re

from memory_bank.base import lazy_pattern

_ADDED = lazy_pattern(
    r"<(system[-_]reminder|ide_[a-z_]{1,40}|hook_context|session_context|environment_context"
    r"|user_instructions|current_datetime)\b[^<>]{0,300}>"
)
"""Openings of what programs add to a prompt, wherever it stands."""

_STARTS = (
    "<agent-message", "<cross-session-message", "<teammate-message", "<task-notification",
    "<channel", "<command-", "<local-command", "<bash-", "<user-memory", "<user-prompt-submit-hook",
    "<turn_aborted", "<permissions", "<skill", "<subagent_notification", "<user_shell_command",
    "<system-reminder", "<system_reminder", "<system_notification", "<hook_context",
    "<session_context", "<environment_context", "<user_instructions",
    "[system notification", "system notification:", "[cross-session message", "[teammate message",
    "[agent message", "[channel message",
    "[request interrupted", "caveat: the messages below", "# agents.md instructions for",
    "this session is being continued from", "before you stop: this session changed files",
)  # fmt: skip
"""Starts of prompts that no person typed, in lower case."""

_ANOTHER_SESSION = lazy_pattern(
    r"an?(?:other)? (?:peer )?(?:[a-z]{2,20} ){1,2}session sent", re.IGNORECASE
)
"""How a message of another agent starts: `Another Claude session sent a message:`."""

_TAG = lazy_pattern(
    r"<([^\W\d_][\w:.-]{0,60})(?:\s(?:[^<>\"']|\"[^\"]{0,200}\"|'[^']{0,200}'){0,500}?)?(/?)>"
)

_ASIDE = lazy_pattern(r"<!--(?s:.){0,2000}?-->|<[?!][^<>]{0,500}>")
"""A comment or a declaration of XML between tags."""

_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Invisible characters that may stand before a text."""

_INK = lazy_pattern(r"\S")


def strip_program_text(prompt: str) -> str:
    """Return what a person typed of a prompt; empty if a program sent it.

    A prompt that is nothing but tags with their content is a program's, also with unknown tags.
    """
    text = _strip_additions(prompt).strip().lstrip(_UNSEEN).strip()
    is_sent = text[:60].lower().startswith(_STARTS) or _ANOTHER_SESSION.match(text)
    if is_sent or _is_tagged(text):
        return ""
    return text


def _strip_additions(prompt: str) -> str:
    """Return a prompt without the closed tags that programs add."""
    parts, at = list[str](), 0
    while opening := _ADDED.search(prompt, at):
        closing = f"</{opening[1]}>"
        end = prompt.find(closing, opening.end())
        if end < 0:
            break
        parts.append(prompt[at : opening.start()])
        at = end + len(closing)
    return "".join((*parts, prompt[at:]))


def _is_tagged(text: str) -> bool:
    """Return whether a text is one or several tags, with nothing before, between or after them."""
    at = 0
    while ink := _INK.search(text, at):
        if aside := _ASIDE.match(text, ink.start()):
            at = aside.end()
            continue
        opening = _TAG.match(text, ink.start())
        if opening is None:
            return False
        closing = f"</{opening[1]}>"
        if opening[2]:
            at = opening.end()
        elif text.endswith(closing):
            return True  # one tag around all, which may have others of its name in it
        elif (end := text.find(closing, opening.end())) < 0:
            return False
        else:
            at = end + len(closing)
    return bool(text)
