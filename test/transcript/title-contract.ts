import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionTitle } from "../../src/schema/record.ts";
import type { LoopOpening } from "../../src/store/transcript/loop.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { listLines } from "./archive-contract.ts";
import { message, opening, step, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** Titles of sessions: who gives them, and what replaces what. */
export function testTitleContract(make: () => Promise<TranscriptFixture>): void {
  describe("titles", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
    });
    afterEach(() => bench.dispose());

    const open = (session: string, prompt: string, of: Partial<LoopOpening> = {}, run = `r-${prompt}`) =>
      transcript.openLoop(
        opening({
          step: step({ session, run, number: 0, kind: "open-loop" }),
          prompts: prompt === "" ? [] : [message(`m-${prompt}`, prompt)],
          ...of,
        }),
      );
    const readTitle = async (session: string) => (await transcript.readSession(session))?.title;
    const byUser = (text: string): SessionTitle => ({ text, by: "user" });

    test("the first words of the first message are the title, and later prompts leave it", async () => {
      expect(await open("s", "Make the **tests** pass. Please.")).toMatchObject({
        title: { text: "Make the tests pass" },
      });
      expect(await readTitle("s")).toEqual({ text: "Make the tests pass", by: "prompt" });
      expect(await open("s", "And now the docs")).toMatchObject({ title: { text: "Make the tests pass" } });
      expect((await transcript.archive.list({}, { limit: 9 }))[0]?.title?.text).toBe("Make the tests pass");
    });

    test("a session has a title from the first prompt that has words, and none before", async () => {
      expect(await open("s", "")).not.toHaveProperty("title");
      await open("s", "???", { rejected: undefined });
      expect(await readTitle("s")).toBeUndefined();
      await open("s", "Now there are words");
      // The first message decides: it had no words, and what follows is another loop's first message.
      expect(await readTitle("s")).toEqual({ text: "Now there are words", by: "prompt" });
    });

    test("a requested title wins over the words, and a user's over everything but another of a user", async () => {
      await open("s", "Make the tests pass", { title: byUser("Nightly") });
      expect(await readTitle("s")).toEqual(byUser("Nightly"));
      const target = { loopId: "s.v.m.1", branch: "main", base: 1 };
      const named = await transcript.storeTitle(
        write(target, { step: step({ session: "s", run: "r-Make the tests pass", number: 1 }) }),
        { text: "By a model", by: "model" },
      );
      expect(named.branch).toBe("main");
      expect(await readTitle("s")).toEqual(byUser("Nightly"));
      expect(await transcript.archive.setTitle("s", { text: "Words", by: "prompt" })).toEqual(
        byUser("Nightly"),
      );
      expect(await transcript.archive.setTitle("s", byUser("Weekly"))).toEqual(byUser("Weekly"));
      await open("s", "Again", { title: byUser("Monthly") });
      expect(await readTitle("s")).toEqual(byUser("Monthly"));
    });

    test("a model's title replaces the words", async () => {
      await open("s", "Make the tests pass", {}, "r1");
      const target = { loopId: "s.v.m.1", branch: "main", base: 1 };
      const byModel = { text: "Test repair", by: "model" } as const;
      const storing = write(target, { step: step({ number: 1 }) });
      await transcript.storeTitle(storing, byModel);
      await transcript.storeTitle(storing, { text: "A second execution", by: "model" });
      expect(await readTitle("s")).toEqual(byModel);
      await transcript.storeTitle(write(target, { step: step({ number: 2 }) }), undefined);
      expect(await readTitle("s")).toEqual(byModel);
    });

    test("the session of an agent that works for another run is named after the agent", async () => {
      await open("s.sub-1", "Check the diff", { isPart: true, agentName: "reviewer" });
      expect(await readTitle("s.sub-1")).toEqual({ text: "reviewer · Check the diff", by: "prompt" });
    });

    test("only a session that exists can get a title", async () => {
      await expect(transcript.archive.setTitle("nobody", byUser("x"))).rejects.toThrow(
        "Session nobody does not exist",
      );
    });

    test("a fork and an imported copy have the title; a session that follows another one has not", async () => {
      await open("s", "Make the tests pass", { title: byUser("Nightly") }, "r1");
      await transcript.fork({ session: "s", atMs: 5, at: { branch: "main", position: 1 }, into: "fork" });
      expect(await readTitle("fork")).toEqual(byUser("Nightly"));
      await transcript.followSession({ id: "next", previous: "s", atMs: 50 });
      expect(await readTitle("next")).toBeUndefined();
      const lines = await listLines(transcript, "s");
      expect(lines[0]).toMatchObject({ type: "session", title: byUser("Nightly") });
      const copies = lines.map((line) =>
        line.type === "session"
          ? { ...line, id: "copy" }
          : "session" in line
            ? { ...line, session: "copy" }
            : line,
      );
      const own = copies.filter(({ type }) => type === "session" || type === "branch");
      await transcript.archive.beginImport("t", ["copy"], 60);
      await transcript.archive.importLines("t", own, 60);
      await transcript.archive.finishImport("t", ["copy"], "digest");
      expect(await readTitle("copy")).toEqual(byUser("Nightly"));
    });

    test("a session that begins with messages has the first words of a user", async () => {
      const messages = [
        { role: "user" as const, content: [{ type: "text" as const, text: "Saved words" }], timestamp: 1 },
      ];
      const create = { definitionHash: "d", agentName: "agent", model: "m" };
      const kind = { type: "initial" as const };
      await transcript.archive.edit({ session: "s", key: "k", atMs: 5, kind, at: "head", messages, create });
      expect(await readTitle("s")).toEqual({ text: "Saved words", by: "prompt" });
    });

    test("an evaluation's session has the title of its prompt", async () => {
      const branches = [{ segment: "v.m", definitionHash: "d", agentName: "agent", model: "m" }];
      await transcript.openEvaluation({
        step: step({ number: 0, kind: "open-evaluation" }),
        atMs: 1,
        strategy: "first",
        branches,
        title: "Which is better?",
      });
      expect(await readTitle("s")).toEqual({ text: "Which is better?", by: "prompt" });
    });

    test("sessions are found by the beginning of their ids", async () => {
      for (const id of ["ab", "abc.1", "abc", "b", "abé", "ABC"]) await open(id, `In ${id}`);
      const find = async (idPrefix: string) =>
        (await transcript.archive.list({ idPrefix }, { limit: 9 })).map(({ id }) => id).sort();
      expect(await find("abc")).toEqual(["abc", "abc.1"]);
      expect(await find("ab")).toEqual(["ab", "abc", "abc.1", "abé"]);
      expect(await find("%")).toEqual([]);
    });
  });
}
