"""The language server: notes and their links in any editor. The only home of pygls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.lazy import modules_of

if TYPE_CHECKING:
    from memory_bank.frontends.lsp import (
        asked as asked,
    )
    from memory_bank.frontends.lsp import (
        changes as changes,
    )
    from memory_bank.frontends.lsp import (
        completion as completion,
    )
    from memory_bank.frontends.lsp import (
        diagnostics as diagnostics,
    )
    from memory_bank.frontends.lsp import (
        navigation as navigation,
    )
    from memory_bank.frontends.lsp import (
        source_code as source_code,
    )

__getattr__ = modules_of(__name__)
