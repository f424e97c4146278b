import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseDataReference } from "../../src/core/view/data-reference.ts";
import type { BodyLine } from "../../src/schema/export-line.ts";
import type { Content, FileContent, ImageContent, ToolResultMessage } from "../../src/schema/message.ts";
import type { Transcript } from "../../src/store/transcript/transcript.ts";
import { isThorough, type thoroughTest } from "../support/test-depth.ts";
import { listLines } from "./archive-contract.ts";
import { message, opening, step, write } from "./sample-writes.ts";
import type { TranscriptFixture } from "./transcript-contract.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const toData = (seed: number, bytes: number) => Buffer.alloc(bytes, `bytes of ${seed}, `).toString("base64");

const image = (seed: number, bytes = 4000): ImageContent => ({
  type: "image",
  mimeType: "image/png",
  name: `${seed}.png`,
  data: toData(seed, bytes),
});
const pdf = (seed: number, bytes = 5000): FileContent => ({
  type: "file",
  mimeType: "application/pdf",
  name: `${seed}.pdf`,
  pages: 2,
  data: toData(seed, bytes),
});
const text = (value: string): Content => ({ type: "text", text: value });
const result = (content: Content[]): ToolResultMessage => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "read",
  content,
  isError: false,
  timestamp: 1,
});

/** Lists the hashes of the data that a session's messages refer to. */
async function listHashes(transcript: Transcript, session: string): Promise<string[]> {
  const entries = await transcript.readEntries(session, "main", 0, 1000, "reference");
  const parts = entries.flatMap((entry) => ("content" in entry.message ? entry.message.content : []));
  return parts.flatMap((part) =>
    "data" in part && typeof part.data === "string" ? [parseDataReference(part.data)?.hash ?? ""] : [],
  );
}

async function readContents(transcript: Transcript, session: string): Promise<unknown[]> {
  const entries = await transcript.readEntries(session, "main", 0, 1000);
  return entries.map((entry) => ("content" in entry.message ? entry.message.content : []));
}

/** Opens a session with a message of parts. */
async function openSession(transcript: Transcript, session: string, content: Content[], atMs = 1) {
  const parts = await transcript.putParts(`m-${session}`, content, atMs);
  const prompts = [{ ...message(`m-${session}`, "see"), parts }];
  const { loopId } = await transcript.openLoop(
    opening({ step: step({ session, run: `r-${session}`, number: 0, kind: "open-loop" }), prompts }),
  );
  return { loopId, parts };
}

async function deleteSession(transcript: Transcript, session: string, atMs: number): Promise<void> {
  await transcript.archive.beginDelete(session);
  while (!(await transcript.archive.deletePage(session, atMs)).done);
}

const isStored = async (transcript: Transcript, hash: string) =>
  await transcript.readData(hash).then(
    () => true,
    () => false,
  );

