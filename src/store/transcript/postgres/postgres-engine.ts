import { setImmediate as nextTurn } from "node:timers/promises";
import { reachKillPoint } from "../../../platform/kill-point.ts";
import type { Database } from "../../postgres/database.ts";
import { PostgresError } from "../../postgres/postgres-error.ts";
import type { EncryptedColumns } from "../sql/column-encryption.ts";
import type { Engine } from "../sql/engine.ts";
import {
  type OperationArguments,
  type OperationName,
  type OperationResult,
  runOperation,
} from "../sql/operations.ts";
import type { Work } from "../sql/statement.ts";
import { StoreError } from "../store-error.ts";
import { getLockedSessions } from "./get-locked-sessions.ts";

/** How long reads may block the main thread before they yield. */
const SLICE_MS = 8;

/** The engine of one schema of a database that any number of hosts can use concurrently. */
export class PostgresEngine implements Engine {
  readonly #database: Database;
  readonly #columns: EncryptedColumns;
  #sliceEndMs = 0;

  constructor(database: Database, columns: EncryptedColumns) {
    this.#database = database;
    this.#columns = columns;
  }

  async write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    const work = () =>
      this.#columns.encryptWork(checkUncommitted(runOperation(name, values) as Work<OperationResult<Name>>));
    reachKillPoint("commit:begin");
    const value = await toStoreFaults(this.#database.write(getLockedSessions(name, values), work));
    reachKillPoint("commit:done");
    return value;
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return toStoreFaults(this.#database.read(() => this.#columns.encryptWork(work())));
  }

  async yieldIfDue(): Promise<void> {
    if (performance.now() < this.#sliceEndMs) return;
    await nextTurn();
    this.#sliceEndMs = performance.now() + SLICE_MS;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** Reaches the kill point after all statements are sent and before the commit. */
function* checkUncommitted<T>(work: Work<T>): Work<T> {
  const value = yield* work;
  reachKillPoint("commit:end");
  return value;
}

/** Converts faults of the database, and invalid stored JSON, to faults of the store. */
export async function toStoreFaults<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SyntaxError) {
      const found = `The transcript is damaged: its content cannot be read: ${error.message}.`;
      const advice = "Restore a backup (docs/operations.md).";
      throw new StoreError("damaged", `${found} ${advice}`, { cause: error });
    }
    if (!(error instanceof PostgresError)) throw error;
    const subject = error.message.startsWith("PostgreSQL") ? "Transcript in " : "Transcript: ";
    throw new StoreError(error.fault, `${subject}${error.message}`, { cause: error });
  }
}
