import type {
  ConnectionEvents,
  McpConnection,
  RemoteTool,
  RequestOptions,
  ServerInfo,
} from "./mcp-connection.ts";

export type ServerListing = { readonly facts: ServerInfo; readonly tools: readonly RemoteTool[] };

export type PooledServerOptions = {
  readonly open: (events: ConnectionEvents, request: RequestOptions) => Promise<McpConnection>;
  readonly mask: (text: string) => string;
  readonly log: {
    debug(facts: object, message: string): void;
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  /** It has said what it offers; `known` has it. */
  readonly onListed?: (() => void) | undefined;
  /** It was idle, and nobody needs it. */
  readonly onIdle?: () => void;
};
