import { setTimeout as sleep } from "node:timers/promises";
import { startCluster } from "./cluster.ts";
import { openCounters, openSessions, type Writer, type WriterVerdict } from "./writers.ts";

export type CampaignFigures = {
  readonly kills: number;
  readonly failovers: number;
  /** Acknowledged. */
  readonly writes: number;
  /** Commits during which a connection was lost, so that the server had to be asked for the outcome. */
  readonly asked: number;
  readonly lost: number;
  readonly doubled: number;
  /** Writes that ended in an error. */
  readonly failed: number;
  readonly seconds: number;
};

export type CampaignOptions = {
  readonly kills: number;
  /** No new kill after this time, once `atLeast` of them were played. */
  readonly minutes: number;
  readonly atLeast: number;
  readonly seed: number;
  readonly report: (line: string) => void;
};

/** One in this many kills ends the primary server for good. */
const FAIL_OVER_EVERY = 5;
/** Writes flow for this long before each kill, which happens at a random moment of it, in milliseconds. */
const WRITE_MS = { least: 30, most: 500 };
const WRITERS = { counters: 40, transcripts: 3, sessions: 24 };

/** Kills PostgreSQL under many writers, and compares the acknowledged writes with the stored ones. */
export async function playPostgresCampaign(options: CampaignOptions): Promise<CampaignFigures> {
  const { kills, minutes, atLeast, seed, report } = options;
  const random = createRandom(seed);
  const begin = performance.now();
  const cluster = await startCluster();
  const figures = { kills: 0, failovers: 0, writes: 0, asked: 0, lost: 0, doubled: 0, failed: 0 };
  cluster.proxy.judge = (said) => {
    if (said.includes("_commits") && said.includes(", 0 WHERE")) figures.asked += 1;
    return "pass";
  };
  const closing: { close(): Promise<void> }[] = [];
  try {
    const url = cluster.url(await cluster.database());
    const counters = await openCounters(url, WRITERS.counters);
    closing.push(counters);
    const sessions = await openSessions(url, WRITERS.transcripts, WRITERS.sessions);
    closing.push(sessions);
    const writers = [...counters.all, ...sessions.all];
    for (let kill = 1; kill <= kills; kill++) {
      if (kill > atLeast && performance.now() - begin > minutes * 60_000) break;
      const failsOver = kill % FAIL_OVER_EVERY === 0;
      if (failsOver) await cluster.prepareStandby();
      const flow = runWriters(writers, (error) => {
        figures.failed += 1;
        report(`  a write failed: ${String(error)}`);
      });
      await sleep(WRITE_MS.least + random() * (WRITE_MS.most - WRITE_MS.least));
      const how = failsOver ? "fail over" : random() < 0.5 ? "kill" : "crash";
      if (how === "fail over") await cluster.failOver();
      else await cluster.killAndStart(how);
      await sleep(50);
      figures.writes += await flow.end();
      figures.kills += 1;
      if (failsOver) figures.failovers += 1;
      const { lost, doubled } = await checkWriters(writers);
      figures.lost += lost.length;
      figures.doubled += doubled.length;
      report(`${kill}: ${how}; ${figures.writes} writes, ${figures.asked} times asked so far`);
      for (const what of lost) report(`  LOST ${what}`);
      for (const what of doubled) report(`  DOUBLED ${what}`);
      // A violation remains, and would be counted again after each kill.
      if (lost.length + doubled.length > 0) break;
    }
    return { ...figures, seconds: Math.round((performance.now() - begin) / 1000) };
  } finally {
    for (const one of closing) await one.close();
    await cluster.stop();
  }
}

/** Every writer writes in sequence until it is asked to stop; each then finishes its current write. */
function runWriters(
  writers: readonly Writer[],
  onError: (error: unknown) => void,
): { end(): Promise<number> } {
  let over = false;
  const all = writers.map(async (writer) => {
    let writes = 0;
    while (!over) {
      try {
        writes += await writer.write();
      } catch (error) {
        onError(error);
        return writes;
      }
    }
    return writes;
  });
  return {
    end: async () => {
      over = true;
      return (await Promise.all(all)).reduce((sum, writes) => sum + writes, 0);
    },
  };
}

async function checkWriters(writers: readonly Writer[]): Promise<WriterVerdict> {
  const verdicts: WriterVerdict[] = [];
  for (const writer of writers) verdicts.push(await writer.check());
  return { lost: verdicts.flatMap(({ lost }) => lost), doubled: verdicts.flatMap(({ doubled }) => doubled) };
}

/** Mulberry32: the same moments for the same seed, as far as a machine's timing allows. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
