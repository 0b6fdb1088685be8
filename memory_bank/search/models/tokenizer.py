"""Split texts into token ids with the library tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from memory_bank.base import NamedTuple
from memory_bank.base.errors import EmbedderUnavailable

# Characters of a text that are split first: far more than models read. Splitting ten million
# to keep 256 tokens takes seconds and a gigabyte.
_HEAD = 20_000

_MANY = 256  # texts split at a time, since the tokenizer's results are large


def read(path: Path, hint: str) -> Tokenizer:
    """Load a tokenizer.json without its padding and truncation.

    Raises EmbedderUnavailable when it is missing or damaged.
    """
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        if type(error) is not Exception:  # the library's own error is a bare Exception
            raise
        raise EmbedderUnavailable(f"{path}: can't be read: {error}", hint) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def read_vocabulary(path: Path) -> Tokenizer:
    """Make the tokenizer of BERT for lower-case text from its list of word pieces."""
    from tokenizers import AddedToken, normalizers, pre_tokenizers, processors
    from tokenizers.models import WordPiece

    tokenizer = Tokenizer(WordPiece.from_file(str(path), unk_token="[UNK]"))  # noqa: S106  (no password)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=ends
    )
    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in names])
    return tokenizer


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which tokenizers and servers refuse."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


class Splitter(NamedTuple):
    """Turn texts into the ids that a transformer reads, special tokens included."""

    tokenizer: Tokenizer
    limit: int
    special: frozenset[int]

    @classmethod
    def read(cls, path: Path, limit: int, hint: str) -> Splitter:
        """Load a tokenizer.json, or a list of word pieces; raise EmbedderUnavailable."""
        tokenizer = read(path, hint) if path.suffix == ".json" else read_vocabulary(path)
        tokenizer.enable_truncation(limit)
        added = tokenizer.get_added_tokens_decoder().items()
        return cls(tokenizer, limit, frozenset(id_ for id_, token in added if token.special))

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Split texts, at most `limit` tokens each; one without any known token gives none."""
        token_ids: list[list[int]] = []
        for start in range(0, len(texts), _MANY):
            token_ids += self._split([clean(text) for text in texts[start : start + _MANY]])
        return token_ids

    def _split(self, texts: list[str]) -> list[list[int]]:
        heads = [_head(text) for text in texts]
        token_ids = [encoding.ids for encoding in self.tokenizer.encode_batch_fast(heads)]
        for index, (text, head) in enumerate(zip(texts, heads, strict=True)):
            if len(head) < len(text) and len(token_ids[index]) < self.limit:
                token_ids[index] = self.tokenizer.encode(text).ids
        return [ids if not self.special.issuperset(ids) else [] for ids in token_ids]


def _head(text: str) -> str:
    """Return the start of a long text, up to a space if there is one."""
    if len(text) <= _HEAD:
        return text
    space = text.rfind(" ", 0, _HEAD)
    return text[: space if space > 0 else _HEAD]
