"""Settings of lint rules that name no rule."""

from collections.abc import Iterator

from memory_bank import plugins
from memory_bank.filenames import SETTINGS
from memory_bank.lint.base import Context, Place
from memory_bank.similar_names import similar_names

SUMMARY = "a setting of [lint] names a rule that does not exist"
SEVERITY = "warning"


def check(bank: Context) -> Iterator[Place]:
    """Yield each name, where the settings have it."""
    known = {name.replace("_", "-") for name in plugins.names("lint")}
    lint = bank.settings.lint
    for key, names in (("disable", lint.disable), ("severity", tuple(lint.severity))):
        file, _, line = bank.settings.origins.get(f"lint.{key}", "").rpartition(":")
        own = file == str(bank.layout.config) and line.isdigit()
        for name in names:
            if name not in known:
                near = similar_names(name, sorted(known), most=1)
                fix = f"write {next(iter(near))}, if that is meant" if near else None
                message = f"lint.{key}: there is no rule {name[:60]!r}"
                yield Place(SETTINGS, int(line) if own else 1, message, fix)
