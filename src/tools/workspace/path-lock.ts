const tails = new Map<string, Promise<unknown>>();

/** Runs the operations on one file of this process one after the other: calls of one turn may edit the same file. */
export async function withPathLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const before = tails.get(path) ?? Promise.resolve();
  const run = before.then(work, work);
  const tail = run.catch(() => {});
  tails.set(path, tail);
  try {
    return await run;
  } finally {
    if (tails.get(path) === tail) tails.delete(path);
  }
}
