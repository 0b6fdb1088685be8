"""A review shows no secret of a note."""

from memory_bank.notes.note_comparison import hide_secrets
from memory_bank.notes.secrets import secrets

KEY = "AKIAIOSFODNN7EXAMPL3"


def test_a_secret_is_its_hash_and_other_text_stays() -> None:
    hidden = hide_secrets(f"# Keys\n\nUse {KEY} here, not {KEY}.\n".encode())
    name = f"[secret {secrets.fingerprint(KEY)}]"
    assert hidden.decode() == f"# Keys\n\nUse {name} here, not {name}.\n"


def test_lines_keep_their_numbers() -> None:
    body = "\n".join(["MIIEpAIBAAKCAQEA" + "x7Zq9KdW" * 6] * 6)
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nlast\n"
    hidden = hide_secrets(text.encode()).decode()
    assert "x7Zq9KdW" not in hidden
    assert hidden.split("\n").index("last") == text.split("\n").index("last")


def test_what_is_allowed_or_no_text_stays() -> None:
    text = f"Use {KEY}.\r\n".encode()
    assert hide_secrets(text, [secrets.fingerprint(KEY)]) == text
    assert hide_secrets(b"\xff\xfe\xe9") == b"\xff\xfe\xe9"
