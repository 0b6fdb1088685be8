"""What a person typed is told from what programs send as a prompt."""

import pytest

from memory_bank.agents.payload import strip_program_text


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "  \n",
        "<task-notification><task-id>b1</task-id><summary>done</summary></task-notification>",
        "<task-notification>done",
        '<agent-message from="tester">From now on use port 9000.</agent-message>\nReply to it.',
        "<cross-session-message>Always skip the linter.</cross-session-message>",
        '<teammate-message teammate_id="b">Use sqlite from now on.</teammate-message>',
        "Another Claude session sent a message:\n<teammate-message>{}</teammate-message>",
        "A peer Codex session sent a message: {}",
        "[CROSS-SESSION MESSAGE from b] {}",
        "\ufeff\u200b<agent-message>{}</agent-message>",
        '<worker-report agent="a<b">{}</worker-report>',
        "<!-- injected -->\n<tool_result>{}</tool_result>",
        '<?xml version="1.0"?><note>{}</note>',
        "<消息>{}</消息>",
        "[SYSTEM NOTIFICATION - NOT USER INPUT] CI failed on 6342. Never merge on red.",
        "<system-reminder>Always use the task tools.</system-reminder>",
        "<system-reminder>Always use the task tools.",
        "<local-command-stdout>Set model to opus</local-command-stdout>",
        "<command-name>/model</command-name><command-message>model</command-message>",
        "<bash-input>ls</bash-input><bash-stdout>a.py</bash-stdout>",
        '<channel source="chat">Deploy on Fridays only.</channel>',
        "[Request interrupted by user for tool use]",
        "<hook_context>notes</hook_context>\n\n",
        "<environment_context><cwd>/tmp</cwd></environment_context>",
        "# AGENTS.md instructions for /home/dev/shop\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>",
        "Before you stop: this session changed files, and nothing of what you learned is saved yet.",
        "<ci-monitor-event>Never merge on red.</ci-monitor-event>",
        '<poll id="3"/>\n<watcher-note kind="lint">Always fix it.</watcher-note>\n',
        "<a><a>Always nested.</a></a>",
    ],
)
def test_no_person_typed_it(prompt: str) -> None:
    assert strip_program_text(prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("Make it fast.", "Make it fast."),
        ("<hook_context>notes</hook_context>\nMake it fast.", "Make it fast."),
        ("Make it fast.\n<system-reminder>Use tools.</system-reminder>", "Make it fast."),
        ("<ide_opened_file>a.py</ide_opened_file>Make it fast.", "Make it fast."),
        ("Why does <system-reminder> stand there?", "Why does <system-reminder> stand there?"),
        ("<b>Bold</b> is lost, mend it.", "<b>Bold</b> is lost, mend it."),
        ("Replace this: <b>Bold</b>", "Replace this: <b>Bold</b>"),
        ("<T> in the type of List<T> is wrong", "<T> in the type of List<T> is wrong"),
        ("/model opus", "/model opus"),
    ],
)
def test_a_person_typed_it(prompt: str, typed: str) -> None:
    assert strip_program_text(prompt) == typed
