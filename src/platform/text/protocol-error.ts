/**
 * The state machine received an impossible event, which is a bug of Holdfast. Nothing catches this error, so a workflow
 * that throws it waits for a fixed release instead of failing.
 */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}
