import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ForkResult } from "../../src/store/transcript/fork.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { createLoopWriter } from "./loop-writer.ts";
import { entry, readTexts, step, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Tests of requested branches and sessions: forks, rewinds, and what a deleted session leaves. */
export function testRequestedBranchContract(make: () => Promise<TranscriptFixture>): void {
  describe("requested branches", () => {
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

    const fork = (of: Partial<Parameters<Transcript["fork"]>[0]> = {}) =>
      transcript.fork({ session: "s", atMs: 9, at: {}, ...of });
    const rewind = (to: { branch?: string; position?: number }, over: readonly string[] = []) =>
      transcript.rewind({ session: "s", atMs: 10, to, endedLoopIds: over });
    const of = (branch: string, session = "s") => readTexts(transcript, session, branch);
    const branchOf = (forked: ForkResult) => (forked.type === "forked" ? forked.branch : forked.type);

    test("a fork shows the entries before its position, and does not move the head", async () => {
      const forked = await fork({ at: { position: 2 }, name: "other" });
      expect(forked).toEqual({
        type: "forked",
        session: "s",
        branch: "other",
        from: { session: "s", branch: "main", position: 2 },
      });
      expect(await of("other")).toEqual(["prompt 1", "one"]);
      expect((await transcript.readSession("s"))?.headBranch).toBe("main");
      expect(await transcript.readBranches("s")).toContainEqual({
        id: "other",
        parent: { branch: "main", position: 2 },
        requestedAtMs: 9,
      });
    });

    test("a fork without a name gets a new one; the same name returns the same branch, at the same position only", async () => {
      const [first, second] = [await fork(), await fork()];
      expect(branchOf(first)).not.toBe(branchOf(second));
      expect(await fork({ name: "x" })).toEqual(await fork({ name: "x" }));
      expect(await fork({ name: "x", at: { position: 1 } })).toEqual({
        type: "taken",
        kind: "branch",
        name: "x",
      });
    });

    test("a fork of a session, branch or position that does not exist fails", async () => {
      expect(await fork({ session: "nobody" })).toEqual({ type: "no-session" });
      expect(await fork({ at: { branch: "nowhere" } })).toEqual({
        type: "no-branch",
        branch: "nowhere",
        branches: ["main"],
      });
      expect(await fork({ at: { position: 4 } })).toEqual({ type: "no-position", branch: "main", length: 3 });
    });

    test("a loop continues at the end of a fork, and the original branch does not change", async () => {
      await fork({ at: { position: 2 }, name: "other" });
      const opened = await loop({ at: { branch: "other" } });
      expect(opened).toMatchObject({ branch: "other", from: 2, parentLoopId: "s.v.m.1" });
      expect(await of("other")).toEqual(["prompt 1", "one", "prompt 2", "answer"]);
      expect(await of("main")).toEqual(["prompt 1", "one", "two"]);
      expect((await transcript.readSession("s"))?.headBranch).toBe("other");
    });

    test("a fork during a running loop does not receive the loop's later entries, and the loop stays on its branch", async () => {
      const { loopId } = await loop({ texts: ["three"], open: true });
      await fork({ name: "other" });
      const next = write({ loopId, branch: "main", base: 5 }, { step: step({ run: "run2", number: 2 }) });
      expect((await transcript.store({ ...next, entries: [entry(5, "four")] })).branch).toBe("main");
      expect(await of("other")).toEqual(["prompt 1", "one", "two", "prompt 2", "three"]);
      expect(await of("main")).toEqual(["prompt 1", "one", "two", "prompt 2", "three", "four"]);
    });

    test("a loop of kind branch has the loop before its position as its parent; a rerun has the session's last one [SES-08.2, X-08.2]", async () => {
      await loop();
      await loop();
      const at = { branch: "main", position: 5 };
      const tag = "2026-01-01T00:00:00Z";
      expect((await loop({ at, kind: { type: "branch", tag } })).parentLoopId).toBe("s.v.m.2");
      expect((await loop({ at, kind: { type: "rerun", tag } })).parentLoopId).toBe("s.v.m.4");
    });

    test("a fork into a new session shows the earlier entries by reference, and both sessions continue separately", async () => {
      const before = await transcript.readSession("s");
      const forked = await fork({ into: "t", at: { position: 2 } });
      expect(forked).toEqual({
        type: "forked",
        session: "t",
        branch: "main",
        from: { session: "s", branch: "main", position: 2 },
      });
      expect(await fork({ into: "t", at: { position: 2 } })).toEqual(forked);
      expect(await fork({ into: "t", at: { position: 1 } })).toEqual({
        type: "taken",
        kind: "session",
        name: "t",
      });
      expect(await transcript.readSession("t")).toMatchObject({
        agentName: "agent",
        loops: 0,
        headBranch: "main",
        createdAtMs: 9,
        origin: { type: "fork", session: "s", branch: "main", position: 2 },
      });
      await Promise.all([loop({ session: "t" }), loop()]);
      expect((await of("main", "t")).slice(0, 2)).toEqual(["prompt 1", "one"]);
      expect(await of("main", "t")).toHaveLength(4);
      expect((await of("main")).slice(0, 3)).toEqual(["prompt 1", "one", "two"]);
      expect(await transcript.readBranches("t")).toEqual([
        { id: "main", from: { session: "s", branch: "main", position: 2 }, requestedAtMs: 9 },
      ]);
      expect(await transcript.readBranches("s")).toEqual([{ id: "main" }]);
      expect((await transcript.readLoops("t"))[0]).not.toHaveProperty("parentLoopId");
      expect((await transcript.readSession("s"))?.createdAtMs).toBe(before?.createdAtMs);
    });

    test("a fork into a new session starts with the view that the original session left there", async () => {
      const spans = [
        { from: 0, to: 3, turns: 1, tokens: 1, replacement: { position: 1, section: 0, branch: "main" } },
        { from: 3, to: 5, turns: 1, tokens: 9 },
      ];
      await loop({ view: { spans } });
      await fork({ into: "t" });
      const opened = await loop({ session: "t" });
      expect(opened.view?.spans[0]?.replacement).toEqual({ position: 1, section: 0, branch: "s/main" });
      expect((await transcript.readEntries("t", "s/main", 1, 2)).map(({ position }) => position)).toEqual([
        1,
      ]);
    });

    test("detaching a fork makes the inherited entries, their view and the texts in it its own", async () => {
      const spans = [
        { from: 0, to: 3, turns: 1, tokens: 1, replacement: { position: 1, section: 0, branch: "main" } },
        { from: 3, to: 5, turns: 1, tokens: 9 },
      ];
      await loop({ view: { spans } });
      await fork({ into: "t" });
      await fork({ into: "u", at: { position: 1 } });
      const asked = await loop({ session: "t", open: true });
      const visibleTexts = [await of("main", "t"), await of("main", "u")];
      expect(await transcript.detachForks("s")).toBe(2);
      expect(await transcript.detachForks("s")).toBe(0);
      expect([await of("main", "t"), await of("main", "u")]).toEqual(visibleTexts);
      expect(await transcript.readBranches("t")).toEqual([
        { id: "main", requestedAtMs: 9, inheritedView: { position: 5, view: asked.view } },
      ]);
      const [text] = await transcript.readEntries("t", "s/main", 1, 2);
      expect(text?.position).toBe(1);
      const again = await loop({ session: "t", at: { branch: "main", position: 5 } });
      expect(again.view).toEqual(asked.view);
      expect(again.tokensBefore).toBe(asked.tokensBefore);
    });

    test("a session that is being deleted cannot be forked, rewound or followed, nor can its id be used, so that the deletion ends", async () => {
      await loop({ session: "u" });
      await transcript.archive.beginDelete("s");
      const at = { branch: "main", position: 1 };
      const refused = [
        () => fork(),
        () => fork({ into: "t" }),
        () => fork({ session: "u", into: "s" }),
        () => rewind({ position: 1 }),
        () => transcript.followSession({ id: "t", previous: "s", atMs: 9 }),
        () => transcript.followSession({ id: "s", previous: "u", atMs: 9 }),
        () => transcript.saveSnapshot({ session: "s", at, atMs: 9, workspace: "/w", problem: "no git" }),
      ];
      for (const ask of refused)
        await expect(ask(), String(ask)).rejects.toThrow("Session s is being deleted");
      while (!(await transcript.archive.deletePage("s", 9)).done);
      expect(await transcript.archive.listUnfinished()).toEqual([]);
      expect(await transcript.readSession("t")).toBeUndefined();
    });

    test("a rewind moves the head back or forward again, and the record keeps everything", async () => {
      await loop();
      const back = await rewind({ position: 3 });
      expect(back).toEqual({
        type: "rewound",
        head: { branch: "back-1", position: 3 },
        before: { branch: "main", position: 5 },
        loopId: "s.v.m.1",
      });
      expect((await transcript.readSession("s"))?.headBranch).toBe("back-1");
      expect(await of("back-1")).toEqual(["prompt 1", "one", "two"]);
      expect(await of("main")).toHaveLength(5);
      // A second rewind uses the branch to which nothing has been written.
      expect(await rewind({ branch: "main", position: 3 })).toMatchObject({ head: { branch: "back-1" } });
      expect(await rewind({ branch: "main" })).toMatchObject({
        head: { branch: "main", position: 5 },
        loopId: "s.v.m.2",
      });
      const opened = await loop();
      expect(opened).toMatchObject({ branch: "main", from: 5, parentLoopId: "s.v.m.2" });
    });

    test("a loop after a rewind is on another branch, and has the loop before its position as its parent", async () => {
      await loop();
      await rewind({ position: 3 });
      const opened = await loop();
      expect(opened).toMatchObject({ branch: "back-1", from: 3, parentLoopId: "s.v.m.1" });
      expect(await of("main")).toHaveLength(5);
      expect(await rewind({ position: 0 })).toMatchObject({ head: { position: 0 } });
      expect(await loop()).toMatchObject({ from: 0 });
    });

    test("after a rewind, a session's last loop is the one before its head, and edits continue from there [PER-06.1]", async () => {
      await loop();
      await rewind({ position: 3 });
      const { lastLoopId } = (await transcript.readSession("s"))!;
      expect(lastLoopId).toBe("s.v.m.1");
      const edit = {
        session: "s",
        key: "k",
        atMs: 11,
        kind: { type: "default" as const },
        at: "head" as const,
      };
      const edited = await transcript.archive.edit({ ...edit, messages: [], after: lastLoopId });
      expect(edited).toMatchObject({ branch: "back-1", length: 3 });
      expect((await transcript.readSession("s"))?.lastLoopId).toBe(edited.loopId);
    });

    test("a rewind does not move the head of a running loop, unless that loop is known to have ended", async () => {
      const { loopId } = await loop({ open: true });
      expect(await rewind({ position: 1 })).toEqual({ type: "running", loopIds: [loopId] });
      expect((await transcript.readSession("s"))?.headBranch).toBe("main");
      expect(await rewind({ position: 1 }, [loopId])).toMatchObject({ type: "rewound" });
      expect((await transcript.readLoops("s")).map(({ status }) => status)).toEqual(["completed", "aborted"]);
      expect(await rewind({ branch: "gone" })).toMatchObject({ type: "no-branch" });
      expect(await transcript.rewind({ session: "nobody", atMs: 1, to: {}, endedLoopIds: [] })).toEqual({
        type: "no-session",
      });
    });
  });
}
