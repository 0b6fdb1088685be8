"""Which notes are in another language that the embedder `multilingual` knows."""

import pytest

from memory_bank.bank.embedder_choice import is_other_language


@pytest.mark.parametrize(
    "text",
    [
        "Nous gardons les sauvegardes dans un autre centre pour que la base soit disponible.",
        "Guardamos las copias de la base en otro centro para que siempre haya una disponible.",
        "Teniamo le copie della base in un altro centro perché non si perda nulla.",
        "Guardamos as cópias da base em outro centro para que não se perca nada.",
        "We bewaren de kopieën van de database in een ander centrum zodat er niets verloren gaat.",
        "Kopie zapasowe bazy są przechowywane w innym centrum, aby nic się nie zgubiło.",
        "Yedekleri başka bir merkezde tutuyoruz ve bu sayede hiçbir şey kaybolmuyor.",
        "Die Sicherungen liegen in einem anderen Rechenzentrum, damit nichts verloren geht.",
        "Мы храним копии базы в другом центре",
        "우리는 백업을 다른 센터에 보관한다",
        "نحتفظ بالنسخ الاحتياطية في مركز آخر",
    ],
)
def test_a_note_in_a_language_that_it_knows_is_told(text: str) -> None:
    assert is_other_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "walrus ledger osprey merlin falcon retry gateway tokens payment cluster jitter backoff",
        "Backups of the database are kept in another centre so that nothing is ever lost.",
        "```python\nder = die(das, und, nicht, ein, eine, mit, von, wird, sind, auch)\n```",
        "Redis, Postgres, Kafka, nginx, Terraform, Grafana, Loki, Tempo, Mimir, Vault, Consul",
        "Κρατάμε τα αντίγραφα σε άλλο κέντρο για να μη χαθεί τίποτα ποτέ ξανά",
    ],
)
def test_few_words_of_english_make_no_other_language(text: str) -> None:
    assert not is_other_language(text)
