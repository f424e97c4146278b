/**
 * Waits for work until one of the signals aborts, and then rejects with its reason. The work continues; its result is
 * ignored.
 */
export async function raceAbort<Result>(
  work: Promise<Result>,
  ...signals: readonly AbortSignal[]
): Promise<Result> {
  work.catch(() => undefined);
  for (const signal of signals) signal.throwIfAborted();
  let stop = (_aborted: Event): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = ({ target }) => reject((target as AbortSignal).reason);
    for (const signal of signals) signal.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}

/** Waits for work at most this long, and then resolves with `undefined`. The work continues; its result is ignored. */
export async function raceTimeout<Result>(
  work: Promise<Result>,
  timeoutMs: number,
): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
