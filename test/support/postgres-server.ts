import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import type { TestProject } from "vitest/node";
import { findPostgresBinaries, NO_POSTGRES, type PostgresServer, startPostgres } from "./postgres.ts";
import { hasTestsFor } from "./test-suffixes.ts";

/** The shared PostgreSQL server of the run; each test file creates its own database. */
export type TestPostgres = { readonly url: string } | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestPostgres;
  }
}

/**
 * Starts one temporary server for all tests that request it. Without PostgreSQL, they are skipped; if PostgreSQL is
 * required, throws an error.
 */
export async function startTestPostgres(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!(await hasTestsFor(project, ["postgres", "crash"]))) return undefined;
  let server: PostgresServer | undefined;
  if (findPostgresBinaries() === undefined) {
    if (process.env["HOLDFAST_TEST_POSTGRES"] === "required")
      throw new Error(`PostgreSQL is required, but ${NO_POSTGRES}`);
    project.provide("postgres", { missing: NO_POSTGRES });
  } else {
    // The data need not survive a crash: tests that crash a server start their own. A background analysis would hold a
    // snapshot, and VACUUM would not remove rows that a test expects to be removed.
    const settings = { fsync: "off", full_page_writes: "off", autovacuum: "off" };
    server = await startPostgres(settings, findMemoryFolder() ?? tmpdir());
    project.provide("postgres", { url: server.url() });
  }
  return async () => server?.stop();
}

/** Linux's statfs(2). */
const TMPFS_MAGIC = 0x01021994;

/** Each database is a folder of 300 files, and the server's own files take 80 MB. */
const NEEDED_BYTES = 2 * 1024 ** 3;

/** Returns a folder of a file system in memory with enough space, if there is one: files are created and deleted quickly there. */
function findMemoryFolder(): string | undefined {
  const folder = "/dev/shm";
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    return type === TMPFS_MAGIC && bavail * bsize >= NEEDED_BYTES ? folder : undefined;
  } catch {
    return undefined;
  }
}
