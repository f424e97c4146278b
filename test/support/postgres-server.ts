import type { TestProject } from "vitest/node";
import { findPostgresBinaries, type PostgresServer, startPostgres } from "./postgres.ts";
import { hasTestsFor } from "./test-suffixes.ts";

/** Where the run's one PostgreSQL server is; each test file makes a database of its own. */
export type TestPostgres = { readonly url: string } | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestPostgres;
  }
}

/**
 * Starts one throw-away server for all tests that ask for it. Where there is no PostgreSQL they are skipped, loudly;
 * where it must be there, that is an error.
 */
export default async function startTestPostgres(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (!(await hasTestsFor(project, ["postgres", "crash"]))) return undefined;
  let server: PostgresServer | undefined;
  if (findPostgresBinaries() === undefined) {
    const missing = "there is no PostgreSQL on this machine (Debian: apt-get install postgresql)";
    if (process.env["HOLDFAST_TEST_POSTGRES"] === "required")
      throw new Error(`PostgreSQL is required, but ${missing}`);
    console.warn(`\n!!! NO POSTGRESQL: its tests are SKIPPED, ${missing}.\n`);
    project.provide("postgres", { missing });
  } else {
    // Its data need not survive a crash: tests that crash a server start their own. A background analysis would hold a
    // snapshot, and VACUUM would leave rows behind that a test expects to be removed.
    server = await startPostgres({ fsync: "off", full_page_writes: "off", autovacuum: "off" });
    project.provide("postgres", { url: server.url() });
  }
  return async () => server?.stop();
}
