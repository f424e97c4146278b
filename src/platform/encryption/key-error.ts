/**
 * Why a key could not be used. `invalid`: the configuration specifies no usable key. `missing`: something is encrypted
 * with a key that this process does not have. `mismatch`: the key of this name cannot decrypt it.
 */
export type KeyFault = "invalid" | "missing" | "mismatch";

/** An error of a key. Its message never contains a key or decrypted data. */
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
