/** What had become of the request before, when a question was asked again. */
const CAUSES = {
  "aborted-by-client": "its stream was cut by the kill",
  answered: "delivered, and the worker died before it was stored",
  faulted: "the vendor had failed it",
  open: "still open",
};

/**
 * Each answer that is stored was the last one that was asked for, of all with its question; each that was delivered is
 * stored, or was asked for again.
 */
export function checkRequests({ vendor, branches, asked }) {
  const closed = new Map(vendor.flatMap((line) => (line.type === "closed" ? [[line.nonce, line]] : [])));
  const stored = new Set(
    branches.flatMap(({ entries }) => entries.flatMap(({ nonce, notes }) => notes ?? nonce ?? [])),
  );
  const requests = vendor
    .filter(({ type }) => type === "asked")
    .map((line) => ({ ...line, outcome: closed.get(line.nonce)?.outcome ?? "open" }));
  const violations = vendor
    .filter(({ validationError }) => validationError !== undefined)
    .map(({ validationError }) => ({
      kind: "refused",
      what: `the vendor refused a request: ${validationError}`,
    }));
  const again = {};
  for (const same of groupByQuestion(requests)) {
    for (const { outcome } of same.slice(0, -1)) again[CAUSES[outcome]] = (again[CAUSES[outcome]] ?? 0) + 1;
    const at = same.findIndex(({ nonce }) => stored.has(nonce));
    if (at !== -1)
      violations.push(
        ...same.slice(at + 1).map(({ nonce }) => ({
          kind: "repaid-stored",
          what: `answer ${same[at].nonce} was stored, and asked for again as ${nonce}`,
        })),
      );
    const last = same.at(-1);
    if (at === -1 && last.outcome === "answered" && asked.ends !== "stopped")
      violations.push({ kind: "lost", what: `answer ${last.nonce} was delivered, and is nowhere` });
  }
  const unpaid = [...stored].filter((nonce) => !requests.some((request) => request.nonce === nonce));
  violations.push(
    ...unpaid.map((nonce) => ({
      kind: "duplicated",
      what: `answer ${nonce} is stored, and was never given`,
    })),
  );
  return { violations, again };
}

function groupByQuestion(requests) {
  const of = new Map();
  for (const request of requests) of.set(request.question, [...(of.get(request.question) ?? []), request]);
  return [...of.values()];
}
