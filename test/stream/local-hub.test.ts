import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resolveEncryption } from "../../src/platform/encryption/resolve-encryption.ts";
import { createEncryptedLineCodec } from "../../src/store/stream/encrypted-line-codec.ts";
import { PLAIN_LINES } from "../../src/store/stream/line-codec.ts";
import { LocalHub } from "../../src/store/stream/local-hub.ts";
import { NullHub } from "../../src/store/stream/null-hub.ts";
import { readDeltasAfter } from "../../src/store/stream/segment-reader.ts";
import { createFirstBase, getSegmentPath, listSegments } from "../../src/store/stream/segments.ts";
import { createDelta, readNext, testHubContract } from "./hub-contract.ts";

testHubContract("LocalHub", async () => {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-stream-"));
  const hub = new LocalHub(dir);
  return {
    hub,
    reopen: async (codec) => new LocalHub(dir, codec === undefined ? {} : { codec }),
    isEmpty: async () => (await bytesIn(dir)) === 0,
    dispose: async () => {
      await hub.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
});

describe("the files of LocalHub", () => {
  let dir: string;
  let hub: LocalHub;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "holdfast-stream-"));
    hub = new LocalHub(dir);
  });
  afterEach(async () => {
    await hub.close();
    await rm(dir, { recursive: true, force: true });
  });
  const folder = () => join(dir, "live", "s");
  const newest = async () => getSegmentPath(folder(), (await listSegments(folder())).at(-1) ?? 0);

  test("a line that a dying writer has truncated damages no other line", async () => {
    hub.publish(createDelta(0));
    await hub.flush();
    await appendFile(await newest(), JSON.stringify(createDelta(1)).slice(0, 40));
    const watching = readNext(hub, 2);
    hub.publish(createDelta(2));
    expect((await watching).sequences).toEqual([0, 2]);
  });

  test("an incomplete line is read once it is complete", async () => {
    const file = getSegmentPath(folder(), await createFirstBase(folder()));
    const line = `${JSON.stringify(createDelta(0, { body: { type: "text", text: "ä€😀" } }))}\n`;
    const bytes = Buffer.from(line);
    await writeFile(file, bytes.subarray(0, bytes.length - 6));
    const end = new AbortController();
    const watching = (async () => {
      for await (const { delta: seen } of hub.watch({ session: "s", signal: end.signal })) return seen.body;
    })();
    await appendFile(file, bytes.subarray(bytes.length - 6));
    expect(await watching).toEqual({ type: "text", text: "ä€😀" });
    end.abort();
  });

  test("no session id escapes the folder", async () => {
    for (const session of ["../../x", "/etc/x", "a\0b", "..", "CON", "é".repeat(500)]) {
      hub.publish(createDelta(0, { session }));
    }
    await hub.flush();
    expect(await readdir(dir)).toEqual(["live"]);
    expect(await readdir(join(dir, "live"))).toHaveLength(6);
  });

  test("output that is not written in time is dropped, counted and announced at its position", async () => {
    const small = new LocalHub(dir, { maxWaitingBytes: 2000 });
    for (let sequence = 0; sequence < 50; sequence++) small.publish(createDelta(sequence));
    await small.flush();
    small.publish(createDelta(50));
    await small.flush();
    const lines = await linesIn(folder());
    const kept = lines.filter(({ body }) => body.type === "text").map(({ sequence }) => sequence);
    const at = lines.findIndex(({ body }) => body.type === "dropped");
    expect(kept).toEqual([...Array.from({ length: at }, (_, index) => index), 50]);
    expect(lines[at]).toMatchObject({ sequence: at, body: { type: "dropped", count: 50 - at } });
    await small.close();
  });

  test("an unwritable file causes no error, and the missing output is announced as soon as possible", async () => {
    await mkdir(join(dir, "live"));
    await writeFile(folder(), "");
    hub.publish(createDelta(0));
    hub.publish(createDelta(1));
    await hub.flush();
    await rm(folder());
    hub.publish(createDelta(2));
    await hub.flush();
    expect(await linesIn(folder())).toMatchObject([
      { sequence: 0, body: { type: "dropped", count: 2 } },
      { sequence: 2, body: { type: "text" } },
    ]);
  });

  test("publishing does not block the event loop", async () => {
    const text = "x".repeat(500);
    const begin = performance.now();
    for (let round = 0; round < 50; round++) {
      for (let index = 0; index < 200; index++) {
        hub.publish(createDelta(round, { session: `s${index}`, body: { type: "text", text } }));
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    // 10,000 deltas in 50 turns of the main thread.
    expect((performance.now() - begin) / 50).toBeLessThan(50);
    await hub.flush();
    expect(await readdir(join(dir, "live"))).toHaveLength(200);
  });

  test("SIGKILL of a publisher loses nothing that has reached the file, and damages no line of the next publisher", async () => {
    const script = `
      import { LocalHub } from ${JSON.stringify(new URL("../../dist/store/stream/local-hub.js", import.meta.url).href)};
      const hub = new LocalHub(${JSON.stringify(dir)});
      const base = ${JSON.stringify(createDelta(0))};
      for (let sequence = 0; ; sequence++) {
        hub.publish({ ...base, sequence, body: { type: "text", text: "y".repeat(2000) } });
        if (sequence % 20 === 19) await hub.flush();
        if (sequence === 199) console.log("ready");
      }`;
    const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout!, "data");
    child.kill("SIGKILL");
    await once(child, "exit");
    hub.publish(createDelta(1_000_000));
    await hub.flush();
    const { length } = await linesIn(folder());
    expect(length).toBeGreaterThan(200);
    const { sequences } = await readNext(hub, length);
    expect(sequences).toEqual([...Array.from({ length: length - 1 }, (_, index) => index), 1_000_000]);
  });
});

