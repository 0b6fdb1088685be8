"""The static embedder as a page of script: numpy and tokenizers, nothing of ours around them."""

import json
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # after the variable: OpenBLAS reads it once
from numpy.typing import NDArray
from tokenizers import Tokenizer


class BareStatic:
    """Sums of the rows of a mapped table, made length 1."""

    def __init__(self) -> None:
        spec = find_spec("wordllama")
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        file = folder / "weights" / "l2_supercat_256.safetensors"
        with file.open("rb") as opened:
            size = int.from_bytes(opened.read(8), "little")
            shape = json.loads(opened.read(size))["embedding.weight"]["shape"]
        self.rows = np.memmap(file, np.float16, "r", 8 + size, tuple(shape))
        tokens = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        self.tokenizer = Tokenizer.from_file(str(tokens))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return rows of length 1, shape (len(texts), 256)."""
        encoded = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        found = np.stack([self.rows[one.ids].sum(0, dtype=np.float32) for one in encoded])
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.maximum(lengths, 1e-9)
