/**
 * Why a repository cannot answer. `unsafe`: reading it would leave its folder, which only a trusted repository may ask
 * for. `unknown-revision` and `unknown-path` are mistakes in a question; the others concern the repository or git itself.
 */
export type RepositoryFault =
  | "not-a-repository"
  | "unsupported"
  | "unsafe"
  | "unknown-revision"
  | "unknown-path"
  | "timed-out"
  | "cancelled"
  | "failed";

/** A repository did not answer. The message says what happened, to what, and what to do. */
export class RepositoryError extends Error {
  override readonly name = "RepositoryError";
  readonly fault: RepositoryFault;

  constructor(fault: RepositoryFault, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.fault = fault;
  }
}
