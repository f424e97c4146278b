import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSettled } from "../../src/store/transcript/sqlite/inspect-file.ts";
import { checkIntegrity } from "../../src/store/transcript/sqlite/integrity.ts";
import {
  LATEST_VERSION,
  MIGRATIONS,
  migrateFile,
  readVersion,
} from "../../src/store/transcript/sqlite/migrations.ts";
import { SqliteConnection } from "../../src/store/transcript/sqlite/sqlite-connection.ts";
import { SqliteTranscript } from "../../src/store/transcript/sqlite/sqlite-transcript.ts";
import type { StoreFault } from "../../src/store/transcript/store-error.ts";
import { testIf } from "../support/skipping.ts";
import { answer, EMPTY_OUTBOX, entry, event, opening, readTexts, step, write } from "./sample-writes.ts";
import { catchStoreError, SqliteFixture } from "./sqlite-fixture.ts";

const bench = SqliteFixture.forEachTest();

describe("files that must not be changed", () => {
  async function untouched(fault: StoreFault, words: RegExp): Promise<void> {
    const before = await readFile(bench.path);
    for (const readOnly of [false, true]) {
      const error = await catchStoreError(SqliteTranscript.open({ path: bench.path, readOnly }));
      expect(error.fault).toBe(fault);
      expect(error.message).toMatch(words);
      expect(error.message).toContain(bench.path);
    }
    expect((await readFile(bench.path)).equals(before)).toBe(true);
  }

  /**
   * Copies a filled store to the path. No connection of this process has the copy open: one that is closed late would move
   * its log to the file.
   */
  async function filled(): Promise<void> {
    const original = `${bench.path}.original`;
    const transcript = await SqliteTranscript.open({ path: original });
    const { loopId } = await transcript.openLoop(opening());
    const entries = Array.from({ length: 200 }, (_, index) => entry(index + 1, "text ".repeat(200)));
    await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries }));
    await transcript.close();
    compact(original);
    await copyFile(original, bench.path);
  }

  /** Changes the version in the write-ahead log, by a process that ends without a checkpoint. */
  function setVersion(version: number): void {
    execFileSync("python3", [
      "-c",
      `import os, sqlite3; c = sqlite3.connect(${JSON.stringify(bench.path)}); c.execute("pragma user_version = ${version}"); os._exit(0)`,
    ]);
    expect(statSync(`${bench.path}-wal`).size).toBeGreaterThan(0);
  }

  test("a text file", async () => {
    await writeFile(bench.path, "Dear diary, ".repeat(1000));
    await untouched("damaged", /does not begin/);
  });

  test.each([
    ["is complete", [0], 0],
    ["is truncated", [4096, 4096], 4096],
    ["is extended by a checkpoint meanwhile", [4096, 0], 0],
    ["is still being extended by a checkpoint", [8192, 4096], 0],
  ])("a file that %s is recognised by a second look", (_, looks, missing) => {
    const left = [...looks];
    expect(
      readSettled(
        () => left.shift() ?? Number.NaN,
        () => undefined,
      ),
    ).toBe(missing);
    expect(left).toEqual([]);
  });

  test("a truncated file", async () => {
    await filled();
    await truncate(bench.path, 50_000);
    await untouched("damaged", /truncated/);
  });

  test("a file with a broken page", async () => {
    await filled();
    const bytes = await readFile(bench.path);
    bytes.fill(0xee, 100, 4096);
    await writeFile(bench.path, bytes);
    await untouched("damaged", /malformed/);
  });

  test("a file with broken pages in its middle, whose header and table roots are intact", async () => {
    await filled();
    const bytes = await readFile(bench.path);
    const middle = Math.floor(bytes.length / 2 / 4096) * 4096;
    for (const page of [0, 1, 2, 3]) bytes.fill(0xee, middle + page * 4096, middle + page * 4096 + 100);
    await writeFile(bench.path, bytes);
    await untouched("damaged", /is inconsistent: .*restore a backup/s);
    await expect(checkIntegrity(bench.path)).rejects.toThrow(/is inconsistent/);
  });

  test("a file of a newer version", async () => {
    await filled();
    setVersion(LATEST_VERSION + 1);
    await untouched("newer", new RegExp(`version ${LATEST_VERSION + 1}.*up to ${LATEST_VERSION}`));
    compact(bench.path);
    await untouched("newer", /Run the newer version/);
  });

  test("a file of the version that was never released", async () => {
    await filled();
    setVersion(1);
    await untouched("other", /version 1, which was never released; specify another file/);
  });

  test("a database of another program", async () => {
    execFileSync("python3", [
      "-c",
      `import sqlite3; c = sqlite3.connect(${JSON.stringify(bench.path)}); c.execute("create table t(a)"); c.commit()`,
    ]);
    const before = await readFile(bench.path);
    const error = await catchStoreError(SqliteTranscript.open({ path: bench.path }));
    expect([error.fault, (await readFile(bench.path)).equals(before)]).toEqual(["other", true]);
  });

  test("an open writer stops when the file's version becomes newer", async () => {
    const transcript = await bench.open();
    await transcript.openLoop(opening());
    const sql = new SqliteConnection(bench.path);
    sql.exec(`PRAGMA user_version = ${LATEST_VERSION + 1}`);
    sql.close();
    expect((await catchStoreError(transcript.putText("x", 1))).fault).toBe("newer");
  });

  test("a folder, and a path that does not exist", async () => {
    await mkdir(bench.path);
    expect((await catchStoreError(SqliteTranscript.open({ path: bench.path }))).fault).toBe("unreachable");
    const below = join(bench.folder, "file", "x.db");
    await writeFile(join(bench.folder, "file"), "");
    expect((await catchStoreError(SqliteTranscript.open({ path: below }))).fault).toBe("unreachable");
    const absent = join(bench.folder, "absent.db");
    expect((await catchStoreError(SqliteTranscript.open({ path: absent, readOnly: true }))).fault).toBe(
      "unreachable",
    );
    await expect(stat(absent)).rejects.toThrow();
  });
});

