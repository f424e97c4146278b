import { setImmediate as nextTurn } from "node:timers/promises";
import { at } from "../../kill-point.ts";
import type { Database } from "../../postgres/database.ts";
import { PostgresError } from "../../postgres/fault.ts";
import type { Engine } from "../sql/engine.ts";
import {
  type OperationArguments,
  type OperationName,
  type OperationResult,
  operation,
} from "../sql/operations.ts";
import type { Work } from "../sql/statement.ts";
import type { Vault } from "../sql/vault.ts";
import { StoreError } from "../store-error.ts";
import { lockedSessions } from "./locked-sessions.ts";

/** How long reads may hold the main thread before they let others run. */
const SLICE_MS = 8;

/** One schema of a database that any number of hosts may use at once. */
export class PostgresEngine implements Engine {
  readonly #database: Database;
  readonly #vault: Vault;
  #sliceEndMs = 0;

  constructor(database: Database, vault: Vault) {
    this.#database = database;
    this.#vault = vault;
  }

  async write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    const work = () =>
      this.#vault.through(uncommitted(operation(name, values) as Work<OperationResult<Name>>));
    at("commit:begin");
    const value = await told(this.#database.write(lockedSessions(name, values), work));
    at("commit:done");
    return value;
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return told(this.#database.read(() => this.#vault.through(work())));
  }

  async breath(): Promise<void> {
    if (performance.now() < this.#sliceEndMs) return;
    await nextTurn();
    this.#sliceEndMs = performance.now() + SLICE_MS;
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** Passes the place where all of it is asked for and nothing is committed. */
function* uncommitted<T>(work: Work<T>): Work<T> {
  const value = yield* work;
  at("commit:end");
  return value;
}

/** Faults of the database are faults of the store, and so are words that are no JSON any more, where JSON was written. */
export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SyntaxError) {
      const found = `The transcript is damaged: what it holds cannot be read: ${error.message}.`;
      const advice = "Restore a backup (docs/operations.md).";
      throw new StoreError("damaged", `${found} ${advice}`, { cause: error });
    }
    if (!(error instanceof PostgresError)) throw error;
    throw new StoreError(error.fault, `Transcript in ${error.message}`, { cause: error });
  }
}
