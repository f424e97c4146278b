import type {
  ConnectionEvents,
  McpConnection,
  RemoteTool,
  RequestOptions,
  ServerInfo,
} from "./mcp-connection.ts";
import type { SandboxWatch } from "./sandbox-watch.ts";

export type ServerListing = { readonly serverInfo: ServerInfo; readonly tools: readonly RemoteTool[] };

export type PooledServerOptions = {
  readonly open: (events: ConnectionEvents, request: RequestOptions) => Promise<McpConnection>;
  readonly mask: (text: string) => string;
  /** Absent for a server that has no process here. */
  readonly sandbox?: SandboxWatch | undefined;
  readonly log: {
    debug(facts: object, message: string): void;
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
  /** Called after the server has listed its tools. */
  readonly onListed?: (() => void) | undefined;
  /** Called when the server was idle and has no users. */
  readonly onIdle?: () => void;
};