/** Checkpoints the log into the file, as the last process to close it does. */
function compact(file: string): void {
  execFileSync("python3", [
    "-c",
    `import sqlite3; c = sqlite3.connect(${JSON.stringify(file)}); c.execute("pragma wal_checkpoint(truncate)"); c.close()`,
  ]);
}

describe("migrations", () => {
  test("an older file is migrated, keeps its data and records when", () => {
    const sql = new SqliteConnection(bench.path);
    const raise = (atMs: number, steps: readonly string[]) => {
      sql.exec("BEGIN IMMEDIATE");
      migrateFile(sql, bench.path, atMs, steps);
      sql.exec("COMMIT");
    };
    raise(5, ["CREATE TABLE t (a)"]);
    sql.run("INSERT INTO t VALUES (1)");
    raise(6, ["CREATE TABLE t (a)", "ALTER TABLE t ADD COLUMN b DEFAULT 2", "CREATE TABLE u (c)"]);
    expect(sql.get("SELECT a, b FROM t")).toMatchObject({ a: 1, b: 2 });
    expect(sql.all<{ version: number; applied_at_ms: number }>("SELECT * FROM migrations")).toMatchObject([
      { version: 1, applied_at_ms: 5 },
      { version: 2, applied_at_ms: 6 },
      { version: 3, applied_at_ms: 6 },
    ]);
    expect(readVersion(sql)).toBe(3);
    sql.close();
  });

  test("the sessions of a file of version 2 have no title, and get one with their next prompt", async () => {
    const sql = new SqliteConnection(bench.path);
    sql.exec("BEGIN IMMEDIATE");
    migrateFile(sql, bench.path, 1, MIGRATIONS.slice(0, 2));
    sql.exec(`INSERT INTO sessions (id, agent_name, definition_hash, model, created_at_ms, last_active_at_ms, head_branch,
      loops, status) VALUES ('s', 'agent', 'd', 'm', 1, 1, 'main', 1, 'completed')`);
    sql.exec("INSERT INTO branches (session, id, position, length, tokens) VALUES ('s', 'main', 0, 0, 0)");
    sql.exec("COMMIT");
    sql.close();
    const transcript = await bench.open();
    expect(await transcript.readSession("s")).not.toHaveProperty("title");
    await transcript.openLoop(opening());
    expect((await transcript.readSession("s"))?.title).toEqual({ text: "hello", by: "prompt" });
  });

  test("pin: the newest version, the application id and the journal mode", async () => {
    expect(MIGRATIONS).toHaveLength(4);
    await bench.open();
    const sql = new SqliteConnection(bench.path);
    expect(sql.get("PRAGMA application_id")).toMatchObject({ application_id: 1215261796 });
    expect(sql.get("PRAGMA journal_mode")).toMatchObject({ journal_mode: "wal" });
    sql.close();
  });
});

