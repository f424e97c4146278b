import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BodyLine } from "../../src/schema/export-line.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import { readIdleSnapshot } from "../../src/store/transcript/read-idle-snapshot.ts";
import { createImportMark } from "../../src/store/transcript/sql/session-visibility.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { answer, entry, event, message, opening, readTexts, step, USAGE, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

const LONG = "long words ".repeat(600);

/** Writes two loops, the second on a branch of its own, with a long text and a message in the inbox. */
export async function writeSampleSession(transcript: Transcript, session = "s"): Promise<void> {
  const createStep = (number: number, of: object = {}) =>
    step({ session, run: `r-${session}`, number, ...of });
  const terms = { tools: [], limits: {} } as never;
  const first = await transcript.openLoop(
    opening({
      step: createStep(0, { kind: "open-loop" }),
      terms,
      prompts: [message(`${session}-1`, "Look at the harbour")],
    }),
  );
  const target = { loopId: first.loopId, branch: "main", base: 1 };
  await transcript.store(
    write(target, {
      step: createStep(1),
      outbox: { entries: [], events: [event(0), event(1)] },
      entries: [entry(1, `The Größe of ${session} is ${LONG}`), entry(2, "short")],
    }),
  );
  await closeLoop(transcript, target, createStep(2), 3);
  const second = await transcript.openLoop(
    opening({
      step: createStep(3, { kind: "open-loop" }),
      at: { branch: "main", position: 1 },
      kind: { type: "rerun", tag: "2026-01-01T00:00:00Z" },
      prompts: [],
    }),
  );
  const beside = { loopId: second.loopId, branch: second.branch, base: 1 };
  await transcript.store(write(beside, { step: createStep(4), entries: [entry(1, "a second try")] }));
  await transcript.storeInbox(write({ ...beside, base: 2 }, { step: createStep(5) }), [
    { ...message(`${session}-w`, "waits"), metadata: { loopId: `${session}.theirs` } },
  ]);
  await closeLoop(transcript, { ...beside, base: 2 }, createStep(6), 2);
}

async function closeLoop(
  transcript: Transcript,
  target: { loopId: string; branch: string; base: number },
  at: ReturnType<typeof step>,
  to: number,
): Promise<void> {
  await transcript.closeLoop({
    ...write(target, { step: at }),
    status: "completed",
    outcome: { type: "answered", stopReason: "stop" },
    usage: USAGE,
    costUsd: 0.25,
    turns: 1,
    to,
  });
}

export async function listLines(transcript: Transcript, session: string): Promise<BodyLine[]> {
  const lines: BodyLine[] = [];
  for await (const line of transcript.archive.readLines(session)) lines.push(line);
  return lines;
}

const createMessage = (text: string): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }],
  timestamp: 3,
});