test("with keys, the files contain no text of the output; a reader with the keys reads it, one without reads nothing", async () => {
  const dir = await mkdtemp(join(tmpdir(), "holdfast-stream-"));
  const keys = { keys: "a=env:LIVE_KEY" };
  const env = { LIVE_KEY: Buffer.alloc(32, 7).toString("base64") };
  const codec = createEncryptedLineCodec(resolveEncryption(keys, env));
  const hub = new LocalHub(dir, { codec });
  hub.publish(createDelta(0, { body: { type: "text", text: "MARKERWORD" } }));
  await hub.flush();
  const folder = join(dir, "live", "s");
  const [base = 0] = await listSegments(folder);
  expect(await readFile(getSegmentPath(folder, base), "utf8")).not.toMatch(/MARKERWORD|"text"/);
  expect((await new LocalHub(dir, { codec }).readSnapshot("s")).deltas).toMatchObject([
    { delta: { body: { text: "MARKERWORD" } } },
  ]);
  expect((await new LocalHub(dir).readSnapshot("s")).deltas).toEqual([]);
  await hub.close();
  await rm(dir, { recursive: true, force: true });
});

test("NullHub stores nothing and ends its subscriptions", async () => {
  const hub = new NullHub();
  hub.publish(createDelta(0));
  await hub.flush();
  expect(await hub.readPublished()).toEqual([]);
  for await (const _ of hub.watch({ session: "s", signal: AbortSignal.abort() })) expect.unreachable();
});

/** Returns the total size of all live output files. */
async function bytesIn(dir: string): Promise<number> {
  const files = await readdir(join(dir, "live"), { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((one) => one.isFile()).map(async (one) => (await stat(join(one.parentPath, one.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function linesIn(folder: string) {
  const whole: ReturnType<typeof createDelta>[] = [];
  for await (const one of readDeltasAfter(folder, PLAIN_LINES)) whole.push(one.delta);
  return whole;
}
