import type { OperationArguments, OperationName, OperationResult } from "./operations.ts";
import type { Work } from "./statement.ts";

/** What carries work out on a database. Throws `StoreError` for faults of it; what an operation throws passes. */
export interface Engine {
  /** All of an operation is written, or nothing, and what it has read holds until then. Resolves when it is on disk. */
  write<Name extends OperationName>(
    name: Name,
    ...values: OperationArguments<Name>
  ): Promise<OperationResult<Name>>;
  /** @param work - Begun anew when it has to be done again. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Lets others run when a read has taken long enough. */
  yieldIfDue(): Promise<void>;
  close(): Promise<void>;
}
