import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AgentDefinition } from "../../src/schema/definition.ts";
import { ExportError } from "../../src/store/transcript/export/export-error.ts";
import { checkFile, createIdMap, importFile } from "../../src/store/transcript/export/import-file.ts";
import { LineChecksums } from "../../src/store/transcript/export/line-checksums.ts";
import { computeDigest, writeExportText } from "../../src/store/transcript/export/write-export.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import { thoroughTest } from "../support/test-depth.ts";
import { listLines, writeSampleSession } from "./archive-contract.ts";
import { answer, entry, message, opening, readTexts, step, write } from "./sample-writes.ts";

let folder: string;
let from: SqliteTranscript;
let to: SqliteTranscript;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-export-"));
  from = await SqliteTranscript.open({ path: join(folder, "from.db") });
  to = await SqliteTranscript.open({ path: join(folder, "to.db") });
});
afterEach(async () => {
  await from.close();
  await to.close();
  await rm(folder, { recursive: true, force: true });
});

async function written(...sessions: string[]): Promise<string> {
  let text = "";
  for await (const line of writeExportText(from.archive, sessions, new Date(0))) text += line;
  return text;
}

/** Returns the text in chunks, as a disk does. */
const file = (text: string, piece = 1000) =>
  async function* () {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  };

async function refused(text: string): Promise<ExportError> {
  const error = await checkFile(file(text)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ExportError);
  return error as ExportError;
}

async function bringIn(text: string, as?: string): Promise<void> {
  const checked = await checkFile(file(text));
  await importFile(to.archive, file(text), checked, createIdMap(checked.header.sessions, as));
}

test("a file whose loops already exist in another session is rejected, and the error names that session", async () => {
  await from.openLoop(opening({ prompts: [message("hello")] }));
  const text = await written("s");
  await bringIn(text);
  const sql = new SqliteConnection(to.path);
  sql.exec(
    "PRAGMA foreign_keys = OFF; UPDATE sessions SET id = 'other'; UPDATE loops SET session = 'other';",
  );
  sql.exec("UPDATE branches SET session = 'other'");
  sql.close();
  await expect(bringIn(text)).rejects.toThrow(
    /Loop \S+ of session s already exists, in session other: nothing was imported/,
  );
  expect(await to.readSession("s")).toBeUndefined();
});

