import { ATTEMPT_COLUMNS, type CommitAttempt } from "./commit-tokens.ts";
import type { ConnectionLimits } from "./connection-pool.ts";
import { hashLockNumber } from "./locks.ts";
import type { SchemaPart } from "./migrate.ts";
import { quoteIdentifier } from "./quote-identifier.ts";

/** The row of the last statement that begins a write. */
export type TransactionStart = Omit<CommitAttempt, "token"> & { readonly version: number };

/** Ensures that an acknowledged write is on disk, even if the role's own setting would not wait for it. */
const DURABLE = `CASE WHEN current_setting('synchronous_commit') = 'off'
  THEN set_config('synchronous_commit', 'on', true) END`;

const BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED";

/** The statements with which the transactions on one schema begin, each sent as one message. */
export class TransactionOpening {
  /** Begins a transaction that sees one consistent state of the whole database. */
  readonly readSql: string;
  /** Begins the transaction that gives up an earlier write. It takes no locks, which that write may still have. */
  readonly giveUpSql: string;
  readonly #schema: string;
  readonly #part: SchemaPart;
  readonly #settings: string;

  constructor(schema: string, part: SchemaPart, limits: ConnectionLimits) {
    this.#schema = schema;
    this.#part = part;
    // Set within the transaction, so that they apply on any connection of a pooler.
    this.#settings = [
      `SET LOCAL search_path TO ${quoteIdentifier(schema)}, pg_temp`,
      `SET LOCAL statement_timeout = ${limits.statementMs}`,
      `SET LOCAL lock_timeout = ${limits.lockMs}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${limits.idleMs}`,
    ].join("; ");
    this.readSql = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${this.#settings}`;
    this.giveUpSql = [BEGIN_WRITE, this.#settings, `SELECT ${DURABLE}`].join("; ");
  }

  /**
   * Begins a write, which first takes its locks. Numbered writes share the lock on everything; a write of everything owns it.
   * The last statement returns a `TransactionStart`.
   */
  buildWriteSql(numbers: readonly string[] | "everything"): string {
    const whole = hashLockNumber(this.#schema, "everything");
    const locks =
      numbers === "everything"
        ? [`SELECT pg_advisory_xact_lock('${whole}')`]
        : [
            `SELECT pg_advisory_xact_lock_shared('${whole}')`,
            ...numbers.map((number) => `SELECT pg_advisory_xact_lock('${number}')`),
          ];
    const facts = `SELECT ${ATTEMPT_COLUMNS}, ${DURABLE} AS durable,
      (SELECT max(version) FROM migrations WHERE part = '${this.#part.name}') AS version`;
    return [BEGIN_WRITE, this.#settings, ...locks, facts].join("; ");
  }
}
