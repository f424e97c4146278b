import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeAll, beforeEach, inject } from "vitest";
import {
  type PostgresOptions,
  PostgresTranscript,
} from "../../src/store/transcript/postgres/postgres-transcript.ts";

/** Returns why the tests of a file cannot run here, or undefined if they can. */
export function findMissingPostgres(): string | undefined {
  const server = inject("postgres");
  return "missing" in server ? server.missing : undefined;
}

/** A database per test file, a schema per test, and transcripts that are closed after the test. */
export class PostgresFixture {
  /** The URL of this test's schema. */
  url = "";
  schema = "";
  #database = "";
  readonly #openTranscripts: PostgresTranscript[] = [];
  #schemas = 0;
  readonly #free: string[] = [];
  readonly #inUse: string[] = [];

  static forEachTest(): PostgresFixture {
    const bench = new PostgresFixture();
    beforeAll(async () => {
      const server = inject("postgres");
      if ("missing" in server) return;
      const name = `bench_${randomUUID().replaceAll("-", "_")}`;
      await runQuery(server.url, `CREATE DATABASE ${name}`);
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      bench.#database = url.href;
    });
    beforeEach(() => {
      bench.schema = bench.#nameSchema();
      bench.url = bench.formatUrl({ schema: bench.schema });
    });
    afterEach(async () => {
      for (const transcript of bench.#openTranscripts.splice(0)) await transcript.close();
      await bench.#releaseSchemas();
    });
    return bench;
  }

  /**
   * Returns a schema that only this test uses. It may have the empty tables of an earlier test: creating tables takes the
   * server longer than most tests.
   */
  acquireSchema(): string {
    const schema = this.#free.pop() ?? this.#nameSchema();
    this.#inUse.push(schema);
    return schema;
  }

  #nameSchema(): string {
    this.#schemas += 1;
    return `test_${this.#schemas}`;
  }

  async #releaseSchemas(): Promise<void> {
    const schemas = this.#inUse.splice(0);
    if (schemas.length === 0) return;
    await runQuery(this.#database, buildDeletes(schemas));
    this.#free.push(...schemas);
  }

  formatUrl(parameters: Readonly<Record<string, string>>): string {
    const url = new URL(this.#database);
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  async open(of: Partial<PostgresOptions> = {}): Promise<PostgresTranscript> {
    const transcript = await PostgresTranscript.open({ url: this.url, ...of });
    this.#openTranscripts.push(transcript);
    return transcript;
  }

  /** Runs a query in this test's schema, as psql does. */
  async sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return runQuery<Row>(this.#database, text, values, this.schema);
  }
}

/**
 * Builds the statements that delete all rows of the schemas' tables, except the list of migrations. Foreign keys are not
 * checked meanwhile, so the order does not matter.
 */
function buildDeletes(schemas: readonly string[]): string {
  return `SET lock_timeout = '30s';
    SET session_replication_role = replica;
    DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname IN (${schemas.map((schema) => `'${schema}'`).join(", ")}) AND tablename <> 'migrations'
      LOOP
        EXECUTE 'DELETE FROM ' || name;
      END LOOP;
    END $$`;
}

export async function runQuery<Row>(
  url: string,
  text: string,
  values: unknown[] = [],
  schema?: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    if (schema !== undefined) await client.query(`SET search_path TO "${schema}"`);
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
