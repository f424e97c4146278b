import type { CellClaim, CellResult, PlannedCell } from "../suites.ts";
import { insertRows, readByKeys } from "./many-rows.ts";
import { exec, type Work } from "./statement.ts";
import { readResults } from "./suite-results.ts";

// Claims of cells. In PostgreSQL no lock is needed: a claim is taken by one statement, and results are read after it.

export type ClaimTerms = { readonly owner: string; readonly atMs: number; readonly untilMs: number };

type ClaimRow = { cell: string; owner: string; until_ms: number };

/** Claims the cells that have no finished result. Of rows with the same cell, the first one gets the claim. */
export function* claimCells(
  cells: readonly PlannedCell[],
  { owner, atMs, untilMs }: ClaimTerms,
): Work<readonly CellClaim[]> {
  const before = yield* readResults(cells.map(({ cell }) => cell));
  const isOpen = (cell: string) => before.get(cell)?.state !== "finished";
  // In one order, so that two claimers of the same cells do not wait for each other.
  const open = [...new Set(cells.map(({ cell }) => cell).filter(isOpen))].sort();
  yield* insertRows(
    "suite_claims (cell, owner, until_ms)",
    open.map((cell) => [cell, owner, untilMs]),
    {
      text: `ON CONFLICT (cell) DO UPDATE SET owner = excluded.owner, until_ms = excluded.until_ms
        WHERE suite_claims.owner = excluded.owner OR suite_claims.until_ms <= ?`,
      values: [atMs],
    },
  );
  const rows = yield* readByKeys<ClaimRow>("SELECT cell, owner, until_ms FROM suite_claims WHERE cell", open);
  const claims = new Map(rows.map((row) => [row.cell, row]));
  // Another process may have finished a cell before the claim was taken.
  const results = new Map([...before, ...(yield* readResults(open))]);
  for (const cell of open) {
    if (results.get(cell)?.state === "finished")
      yield* exec("DELETE FROM suite_claims WHERE cell = ? AND owner = ?", cell, owner);
  }
  const claimed = new Set<string>();
  return cells.map(({ number, cell }): CellClaim => {
    const result = results.get(cell);
    if (result?.state === "finished") return { number, type: "finished", result };
    const claim = claims.get(cell);
    // Without a row, its owner has just released it.
    if (claim?.owner !== owner || claimed.has(cell))
      return { number, type: "busy", untilMs: claim?.until_ms ?? atMs };
    claimed.add(cell);
    return { number, type: "claimed", attempt: countAttempts(result) + 1 };
  });
}

function countAttempts(failed: CellResult | undefined): number {
  return failed?.attempt ?? 0;
}

export function* renewClaims(owner: string, untilMs: number): Work<void> {
  yield* exec("UPDATE suite_claims SET until_ms = ? WHERE owner = ?", untilMs, owner);
}

export function* releaseClaims(owner: string): Work<void> {
  yield* exec("DELETE FROM suite_claims WHERE owner = ?", owner);
}

/** Makes a cell one that has a run of its own, and gives its claim back. */
export function* giveRunToCell(run: string, number: number): Work<void> {
  yield* exec(
    "DELETE FROM suite_claims WHERE cell IN (SELECT cell FROM suite_cells WHERE run = ? AND number = ?)",
    run,
    number,
  );
  yield* exec("UPDATE suite_cells SET kind = 'agent' WHERE run = ? AND number = ?", run, number);
}
