"""Prints injected instructions of public data sets, as JSON lines: {"set", "id", "text", "secrets"}.

Reads the wheels in a folder: inspect_evals (ipi_coding_agent, agent_threat_bench) and agentdojo.
"""

import glob
import json
import re
import sys
import zipfile


def emit(name, identifier, text, secrets=()):
    print(json.dumps({"set": name, "id": identifier, "text": text, "secrets": list(secrets)}))


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def read(folder, pattern):
    (path,) = glob.glob(f"{folder}/{pattern}")
    return zipfile.ZipFile(path)


folder = sys.argv[1]
inspect = read(folder, "inspect_evals-*.whl")
for sample in json.loads(inspect.read("inspect_evals/ipi_coding_agent/dataset/samples.json")):
    emit("ipi_coding_agent", sample["id"], "\n".join([sample["issue_text"], *sample["repo_files"].values()]))
for name in ("autonomy_hijack", "data_exfil", "memory_poison"):
    for sample in json.loads(inspect.read(f"inspect_evals/agent_threat_bench/data/{name}.json")):
        emit("agent_threat_bench", sample["id"], "\n".join(strings(sample)), sample.get("sensitive_fields", []))
dojo = read(folder, "agentdojo-*.whl")
for path in sorted(dojo.namelist()):
    if not re.fullmatch(r"agentdojo/default_suites/v1/\w+/injection_tasks\.py", path):
        continue
    suite = path.split("/")[3]
    source = dojo.read(path).decode()
    for number, task in enumerate(re.split(r"^class ", source, flags=re.M)[1:]):
        emit("agentdojo", f"{suite}-{number}", task)
