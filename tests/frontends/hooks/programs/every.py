"""All programs that are tried."""

from __future__ import annotations

from tests.frontends.hooks.programs.claude_code import ClaudeCode
from tests.frontends.hooks.programs.codex import Codex, CodexWithAnotherModel
from tests.frontends.hooks.programs.copilot import CopilotCli
from tests.frontends.hooks.programs.gemini import GeminiCli
from tests.frontends.hooks.programs.opencode import OpenCode
from tests.frontends.hooks.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    ClaudeCode(),
    Codex(),
    CodexWithAnotherModel(),
    GeminiCli(),
    OpenCode(),
    CopilotCli(),
)
