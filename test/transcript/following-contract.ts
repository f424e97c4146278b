import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { listLines } from "./archive-contract.ts";
import { createLoopWriter } from "./loop-writer.ts";
import { entry, message, opening, readTexts, step, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Tests of sessions that follow others, of workspace snapshots, and of loops that are opened again after a reset. */
export function testFollowingContract(make: () => Promise<TranscriptFixture>): void {
  describe("following sessions, snapshots and resets", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    let loop: ReturnType<typeof createLoopWriter>;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
      loop = createLoopWriter(transcript);
      await loop({ texts: ["one", "two"] });
    });
    afterEach(() => bench.dispose());

    const of = (branch: string, session = "s") => readTexts(transcript, session, branch);

    test("an agent keeps its id for life, also in following sessions [ID-01.1]", async () => {
      const agentId = "0b9f0c8e-7a53-4d7e-9c5a-6d1f3a2b4c5d";
      await transcript.openLoop(
        opening({ step: step({ session: "a", run: "a1", number: 0, kind: "open-loop" }), agentId }),
      );
      await transcript.openLoop(
        opening({
          step: step({ session: "a", run: "a2", number: 0, kind: "open-loop" }),
          agentId: "another",
          prompts: [message("m2")],
        }),
      );
      expect((await transcript.readSession("a"))?.agentId).toBe(agentId);
      const next = await transcript.followSession({ id: "b", previous: "a", atMs: 50 });
      expect(next).toMatchObject({
        id: "b",
        agentId,
        loops: 0,
        createdAtMs: 50,
        origin: { type: "explicit", previousSession: "a" },
      });
      expect(await transcript.followSession({ id: "b", previous: "a", atMs: 60 })).toEqual(next);
      expect(await transcript.followSession({ id: "c", previous: "nobody", atMs: 50 })).toBeUndefined();
      expect(await of("main", "b")).toEqual([]);
      expect((await loop({ session: "b" })).loopId).toBe("b.v.m.1");
    });

    test("a session that was created without a loop has an agent id too, from its first loop on at the latest [ID-01.1]", async () => {
      const [own, next] = ["0b9f0c8e-7a53-4d7e-9c5a-6d1f3a2b4c5d", "5f0c9b1e-7a53-4d7e-9c5a-6d1f3a2b4c5d"];
      const create = { definitionHash: "d", agentName: "agent", model: "m" };
      const kind = { type: "initial" as const };
      const edit = { key: "k", atMs: 5, kind, at: "head" as const, messages: [] };
      await transcript.archive.edit({ ...edit, session: "a", create: { ...create, agentId: own } });
      await transcript.archive.edit({ ...edit, session: "b", key: "k2", create });
      expect((await transcript.readSession("a"))?.agentId).toBe(own);
      for (const session of ["a", "b"]) {
        const at = step({ session, run: session, number: 0, kind: "open-loop" });
        await transcript.openLoop(opening({ step: at, agentId: next, prompts: [message(session)] }));
      }
      expect((await transcript.readSession("a"))?.agentId).toBe(own);
      expect((await transcript.readSession("b"))?.agentId).toBe(next);
    });

    test("a session that is idle for longer than the limit is followed by a new one, once [SES-13.2, SES-19.2]", async () => {
      const { lastActiveAtMs = 0 } = (await transcript.readSession("s")) ?? {};
      const rotate = (atMs: number, next: string, session = "s") =>
        transcript.rotateSession({ session, idleMs: 1000, nextId: next, atMs });
      expect(await rotate(lastActiveAtMs + 1000, "n1")).toEqual({ session: "s", isNew: false });
      expect(await transcript.readSession("n1")).toBeUndefined();
      expect(await rotate(lastActiveAtMs + 1001, "n1")).toEqual({ session: "n1", isNew: true });
      expect(await transcript.readSession("n1")).toMatchObject({
        origin: { type: "inactivity_timeout", thresholdSecs: 1, previousSession: "s" },
        createdAtMs: lastActiveAtMs + 1001,
        loops: 0,
      });
      expect(await rotate(lastActiveAtMs + 1500, "n2")).toEqual({ session: "n1", isNew: false });
      expect(await rotate(lastActiveAtMs + 9000, "n2")).toEqual({ session: "n2", isNew: true });
      expect((await transcript.readSession("n2"))?.origin).toMatchObject({ previousSession: "n1" });
      expect(await rotate(0, "n3", "nobody")).toEqual({ session: "nobody", isNew: false });
    });

    test("concurrent rotations of an idle session, by any id of its chain, create one following session [SES-13.2]", async () => {
      const rotate = (session: string, atMs: number, next: string) =>
        transcript.rotateSession({ session, idleMs: 1000, nextId: next, atMs });
      await rotate("s", 10_000, "n1");
      await rotate("s", 20_000, "n2");
      const names = ["s", "n1", "n2", "s", "n1", "n2"];
      const asked = await Promise.all(names.map((name, index) => rotate(name, 30_000, `n3-${index}`)));
      expect(new Set(asked.map(({ session }) => session)).size).toBe(1);
      expect(asked.filter(({ isNew }) => isNew)).toHaveLength(1);
    });

    test("a session that is being deleted is skipped in the search for the newest following session [SES-13.2]", async () => {
      const rotate = (atMs: number, next: string) =>
        transcript.rotateSession({ session: "s", idleMs: 1000, nextId: next, atMs });
      await rotate(10_000, "n1");
      await rotate(20_000, "n2");
      await transcript.archive.beginDelete("n1");
      expect(await rotate(20_500, "n3")).toEqual({ session: "n2", isNew: false });
      await transcript.archive.beginDelete("n2");
      expect(await rotate(20_500, "n3")).toEqual({ session: "n3", isNew: true });
      expect((await transcript.readSession("n3"))?.origin).toMatchObject({ previousSession: "s" });
      await transcript.archive.beginDelete("n3");
      await transcript.archive.beginDelete("s");
      expect(await rotate(90_000, "n4")).toEqual({ session: "s", isNew: false });
    });

    test("the newest following session is found after an import, and after one in between is deleted [SES-13.2]", async () => {
      const rotate = (of: Transcript, next: string, atMs = 0) =>
        of.rotateSession({ session: "s", idleMs: 1000, nextId: next, atMs });
      await rotate(transcript, "n1", 1e6);
      await rotate(transcript, "n2", 1e7);
      const other = await make();
      for (const session of ["s", "n1", "n2"]) {
        const { archive } = other.transcript;
        await archive.beginImport("t", [session], 1);
        await archive.importLines("t", await listLines(transcript, session), 1);
        await archive.finishImport("t", [session], "digest");
      }
      expect(await rotate(other.transcript, "n3")).toEqual({ session: "n2", isNew: false });
      await other.dispose();
      const { archive } = transcript;
      await archive.beginDelete("n1");
      while (!(await archive.deletePage("n1", 1)).done);
      expect(await rotate(transcript, "n3")).toEqual({ session: "n2", isNew: false });
    });

    test("imported sessions that follow each other in a cycle cause no endless loop", async () => {
      const [definition, own] = [
        { definitionHash: "d", agentName: "agent", model: "m" },
        { type: "session" as const },
      ];
      const lines = [
        ["a", "b"],
        ["b", "a"],
      ].map(([id = "", previousSession = ""]) => ({
        ...own,
        ...definition,
        id,
        createdAtMs: 1,
        lastActiveAtMs: 1,
        headBranch: "main",
        status: "completed" as const,
        origin: { type: "inactivity_timeout" as const, thresholdSecs: 1, previousSession },
      }));
      await transcript.archive.beginImport("t", ["a", "b"], 1);
      await transcript.archive.importLines("t", lines, 1);
      await transcript.archive.finishImport("t", ["a", "b"], "digest");
      expect(
        await transcript.rotateSession({ session: "a", idleMs: 1000, nextId: "n", atMs: 1 }),
      ).toMatchObject({
        isNew: false,
      });
    });

    test("a session with a running loop does not count as idle", async () => {
      await loop({ open: true });
      expect(await transcript.rotateSession({ session: "s", idleMs: 1, nextId: "n", atMs: 1e12 })).toEqual({
        session: "s",
        isNew: false,
      });
    });

    test("snapshots are found along a branch, from a position backwards, the first one of each position", async () => {
      const keep = (branch: string, position: number, commit?: string) =>
        transcript.saveSnapshot({
          session: "s",
          at: { branch, position },
          atMs: position,
          workspace: "/w",
          ...(commit === undefined ? { problem: "no git" } : { commit, ref: `refs/${commit}` }),
        });
      await keep("main", 1, "c1");
      await keep("main", 1, "c1b");
      await keep("main", 2);
      await keep("main", 3, "c3");
      await transcript.fork({ session: "s", atMs: 9, at: { position: 2 }, name: "other" });
      await keep("other", 4, "c4");
      const found = await transcript.readSnapshots("s", { branch: "other", position: 9 });
      expect(found).toEqual([
        { at: { branch: "other", position: 4 }, atMs: 4, workspace: "/w", commit: "c4", ref: "refs/c4" },
        { at: { branch: "main", position: 2 }, atMs: 2, workspace: "/w", problem: "no git" },
        { at: { branch: "main", position: 1 }, atMs: 1, workspace: "/w", commit: "c1", ref: "refs/c1" },
      ]);
      expect(await transcript.readSnapshots("s", { branch: "main", position: 0 })).toEqual([]);
    });

    test("a run that was reset to before its loop opens the same loop again, with the same prompts", async () => {
      const asked = (run: string, firstRun: string, of: object = {}) =>
        transcript.openLoop(
          opening({
            step: step({ run, number: 4, kind: "open-loop" }),
            prompts: [message("again", "Do it")],
            inbox: [],
            firstRun,
            ...of,
          }),
        );
      const first = await asked("r", "r");
      const base = first.from + 1;
      const target = { loopId: first.loopId, branch: "main", base };
      await transcript.store(
        write(target, { step: step({ run: "r", number: 5 }), entries: [entry(base, "old")] }),
      );
      expect(await asked("r2", "r")).toEqual(first);
      const { branch } = await transcript.store(
        write(target, { step: step({ run: "r2", number: 5 }), entries: [entry(base, "new")] }),
      );
      expect((await of("main")).slice(-2)).toEqual(["Do it", "old"]);
      expect((await of(branch)).slice(-2)).toEqual(["Do it", "new"]);
      expect((await transcript.readSession("s"))?.headBranch).toBe(branch);
      expect(await transcript.readLoops("s")).toHaveLength(2);
      // Another run with the same prompt is not a reset.
      const other = await asked("q", "q");
      expect(other.loopId).not.toBe(first.loopId);
      // Numbers continue in a run that continued as new and is reset later.
      await asked("r3", "chain", {
        step: step({ run: "r3", number: 9, kind: "open-loop" }),
        prompts: [message("late")],
      });
      const late = await asked("r4", "chain", {
        step: step({ run: "r4", number: 9, kind: "open-loop" }),
        prompts: [message("late")],
      });
      expect(late.entries).toHaveLength(1);
    });

    test("a reset to an earlier loop makes that loop the session's last one again", async () => {
      const first = await transcript.openLoop(
        opening({
          step: step({ run: "i", number: 4, kind: "open-loop" }),
          prompts: [message("p1", "First")],
        }),
      );
      const target = { loopId: first.loopId, branch: "main", base: 4 };
      await transcript.store(
        write(target, { step: step({ run: "i", number: 5 }), entries: [entry(4, "old")] }),
      );
      const second = await transcript.openLoop(
        opening({
          step: step({ run: "i", number: 6, kind: "open-loop" }),
          prompts: [message("p2", "Second")],
        }),
      );
      expect(second.from).toBe(5);
      const { branch } = await transcript.store(
        write(target, { step: step({ run: "i2", number: 5 }), entries: [entry(4, "new")] }),
      );
      expect(await transcript.readSession("s")).toMatchObject({ headBranch: branch, status: "running" });
      const next = await transcript.openLoop(
        opening({
          step: step({ run: "i2", number: 6, kind: "open-loop" }),
          prompts: [message("p3", "Third")],
        }),
      );
      expect(next).toMatchObject({ branch, from: 5, parentLoopId: first.loopId });
      expect(await of(branch)).toEqual(["prompt 1", "one", "two", "First", "new", "Third"]);
    });
  });
}
