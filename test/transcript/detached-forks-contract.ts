import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ViewSnapshot } from "../../src/core/view/view.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { listLines } from "./archive-contract.ts";
import { createLoopWriter } from "./loop-writer.ts";
import { readTexts } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

/** A view in which the text at position 1 replaces the first loop. */
const VIEW: ViewSnapshot = {
  spans: [
    { from: 0, to: 3, turns: 1, tokens: 1, replacement: { position: 1, section: 0, branch: "main" } },
    { from: 3, to: 5, turns: 1, tokens: 9 },
  ],
};

/** A view whose texts are on another branch, one of them after the position of the fork. */
const createSideView = (branch: string): ViewSnapshot => ({
  spans: [
    { from: 0, to: 3, turns: 1, tokens: 1, replacement: { position: 1, section: 0, branch } },
    { from: 3, to: 6, turns: 1, tokens: 1, replacement: { position: 4, section: 0, branch } },
  ],
});

/** Tests of sessions that show a part of another one, after imports and deletions. */
export function testDetachedForksContract(make: () => Promise<TranscriptFixture>): void {
  describe("sessions that were forked from another one", () => {
    let bench: TranscriptFixture;
    let other: TranscriptFixture;
    let transcript: Transcript;
    let loop: ReturnType<typeof createLoopWriter>;
    beforeEach(async () => {
      bench = await make();
      other = await make();
      transcript = bench.transcript;
      loop = createLoopWriter(transcript);
      await loop({ texts: ["one", "two"] });
      await loop({ view: VIEW });
    });
    afterEach(async () => {
      await bench.dispose();
      await other.dispose();
    });

    const fork = (session: string, into: string, position?: number) =>
      transcript.fork({ session, atMs: 9, at: position === undefined ? {} : { position }, into });
    const remove = async (session: string) => {
      await transcript.archive.beginDelete(session);
      while (!(await transcript.archive.deletePage(session, 1)).done);
    };
    const bringIn = async (session: string) => {
      const lines = await listLines(transcript, session);
      const { archive } = other.transcript;
      await archive.beginImport("t", [session], 1);
      await archive.importLines("t", lines, Date.now());
      await archive.finishImport("t", [session], "digest");
      return lines;
    };

    test("can be exported after that one is deleted, with the texts that their views show [HITL-02.3]", async () => {
      await fork("s", "t");
      await loop({ session: "t" });
      await remove("s");
      await bringIn("t");
      for (const branch of ["main", "s/main"]) {
        const visibleTexts = await readTexts(transcript, "t", branch);
        expect(visibleTexts.slice(0, 2)).toEqual(["prompt 1", "one"]);
        expect(await readTexts(other.transcript, "t", branch)).toEqual(visibleTexts);
      }
    });

    test("are found by the words of inherited entries after that one is deleted", async () => {
      await fork("s", "t", 2);
      await remove("s");
      const hits = await transcript.archive.search({ terms: "one", limit: 9 });
      const found = hits.map(({ session, branch, position }) => [session.id, branch, position]);
      expect(found).toEqual(bench.isEncrypted === true ? [] : [["t", "main", 1]]);
      expect(await transcript.archive.search({ terms: "two", limit: 9 })).toEqual([]);
    });

    test("keep the workspace snapshots of inherited positions after that one is deleted", async () => {
      const keep = (session: string, position: number, commit: string) =>
        transcript.saveSnapshot({
          session,
          at: { branch: "main", position },
          atMs: 1,
          workspace: "/w",
          commit,
        });
      for (const position of [1, 3, 4]) await keep("s", position, `c${position}`);
      await fork("s", "t", 3);
      await keep("t", 4, "own");
      await remove("s");
      const found = await transcript.readSnapshots("t", { branch: "main", position: 9 });
      expect(found.map(({ at, commit }) => [at.branch, at.position, commit])).toEqual([
        ["main", 4, "own"],
        ["main", 3, "c3"],
        ["main", 1, "c1"],
      ]);
    });

    test("have the same views after an import elsewhere, whether that one exists or was deleted [HITL-02.3]", async () => {
      await loop({ at: { branch: "main", position: 4 }, texts: ["beside"], view: createSideView("main") });
      const beside = (await transcript.readLoops("s")).at(-1)?.branch ?? "";
      await fork("s", "t");
      const { view } = await loop({ session: "t" });
      expect(view?.spans[1]?.replacement).toMatchObject({ branch: "s/main" });
      for (const isGone of [false, true]) {
        if (isGone) await remove("s");
        other = await make();
        const lines = await bringIn("t");
        expect(await listLines(other.transcript, "t")).toEqual(lines);
        const [text] = await other.transcript.readEntries("t", "s/main", 4, 5);
        expect(text?.position, beside).toBe(4);
        const opened = await createLoopWriter(other.transcript)({
          session: "t",
          at: { branch: "main", position: 6 },
        });
        expect(opened.view).toEqual(view);
      }
    });

    test("keep the texts that their views show when the first session of a chain is deleted, then the next", async () => {
      await fork("s", "t");
      await fork("t", "u");
      await loop({ session: "u" });
      const view = (await loop({ session: "u", at: { branch: "main", position: 5 } })).view;
      expect(view?.spans[0]?.replacement).toEqual({ position: 1, section: 0, branch: "s/main" });
      for (const gone of ["s", "t"]) {
        await remove(gone);
        expect(await transcript.readEntries("u", "s/main", 1, 2)).toHaveLength(1);
        expect((await loop({ session: "u", at: { branch: "main", position: 5 } })).view).toEqual(view);
      }
    });

    test("keep these texts when the middle of a chain is deleted first, and when they start after the deletion", async () => {
      await fork("s", "t");
      await fork("t", "u");
      await remove("t");
      await remove("s");
      await fork("u", "v");
      for (const session of ["u", "v"]) {
        expect(await transcript.readEntries(session, "s/main", 1, 2), session).toHaveLength(1);
        expect((await loop({ session })).view?.spans[0]?.replacement).toMatchObject({ branch: "s/main" });
      }
    });
  });
}
