import type { TestProject } from "vitest/node";
import { findPostgresBinaries, type PostgresServer, startPostgres } from "./postgres.ts";
import { hasTestsFor } from "./test-suffixes.ts";

/** The shared PostgreSQL server of the run; each test file creates its own database. */
export type TestPostgres = { readonly url: string } | { readonly missing: string };

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestPostgres;
  }
}

/**
 * Starts one temporary server for all tests that request it. Without PostgreSQL, prints a warning and skips them; if
 * PostgreSQL is required, throws an error.
 */
export default async function startTestPostgres(
  project: TestProject,
): Promise<(() => Promise<void>) | undefined> {
  if (!(await hasTestsFor(project, ["postgres", "crash"]))) return undefined;
  let server: PostgresServer | undefined;
  if (findPostgresBinaries() === undefined) {
    const missing = "PostgreSQL is not installed on this machine (Debian: apt-get install postgresql)";
    if (process.env["HOLDFAST_TEST_POSTGRES"] === "required")
      throw new Error(`PostgreSQL is required, but ${missing}`);
    console.warn(`\n!!! NO POSTGRESQL: its tests are SKIPPED, ${missing}.\n`);
    project.provide("postgres", { missing });
  } else {
    // The data need not survive a crash: tests that crash a server start their own. A background analysis would hold a
    // snapshot, and VACUUM would not remove rows that a test expects to be removed.
    server = await startPostgres({ fsync: "off", full_page_writes: "off", autovacuum: "off" });
    project.provide("postgres", { url: server.url() });
  }
  return async () => server?.stop();
}
