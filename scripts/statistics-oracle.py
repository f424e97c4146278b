"""Computes with SciPy and statsmodels what scripts/statistics-tables.mjs computes with Holdfast's statistics.

Reads tables as JSON lines, prints for each an object of numbers by name, as a JSON line. The resamples and the sign changes
are those of the table.
"""

import json
import math
import sys
from types import SimpleNamespace

import numpy as np
from scipy import special, stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW


def mean(values, axis=-1):
    """The mean of the exact sum, so that it does not depend on the order of the values."""
    return np.apply_along_axis(math.fsum, axis, values) / np.shape(values)[axis]


class GivenSigns(np.random.RandomState):
    """Gives permutation_test the sign changes of a table: it sorts two random numbers for each difference."""

    def __init__(self, signs):
        super().__init__(0)
        self.signs = np.asarray(signs)

    def random(self, size):
        assert size == (*self.signs.shape, 2), size
        first = (self.signs < 0).astype(float)
        return np.stack([first, 1 - first], axis=-1)


def bca(values, resamples, statistic, confidence):
    distribution = statistic(values[np.asarray(resamples)], axis=-1)
    result = stats.bootstrap(
        (values,),
        statistic,
        n_resamples=0,
        vectorized=True,
        method="BCa",
        confidence_level=confidence,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=distribution),
    )
    return result.confidence_interval


def paired(differences, signs):
    count = np.inf if signs is None else len(signs)
    generator = None if signs is None else GivenSigns(signs)
    return stats.permutation_test(
        (differences,),
        mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=count,
        random_state=generator,
    ).pvalue


def clustered(values, clusters, alpha):
    options = {"groups": np.asarray(clusters), "use_correction": True, "df_correction": True}
    fit = OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds=options, use_t=True)
    return fit.params[0], fit.bse[0], fit.conf_int(alpha)[0]


def compare_rates(only_first, only_second, tasks, alpha):
    both = tasks - only_first - only_second
    value = mcnemar([[both, only_first], [only_second, 0]], exact=True).pvalue
    # The interval of A. Agresti and Y. Min: half a task more in each cell.
    cells = DescrStatsW([1, 0, -1], weights=[only_first + 0.5, both + 1, only_second + 0.5])
    half = stats.norm.isf(alpha / 2) * cells.std / math.sqrt(tasks + 2)
    return value, (max(-1, cells.mean - half), min(1, cells.mean + half))


def choose(n, k):
    return special.comb(n, k, exact=True)


def compute(table):
    values = np.asarray(table["values"], dtype=float)
    differences = np.asarray(table["differences"], dtype=float)
    confidence = table["confidence"]
    alpha = 1 - confidence
    n, c, k, tasks = (table[name] for name in ("attempts", "successes", "k", "tasks"))
    numbers = {
        "mean": mean(values),
        "median": np.median(values),
        "variance": np.var(values, ddof=1),
        "difference": mean(differences),
        "pairedPValue": paired(differences, table.get("signs")),
        "effectSize": np.mean(differences) / np.std(differences, ddof=1),
        "passAtK": 1 - choose(n - c, k) / choose(n, k),
        "passHatK": choose(c, k) / choose(n, k),
        "mcnemarDifference": (table["onlyFirst"] - table["onlySecond"]) / tasks,
        "normalQuantile": special.ndtri(table["probability"]),
        "studentQuantile": stats.t.ppf(table["probability"], table["degreesOfFreedom"]),
    }
    numbers["normalProbability"] = special.ndtr(numbers["normalQuantile"])

    def add_ends(name, interval):
        numbers[f"{name}Low"], numbers[f"{name}High"] = interval

    numbers["clusteredMean"], numbers["clusteredError"], interval = clustered(
        values, table["clusters"], alpha
    )
    add_ends("clustered", interval)
    add_ends("t", stats.ttest_1samp(values, 0).confidence_interval(confidence))
    add_ends("paired", DescrStatsW(differences).tconfint_mean(alpha))
    add_ends("bca", bca(values, table["resamples"], mean, confidence))
    if table["kind"] not in ("rate", "eighths"):
        add_ends("medianBca", bca(values, table["resamples"], np.median, confidence))
    add_ends("wilson", proportion_confint(c, n, alpha, method="wilson"))
    numbers["mcnemarPValue"], interval = compare_rates(
        table["onlyFirst"], table["onlySecond"], tasks, alpha
    )
    add_ends("mcnemar", interval)
    for name, method in (("holm", "holm"), ("benjaminiHochberg", "fdr_bh")):
        for index, value in enumerate(multipletests(table["pValues"], method=method)[1]):
            numbers[f"{name}{index}"] = value
    return {name: float(value) for name, value in numbers.items()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(compute(json.loads(line)), allow_nan=True), flush=True)
