import type { OperationArguments, OperationName, OperationResult } from "./operations.ts";
import type { Work } from "./statement.ts";

/** Runs work on a database. Throws `StoreError` for faults of the database; errors of an operation pass unchanged. */
export interface Engine {
  /** Writes all of an operation or nothing; its reads stay valid until the commit. Resolves when the data is on disk. */
  write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>>;
  /** @param work - Restarted from its beginning on a retry. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Yields to other tasks if a read has run long enough. */
  yieldIfDue(): Promise<void>;
  close(): Promise<void>;
}
