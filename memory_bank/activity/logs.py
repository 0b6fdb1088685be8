"""All that this machine remembers of how a bank is used."""

from functools import partial
from pathlib import Path

from memory_bank.activity.access import AccessLog
from memory_bank.activity.edits import EditLog
from memory_bank.activity.log import Log
from memory_bank.activity.updates import UpdateLog
from memory_bank.repairs import ACCESSES, EDITS, UPDATES, Repaired


class Logs:
    """The logs of one bank; the file of each is opened when it is needed."""

    def __init__(self, folder: Path, repaired: Repaired) -> None:
        """Keep them in `folder`; `repaired` is told which had to be started again."""
        self.access = AccessLog(folder, partial(repaired, ACCESSES))
        self.edits = EditLog(folder, partial(repaired, EDITS))
        self.updates = UpdateLog(folder, partial(repaired, UPDATES))

    def all(self) -> tuple[Log, ...]:
        """Return all of them."""
        return self.access, self.edits, self.updates

    def close(self) -> None:
        """Let go of their files."""
        for log in self.all():
            log.close()
