import { FAILOVER_POINTS, POINTS } from "./points.mjs";
import { CAMPAIGN_SCENARIOS } from "./scenarios.mjs";

/** How often a run passes a point, about; what is not named is passed ten times. */
const POINT_FREQUENCIES = {
  "stream:bytes": 70,
  "request:before": 4,
  "stream:begun": 4,
  "stream:whole": 4,
  "tool:start": 4,
  "tool:end": 4,
  "group:before": 1,
  "group:noted": 1,
  "open:before": 1,
  "open:after": 1,
  "close:before": 1,
  "close:after": 1,
  "claim:before": 7,
  "claim:after": 7,
  "store:before": 7,
  "store:after": 7,
  "record:before": 0.2,
  "record:after": 0.2,
  "continue-as-new:told-before": 0.15,
  "continue-as-new:told": 0.15,
};

/** Points that runs pass at their very end or beginning alone are no use to the second kill of a wave, or the first. */
const EARLY = ["open:before", "open:after"];
/** Two thirds of the way are left when the first worker dies, and half of that when the second one does. */
const REACH = { first: 0.7, second: 0.3 };

/**
 * Waves without end: in every fifteen of them a worker dies at every point once, the n-th time that it is passed. Two kills
 * a wave, since a run gives up behind three dead workers in a row. In every fifth wave each of two workers dies once.
 *
 * The same seed gives the same waves.
 */
export function* planWaves({ seed, runs }) {
  const dice = createRandom(seed);
  for (let number = 0; ; ) {
    const first = shuffle(
      POINTS.filter((point) => !FAILOVER_POINTS.includes(point)),
      dice,
    );
    const lead = [
      ...first.filter((point) => EARLY.includes(point)),
      ...first.filter((point) => !EARLY.includes(point)),
    ];
    const half = Math.ceil(POINTS.length / 2);
    const second = shuffle([...lead.slice(half), ...FAILOVER_POINTS], dice);
    for (const [nth, point] of lead.slice(0, half).entries()) {
      const kills = [
        formatKillPoint(point, "first", runs, dice),
        ...(second[nth] === undefined ? [] : [formatKillPoint(second[nth], "second", runs, dice)]),
      ];
      const isPair = number % 5 === 4 && !FAILOVER_POINTS.includes(second[nth]);
      yield {
        name: `w${number}`,
        workers: isPair ? kills.map((kill) => [kill]) : [kills],
        scenarios: selectScenarios(number, runs),
      };
      number += 1;
    }
  }
}

/** One of each, and the first ones again; others are the first ones in the next wave. */
export function selectScenarios(number, runs) {
  return Array.from(
    { length: runs },
    (_, nth) => CAMPAIGN_SCENARIOS[(number * 3 + nth) % CAMPAIGN_SCENARIOS.length],
  );
}

function formatKillPoint(point, which, runs, dice) {
  if (FAILOVER_POINTS.includes(point)) return `${point}:1`;
  const times = (POINT_FREQUENCIES[point] ?? 10) * runs * REACH[which];
  return `${point}:${1 + Math.floor(dice() * Math.max(0, times - 1))}`;
}

function shuffle(values, dice) {
  const remaining = [...values];
  return values.map(() => remaining.splice(Math.floor(dice() * remaining.length), 1)[0]);
}

/** Mulberry32: small, and good enough to choose by. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}
