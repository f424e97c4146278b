import type { EncryptionOptions } from "../../../platform/encryption/encryption.ts";
import type { Limits } from "../../postgres/connections.ts";
import { Database } from "../../postgres/database.ts";
import { databaseTarget } from "../../postgres/target.ts";
import { SqlTranscript } from "../sql/sql-transcript.ts";
import { tryKeys, vaultFor } from "../sql/vault.ts";
import { PostgresEngine, told } from "./postgres-engine.ts";
import { MIGRATIONS } from "./schema.ts";

export type PostgresOptions = {
  /** `postgresql://user:password@host:port/database`; what may stand behind a `?` is in docs/postgresql.md. */
  readonly url: string;
  /** How long a lost server, a deadlock and the like are met with another try; 10 s unless said. */
  readonly patienceMs?: number | undefined;
  /** With what it is sealed. Else `HOLDFAST_ENCRYPTION_KEYS`. */
  readonly encryption?: EncryptionOptions | undefined;
  readonly limits?: Partial<Limits> | undefined;
};

/** The transcript in a PostgreSQL database, which any number of processes and hosts may use at once. */
export class PostgresTranscript extends SqlTranscript {
  /** The address without its password. */
  readonly name: string;

  private constructor(name: string, engine: PostgresEngine) {
    super(engine);
    this.name = name;
  }

  /** Makes schema and tables where there are none. Throws `StoreError` for what must not or cannot be used. */
  static async open({ url, patienceMs, limits, encryption }: PostgresOptions): Promise<PostgresTranscript> {
    const opening = async () =>
      Database.open({
        target: databaseTarget(url),
        part: { name: "transcript", steps: MIGRATIONS },
        patienceMs,
        limits,
      });
    const vault = vaultFor("The transcript in PostgreSQL", encryption);
    const database = await told(opening());
    const engine = new PostgresEngine(database, vault);
    try {
      await engine.read(tryKeys);
    } catch (error) {
      await database.close();
      throw error;
    }
    return new PostgresTranscript(database.name, engine);
  }
}
