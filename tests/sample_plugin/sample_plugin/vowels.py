"""The embedder `vowels`: how often a text has each vowel, and three other letters."""

from typing import Annotated, NamedTuple

from memory_bank.base.setting_sections import Key
from memory_bank.search.embedders.base import digest

SUMMARY = "vowels, for tests"


class Options(NamedTuple):
    letter: Annotated[str, Key("a letter that counts as a vowel, too")] = "y"
    token: Annotated[str, Key("what nobody may see", private=True, secret=True)] = ""


SETTINGS = Options


def fingerprint(settings):
    return digest(settings.of(Options).letter)


def load(settings):
    return Vowels(settings.of(Options).letter)


class Vowels:
    name, dimension, weight, code_weight, similarity_threshold = "vowels", 8, 0.5, 0.5, 0.0

    def __init__(self, letter):
        self.letters, self.model_hash = f"aeioumt{letter}", letter

    def embed(self, texts, kind="passage"):
        import numpy as np

        rows = np.array([[text.count(one) for one in self.letters] for text in texts], np.float32)
        lengths = np.linalg.norm(rows.reshape(-1, 8), axis=1, keepdims=True)
        return rows.reshape(-1, 8) / np.where(lengths, lengths, 1)
