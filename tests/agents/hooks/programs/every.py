"""All programs that are tried."""

from tests.agents.hooks.programs.claude_code import ClaudeCode
from tests.agents.hooks.programs.codex import Codex, CodexWithAnotherModel
from tests.agents.hooks.programs.copilot import CopilotCli
from tests.agents.hooks.programs.gemini import GeminiCli
from tests.agents.hooks.programs.opencode import OpenCode
from tests.agents.hooks.programs.program import Program

PROGRAMS: tuple[Program, ...] = (
    ClaudeCode(),
    Codex(),
    CodexWithAnotherModel(),
    GeminiCli(),
    OpenCode(),
    CopilotCli(),
)
