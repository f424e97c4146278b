import type { SandboxReport } from "../../../schema/sandbox.ts";
import type { Elicit, Progress, Sample } from "./mcp-connection.ts";

export type ToolCallOptions = {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Answers the server's requests to the user during this call. Without it they are declined. */
  readonly elicit?: Elicit | undefined;
  /** Answers the server's requests to a model, if the definition allows them. */
  readonly sample?: Sample | undefined;
  /** Receives what has happened in the sandbox of the server's process during the call: at its begin, and at its end. */
  readonly onSandbox?: ((report: SandboxReport) => void) | undefined;
};

export type ToolCallResult = {
  /** The unprocessed result; see `tool-result.ts`. */
  readonly result: unknown;
  /** What the server requested in vain during the call, one sentence each. */
  readonly notes: readonly string[];
};