describe("an exported session", () => {
  test("includes steps of a worker that are not calls of an answer", async () => {
    const own = step({ number: 0, call: -1 });
    const { loopId } = await from.openLoop(opening({ step: own, prompts: [message("hello")] }));
    const next = step({ number: 1, call: -1 });
    await from.store(write({ loopId, branch: "main", base: 1 }, { step: next, entries: [entry(1, "hi")] }));
    await bringIn(await written("s"));
    expect(await to.readSteps("s")).toMatchObject([
      { number: 0, call: -1 },
      { number: 1, call: -1 },
    ]);
  });

  test("is lines of JSON with a version, and is imported completely, whatever the size of the chunks [HITL-02.3]", async () => {
    await writeSampleSession(from);
    const text = await written("s");
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines[0]).toMatchObject({ type: "holdfast-export", version: 2, sessions: ["s"] });
    expect(lines.at(-1)).toMatchObject({ type: "end", lines: lines.length - 1 });
    for (const piece of [1, 7, 100_000]) {
      const checked = await checkFile(file(text, piece));
      expect(checked.digest).toBe(await computeDigest(from.archive, ["s"]));
    }
    await bringIn(text);
    expect(await written("s")).toBe(text);
    expect(await listLines(to, "s")).toEqual(await listLines(from, "s"));
  });

  test("is rejected if it is damaged, with the line number, before anything is written", async () => {
    await writeSampleSession(from);
    const text = await written("s");
    const lines = text.trimEnd().split("\n");
    const joined = (changed: readonly string[]) => `${changed.join("\n")}\n`;
    const changed = (at: number, how: (line: string) => string) =>
      joined(lines.map((line, index) => (index === at ? how(line) : line)));
    for (let at = 1; at < lines.length; at++) {
      const middle = Math.floor((lines[at] ?? "").length / 2);
      const flipped = changed(at, (line) => {
        const other = line[middle] === "x" ? "y" : "x";
        return line.slice(0, middle) + other + line.slice(middle + 1);
      });
      expect((await refused(flipped)).line, lines[at]).toBe(at + 1);
      expect((await refused(joined(lines.filter((_, index) => index !== at)))).line).toBe(at + 1);
    }
    const swapped = [...lines.slice(0, 5), lines[6]!, lines[5]!, ...lines.slice(7)];
    expect((await refused(joined(swapped))).line).toBe(6);
    expect((await refused(text.slice(0, text.length / 2))).message).toMatch(/^line \d+: /);
    expect((await refused(joined(lines.slice(0, -1)))).message).toContain("is truncated");
    expect((await refused(`${text}{}\n`)).message).toContain("continues after its last line");
    expect((await refused("")).message).toBe("line 1: the file is empty");
    expect((await refused("hello\n")).message).toContain("is not a Holdfast export");
    expect(await to.findSessions({ limit: 9 })).toEqual([]);
  });

  test("is rejected if its checksums are right but its lines are inconsistent", async () => {
    await writeSampleSession(from);
    const lines = (await written("s")).trimEnd().split("\n").slice(0, -1);
    const bodies = lines.map((line) => {
      const { sum: _, ...body } = JSON.parse(line);
      return body;
    });
    const signed = (changed: readonly object[]) => {
      const sums = new LineChecksums();
      const text = changed.map((body) => `${sums.addChecksum(JSON.stringify(body))}\n`).join("");
      return `${text}${sums.addChecksum(JSON.stringify({ type: "end", lines: changed.length, sha256: sums.digest }))}\n`;
    };
    expect((await checkFile(file(signed(bodies)))).header.sessions).toEqual(["s"]);
    const without = (type: string) => bodies.filter((body) => body.type !== type);
    expect((await refused(signed(without("content")))).message).toContain("is missing before this line");
    expect((await refused(signed(without("branch")))).message).toContain("is missing");
    expect((await refused(signed(without("event")))).message).toContain("are missing");
    expect((await refused(signed(without("session")))).message).toContain("the first line must be a session");
    const lied = bodies.map((body) => (body.type === "content" ? { ...body, text: "other" } : body));
    expect((await refused(signed(lied))).message).toContain("the text has the hash");
  });

  const signedBodies = (changed: readonly object[]) => {
    const sums = new LineChecksums();
    const text = changed.map((body) => `${sums.addChecksum(JSON.stringify(body))}\n`).join("");
    return `${text}${sums.addChecksum(JSON.stringify({ type: "end", lines: changed.length, sha256: sums.digest }))}\n`;
  };
  /** Returns the file with each body changed by `how`, and with new checksums. */
  const forged = async (how: (body: Record<string, unknown>) => object) => {
    const lines = (await written("s")).trimEnd().split("\n").slice(0, -1);
    return signedBodies(
      lines.map((line) => {
        const { sum: _, ...body } = JSON.parse(line);
        return how(body);
      }),
    );
  };
  const withGrants = (grants: unknown) =>
    forged((body) => (body["type"] === "session" || body["type"] === "loop" ? { ...body, grants } : body));

  test("is rejected if its grants are invalid, even if its checksums are right", async () => {
    await writeSampleSession(from);
    for (const grants of [
      [{ tool: "bash", commands: [[]] }],
      [{ tool: "bash", exactCommands: [[""]] }],
      [{ tool: "bash", commands: "abc" }],
      [{ tool: "bash", all: true }],
      [null],
      "x",
      { length: 1 },
    ]) {
      const { message } = await refused(await withGrants(grants));
      expect(message, JSON.stringify(grants)).toContain('"session" is invalid: grants');
    }
    expect(await to.findSessions({ limit: 9 })).toEqual([]);
  });

  test("loses its grants on import, unless they are requested", async () => {
    await writeSampleSession(from);
    const grants = [{ tool: "bash", exactCommands: [["npm", "test"]] }];
    const text = await withGrants(grants);
    const checked = await checkFile(file(text));
    expect(checked.grants).toEqual(grants);
    const open = async (session: string) => {
      const at = step({ session, run: `r-${session}-new`, number: 0, kind: "open-loop" });
      return (await to.openLoop(opening({ step: at, prompts: [message("n")] }))).grants;
    };
    await importFile(to.archive, file(text), checked, createIdMap(["s"], undefined));
    expect(await open("s")).toBeUndefined();
    await importFile(to.archive, file(text), checked, createIdMap(["s"], "kept"), { withGrants: true });
    expect(await open("kept")).toEqual(grants);
  });

  test("is rejected if a view or a long message is invalid, even if its checksums are right", async () => {
    await writeSampleSession(from);
    for (const view of ["x", {}, { spans: "x" }, { spans: [null] }, { spans: [{ from: 2, to: 1 }] }]) {
      const text = await forged((body) =>
        body["type"] === "loop" ? { ...body, end: { branch: "main", position: 3, view } } : body,
      );
      expect((await refused(text)).message, JSON.stringify(view)).toContain("end.view");
    }
    const other = JSON.stringify({ role: "user", content: 7 });
    const hash = createHash("sha256").update(other).digest("hex");
    const named = new Set<unknown>();
    const text = await forged((body) => {
      if (body["type"] === "content") return { ...body, text: other, hash };
      if (body["type"] === "entry" && body["content"] !== undefined) {
        named.add(body["content"]);
        return { ...body, content: hash };
      }
      return body;
    });
    expect(named.size).toBeGreaterThan(0);
    expect((await refused(text)).message).toContain("is not a message");
  });

  test("has a definition that must be accepted once if it is unknown here", async () => {
    await writeSampleSession(from);
    const model = {
      provider: "p",
      api: "openai_completions",
      contextWindow: 1000,
      baseUrl: "http://127.0.0.1:1",
      id: "m",
    };
    const definition = AgentDefinition.parse({ name: "stranger", model });
    const hash = await from.saveDefinition(definition);
    await from.setDefinition("s", { definitionHash: hash, agentName: "stranger", model: "m" });
    expect(await from.isAccepted(hash)).toBe(true);
    const text = await written("s");
    await bringIn(text);
    expect(await to.isAccepted(hash)).toBe(false);
    await to.acceptDefinition(hash);
    expect(await to.isAccepted(hash)).toBe(true);
    await bringIn(text, "again");
    expect(await to.isAccepted(hash)).toBe(true);
  });

  test("has a definition that needs no acceptance if it is also saved here", async () => {
    await writeSampleSession(from);
    const model = {
      provider: "p",
      api: "openai_completions",
      contextWindow: 1000,
      baseUrl: "http://127.0.0.1:1",
      id: "m",
    };
    const definition = AgentDefinition.parse({ name: "stranger", model });
    const hash = await from.saveDefinition(definition);
    await from.setDefinition("s", { definitionHash: hash, agentName: "stranger", model: "m" });
    await bringIn(await written("s"));
    expect(await to.isAccepted(hash)).toBe(false);
    expect(await to.saveDefinition((await to.readDefinition(hash)) as never)).toBe(hash);
    expect(await to.isAccepted(hash)).toBe(true);
  });

  test.each([
    [3, "the file has version 3, but this Holdfast reads versions up to 2: update it"],
    [1, "the file has version 1, which was never released; this Holdfast reads version 2"],
  ])("is rejected if its version is %i, with the reason", async (version, message) => {
    const sums = new LineChecksums();
    const header = {
      type: "holdfast-export",
      version,
      exportedAt: "2027-01-01T00:00:00Z",
      sessions: ["s"],
    };
    const error = await refused(`${sums.addChecksum(JSON.stringify(header))}\n`);
    expect(error.message).toContain(message);
  });

  test("can be imported beside the original under another id, to which all ids in it are adapted [HITL-02.3]", async () => {
    await writeSampleSession(from);
    const caller = await from.readLoops("s");
    const spawn = {
      session: "s",
      loopId: caller[0]?.loopId ?? "",
      turn: 0,
      toolCallId: "c1",
      toolName: "scout",
    };
    const child = "s.sub-12345678";
    const at = step({ session: child, run: "rc", number: 0 });
    const opened = await from.openLoop(opening({ step: at, spawn, prompts: [message("task")] }));
    await from.store(
      write(
        { loopId: opened.loopId, branch: "main", base: 1 },
        { step: step({ session: child, run: "rc", number: 1 }), entries: [entry(1, "found it")] },
      ),
    );
    const back = {
      role: "toolResult" as const,
      toolCallId: "c1",
      toolName: "scout",
      content: [{ type: "text" as const, text: `s.v.m.1 and ${opened.loopId} are ${"long ".repeat(900)}` }],
      isError: false,
      timestamp: 9,
      childLoopId: opened.loopId,
      turnId: { loopId: caller[1]?.loopId ?? "", turnIndex: 0 },
    };
    const place = { loopId: caller[1]?.loopId ?? "", branch: caller[1]?.branch ?? "", base: 2 };
    await from.store(
      write(place, {
        step: step({ run: "r-s", number: 9 }),
        entries: [{ position: 2, origin: "tool", message: back }],
        result: { loopId: opened.loopId, session: "s" },
      }),
    );
    const text = await written("s", child);
    await bringIn(text);
    await bringIn(text, "copy");
    const copied = await to.readLoops("copy");
    expect(copied.map(({ loopId }) => loopId)).toEqual(["copy.v.m.1", "copy.v.m.2"]);
    expect(copied[1]?.parentLoopId).toBe("copy.v.m.1");
    const [result] = await to.readEntries("copy", copied[1]?.branch ?? "", 2, 3);
    expect(result?.message).toMatchObject({
      childLoopId: "copy.sub-12345678.v.m.1",
      turnId: { loopId: "copy.v.m.2" },
      content: back.content,
    });
    expect((await to.readSession("copy.sub-12345678"))?.spawn).toMatchObject({
      session: "copy",
      loopId: "copy.v.m.1",
    });
    expect(await readTexts(to, "copy.sub-12345678", "main")).toEqual(["text of task", "found it"]);
    expect((await to.readSteps("copy")).map(({ run }) => run)).not.toContain("r-s");
    expect(await listLines(to, "s")).toEqual(await listLines(from, "s"));
    // A child that is not exported keeps its id.
    await bringIn(await written("s"), "alone");
    const alone = (await to.readLoops("alone"))[1];
    const [kept] = await to.readEntries("alone", alone?.branch ?? "", 2, 3);
    expect(kept?.message).toMatchObject({ childLoopId: opened.loopId, turnId: { loopId: "alone.v.m.2" } });
    // A copy of the child alone has no caller.
    await bringIn(await written(child), "own");
    expect(await to.readSession("own")).not.toHaveProperty("spawn");
    const called = (caller: string) => to.findSessions({ limit: 9, spawnedBy: caller });
    expect((await called("s")).map(({ id }) => id)).toEqual([child]);
    expect((await called("copy")).map(({ id }) => id)).toEqual(["copy.sub-12345678"]);
  });

  test("is not found as a following session if it is a copy of one [SES-13.3]", async () => {
    await writeSampleSession(from);
    await from.rotateSession({ session: "s", idleMs: 1, nextId: "n", atMs: 1e6 });
    const text = await written("n");
    await bringIn(text);
    await bringIn(text, "copy");
    expect((await to.readSession("copy"))?.origin).toEqual({ type: "explicit", previousSession: "s" });
    expect(await to.rotateSession({ session: "s", idleMs: 1, nextId: "x", atMs: 0 })).toMatchObject({
      session: "n",
    });
  });

  thoroughTest("needs little memory to export and import, even if it is large", async () => {
    const { loopId } = await from.openLoop(opening());
    for (let at = 1; at <= 60; at += 6) {
      const entries = Array.from({ length: 6 }, (_, index) => ({
        position: at + index,
        origin: "model" as const,
        message: answer(`${at + index} ${"x".repeat(500_000)}`),
      }));
      await from.store(write({ loopId, branch: "main", base: at }, { step: step({ number: at }), entries }));
    }
    async function* lines() {
      for await (const line of writeExportText(from.archive, ["s"], new Date(0))) yield Buffer.from(line);
    }
    const { gc } = globalThis as { gc?: () => void };
    gc?.();
    const before = process.memoryUsage().rss;
    const checked = await checkFile(lines);
    await importFile(to.archive, lines, checked, createIdMap(["s"], undefined));
    expect(await to.countEntries("s", "main")).toBe(61);
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  });
});
