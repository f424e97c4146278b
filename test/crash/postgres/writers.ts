import { createCommitsTableSql } from "../../../src/store/postgres/commit-tokens.ts";
import { Database } from "../../../src/store/postgres/database.ts";
import { parseDatabaseTarget } from "../../../src/store/postgres/database-target.ts";
import type { Statement, Work } from "../../../src/store/postgres/transaction.ts";
import { PostgresTranscript } from "../../../src/store/transcript/postgres/postgres-transcript.ts";
import { EMPTY_OUTBOX, entry, opening, step, write } from "../../transcript/sample-writes.ts";

// Writers that know which of their writes were acknowledged, and compare them with the stored ones.

/** Longer than a server may be away in a campaign. */
const DEADLINE_MS = 120_000;

export type WriterVerdict = {
  /** Acknowledged, and missing. */
  readonly lost: readonly string[];
  /** Stored twice, or reported as taken for the second time. */
  readonly doubled: readonly string[];
};

export type Writer = {
  /** One acknowledged write, or two. Returns how many. */
  write(): Promise<number>;
  check(): Promise<WriterVerdict>;
};

export type Writers = { readonly all: readonly Writer[]; close(): Promise<void> };

const createStatement = (text: string, ...values: number[]): Statement => ({ text, values, returns: "rows" });

/**
 * Counters that are incremented: a write that is not idempotent, so that a lost one and a duplicated one both
 * show in the sum.
 */
export async function openCounters(url: string, count: number): Promise<Writers> {
  const steps = [
    `CREATE TABLE counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL);${createCommitsTableSql("stream")}`,
  ];
  const target = { ...parseDatabaseTarget(url), schema: "counters" };
  const part = { name: "stream" as const, steps };
  const database = await Database.open({ target, part, deadlineMs: DEADLINE_MS });
  const all = await Promise.all(
    Array.from({ length: count }, async (_, id): Promise<Writer> => {
      let acknowledged = 0;
      await database.write([], function* () {
        yield createStatement("INSERT INTO counters VALUES (?, 0)", id);
      });
      return {
        write: async () => {
          await database.write([`${id}`], function* () {
            yield createStatement("UPDATE counters SET n = n + 1 WHERE id = ?", id);
          });
          acknowledged += 1;
          return 1;
        },
        check: async () => {
          const rows = await database.read(function* (): Work<readonly unknown[]> {
            return yield createStatement("SELECT n FROM counters WHERE id = ?", id);
          });
          const found = (rows[0] as { n: number } | undefined)?.n ?? 0;
          const what = `counter ${id} is ${found}, and ${acknowledged} additions were acknowledged`;
          return {
            lost: Array.from({ length: Math.max(0, acknowledged - found) }, () => what),
            doubled: Array.from({ length: Math.max(0, found - acknowledged) }, () => what),
          };
        },
      };
    }),
  );
  return { all, close: () => database.close() };
}

/** Sessions in which steps are claimed and their results stored, over as many connections as several processes have. */
export async function openSessions(url: string, transcripts: number, count: number): Promise<Writers> {
  const opened = await Promise.all(
    Array.from({ length: transcripts }, () => PostgresTranscript.open({ url, deadlineMs: DEADLINE_MS })),
  );
  const all = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      createSessionWriter(opened[index % transcripts]!, `s${index}`),
    ),
  );
  return {
    all,
    close: async () => {
      for (const transcript of opened) await transcript.close();
    },
  };
}

async function createSessionWriter(transcript: PostgresTranscript, name: string): Promise<Writer> {
  const own = step({ session: name, run: `run of ${name}`, number: 0, kind: "open-loop" });
  const { loopId } = await transcript.openLoop(opening({ step: own }));
  const taken: string[] = [];
  let stored = 0;
  return {
    write: async () => {
      const at = stored + 1;
      const key = { ...own, number: at, kind: "call-model" };
      const target = { loopId, branch: "main", base: at };
      // The claim and the result have different times, so that a result that took the step itself is noticed.
      const claimed = await transcript.claim(key, target, EMPTY_OUTBOX, at);
      if (claimed.type !== "claimed" || claimed.executions !== 1 || claimed.lostExecution !== undefined) {
        taken.push(`step ${at} of ${name} was taken already: ${JSON.stringify(claimed)}`);
      }
      await transcript.store({
        ...write(target, { entries: [entry(at, `${at}`)] }),
        step: key,
        atMs: 1_000_000 + at,
      });
      stored = at;
      return 2;
    },
    check: async () => {
      const lost: string[] = [];
      const doubled = taken.splice(0);
      const steps = new Map((await transcript.readSteps(name)).map((one) => [one.number, one]));
      const entries = await transcript.readEntries(name, "main", 1, stored + 2);
      for (let at = 1; at <= stored; at++) {
        const found = steps.get(at);
        if (found?.startedAtMs !== at) lost.push(`the claim of step ${at} of ${name}`);
        if (found?.storedAtMs === undefined) lost.push(`the result of step ${at} of ${name}`);
        if (found !== undefined && found.executions !== 1) {
          doubled.push(`step ${at} of ${name} has ${found.executions} executions`);
        }
        const { message } = entries[at - 1] ?? {};
        const [part] = message?.role === "assistant" ? message.content : [];
        if (part?.type !== "text" || part.text !== `${at}`) lost.push(`the answer of step ${at} of ${name}`);
      }
      for (const extra of entries.slice(stored)) doubled.push(`an answer at ${extra.position} of ${name}`);
      return { lost, doubled };
    },
  };
}
