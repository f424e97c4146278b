// A kill hits all runs of a worker that are in flight: it counts once for each of them.

/**
 * The kills that came about, each with the sessions that it has hit: those that had begun and were not over, and of
 * several workers those that the dead one had taken a step of.
 *
 * @param looks - The steps of all sessions as they stood behind each death.
 */
export function listHitSessions(kills, looks, runs, workers) {
  return kills.map(({ point, nth, pid, atMs }) => {
    const at = looks.find(({ death }) => death?.pid === pid);
    const id = at?.death.id;
    const isHeld = (session) =>
      workers === 1 || (at?.steps.get(session) ?? []).some((step) => step.process === id);
    const sessions = runs
      .filter(
        ({ startedAtMs, closedAtMs }) =>
          startedAtMs < atMs && (closedAtMs ?? Number.POSITIVE_INFINITY) > atMs,
      )
      .map(({ session }) => session)
      .filter(isHeld);
    return { point, nth, pid, id, atMs, sessions };
  });
}

/**
 * Milliseconds from a kill to the next step that another worker has begun, for every run that was in the middle of one.
 * Where the same step is begun again by a third worker, the look behind the second one's death knows when that one was.
 */
export function measureRecoveries(kills, looks) {
  return kills.flatMap(({ pid, id, atMs, sessions }) => {
    const index = looks.findIndex(({ death }) => death?.pid === pid);
    const [at, ...later] = looks.slice(index);
    if (at === undefined || id === undefined) return [];
    return sessions.flatMap((session) => {
      const wasBusy = at.steps
        .get(session)
        ?.some((step) => step.process === id && step.storedAtMs === undefined);
      if (!wasBusy) return [];
      for (const { steps } of later) {
        const next = steps
          .get(session)
          .filter((step) => step.process !== id && step.startedAtMs >= atMs)
          .map(({ startedAtMs }) => startedAtMs);
        if (next.length > 0) return [Math.min(...next) - atMs];
      }
      return [];
    });
  });
}
