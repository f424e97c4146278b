import type { EncryptedWork, Statement, Value } from "../sql/statement.ts";
import { Database, type libsql } from "./libsql.ts";

const NO_ROWS: readonly unknown[] = [];

/** One connection with its prepared statements. Nothing waits: a statement that meets a lock throws at once. */
export class SqliteConnection {
  readonly #db: libsql.Database;
  readonly #statements = new Map<string, libsql.Statement<unknown[]>>();

  /** @param location - A path or a `file:` URI. */
  constructor(location: string) {
    this.#db = new Database(location);
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction;
  }

  get<Row>(text: string, ...values: Value[]): Row | undefined {
    return this.#prepareStatement(text).get(checkValues(values)) as Row | undefined;
  }

  all<Row>(text: string, ...values: Value[]): Row[] {
    return this.#prepareStatement(text).all(checkValues(values)) as Row[];
  }

  run(text: string, ...values: Value[]): void {
    this.#prepareStatement(text).run(checkValues(values));
  }

  runStatement({ text, values, returns }: Statement): readonly unknown[] {
    const statement = this.#prepareStatement(text);
    switch (returns) {
      case "row": {
        // Blobs are buffers here, but array buffers in `all`.
        const row = statement.get(checkValues(values));
        return row === undefined ? NO_ROWS : [row];
      }
      case "rows":
        return statement.all(checkValues(values));
      case "nothing":
        statement.run(checkValues(values));
        return NO_ROWS;
    }
  }

  /** Runs statements without values, separated by semicolons. */
  exec(text: string): void {
    this.#db.exec(text);
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepareStatement(text: string): libsql.Statement<unknown[]> {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}

/** Runs work on one connection, synchronously. */
export function runWork<T>(sql: SqliteConnection, work: EncryptedWork<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next(sql.runStatement(step.value));
  return step.value;
}

/** Throws for values of other types, because libsql ends the whole process when it receives one. */
function checkValues(values: readonly Value[]): readonly Value[] {
  for (const value of values) {
    const fits =
      typeof value === "string" || typeof value === "number" || value === null || Buffer.isBuffer(value);
    if (!fits) throw new TypeError(`SQLite cannot hold a value of type ${typeof value}`);
  }
  return values;
}
