import type {
  ConnectionEvents,
  McpConnection,
  RemoteTool,
  RequestOptions,
  ServerFacts,
} from "./connection.ts";

export type Listing = { readonly facts: ServerFacts; readonly tools: readonly RemoteTool[] };

export type KeptOptions = {
  readonly open: (events: ConnectionEvents, request: RequestOptions) => Promise<McpConnection>;
  readonly mask: (text: string) => string;
  readonly log: {
    debug(facts: object, message: string): void;
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  /** It has said what it offers; `known` has it. */
  readonly listed?: (() => void) | undefined;
  /** It was idle, and nobody needs it. */
  readonly idle?: () => void;
};
