"""Take times so that a busy machine does least harm, and print them as ratios with their aims."""

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Work = Callable[[], object]


def timed(work: Work) -> float:
    """Return the seconds of the processor that a call takes, in all threads and in commands."""
    started = _busy()
    work()
    return _busy() - started


def _busy() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def waited(work: Work) -> float:
    """Return the seconds that pass until a call returns."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def in_turn(ours: Work, bare: Work, times: int) -> tuple[float, float]:
    """Return the least seconds of each, taken in turn so that both meet the same machine."""
    pairs = [(timed(ours), timed(bare)) for _ in range(times)]
    return min(one for one, _ in pairs), min(other for _, other in pairs)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all lie below, interpolated."""
    return statistics.quantiles(values, n=100, method="inclusive")[round(100 * share) - 1]


@dataclass(frozen=True)
class Row:
    """A measured piece of work: what it is, both figures, how they compare, and the aim."""

    work: str
    ours: str
    bare: str
    figure: str
    aim: str
    reached: bool | None
    ratio: float | None = None
    """Of our time to that of the libraries below."""

    def __str__(self) -> str:
        said = {True: "yes", False: "**no**", None: ""}[self.reached]
        return f"| {self.work} | {self.ours} | {self.bare} | {self.figure} | {self.aim} | {said} |"


HEADING = "| work | ours | bare | figure | aim | reached |\n|---|---|---|---|---|---|"


class Table:
    """Prints and keeps a row for each piece of work."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def start(self, title: str) -> None:
        """Begin a table."""
        print(f"\n{title}\n\n{HEADING}", flush=True)

    def ratio(self, work: str, ours: float, bare: float, most: float | None = None) -> None:
        """Add a row of times, as ours divided by bare; `most` is the aim."""
        ratio = ours / bare
        aim = "" if most is None else f"≤ {most:g}×"
        reached = None if most is None else ratio <= most
        self._add(Row(work, _spent(ours), _spent(bare), f"{ratio:.2f}×", aim, reached, ratio))

    def speed(self, work: str, ours: float, bare: float, least: float) -> None:
        """Add a row of times, as the share of the bare speed that is reached."""
        share = bare / ours
        aim = f"≥ {least:g}"
        self._add(Row(work, _spent(ours), _spent(bare), f"{share:.2f}", aim, share >= least))

    def more(self, work: str, ours: float, bare: float, most: float) -> None:
        """Add a row of times, as the milliseconds that ours takes more."""
        longer = 1000 * (ours - bare)
        aim = f"≤ +{most:g} ms"
        self._add(Row(work, _spent(ours), _spent(bare), f"+{longer:.0f} ms", aim, longer <= most))

    def size(self, work: str, ours: str, figure: float, most: float, unit: str) -> None:
        """Add a row of a size against a bound."""
        shown = f"{figure:.2f}{unit}" if unit == "×" else f"{figure:.0f}{unit}"
        self._add(Row(work, ours, "", shown, f"≤ {most:g}{unit}", figure <= most))

    def aside(self, work: str, ours: str, bare: str = "") -> None:
        """Add a figure that stands beside another and has no aim."""
        self._add(Row(work, ours, bare, "", "", None))

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        print(row, flush=True)


def _spent(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 10 else f"{1000 * seconds:.1f} ms"
