"""Files and runtimes of embedding models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.lazy import modules_of

if TYPE_CHECKING:
    from memory_bank.models import (
        bert_encoder as bert_encoder,
    )
    from memory_bank.models import (
        download as download,
    )
    from memory_bank.models import (
        embedding_table as embedding_table,
    )
    from memory_bank.models import (
        model_files as model_files,
    )
    from memory_bank.models import (
        numpy_setup as numpy_setup,
    )
    from memory_bank.models import (
        onnx_session as onnx_session,
    )
    from memory_bank.models import (
        quantization as quantization,
    )
    from memory_bank.models import (
        tensors as tensors,
    )
    from memory_bank.models import (
        tokenizer as tokenizer,
    )

__getattr__ = modules_of(__name__)
