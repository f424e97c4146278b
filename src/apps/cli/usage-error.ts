/** Thrown for arguments or input of the command line that are not valid. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