/** Tests of images and files in messages: stored once under their hash, and deleted with their last message. */
export function testPartsContract(make: () => Promise<TranscriptFixture>, random: typeof thoroughTest): void {
  describe("images and files", () => {
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

    test("the parts of a message are read whole, or with references to data that is stored once", async () => {
      const content = [text("see"), image(1), pdf(2), image(3, 90)];
      await openSession(transcript, "one", content);
      await openSession(transcript, "two", [image(1)]);
      expect(await readContents(transcript, "one")).toEqual([content]);
      const [first, second, short] = await listHashes(transcript, "one");
      expect(short).toBe("");
      expect(await listHashes(transcript, "two")).toEqual([first]);
      expect(await transcript.readData(second ?? "")).toBe(pdf(2).data);
      const [entry] = await transcript.readEntries("one", "main", 0, 1, "reference");
      expect(JSON.stringify(entry).length).toBeLessThan(1500);
    });

    test("the result of a tool stores its images and files the same way", async () => {
      const { loopId } = await openSession(transcript, "s", [image(1)]);
      const returned = result([text("two"), image(1), pdf(2)]);
      await transcript.store(
        write(
          { loopId, branch: "main", base: 1 },
          {
            step: step({ run: "r-s" }),
            entries: [{ position: 1, origin: "tool", message: returned }],
          },
        ),
      );
      expect((await transcript.readEntries("s", "main", 1, 2))[0]?.message).toEqual(returned);
      const hashes = await listHashes(transcript, "s");
      expect(new Set(hashes).size).toBe(2);
      expect(hashes[0]).toBe(hashes[1]);
    });

    test("a message keeps data that is no canonical base64 as it was given", async () => {
      const odd = { ...image(1), data: `${"A".repeat(4001)}?` };
      await openSession(transcript, "s", [odd]);
      expect(await readContents(transcript, "s")).toEqual([[odd]]);
    });

    test("an exported session contains the data, also of messages in the inbox", async () => {
      const { loopId } = await openSession(transcript, "s", [text("see"), image(1), pdf(2)]);
      const waiting = await transcript.putParts("w", [image(3), text("later")], 1);
      await transcript.storeInbox(
        write({ loopId, branch: "main", base: 1 }, { step: step({ run: "r-s", number: 4 }) }),
        [{ ...message("w", "later"), parts: waiting }],
      );
      const lines = await listLines(transcript, "s");
      expect(JSON.stringify(lines)).toContain(image(3).data);
      expect(JSON.stringify(lines)).not.toContain("stored:");
      const { archive } = other.transcript;
      await archive.beginImport("t", ["s"], 1);
      await archive.importLines("t", lines, 1);
      await archive.finishImport("t", ["s"], "digest");
      const listMessages = (listed: readonly BodyLine[]) =>
        listed.filter(({ type }) => ["content", "entry", "inbox"].includes(type));
      expect(listMessages(await listLines(other.transcript, "s"))).toEqual(listMessages(lines));
      expect(await readContents(other.transcript, "s")).toEqual(await readContents(transcript, "s"));
      // The next loop begins with the message of the inbox.
      await other.transcript.openLoop(opening({ step: step({ run: "r2", number: 0 }), prompts: [] }));
      expect((await readContents(other.transcript, "s")).at(-1)).toEqual([image(3), text("later")]);
      const [hash] = await listHashes(other.transcript, "s");
      await deleteSession(other.transcript, "s", DAY_MS * 3);
      expect(await isStored(other.transcript, hash ?? "")).toBe(false);
    });

    test("data is deleted with the last message that has it, and not before", async () => {
      await openSession(transcript, "one", [image(1), image(2)], 1);
      await openSession(transcript, "two", [image(2)], 1);
      const [own = "", shared = ""] = await listHashes(transcript, "one");
      await deleteSession(transcript, "one", 2);
      expect(await isStored(transcript, own)).toBe(false);
      expect(await readContents(transcript, "two")).toEqual([[image(2)]]);
      await deleteSession(transcript, "two", 3);
      expect(await isStored(transcript, shared)).toBe(false);
    });

    test("parts that no session has received are deleted after a day, with their data", async () => {
      const parts = await transcript.putParts("m", [image(1)], 0);
      const [part] = (await transcript.readParts(parts)) ?? [];
      const hash = parseDataReference((part as ImageContent).data)?.hash ?? "";
      expect(await transcript.archive.sweepTexts(DAY_MS - 1, 9)).toBe(0);
      expect(await isStored(transcript, hash)).toBe(true);
      await transcript.archive.sweepTexts(DAY_MS + 1, 9);
      expect(await transcript.readParts(parts)).toBeUndefined();
      expect(await isStored(transcript, hash)).toBe(false);
    });

    test("parts of a schedule stay until it releases them, and then for a day", async () => {
      const parts = await transcript.putParts("m", [image(1)], 0);
      await transcript.archive.addTextOwner("schedules/nightly", parts);
      await transcript.archive.sweepTexts(DAY_MS * 9, 9);
      expect(await transcript.readParts(parts)).toHaveLength(1);
      await transcript.archive.releaseTexts("schedules/other", DAY_MS * 9);
      await transcript.archive.sweepTexts(DAY_MS * 19, 9);
      expect(await transcript.readParts(parts)).toHaveLength(1);
      await transcript.archive.releaseTexts("schedules/nightly", DAY_MS * 20);
      await transcript.archive.sweepTexts(DAY_MS * 21 - 1, 9);
      expect(await transcript.readParts(parts)).toHaveLength(1);
      expect(await transcript.archive.sweepTexts(DAY_MS * 21 + 1, 9)).toBe(1);
      expect(await transcript.readParts(parts)).toBeUndefined();
    });

    test("a fork shows the images of its parent when that is deleted", async () => {
      await openSession(transcript, "parent", [image(1)]);
      const at = { branch: "main", position: 1 };
      await transcript.fork({ session: "parent", into: "child", at, atMs: 2 });
      await deleteSession(transcript, "parent", DAY_MS * 2);
      expect(await readContents(transcript, "child")).toEqual([[image(1)]]);
    });

    test("the bytes of a session count its images and files", async () => {
      await openSession(transcript, "s", [image(1, 100_000)]);
      const bytes = await transcript.archive.countBytes("s");
      expect(bytes).toBeGreaterThan(100_000);
      expect(bytes).toBeLessThan(101_000);
    });

    random(
      "whatever sessions share and whichever are deleted, each has its own data, and nothing is left in the end",
      async () => {
        let round = 0;
        const seed = fc.integer({ min: 0, max: 4 });
        const anyPart = fc.oneof(
          seed.map((one) => image(one)),
          seed.map((one) => pdf(one)),
          seed.map((one) => image(one, 600)),
          fc.constant(text("words")),
        );
        const sessions = fc.array(fc.array(anyPart, { minLength: 1, maxLength: 4 }), {
          minLength: 1,
          maxLength: 4,
        });
        await fc.assert(
          fc.asyncProperty(
            sessions,
            fc.array(fc.nat(), { minLength: 4, maxLength: 4 }),
            async (given, order) => {
              round += 1;
              const open = new Map(given.map((content, index) => [`p${round}-${index}`, content]));
              const hashes = new Set<string>();
              for (const [session, content] of open) {
                await openSession(transcript, session, content);
                for (const hash of await listHashes(transcript, session)) if (hash !== "") hashes.add(hash);
              }
              for (const choice of order) {
                const names = [...open.keys()];
                const name = names[choice % Math.max(1, names.length)];
                if (name === undefined) break;
                await deleteSession(transcript, name, 2);
                open.delete(name);
                for (const [session, content] of open) {
                  expect(await readContents(transcript, session)).toEqual([content]);
                }
              }
              for (const session of open.keys()) await deleteSession(transcript, session, 2);
              for (const hash of hashes) expect(await isStored(transcript, hash), hash).toBe(false);
            },
          ),
          { numRuns: isThorough ? 40 : 8 },
        );
      },
      120_000,
    );
  });
}
