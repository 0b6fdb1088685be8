"""Import numpy with BLAS in one thread; all modules import it from here.

OpenBLAS reads its variable once, when numpy is loaded. With two threads and the other core
busy, a product of 0.3 ms waits 8 ms for its second half; and `import numpy` gets slower.
"""

from __future__ import annotations

import os

_VARIABLE = "OPENBLAS_NUM_THREADS"

_chosen_by_user = _VARIABLE in os.environ

os.environ.setdefault(_VARIABLE, "1")

import numpy as np  # noqa: E402  (the variable must be there first)

if not _chosen_by_user:
    del os.environ[_VARIABLE]  # child processes choose for themselves

__all__ = ["np"]