describe("disks", () => {
  /** Whether this process may mount file systems. */
  const mounts = ((): boolean => {
    try {
      execFileSync("sh", ["-c", "d=$(mktemp -d) && mount -t tmpfs none $d && umount $d && rmdir $d"], {
        stdio: "ignore",
      });
      return true;
    } catch {
      return false;
    }
  })();

  testIf(mounts, "this process may not mount file systems")(
    "a full disk is reported as full, and the store continues with all its data when there is room",
    async () => {
      const disk = join(bench.folder, "disk");
      await mkdir(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "none", disk]);
      try {
        const transcript = await bench.open({ path: join(disk, "t.db") });
        const { loopId } = await transcript.openLoop(opening());
        let stored = 0;
        let error: { fault: StoreFault; message: string } | undefined;
        while (error === undefined) {
          const key = step({ number: stored + 1 });
          const spoken = answer(`${stored}`.padEnd(100_000, "x"));
          const place = { loopId, branch: "main", base: stored + 1 };
          const entries = [{ position: stored + 1, origin: "model" as const, message: spoken }];
          await transcript.store(write(place, { step: key, entries })).then(
            () => {
              stored += 1;
            },
            (thrown) => {
              error = thrown;
            },
          );
        }
        expect(error.fault).toBe("full");
        expect(error.message).toMatch(/Free space/);
        expect(await transcript.countEntries("s", "main")).toBe(stored + 1);
        execFileSync("mount", ["-o", "remount,size=16m", disk]);
        const key = step({ number: stored + 1 });
        await transcript.store(
          write(
            { loopId, branch: "main", base: stored + 1 },
            { step: key, entries: [entry(stored + 1, "on")] },
          ),
        );
        expect((await readTexts(transcript, "s", "main")).at(-1)).toBe("on");
      } finally {
        execFileSync("umount", ["-l", disk]);
      }
    },
  );

  testIf(mounts, "this process may not mount file systems")(
    "a read-only disk is reported as such, can be read, and the store continues when it is writable",
    async () => {
      const real = join(bench.folder, "real");
      const disk = join(bench.folder, "disk");
      await mkdir(real);
      await mkdir(disk);
      const before = await SqliteTranscript.open({ path: join(real, "t.db") });
      await before.openLoop(opening());
      await before.close();
      execFileSync("mount", ["--bind", real, disk]);
      execFileSync("mount", ["-o", "remount,ro,bind", disk]);
      try {
        const { fault, message } = await catchStoreError(SqliteTranscript.open({ path: join(disk, "t.db") }));
        expect(fault).toBe("read-only");
        expect(message).toMatch(/writable/);
        const reading = await bench.open({ path: join(disk, "t.db"), readOnly: true });
        expect(await readTexts(reading, "s", "main")).toEqual(["hello"]);
        execFileSync("mount", ["-o", "remount,rw,bind", disk]);
        const again = await bench.open({ path: join(disk, "t.db") });
        await again.putText("x", 1);
      } finally {
        execFileSync("umount", ["-l", disk]);
      }
    },
  );

  test("a transcript that is opened for reading sees the writes of others and rejects its own", async () => {
    const writing = await bench.open();
    const { loopId } = await writing.openLoop(opening());
    const reading = await bench.open({ readOnly: true });
    await writing.store(
      write(
        { loopId, branch: "main", base: 1 },
        { entries: [entry(1, "one")], outbox: { entries: [], events: [event(0)] } },
      ),
    );
    expect(await readTexts(reading, "s", "main")).toEqual(["hello", "one"]);
    expect(
      (await catchStoreError(reading.claim(step(), { loopId, branch: "main", base: 1 }, EMPTY_OUTBOX, 1)))
        .fault,
    ).toBe("read-only");
  });

  test("an open transcript reads the file that replaces its own, and reports one that is gone", async () => {
    const restored = `${bench.path}.restored`;
    for (const [path, text] of [
      [bench.path, "before"],
      [restored, "after"],
    ] as const) {
      const transcript = await SqliteTranscript.open({ path });
      const { loopId } = await transcript.openLoop(opening());
      await transcript.store(write({ loopId, branch: "main", base: 1 }, { entries: [entry(1, text)] }));
      await transcript.close();
    }
    const reading = await bench.open({ readOnly: true });
    expect(await readTexts(reading, "s", "main")).toEqual(["hello", "before"]);
    for (const end of ["-wal", "-shm"]) await rm(bench.path + end, { force: true });
    await rename(restored, bench.path);
    expect(await readTexts(reading, "s", "main")).toEqual(["hello", "after"]);
    await rm(bench.path);
    const error = await catchStoreError(readTexts(reading, "s", "main"));
    expect(error).toMatchObject({
      fault: "unreachable",
      message: expect.stringContaining("no longer exists"),
    });
  });
});
