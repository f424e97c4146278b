import type { EncryptionOptions } from "../../../platform/encryption/resolve-encryption.ts";
import type { ConnectionLimits } from "../../postgres/connection-pool.ts";
import { Database } from "../../postgres/database.ts";
import { parseDatabaseTarget } from "../../postgres/database-target.ts";
import { checkKeys, createEncryptedColumns } from "../sql/column-encryption.ts";
import { SqlTranscript } from "../sql/sql-transcript.ts";
import { PostgresEngine, toStoreFaults } from "./postgres-engine.ts";
import { MIGRATIONS } from "./schema.ts";

export type PostgresOptions = {
  /** `postgresql://user:password@host:port/database`; docs/postgresql.md lists the parameters after `?`. */
  readonly url: string;
  /** How long operations are retried after a lost server, a deadlock and the like; 10 s by default. */
  readonly deadlineMs?: number | undefined;
  /** The encryption; by default that of `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
};

/** The transcript in a PostgreSQL database, which any number of processes and hosts can use concurrently. */
export class PostgresTranscript extends SqlTranscript {
  /** The address without its password. */
  readonly name: string;

  private constructor(name: string, engine: PostgresEngine) {
    super(engine);
    this.name = name;
  }

  /** Opens the database, and creates missing schema and tables. Throws `StoreError` if it must not or cannot be used. */
  static async open({ url, deadlineMs, limits, encryption }: PostgresOptions): Promise<PostgresTranscript> {
    const openDatabase = async () =>
      Database.open({
        target: parseDatabaseTarget(url),
        part: { name: "transcript", steps: MIGRATIONS },
        deadlineMs,
        limits,
      });
    const columns = createEncryptedColumns("The transcript in PostgreSQL", encryption);
    const database = await toStoreFaults(openDatabase());
    const engine = new PostgresEngine(database, columns);
    try {
      await engine.read(checkKeys);
    } catch (error) {
      await database.close();
      throw error;
    }
    return new PostgresTranscript(database.name, engine);
  }
}
