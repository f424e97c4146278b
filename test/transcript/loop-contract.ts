import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ContinuationKind } from "../../src/schema/record.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { answer, entry, message, opening, readTexts, step, USAGE, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Sessions, loops, inbox, prompts. */
export function testLoopContract(make: () => Promise<TranscriptFixture>): void {
  describe("loops and sessions", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
    });
    afterEach(() => bench.dispose());

    test("a first loop creates the session, the branch main and the prompt's entry", async () => {
      const opened = await transcript.openLoop(opening());
      expect(opened).toEqual({
        loopId: "s.v.m.1",
        kind: { type: "initial" },
        branch: "main",
        from: 0,
        tokensBefore: 0,
        entries: [{ origin: "prompt", messageId: "m1", tokens: 6 }],
        title: { text: "hello", by: "prompt" },
      });
      expect(await transcript.readEntries("s", "main", 0, 9)).toEqual([
        {
          position: 0,
          origin: "prompt",
          messageId: "m1",
          tokens: 6,
          message: {
            role: "user",
            content: [{ type: "text", text: "hello" }],
            timestamp: 7,
            turnId: { loopId: "s.v.m.1", turnIndex: 0 },
          },
        },
      ]);
      expect(await transcript.readSession("s")).toEqual({
        id: "s",
        origin: { type: "first_loop" },
        agentName: "agent",
        definitionHash: "d",
        model: "m",
        createdAtMs: 100,
        lastActiveAtMs: 100,
        headBranch: "main",
        lastLoopId: "s.v.m.1",
        loops: 1,
        status: "running",
        title: { text: "hello", by: "prompt" },
      });
      expect(await transcript.readBranches("s")).toEqual([{ id: "main" }]);
    });

    test("a repeated opening returns the same result and writes nothing", async () => {
      const first = await transcript.openLoop(opening());
      const again = await transcript.openLoop(
        opening({ step: step({ number: 0, kind: "open-loop", generation: 2, process: "p2" }) }),
      );
      expect(again).toEqual(first);
      expect(await transcript.readLoops("s")).toHaveLength(1);
      expect(await transcript.countEntries("s", "main")).toBe(1);
    });

    test("a first loop can make the session persistent, even if the session already exists; a later loop cannot [SES-20.2]", async () => {
      const open = async (session: string, run: string) => {
        const place = step({ session, run, number: 0, kind: "open-loop" });
        await transcript.openLoop(opening({ scope: "persistent", step: place, prompts: [message(run)] }));
        return (await transcript.readSession(session))?.scope;
      };
      expect(await open("s", "r1")).toBe("persistent");
      await transcript.archive.setScope("s", "ephemeral");
      expect(await open("s", "r2")).toBeUndefined();
      expect(await transcript.followSession({ id: "next", previous: "s", atMs: 50 })).not.toHaveProperty(
        "scope",
      );
      expect(await open("next", "r3")).toBe("persistent");
    });

    test("each opening of a loop is the session's last activity [SES-01.2]", async () => {
      const openAt = async (atMs: number, run: string) => {
        const place = step({ run, number: 0, kind: "open-loop" });
        await transcript.openLoop(opening({ atMs, step: place, prompts: [message(run)] }));
        return await transcript.readSession("s");
      };
      expect(await openAt(100, "r1")).toMatchObject({ createdAtMs: 100, lastActiveAtMs: 100 });
      expect(await openAt(700, "r2")).toMatchObject({ createdAtMs: 100, lastActiveAtMs: 700 });
    });

    test("a loop whose run has ended is aborted once; other loops do not change [SES-03.2]", async () => {
      const { loopId } = await transcript.openLoop(opening());
      await transcript.abortLoops("s", ["another"], 200);
      expect(await transcript.readSession("s")).toMatchObject({ status: "running" });
      await transcript.abortLoops("s", [loopId], 300);
      await transcript.abortLoops("s", [loopId], 400);
      expect(await transcript.readSession("s")).toMatchObject({ status: "aborted" });
      expect(await transcript.readLoops("s")).toMatchObject([{ status: "aborted", endedAtMs: 300 }]);
    });

    test("each loop has the previous one as its parent, whatever its kind, and the first has none [X-08.2, ID-05]", async () => {
      const tag = "2026-01-01T00:00:00Z";
      const kinds: ContinuationKind[] = [
        { type: "initial" },
        { type: "default" },
        { type: "rerun", tag },
        { type: "branch", tag },
        { type: "compaction" },
        { type: "initial" },
      ];
      for (const [number, kind] of kinds.entries()) {
        await transcript.openLoop(
          opening({ step: step({ number }), segment: "a", kind, prompts: [message(`m${number}`)] }),
        );
      }
      expect((await transcript.readLoops("s")).map(({ kind, parentLoopId }) => [kind, parentLoopId])).toEqual(
        kinds.map((kind, index) => [kind, index === 0 ? undefined : `s.a.${index}`]),
      );
    });

    test("loops are numbered from 1 for each session and segment, and the session names the newest [ID-03]", async () => {
      const ids: unknown[] = [];
      const runs = [
        ["s", "a"],
        ["s", "a"],
        ["s", "b"],
        ["other", "a"],
        ["s", "a"],
      ] as const;
      for (const [number, [session, segment]] of runs.entries()) {
        const opened = await transcript.openLoop(
          opening({ step: step({ session, number }), segment, prompts: [message(`m${number}`)] }),
        );
        ids.push([opened.loopId, opened.parentLoopId]);
        expect(await transcript.readSession(session)).toMatchObject({ lastLoopId: opened.loopId });
      }
      expect(ids).toEqual([
        ["s.a.1", undefined],
        ["s.a.2", "s.a.1"],
        ["s.b.1", "s.a.2"],
        ["other.a.1", undefined],
        ["s.a.3", "s.b.1"],
      ]);
      expect((await transcript.readLoops("s")).map((loop) => loop.loopId)).toEqual([
        "s.a.1",
        "s.a.2",
        "s.b.1",
        "s.a.3",
      ]);
      expect((await transcript.readSession("s"))?.loops).toBe(4);
    });

    test("the inbox is read before the prompts, in order, and is empty afterwards", async () => {
      const outside = { loopId: "", branch: "main", base: 0 };
      await transcript.storeInbox(write(outside), [message("i1"), message("i2"), message("i1")]);
      await transcript.storeInbox(write(outside, { step: step({ number: 2 }) }), [
        message("i2"),
        message("i3"),
      ]);
      expect((await transcript.readInbox("s")).map(({ id }) => id)).toEqual(["i1", "i2", "i3"]);
      expect([await transcript.countInbox("s"), await transcript.countInbox("other")]).toEqual([3, 0]);
      expect(await transcript.readSession("s")).toBeUndefined();

      const opened = await transcript.openLoop(opening({ step: step({ number: 3 }) }));
      expect(opened.entries.map(({ origin, messageId }) => [origin, messageId])).toEqual([
        ["inbox", "i1"],
        ["inbox", "i2"],
        ["inbox", "i3"],
        ["prompt", "m1"],
      ]);
      expect(await transcript.readInbox("s")).toEqual([]);
    });

    test("metadata stays with a message, in the inbox and in the conversation", async () => {
      const metadata = { request: "r-17", loopId: "theirs", nested: { list: [1, null] } };
      const outside = { loopId: "", branch: "main", base: 0 };
      await transcript.storeInbox(write(outside), [{ ...message("i1"), metadata }, message("i2")]);
      expect((await transcript.readInbox("s")).map((one) => one.metadata)).toEqual([metadata, undefined]);
      const prompts = [{ ...message("m1"), metadata: { request: "r-18" } }];
      await transcript.openLoop(opening({ step: step({ number: 2 }), prompts }));
      const entries = await transcript.readEntries("s", "main", 0, 9);
      expect(entries.map(({ message: one }) => ("metadata" in one ? one.metadata : undefined))).toEqual([
        metadata,
        undefined,
        { request: "r-18" },
      ]);
    });

    test("a message that is in the conversation is neither added nor put into the inbox again", async () => {
      const { loopId } = await transcript.openLoop(opening());
      const place = { loopId, branch: "main", base: 1 };
      await transcript.storeInbox(write(place), [message("m1"), message("m2")]);
      expect((await transcript.readInbox("s")).map(({ id }) => id)).toEqual(["m2"]);
      const steered = {
        position: 1,
        origin: "steering",
        message: answer("x"),
        messageId: "m3",
      } as const;
      await transcript.store(write(place, { step: step({ number: 2 }), entries: [steered] }));
      const opened = await transcript.openLoop(
        opening({ step: step({ number: 3 }), prompts: ["m2", "m3", "m1", "m4"].map((id) => message(id)) }),
      );
      expect(opened.entries.map(({ messageId }) => messageId)).toEqual(["m2", "m4"]);
      expect(opened).toMatchObject({ from: 2, tokensBefore: 6 + 5 });
    });

    test("a prompt can be recorded with another origin", async () => {
      const prompts = [{ ...message("m1"), origin: "follow-up" as const }, message("m2")];
      const opened = await transcript.openLoop(opening({ prompts }));
      expect(opened.entries.map(({ origin }) => origin)).toEqual(["follow-up", "prompt"]);
      const entries = await transcript.readEntries("s", "main", 0, 9);
      expect(entries.map(({ origin }) => origin)).toEqual(["follow-up", "prompt"]);
    });

    test("a repeated storeInbox returns the stored result and stores no more messages", async () => {
      const outside = { loopId: "", branch: "main", base: 0 };
      await transcript.storeInbox(write(outside, { result: 1 }), [message("i1")]);
      const again = await transcript.storeInbox(write(outside, { result: 2 }), [message("i2")]);
      expect(again.result).toBe(1);
      expect((await transcript.readInbox("s")).map(({ id }) => id)).toEqual(["i1"]);
    });

    test("closing a loop sets its record and the session's status", async () => {
      const { loopId } = await transcript.openLoop(opening());
      await transcript.closeLoop({
        ...write({ loopId, branch: "main", base: 1 }),
        status: "completed",
        outcome: { type: "answered", stopReason: "stop" },
        usage: USAGE,
        costUsd: 0.25,
        turns: 3,
        to: 1,
      });
      expect(await transcript.readLoops("s")).toEqual([
        {
          loopId,
          session: "s",
          kind: { type: "initial" },
          definitionHash: "d",
          model: "m",
          branch: "main",
          from: 0,
          status: "completed",
          startedAtMs: 100,
          endedAtMs: 200,
          outcome: { type: "answered", stopReason: "stop" },
          usage: USAGE,
          costUsd: 0.25,
          turns: 3,
        },
      ]);
      expect(await transcript.readSession("s")).toMatchObject({ status: "completed", lastActiveAtMs: 200 });
    });

    test("a loop that was left running is aborted when the next one opens", async () => {
      await transcript.openLoop(opening());
      await transcript.openLoop(opening({ step: step({ run: "r2", number: 0 }), atMs: 300 }));
      expect(await transcript.readLoops("s")).toMatchObject([
        { status: "aborted", endedAtMs: 300 },
        { status: "running" },
      ]);
    });

    test("a loop that starts before the end of a branch gets a branch of its own, each time", async () => {
      const { loopId } = await transcript.openLoop(opening());
      await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries: [entry(1, "one")] }));
      const rerun = (number: number) =>
        transcript.openLoop(
          opening({
            step: step({ number }),
            kind: { type: "rerun", tag: "2026-01-01T00:00:00Z" },
            at: { branch: "main", position: 1 },
            prompts: [message(`again${number}`)],
          }),
        );
      const first = await rerun(5);
      const second = await rerun(6);
      expect(first).toMatchObject({ from: 1, tokensBefore: 6 });
      expect(new Set(["main", first.branch, second.branch]).size).toBe(3);
      expect(await readTexts(transcript, "s", first.branch)).toEqual(["hello", "text of again5"]);
      expect(await readTexts(transcript, "s", second.branch)).toEqual(["hello", "text of again6"]);
      expect(await readTexts(transcript, "s", "main")).toEqual(["hello", "one"]);
      expect(await transcript.readSession("s")).toMatchObject({ headBranch: second.branch });
      expect((await transcript.readBranches("s"))[1]).toEqual({
        id: first.branch,
        parent: { branch: "main", position: 1 },
      });
    });

    test("a loop's conversation is its own path to the root: no abandoned rerun, no other branch [CMP-06]", async () => {
      const tag = "2026-01-01T00:00:00Z";
      const { loopId } = await transcript.openLoop(opening());
      await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries: [entry(1, "one")] }));
      const from = (number: number, type: "rerun" | "branch", branch: string, position: number) =>
        transcript.openLoop(
          opening({
            step: step({ number }),
            kind: { type, tag },
            at: { branch, position },
            prompts: [message(`by${number}`)],
          }),
        );
      const one = await from(5, "branch", "main", 2);
      const other = await from(6, "branch", "main", 2);
      const abandoned = await from(7, "rerun", other.branch, 2);
      const current = await from(8, "rerun", other.branch, 3);
      const by = (...numbers: number[]) => numbers.map((number) => `text of by${number}`);
      expect(await readTexts(transcript, "s", one.branch)).toEqual(["hello", "one", ...by(5)]);
      expect(await readTexts(transcript, "s", abandoned.branch)).toEqual(["hello", "one", ...by(7)]);
      expect(await readTexts(transcript, "s", current.branch)).toEqual(["hello", "one", ...by(6, 8)]);
      expect(await transcript.readSession("s")).toMatchObject({ headBranch: current.branch });
    });

    test("a loop cannot start after the end of a branch, nor on a branch that does not exist", async () => {
      await transcript.openLoop(opening());
      const at = (branch: string, position: number) =>
        transcript.openLoop(opening({ step: step({ number: 9 }), at: { branch, position } }));
      await expect(at("main", 2)).rejects.toThrow(/1 entries/);
      await expect(at("nowhere", 0)).rejects.toThrow(/nowhere/);
      expect(await transcript.readLoops("s")).toHaveLength(1);
    });

    test("sessions are listed newest first and can be filtered by agent and status", async () => {
      for (const [index, id] of ["a", "b", "c"].entries()) {
        await transcript.openLoop(
          opening({
            step: step({ session: id, run: id }),
            atMs: index,
            agentName: id === "b" ? "other" : "agent",
          }),
        );
      }
      const ids = async (filter: Parameters<Transcript["findSessions"]>[0]) =>
        (await transcript.findSessions(filter)).map((session) => session.id);
      expect(await ids({ limit: 10 })).toEqual(["c", "b", "a"]);
      expect(await ids({ limit: 1 })).toEqual(["c"]);
      expect(await ids({ limit: 10, agentName: "agent" })).toEqual(["c", "a"]);
      expect(await ids({ limit: 10, agentName: "other", status: "running" })).toEqual(["b"]);
      expect(await ids({ limit: 10, status: "failed" })).toEqual([]);
    });
  });
}
