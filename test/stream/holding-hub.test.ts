import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { FolderWatches } from "../../src/store/stream/folder-watches.ts";
import { HoldingHub } from "../../src/store/stream/holding-hub.ts";
import type { LineCodec } from "../../src/store/stream/line-codec.ts";
import { LocalHub } from "../../src/store/stream/local-hub.ts";
import { testHolding } from "./holding-contract.ts";
import { testHubContract } from "./hub-contract.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-stream-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const open = (dir: string, codec?: LineCodec) =>
  new HoldingHub(
    new LocalHub(dir, codec === undefined ? {} : { codec }),
    new FolderWatches(join(dir, "live")),
  );

testHubContract("HoldingHub over files", async () => {
  const dir = await mkdtemp(join(root, "contract-"));
  const hub = open(dir);
  return {
    hub,
    reopen: async (codec) => open(dir, codec),
    isEmpty: async () => (await countBytes(join(dir, "live"))) === 0,
    dispose: () => hub.close(),
  };
});

testHolding("files", async () => {
  const dir = await mkdtemp(join(root, "holding-"));
  const live = join(dir, "live");
  return {
    open: () => open(dir),
    isUnwritten: async () => (await readdir(live).catch(() => [])).every((name) => name === ".watched"),
    abandonWatch: async (session) => {
      const mark = join(live, ".watched", `${session}@dead.0`);
      await mkdir(join(live, ".watched"), { recursive: true });
      await writeFile(mark, "");
      const longAgo = new Date(Date.now() - 60_000);
      await utimes(mark, longAgo, longAgo);
    },
  };
});

async function countBytes(live: string): Promise<number> {
  const files = await readdir(live, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((one) => one.isFile()).map(async (one) => (await stat(join(one.parentPath, one.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
