"""The code of a shop, its history, and notes that cite it in all ways."""

from pathlib import Path

from tests.git.history_builder import Made, make
from tests.support.shop import FILES

NOTES = {
    "refs.md": "---\nid: aaaaaaaaaaaa\ncreated_at: 2026-01-05T00:00:00Z\nsymbol_refs: [Order.place]\n"
    "---\n# Placing\n\nAn order is charged once. Then it is kept.\n",
    "link.md": "---\ncreated_at: 2026-01-04T00:00:00Z\n---\n# Retries\n\n"
    "The wire is slow. Three walrus retries in [[symbol:charge_with_retry]] are enough. More harm.\n",
    "inside.md": "---\ncreated_at: 2026-01-03T00:00:00Z\n---\n# Empty orders\n\n"
    "See [[shop/orders.py#Order.check]].\n\nMuch later, and after many words about other things"
    " that have nothing to do with it at all:\n\nA narwhal order stays empty in"
    " [the check](../shop/orders.py#Order.check), which is fine.\n",
    "file.md": "---\ncreated_at: 2026-01-02T00:00:00Z\nfile_refs: [./shop/orders.py]\n---\n"
    "# Orders\n\nOrders are never deleted.\n",
    "heading.md": "---\ncreated_at: 2026-01-06T00:00:00Z\n---\n# Lines\n\n"
    "The module [[shop/orders.py#L3]] has a limit of three tries.\n",
    "archived.md": "---\nstatus: archived\nsymbol_refs: [Order.place]\nfile_refs: [shop/orders.py]\n"
    "---\n# Old\n\nOld.\n",
    "unknown.md": "---\nsymbol_refs: [Order.plaice, describe, Gateway]\n---\n# Unknown\n\nUnknown.\n",
}


def make_shop(folder: Path) -> Path:
    """Make the repository with its bank; orders.py changed with payments.py four times of six."""
    notes = {f".memories/{name}": text for name, text in NOTES.items()}
    both = [
        Made({name: f"{FILES[name]}# {day}\n" for name in ("shop/orders.py", "shop/payments.py")})
        for day in range(4)
    ]
    alone = Made({"shop/orders.py": FILES["shop/orders.py"]})
    files = {name: text for name, text in FILES.items() if name != "shop/payments.py"}
    first = Made({**files, **notes, "plain.txt": "nothing\n", ".gitignore": "secret.cfg\n"})
    made = make(folder, [first, *both, alone])
    (made / "secret.cfg").write_text("x\n")
    return made
