import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Grant } from "../../src/core/permission/grants.ts";
import type { Span } from "../../src/core/view/view.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { entry, message, opening, step, USAGE, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

const SPANS: readonly Span[] = [
  { from: 0, to: 2, turns: 1, tokens: 3, replacement: { position: 2, section: 0 } },
  { from: 3, to: 4, turns: 1, tokens: 5 },
];

/** Tests of the view that a loop leaves for later loops. */
export function testLoopViewContract(make: () => Promise<TranscriptFixture>): void {
  describe("the view that a loop leaves", () => {
    let bench: TranscriptFixture;
    let transcript: Transcript;
    let number = 0;
    beforeEach(async () => {
      bench = await make();
      transcript = bench.transcript;
      number = 0;
      await transcript.openLoop(opening());
      for (const position of [1, 2, 3]) await put(position, "main", "s.v.m.1");
    });
    afterEach(() => bench.dispose());

    const put = (position: number, branch: string, loopId: string) =>
      transcript.store(
        write(
          { loopId, branch, base: position },
          { step: step({ number: ++number }), entries: [entry(position, `entry ${position}`)] },
        ),
      );
    const close = (loopId: string, branch: string, to: number, spans?: readonly Span[]) =>
      transcript.closeLoop({
        ...write({ loopId, branch, base: to }, { step: step({ number: ++number }) }),
        status: "completed",
        outcome: { type: "answered", stopReason: "stop" },
        usage: USAGE,
        costUsd: 0,
        turns: 1,
        to,
        ...(spans === undefined ? {} : { view: { spans, prunableFrom: 3 } }),
      });
    const open = (at?: { branch: string; position: number }) => {
      number++;
      return transcript.openLoop(
        opening({
          step: step({ run: `r${number}`, number: 0, kind: "open-loop" }),
          prompts: [message(`m${number}`)],
          ...(at === undefined ? {} : { at }),
        }),
      );
    };

    test("is removed by an edit that removes the compaction, from there on; an earlier position keeps it [CMP-01]", async () => {
      await close("s.v.m.1", "main", 4, SPANS);
      expect(await open()).toMatchObject({ view: { spans: SPANS } });
      const edited = { session: "s", key: "k1", atMs: 900, at: "head", messages: [] } as const;
      await transcript.archive.edit({ ...edited, kind: { type: "compaction", removes: true } });
      expect(await open()).not.toHaveProperty("view");
      expect(await open({ branch: "main", position: 4 })).toMatchObject({ view: { spans: SPANS } });
      expect((await transcript.readLoops("s")).map(({ kind }) => kind)).toContainEqual({
        type: "compaction",
        removes: true,
      });
    });

    test("comes with grants, which apply to the session until a loop replaces them", async () => {
      const closing = (grants?: readonly Grant[]) => {
        const loop = { loopId: `s.v.m.${loops}`, branch: "main", base: 4 };
        return transcript.closeLoop({
          ...write(loop, { step: step({ run: `r${number}`, number: ++number }) }),
          status: "completed",
          outcome: { type: "answered", stopReason: "stop" },
          usage: USAGE,
          costUsd: 0,
          turns: 1,
          to: 4,
          ...(grants === undefined ? {} : { grants }),
        });
      };
      let loops = 1;
      const git = [{ tool: "bash", commands: [["git", "push"]] }];
      await closing(git);
      expect(await open()).toMatchObject({ grants: git });
      loops = 2;
      await closing();
      expect(await open()).toMatchObject({ grants: git });
      loops = 3;
      await closing([...git, { tool: "edit_file" }]);
      expect(await open()).toMatchObject({ grants: [...git, { tool: "edit_file" }] });
    });

    test("is the initial view of the next loop", async () => {
      await close("s.v.m.1", "main", 4, SPANS);
      const opened = await open();
      expect(opened).toMatchObject({ from: 4, view: { spans: SPANS, prunableFrom: 3 } });
    });

    test("is absent if everything is shown", async () => {
      await close("s.v.m.1", "main", 4);
      expect(await open()).not.toHaveProperty("view");
    });

    test("includes in full the entries of a loop that was never closed", async () => {
      await close("s.v.m.1", "main", 4, SPANS);
      const unclosed = await open();
      const opened = await open();
      const tokens = unclosed.entries[0]?.tokens;
      expect(opened.view).toEqual({
        spans: [...SPANS, { from: 4, to: 5, turns: 1, tokens }],
        prunableFrom: 3,
      });
    });

    test("does not affect a loop that starts at an earlier position, on a branch of its own", async () => {
      await close("s.v.m.1", "main", 4, SPANS);
      const second = await open();
      const later = [{ from: 0, to: 5, turns: 1, tokens: 1, replacement: { position: 5, section: 0 } }];
      await close(second.loopId, "main", 5, later);
      const before = await open({ branch: "main", position: 3 });
      expect(before).not.toHaveProperty("view");
      const laterLoop = await open({ branch: "main", position: 4 });
      expect(laterLoop).toMatchObject({ from: 4, view: { spans: SPANS, prunableFrom: 3 } });
      expect(laterLoop.branch).not.toBe("main");
      const onward = await open({ branch: laterLoop.branch, position: 5 });
      expect(onward.view?.spans.slice(0, 2)).toEqual(SPANS);
    });
  });
}
