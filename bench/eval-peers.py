"""Runs cells of one answer with Inspect AI: JSON on the command line, JSON lines on standard output.

The time is measured from the call to its end, so that neither the start of Python nor the imports are part of it.
"""

import json
import sys
import time

from inspect_ai import Task, eval_set
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import match


def build_cases(name: str, cells: int) -> list[Sample]:
    """The cases of `listCases` in eval-suites.mjs."""
    return [
        Sample(
            id=f"c{n}",
            input=f"Repeat {name}-{n}",
            target="another" if n % 8 == 0 else f"{name}-{n}",
        )
        for n in range(cells)
    ]


def write(**line: object) -> None:
    print(json.dumps(line), flush=True)


def main() -> None:
    asked = json.loads(sys.argv[1])
    connections = asked["concurrency"]
    model = get_model("openai-api/scripted/inspect", base_url=f"{asked['vendor']}/v1", api_key="none")
    cases = MemoryDataset(build_cases(asked["name"], asked["cells"]))
    task = Task(dataset=cases, scorer=match(location="exact"), name=asked["name"])
    write(type="begin", atMs=time.time() * 1000)
    begun = time.perf_counter()
    # With the same folder, a second call takes what the first has stored and asks for the rest.
    _, logs = eval_set(
        task,
        model=model,
        log_dir=asked["logs"],
        max_connections=connections,
        max_samples=connections,
        display="none",
    )
    seconds = time.perf_counter() - begun
    finished = sum(log.results.completed_samples for log in logs if log.results is not None)
    right = [metric.value for log in logs for score in log.results.scores for metric in score.metrics.values()]
    write(type="ended", seconds=seconds, finished=finished, statuses=[log.status for log in logs], metrics=right)


main()
