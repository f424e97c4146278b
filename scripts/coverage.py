"""Reports for suites of values whether SciPy's BCa interval of the mean contains the true mean.

Reads JSON lines {"suites": lists of values, "mean", "resamples", "seed"}, prints for each a list of true and false.
"""

import json
import sys
import warnings

import numpy as np
from scipy import stats

# Suites whose values are all the same have no interval: SciPy warns and returns NaN.
warnings.filterwarnings("ignore")

for line in sys.stdin:
    question = json.loads(line)
    interval = stats.bootstrap(
        (np.asarray(question["suites"], dtype=float),),
        np.mean,
        axis=-1,
        method="BCa",
        n_resamples=question["resamples"],
        rng=np.random.default_rng(question["seed"]),
    ).confidence_interval
    covered = (interval.low <= question["mean"]) & (question["mean"] <= interval.high)
    print(json.dumps(covered.tolist()), flush=True)
