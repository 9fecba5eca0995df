"""bough beside its peers, in one run on one core: `python -m benchmarks`, or `make bench`."""

import os

# One thread for everybody, and before numpy is imported: the comparison is per core.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
