import type { Engine } from "../sql/engine.ts";
import type { OperationArguments, OperationName, OperationResult } from "../sql/operations.ts";
import type { Work } from "../sql/statement.ts";
import { StoreError } from "../store-error.ts";
import type { SqliteReader } from "./sqlite-reader.ts";
import type { SqliteWriter } from "./sqlite-writer.ts";

/** The engine of one file: a thread that writes, and a connection that reads. */
export class SqliteEngine implements Engine {
  readonly #path: string;
  readonly #reader: SqliteReader;
  readonly #writer: SqliteWriter | undefined;

  /** @param writer - If absent, the file is read-only. */
  constructor(path: string, reader: SqliteReader, writer: SqliteWriter | undefined) {
    this.#path = path;
    this.#reader = reader;
    this.#writer = writer;
  }

  async write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>> {
    if (this.#writer === undefined) {
      throw new StoreError("read-only", `The transcript ${this.#path} is open for reading only.`);
    }
    return this.#writer.write(name, ...values);
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return this.#reader.read(work);
  }

  yieldIfDue(): Promise<void> {
    return this.#reader.yieldIfDue();
  }

  async close(): Promise<void> {
    await this.#writer?.close();
    this.#reader.close();
  }
}
