"""A repository whose settings name a program wherever git would start one."""

import subprocess
from collections.abc import Callable
from pathlib import Path

Git = Callable[..., str]

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
    "post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite",
    "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push",
    "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout",
    "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip

PROGRAMS = (
    "alias.log", "alias.rev-parse", "alias.rev-list", "alias.ls-files", "alias.config",
    "browser.trap.cmd", "core.alternateRefsCommand", "core.askPass", "core.editor",
    "core.fsmonitor", "core.gitProxy", "core.pager", "core.sshCommand", "credential.helper",
    "credential.https://example.org.helper", "diff.external", "diff.trap.command",
    "diff.trap.textconv", "difftool.trap.cmd", "filter.trap.clean", "filter.trap.process",
    "filter.trap.smudge", "gc.recentObjectsHook", "gpg.openpgp.program", "gpg.program",
    "gpg.ssh.defaultKeyCommand", "gpg.ssh.program", "gpg.x509.program", "gui.trap.cmd",
    "guitool.trap.cmd", "imap.tunnel", "instaweb.httpd", "interactive.diffFilter",
    "man.trap.cmd", "merge.trap.driver", "mergetool.trap.cmd", "pager.config", "pager.log",
    "pager.ls-files", "pager.ls-tree", "pager.rev-list", "pager.rev-parse", "receive.procReceiveRefs",
    "remote.origin.receivepack", "remote.origin.uploadpack", "remote.origin.vcs",
    "sendemail.aliasesFile", "sendemail.ccCmd", "sendemail.headerCmd", "sendemail.sendmailCmd",
    "sendemail.smtpServer", "sendemail.toCmd", "sequence.editor", "tar.trap.command",
    "trailer.trap.cmd", "trailer.trap.command", "uploadpack.packObjectsHook", "web.browser",
)  # fmt: skip
"""Settings that name a program, from `git help --config` and its pages."""

OTHERS = {
    "log.showSignature": "true",
    "log.mailmap": "true",
    "mailmap.blob": "HEAD:src/index.py",
    "diff.tool": "trap",
    "merge.tool": "trap",
    "diff.guitool": "trap",
    "diff.submodule": "log",
    "status.submoduleSummary": "true",
    "submodule.recurse": "true",
    "submodule.trap.update": "!{trap}",
    "gpg.format": "ssh",
    "gpg.ssh.allowedSignersFile": "/dev/null",
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "remote.origin.url": "ext::{trap}",
    "url.ext::{trap} .insteadOf": "https://",
    "core.hooksPath": "{hooks}",
    "core.bigFileThreshold": "1",
    "trace2.eventTarget": "{marks}/sprung",
    "trace2.normalTarget": "{marks}/sprung",
    "trace2.perfTarget": "{marks}/sprung",
}
"""Settings that make git use those, or write where they say."""

VARIABLES = (
    "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS", "PAGER", "EDITOR",
)  # fmt: skip


def trap(folder: Path) -> Path:
    """Make a program that leaves a mark when it is started."""
    program = folder / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/sprung\nexit 1\n')
    program.chmod(0o755)
    return program


def settings(program: Path, hooks: Path) -> dict[str, str]:
    """Return every setting that makes git start the program."""
    named = {"trap": str(program), "hooks": str(hooks), "marks": str(program.parent)}
    others = {key.format(**named): value.format(**named) for key, value in OTHERS.items()}
    return dict.fromkeys(PROGRAMS, str(program)) | others


def plant(project: Path, program: Path, git: Git, *level: str) -> None:
    """Name the program in all settings, hooks and attributes; sign the last commit."""
    hooks = program.parent / "hooks"
    hooks.mkdir()
    attributes = "* diff=trap filter=trap merge=trap\n"
    (project / ".gitattributes").write_text(attributes)
    (project / ".memories/.gitattributes").write_text(attributes)
    sign(project, git)
    for folder in (hooks, project / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(program)
    for name, value in settings(program, hooks).items():
        git(project, "config", *level, name, value)


def sign(project: Path, git: Git) -> None:
    """Commit something with a signature that somebody would have to check."""
    (project / ".memories/signed.md").write_text("a text that a hand wrote\n")
    git(project, "add", ".memories/signed.md")
    tree = git(project, "write-tree").strip()
    parent = git(project, "rev-parse", "HEAD").strip()
    who = "A <a@example.org> 1700000000 +0000"
    signature = "-----BEGIN SSH SIGNATURE-----\n U1NIU0lH\n -----END SSH SIGNATURE-----"
    raw = project.parent / "commit"
    raw.write_text(
        f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n"
        f"gpgsig {signature}\n\nSigned\n"
    )
    commit = git(project, "hash-object", "-t", "commit", "-w", str(raw)).strip()
    git(project, "update-ref", "HEAD", commit)


def spring(project: Path) -> None:
    """Do what people do, which starts the programs."""
    for words in (["status"], ["log", "-p", "-2"]):
        subprocess.run(
            ["git", "-C", str(project), *words],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
        )  # fmt: skip
