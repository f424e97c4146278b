/**
 * The machine was fed what cannot have happened: our mistake, never the world's. Nobody catches it, so a workflow
 * that meets it waits for a mended release instead of failing.
 */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}
