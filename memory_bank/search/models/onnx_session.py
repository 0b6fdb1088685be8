"""Run a text model with onnxruntime: token ids to vectors."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.search.embedders.base import Vectors
from memory_bank.search.models.vectors import np

if TYPE_CHECKING:  # numpy is imported from vectors alone
    from numpy.typing import NDArray

_MOST_THREADS = 4  # of small matrices more threads wait longer than they work

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}

_KNOWN_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})


class ModelSession:
    """A loaded model; calling it returns each text's vector, not normalised."""

    def __init__(self, path: Path, hint: str, *, by_cls: bool = False) -> None:
        self._path, self._hint, self._by_cls = path, hint, by_cls
        runtime: Any = import_module("onnxruntime")
        # Its errors have no common base class but Exception.
        state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        kinds = [kind for kind in vars(state).values() if isinstance(kind, type)]
        self._errors: tuple[type[Exception], ...] = (
            ValueError,  # what its Python part raises
            *(kind for kind in kinds if issubclass(kind, Exception)),
        )
        try:
            self._session = runtime.InferenceSession(
                str(path), _options(runtime), providers=["CPUExecutionProvider"]
            )
        except self._errors as error:
            raise self._broken(error) from error
        self._inputs = {item.name: item for item in self._session.get_inputs()}
        if "input_ids" not in self._inputs or self._inputs.keys() - _KNOWN_INPUTS:
            names = ", ".join(self._inputs)
            raise EmbedderUnavailable(f"{path}: is no text model: it asks for {names}", hint)
        outputs = [item.name for item in self._session.get_outputs()]
        # an exporter that adds this output has put the model's own pooling into the graph
        whole = "sentence_embedding"
        self._output = whole if whole in outputs else outputs[0]

    def __call__(self, ids: NDArray[np.int64]) -> Vectors:
        """Return rows of shape (texts, dimension); raise EmbedderUnavailable when it can't run."""
        tokens = ids.shape[1]
        try:
            (rows,) = self._session.run([self._output], self._feed(ids))
        except self._errors as error:
            raise self._broken(error) from error
        if rows.ndim == 3:  # noqa: PLR2004  (texts, tokens, dimension)
            # the rest is padding
            rows = rows[:, 0] if self._by_cls else rows[:, :tokens].mean(axis=1)
        if rows.ndim != 2 or len(rows) != len(ids):  # noqa: PLR2004  (texts, dimension)
            raise self._broken(f"gives an output of shape {rows.shape}")
        if not np.isfinite(rows).all():
            raise self._broken("gives components that are no numbers")
        return np.asarray(rows, np.float32)

    def _feed(self, ids: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the inputs of the model; pad them if it has a fixed length."""
        texts, tokens = ids.shape
        length = self._inputs["input_ids"].shape[1]
        filled = length if isinstance(length, int) else tokens
        fill = ((0, 0), (0, max(0, filled - tokens)))
        feed = {
            "input_ids": np.pad(ids[:, :filled], fill),
            "attention_mask": np.pad(np.ones_like(ids[:, :filled]), fill),
            "token_type_ids": np.zeros((texts, filled), np.int64),
            "position_ids": np.tile(np.arange(filled), (texts, 1)),
        }
        return {
            name: feed[name].astype(_INTEGERS.get(item.type, np.int64), copy=False)
            for name, item in self._inputs.items()
        }

    def _broken(self, why: object) -> EmbedderUnavailable:
        words = " ".join(str(why).split())[:300]
        return EmbedderUnavailable(f"{self._path}: the model can't be used: {words}", self._hint)


def _options(runtime: Any) -> Any:  # noqa: ANN401  (onnxruntime is optional: no types)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = min(_MOST_THREADS, _processors())
    options.inter_op_num_threads = 1
    # Threads that spin between runs waste processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # its errors are raised; it need not print them as well
    return options


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
