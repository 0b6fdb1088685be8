"""Small stand-ins for what embedders need: a server, a tokenizer, weights, a model file."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from memory_bank.base.paths import user_folder
from memory_bank.base.settings import Settings
from memory_bank.search.models.vectors import np
from tests.search.embedders import hashing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Answer = Callable[["Handler"], None]

USERS_DATA = str(user_folder("data").parent)
"""Where the user's own models are: read before a test's own folders hide it."""

WORDS = """
the a cat dog sat on mat ran far away stock market fell today code search
""".split()  # noqa: SIM905  (a list of words reads best as a text)


@dataclass
class Request:
    """What a server was asked."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Served:
    """A server that runs in a thread, and what it was asked so far."""

    url: str
    requests: list[Request] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    """Record a request and let the test answer it."""

    answer: Answer
    served: Served
    body: Any

    def do_POST(self) -> None:
        """Read the body, then answer."""
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.served.requests.append(Request(self.path, dict(self.headers), self.body))
        type(self).answer(self)

    do_GET = do_POST  # noqa: N815  (the library's name)

    def reply(self, body: object, status: int = 200, **headers: str) -> None:
        """Send a body, as JSON unless it is bytes."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(answer: Answer) -> Iterator[Served]:
    """Run a server on a free port of the loopback interface."""
    served = Served("")
    kind = type("Answering", (Handler,), {"answer": staticmethod(answer), "served": served})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    server.block_on_close = False
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()


def vectors(texts: list[str]) -> list[list[float]]:
    """Give each text the vector that a server would, here of length 3 to be normalised."""
    rows = hashing.load(Settings()).embed(texts) * 3
    return [[float(number) for number in row] for row in rows]


def openai(handler: Handler) -> None:
    """Answer as OpenAI does, in another order than asked."""
    rows = vectors(handler.body["input"])
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    handler.reply({"object": "list", "data": data[::-1], "model": handler.body["model"]})


def ollama(handler: Handler) -> None:
    """Answer as Ollama does."""
    handler.reply({"model": handler.body["model"], "embeddings": vectors(handler.body["input"])})


def tokenizer(path: Path) -> Tokenizer:
    """Write a tokenizer of a few words with BERT's special tokens, padding and truncation on."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    made = Tokenizer(WordLevel({word: i for i, word in enumerate(vocabulary)}, unk_token="[UNK]"))  # noqa: S106
    made.normalizer = Lowercase()
    made.pre_tokenizer = Whitespace()
    made.add_special_tokens(vocabulary[:4])
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.enable_padding(length=16)
    made.enable_truncation(16)
    made.save(str(path))
    return made


def bert_weights(
    *, words: int = 20, positions: int = 32, dimension: int = 24, layers: int = 2
) -> dict[str, NDArray[np.float32]]:
    """Make random weights of a small BERT encoder, the same each time."""
    random = np.random.default_rng(7)

    def some(*shape: int) -> NDArray[np.float32]:
        return (random.standard_normal(shape) * 0.3).astype(np.float32)

    wide = 4 * dimension
    found = {
        "embeddings.word_embeddings.weight": some(words, dimension),
        "embeddings.position_embeddings.weight": some(positions, dimension),
        "embeddings.token_type_embeddings.weight": some(2, dimension),
    }
    modules: list[tuple[str, tuple[int, ...]]] = [("embeddings.LayerNorm", ())]
    for layer in range(layers):
        prefix = f"encoder.layer.{layer}."
        square = ("self.query", "self.key", "self.value", "output.dense")
        modules += [(f"{prefix}attention.{part}", (dimension, dimension)) for part in square]
        modules.append((f"{prefix}attention.output.LayerNorm", ()))
        modules.append((f"{prefix}intermediate.dense", (wide, dimension)))
        modules.append((f"{prefix}output.dense", (dimension, wide)))
        modules.append((f"{prefix}output.LayerNorm", ()))
    for name, shape in modules:
        if shape:
            found[f"{name}.weight"] = some(*shape)
            found[f"{name}.bias"] = some(shape[0])
        else:
            found[f"{name}.weight"] = 1 + some(dimension)
            found[f"{name}.bias"] = some(dimension)
    return found


@dataclass(frozen=True)
class Shape:
    """What a model file looks like from outside."""

    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids")
    output: str = "last_hidden_state"
    length: int | str = "tokens"
    wide: bool = True
    """Whether ids are int64 (or int32)."""


TABLE = np.random.default_rng(3).standard_normal((40, 6)).astype(np.float32)


def onnx_model(path: Path, shape: Shape = Shape()) -> None:
    """Write a model that looks its tokens up in TABLE, or adds up what the mask leaves."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    integer = TensorProto.INT64 if shape.wide else TensorProto.INT32
    constants = [numpy_helper.from_array(TABLE, "table")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    last = "rows"
    if "attention_mask" in shape.inputs:
        constants.append(numpy_helper.from_array(np.array([2]), "axis"))
        nodes += [
            helper.make_node("Cast", ["attention_mask"], ["real"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["real", "axis"], ["mask"]),
            helper.make_node("Mul", ["rows", "mask"], ["masked"]),
        ]
        last = "masked"
    if shape.output == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMean", [last], ["pooled"], axes=[1], keepdims=0))
        last = "pooled"
    dims: list[int | str] = ["texts", "tokens", 6] if last != "pooled" else ["texts", 6]
    nodes.append(helper.make_node("Identity", [last], [shape.output]))
    outputs = [helper.make_tensor_value_info(shape.output, TensorProto.FLOAT, dims)]
    if shape.output == "sentence_embedding":  # as exporters do: token vectors come first
        token_dims = ["texts", "tokens", 6]
        first = helper.make_tensor_value_info("rows", TensorProto.FLOAT, token_dims)
        outputs.insert(0, first)
    inputs = [
        helper.make_tensor_value_info(name, integer, ["texts", shape.length])
        for name in shape.inputs
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, str(path))