/** Tests of whole sessions: export, import, edits while idle, search and deletion. */
export function testArchiveContract(make: () => Promise<TranscriptFixture>): void {
  describe("whole sessions", () => {
    let bench: TranscriptFixture;
    let other: TranscriptFixture;
    let transcript: Transcript;
    beforeEach(async () => {
      bench = await make();
      other = await make();
      transcript = bench.transcript;
    });
    afterEach(async () => {
      await bench.dispose();
      await other.dispose();
    });

    const bringIn = async (lines: readonly BodyLine[], sessions: string[], token = "t") => {
      const { archive } = other.transcript;
      await archive.beginImport(token, sessions, 1);
      for (let from = 0; from < lines.length; from += 3) {
        await archive.importLines(token, lines.slice(from, from + 3), Date.now());
      }
      await archive.finishImport(token, sessions, "digest");
    };

    test("a session that is imported into another store is the same there, in an export too [HITL-02.3]", async () => {
      await writeSampleSession(transcript);
      const lines = await listLines(transcript, "s");
      await bringIn(lines, ["s"]);
      expect(await listLines(other.transcript, "s")).toEqual(lines);
      expect(await readTexts(other.transcript, "s", "main")).toEqual(
        await readTexts(transcript, "s", "main"),
      );
      expect(await other.transcript.readLoops("s")).toEqual(await transcript.readLoops("s"));
      expect(await other.transcript.readInbox("s")).toEqual(await transcript.readInbox("s"));
      expect(await other.transcript.readSession("s")).toEqual(await transcript.readSession("s"));
      const note = await other.transcript.readNote({ run: "r-s", number: 0, call: 0 });
      expect(await other.transcript.readText(note ?? "")).toBe('{"tools":[],"limits":{}}');
      expect(await other.transcript.archive.readImportDigest("s")).toBe("digest");
      // The session continues there.
      const next = await other.transcript.openLoop(
        opening({ step: step({ run: "r2", number: 0 }), prompts: [] }),
      );
      expect(next).toMatchObject({ parentLoopId: lines.find((line) => line.type === "session")?.lastLoopId });
      expect(next.entries.map(({ messageId }) => messageId)).toEqual(["s-w"]);
    });

    test("a running loop is exported as far as it is recorded, and aborted by the import [SES-03.2, HITL-02.3]", async () => {
      const { loopId } = await transcript.openLoop(opening());
      const place = { loopId, branch: "main", base: 1 };
      await transcript.store(write(place, { outbox: { entries: [], events: [event(0), event(2)] } }));
      const lines = await listLines(transcript, "s");
      await transcript.store(write(place, { step: step({ number: 2 }), entries: [entry(1, "later")] }));
      await bringIn(lines, ["s"]);
      expect((await other.transcript.readLoops("s")).map(({ status }) => status)).toEqual(["aborted"]);
      expect((await other.transcript.readSession("s"))?.status).toBe("aborted");
      expect(await readTexts(other.transcript, "s", "main")).toEqual(["hello"]);
      expect(await other.transcript.readEvents(loopId, 0)).toHaveLength(1);
    });

    test("an unfinished import is not visible, and the next one replaces it", async () => {
      await writeSampleSession(transcript);
      const lines = await listLines(transcript, "s");
      const { archive } = other.transcript;
      await archive.beginImport("one", ["s"], 1);
      await archive.importLines("one", lines.slice(0, 9), Date.now());
      expect(await other.transcript.readSession("s")).toBeUndefined();
      expect(await other.transcript.readLoops("s")).toEqual([]);
      expect(await other.transcript.findSessions({ limit: 9 })).toEqual([]);
      expect(await archive.listUnfinished()).toEqual([{ session: "s", operation: "importing" }]);
      await expect(other.transcript.openLoop(opening())).rejects.toThrow("is being imported");
      await archive.beginImport("two", ["s"], 1);
      await expect(archive.importLines("one", lines.slice(9), Date.now())).rejects.toThrow(
        "has replaced this one",
      );
      await archive.importLines("two", lines, Date.now());
      await archive.finishImport("two", ["s"], "d");
      expect(await listLines(other.transcript, "s")).toEqual(lines);
      await expect(archive.beginImport("three", ["s"], 1)).rejects.toThrow("already exists");
      expect(createImportMark("x")).toBe("importing:x");
    });

    test("a deleted session leaves nothing but the texts that another session needs", async () => {
      await writeSampleSession(transcript, "one");
      await writeSampleSession(transcript, "two");
      const hashes = async (session: string) =>
        (await listLines(transcript, session)).flatMap((line) =>
          line.type === "content" ? [line.hash] : [],
        );
      const [own, others] = [await hashes("one"), await hashes("two")];
      const shared = own.filter((hash) => others.includes(hash));
      expect(shared).not.toEqual([]);
      expect(await transcript.archive.beginDelete("one")).toBe(true);
      expect(await transcript.readSession("one")).toBeUndefined();
      expect(await transcript.readLoops("one")).toEqual([]);
      await expect(transcript.openLoop(opening({ step: step({ session: "one" }) }))).rejects.toThrow(
        "is being deleted",
      );
      while (!(await transcript.archive.deletePage("one", Date.now())).done);
      for (const hash of own) {
        expect((await transcript.readText(hash)) !== undefined, hash).toBe(shared.includes(hash));
      }
      expect(await transcript.readSteps("one")).toEqual([]);
      expect(await transcript.readInbox("one")).toEqual([]);
      expect(await transcript.archive.search({ terms: "one", limit: 9 })).toEqual([]);
      expect(await transcript.archive.beginDelete("one")).toBe(false);
      expect((await listLines(transcript, "two")).length).toBeGreaterThan(10);
      // The id can be used again.
      await writeSampleSession(transcript, "one");
      expect(await readTexts(transcript, "one", "main")).toHaveLength(3);
    });

    test("a session that has continued since its snapshot is not deleted", async () => {
      await writeSampleSession(transcript);
      const { archive } = transcript;
      const readSnapshot = async () =>
        await readIdleSnapshot(transcript, (await transcript.readSession("s"))!);
      const before = await readSnapshot();
      expect(before.endedLoopIds).toEqual([]);
      // In the same millisecond.
      const { loopId } = await transcript.openLoop(
        opening({ step: step({ run: "late", number: 0 }), atMs: before.lastActiveAtMs, prompts: [] }),
      );
      expect(await archive.beginDelete("s", before)).toBe("continued");
      const dead = await readSnapshot();
      expect(dead).toEqual({ ...before, endedLoopIds: [loopId] });
      const edit = {
        session: "s",
        key: "k",
        atMs: 900,
        kind: { type: "default" as const },
        at: "head" as const,
      };
      await archive.edit({ ...edit, messages: [createMessage("and this")] });
      expect(await archive.beginDelete("s", dead)).toBe("continued");
      expect(await transcript.readSession("s")).toMatchObject({ id: "s", lastActiveAtMs: 900 });
      expect(await archive.listUnfinished()).toEqual([]);
      expect(await archive.beginDelete("s", await readSnapshot())).toBe(true);
      // The session is already hidden, so an older snapshot does not matter.
      expect(await archive.beginDelete("s", before)).toBe(true);
    });

    test("an open loop does not prevent the deletion of its session if its run has ended", async () => {
      await transcript.openLoop(opening());
      const snapshot = await readIdleSnapshot(transcript, (await transcript.readSession("s"))!);
      expect(await transcript.archive.beginDelete("s", { ...snapshot, endedLoopIds: [] })).toBe("continued");
      expect(await transcript.archive.beginDelete("s", snapshot)).toBe(true);
    });

    test("a text that a job owns is stored until the job's last part is deleted", async () => {
      const { archive } = transcript;
      for (const session of ["job.a", "job.b"]) {
        await transcript.openLoop(
          opening({ step: step({ session, run: session, number: 0 }), prompts: [message(session)] }),
        );
      }
      const kept = await transcript.putText("for the next stage", 0);
      const lost = await transcript.putText("nobody's", 0);
      await archive.addTextOwner("job", kept);
      const day = 24 * 60 * 60 * 1000;
      expect(await archive.sweepTexts(day - 1, 9)).toBe(0);
      expect(await archive.sweepTexts(day + 1, 9)).toBe(1);
      expect(await transcript.readText(lost)).toBeUndefined();
      const remove = async (session: string) => {
        await archive.beginDelete(session);
        while (!(await archive.deletePage(session, day + 1)).done);
      };
      await remove("job.a");
      expect(await transcript.readText(kept)).toBe("for the next stage");
      await remove("job.b");
      expect(await transcript.readText(kept)).toBeUndefined();
    });

    test("an idle session can be extended and restarted, and nothing is lost [PER-05.1, PER-06.1-2]", async () => {
      await writeSampleSession(transcript);
      const before = await transcript.readSession("s");
      const edit = { session: "s", atMs: 900, kind: { type: "default" as const } };
      const more = await transcript.archive.edit({
        ...edit,
        key: "k1",
        at: "head",
        messages: [createMessage("and this"), answer("noted")],
      });
      expect(await transcript.archive.edit({ ...edit, key: "k1", at: "head", messages: [] })).toEqual(more);
      expect(await readTexts(transcript, "s", more.branch)).toEqual([
        "Look at the harbour",
        "a second try",
        "and this",
        "noted",
      ]);
      const tag = "2026-02-02T00:00:00Z";
      const anew = await transcript.archive.edit({
        ...edit,
        key: "k2",
        at: "empty",
        kind: { type: "branch", tag },
        messages: [],
        clearInbox: true,
        after: more.loopId,
      });
      expect(await readTexts(transcript, "s", anew.branch)).toEqual([]);
      expect(await transcript.readInbox("s")).toEqual([]);
      expect(await readTexts(transcript, "s", before?.headBranch ?? "")).toHaveLength(4);
      expect(await transcript.readSession("s")).toMatchObject({ headBranch: anew.branch, loops: 4 });
      const loops = await transcript.readLoops("s");
      expect(loops.at(-1)).toMatchObject({ parentLoopId: more.loopId, status: "completed" });
      expect((await transcript.readEvents(anew.loopId, 0)).map(({ body }) => body.type)).toEqual([
        "AgentStart",
        "AgentEnd",
      ]);
      await expect(
        transcript.archive.edit({ ...edit, key: "k3", at: "head", messages: [], after: more.loopId }),
      ).rejects.toThrow("has changed in the meantime");
    });

    test("a session can start with messages [PER-01.3]", async () => {
      const create = { definitionHash: "d", agentName: "agent", model: "m", parentLoopId: "elsewhere.v.m.3" };
      const edit = { session: "new", atMs: 5, kind: { type: "initial" as const }, at: "head" as const };
      await transcript.archive.edit({ ...edit, key: "k", messages: [createMessage("before")], create });
      const opened = await transcript.openLoop(
        opening({ step: step({ session: "new" }), prompts: [message("p")] }),
      );
      expect(opened).toMatchObject({ from: 1, parentLoopId: "new.edit.1" });
      expect((await transcript.readLoops("new"))[0]).toMatchObject({ parentLoopId: "elsewhere.v.m.3" });
      await expect(transcript.archive.edit({ ...edit, key: "k2", messages: [], create })).rejects.toThrow(
        "already exists",
      );
    });

    test("sessions are listed by agent, model, status, time and cost, in pages", async () => {
      for (const [index, session] of ["a", "b", "c"].entries()) {
        await transcript.openLoop(
          opening({
            step: step({ session, run: session, number: 0 }),
            atMs: 100 + index,
            agentName: index === 0 ? "first" : "other",
            model: `m${index}`,
            prompts: [message(session)],
          }),
        );
      }
      await writeSampleSession(transcript, "d");
      const list = async (filter: object, limit = 9) =>
        (await transcript.archive.list(filter, { limit })).map(({ id }) => id);
      expect(await list({})).toEqual(["d", "c", "b", "a"]);
      expect(await list({ agentName: "other" })).toEqual(["c", "b"]);
      expect(await list({ model: "m1" })).toEqual(["b"]);
      expect(await list({ status: "completed" })).toEqual(["d"]);
      expect(await list({ sinceMs: 101, untilMs: 102 })).toEqual(["b"]);
      expect(await list({ costOverUsd: 0.4 })).toEqual(["d"]);
      expect(await list({ costOverUsd: 0.5 })).toEqual([]);
      const [first] = await transcript.archive.list({}, { limit: 1 });
      expect(first?.totals).toEqual({ turns: 2, costUsd: 0.5, openLoops: 0 });
      const cursor = { lastActiveAtMs: first?.lastActiveAtMs ?? 0, id: first?.id ?? "" };
      expect((await transcript.archive.list({}, { limit: 2, after: cursor })).map(({ id }) => id)).toEqual([
        "c",
        "b",
      ]);
      expect(await transcript.archive.countBytes("d")).toBeGreaterThan(LONG.length);
    });

    test("messages are found by words, prefixes and phrases, within the filters", async () => {
      await writeSampleSession(transcript, "one");
      await writeSampleSession(transcript, "two");
      const find = async (query: string, of: object = {}) =>
        (await transcript.archive.search({ terms: query, limit: 9, ...of })).map(
          ({ session, branch, position }) => `${session.id} ${branch} ${position}`,
        );
      if (bench.isEncrypted === true) return expect(await find("harbour")).toEqual([]);
      expect(await find("harbour")).toEqual(["two main 0", "one main 0"]);
      expect(await find("GROSSE one")).toEqual([]);
      expect(await find("grösse two")).toEqual([]);
      expect(await find("größe two")).toEqual(["two main 1"]);
      expect(await find("harb*")).toHaveLength(2);
      expect(await find('"at the"')).toHaveLength(2);
      expect(await find('"the at"')).toEqual([]);
      expect(await find("second", { agentName: "nobody" })).toEqual([]);
      expect(await find("harbour", { limit: 1 })).toEqual(["two main 0"]);
      const [hit] = await transcript.archive.search({ terms: "harbour", limit: 1 });
      expect(await find("harbour", { after: hit?.cursor })).toEqual(["one main 0"]);
      expect(hit?.message).toMatchObject({ role: "user" });
      for (const odd of ['"', "*", "a OR b", "NEAR(", "col:x", "'); --", "\0"]) await find(odd);
    });
  });
}
