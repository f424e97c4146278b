/**
 * Why a key could not be used. `invalid`: the configuration names no usable key. `missing`: something is sealed with a
 * key that is not here. `mismatch`: a key of this name is here, and does not open it.
 */
export type KeyFault = "invalid" | "missing" | "mismatch";

/** A message never holds a key, nor what was sealed. */
export class KeyError extends Error {
  override readonly name = "KeyError";
  readonly fault: KeyFault;
  readonly keyId: string | undefined;

  constructor(fault: KeyFault, message: string, keyId?: string) {
    super(message);
    this.fault = fault;
    this.keyId = keyId;
  }
}
