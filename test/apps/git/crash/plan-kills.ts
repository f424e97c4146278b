import type { CommandKill } from "./command.ts";
import type { WorkerKills } from "./killed-worker.ts";

/** At which pass of its kill point a worker dies, from point to point: the first, one in the middle, one near the end. */
const PLACES = [0, 0.5, 0.9];

/** Points that only a worker passes which takes over from a dead one: they follow a first kill. */
const RECOVERY_POINTS = ["recovery:signed-in", "recovery:queues-given-back", "recovery:activities-failed"];
/** The answer is there, or a tool runs, so that there is something to take over. */
const BEFORE_RECOVERY = ["claim:after", "stream:bytes", "tool:start"];

/** The vendor's requests of a commit with a critic. */
const REQUESTS = 3;

/**
 * Plans a kill for each point that an undisturbed run passes, from how often it passes it.
 *
 * @param maxKills - Only so many, spread over all of them.
 */
export function planWorkerKills(
  passed: ReadonlyMap<string, number>,
  maxKills = Number.POSITIVE_INFINITY,
): readonly WorkerKills[] {
  const single = [...passed].map(([point, count], at) => {
    const place = PLACES[at % PLACES.length] ?? 0;
    return [`${point}:${Math.max(1, Math.ceil(place * count))}`];
  });
  const recoveries = RECOVERY_POINTS.map((point, at) => [`${BEFORE_RECOVERY[at]}:1`, `${point}:1`]);
  return selectSpread([...single, ...recoveries], maxKills);
}

/** Plans kills of a command around each of its git processes, and at each request to the vendor. */
export function planCommandKills(
  gitCalls: readonly string[],
  maxKills = Number.POSITIVE_INFINITY,
): readonly CommandKill[] {
  const around = gitCalls.flatMap((_, at) =>
    (["before-git", "after-git"] as const).map((when) => ({ at: when, nth: at + 1 })),
  );
  const requests = Array.from({ length: REQUESTS }, (_, at) => ({ at: "request" as const, nth: at + 1 }));
  return selectSpread([...requests, ...around], maxKills);
}

/** Selects elements at equal distances; the last one is among them. */
function selectSpread<T>(all: readonly T[], count: number): readonly T[] {
  if (count >= all.length) return all;
  return Array.from({ length: count }, (_, nth) => all[Math.ceil(((nth + 1) * all.length) / count) - 1] as T);
}
