"""Agents that write commits, by the mail addresses and the names they use.

A person may be called Claude, so a name that people have says nothing by itself. Neither names nor
addresses are proved, but to be taken for an agent lowers trust.
"""

from __future__ import annotations

import re

_AGENTS = (
    ("Claude", r"claude", r"(noreply|claude|claude-code)@anthropic\.com"),
    (
        "Copilot",
        r"copilot|copilot-swe-agent|github-copilot",
        r"(copilot|github-copilot)@github\.com",
    ),
    ("Cursor", r"cursor|cursoragent", r"(cursoragent|agent|noreply)@cursor\.(com|sh)"),
    ("Codex", r"codex|chatgpt-codex-connector", r"(codex|noreply)@openai\.com"),
    ("Gemini", r"gemini-cli|gemini-code-assist", r"(gemini|gemini-(cli|code-assist))@google\.com"),
    ("Jules", r"google-labs-jules", r"jules@google\.com"),
    ("Devin", r"devin|devin-ai-integration", r"devin@(devin|cognition)\.ai"),
    ("aider", r"aider", r"(noreply|aider)@aider\.chat"),
    ("OpenHands", r"openhands|openhands-agent", r"openhands@all-hands\.dev"),
    ("Amp", r"amp-agent", r"amp@ampcode\.com"),
    ("Windsurf", r"windsurf", r"(cascade|noreply)@(windsurf|codeium)\.com"),
    ("Amazon Q", r"amazon-q-developer", r"amazonq@amazon\.com"),
    ("opencode", r"opencode-agent", r"noreply@opencode\.ai"),
    ("Goose", r"goose-agent", r"goose@block\.xyz"),
)
"""Names, patterns of accounts at GitHub, and patterns of other addresses; in lower case."""
_GITHUB = r"(\d+\+)?({})(\[bot\])?@users\.noreply\.github\.com"
_BOT = re.compile(
    r".*\[bot\]@users\.noreply\..+"  # GitHub, of a company too
    r"|(project|group|service_account_(project|group))_\d+_(bot_)?\w+@noreply\..+"  # GitLab
    r"|support@dependabot\.com|.+@renovateapp\.com"
)
_NAMES = tuple(
    (agent, re.compile(pattern))
    for agent, pattern in (
        ("Claude", r"claude (code|agent)\b.*|claude[ -](opus|sonnet|haiku|v?\d).*"),
        ("Copilot", r"(github |microsoft )?copilot( (agent|coding agent|cli|chat|swe agent))?"),
        ("Cursor", r"cursor( (agent|ai|bot|composer))|cursoragent"),
        ("Codex", r"(openai |chatgpt )?codex( (cli|agent|bot))?"),
        ("Gemini", r"(google )?gemini( (cli|code assist|agent|\d).*)|google gemini"),
        ("Devin", r"devin ai( integration)?"),
        ("aider", r"aider( \(.*\))?|.* \(aider\)"),
    )
)
"""Patterns of names that no person has; `Ann (aider)` is how aider signs for Ann."""
_PATTERNS = tuple(
    (name, re.compile(f"{_GITHUB.format(accounts)}|{others}")) for name, accounts, others in _AGENTS
)


def named(mail: str, name: str = "") -> str:
    """Return the agent with a mail address, or else with a `name`; empty if neither is one's.

    A bot of a forge (`…[bot]@users.noreply.github.com`) is an agent with its own name.
    """
    address = mail.strip().casefold()
    for agent, pattern in _PATTERNS:
        if pattern.fullmatch(address):
            return agent
    if _BOT.fullmatch(address):
        return name or "a bot"
    called = " ".join(name.casefold().removesuffix("[bot]").split())
    return next((agent for agent, pattern in _NAMES if pattern.fullmatch(called)), "")
