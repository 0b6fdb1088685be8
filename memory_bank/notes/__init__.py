"""Parse, write and store notes as Markdown files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.lazy import modules_of

if TYPE_CHECKING:
    from memory_bank.notes import (
        blocks as blocks,
    )
    from memory_bank.notes import (
        decoding as decoding,
    )
    from memory_bank.notes import (
        files as files,
    )
    from memory_bank.notes import (
        folders as folders,
    )
    from memory_bank.notes import (
        frontmatter as frontmatter,
    )
    from memory_bank.notes import (
        journal as journal,
    )
    from memory_bank.notes import (
        name_forms as name_forms,
    )
    from memory_bank.notes import (
        note_parser as note_parser,
    )
    from memory_bank.notes import (
        passages as passages,
    )
    from memory_bank.notes import (
        secret_gate as secret_gate,
    )
    from memory_bank.notes import (
        secrets as secrets,
    )

__getattr__ = modules_of(__name__)
