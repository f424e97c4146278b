// What Holdfast requires of an MCP library. Everything in `src/tools/sources/mcp` except `sdk/` uses only this interface.

export type RemoteTool = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of type object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** What the server declares about the tool; unverified. */
  readonly hints: ToolHints;
  /** The tool can only be called as a task, which Holdfast does not support. */
  readonly needsTask: boolean;
};

export type ToolHints = {
  readonly readOnly?: boolean;
  readonly idempotent?: boolean;
  readonly destructive?: boolean;
};

export type RemoteResource = {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
};

export type RemoteResourceTemplate = Omit<RemoteResource, "uri"> & { readonly uriTemplate: string };

export type RemotePrompt = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required: boolean;
  }[];
};

export type ServerInfo = {
  readonly name: string;
  readonly version: string;
  /** The negotiated version. */
  readonly protocolVersion: string;
  readonly instructions?: string;
  readonly capabilities: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
};

export type Progress = { readonly progress: number; readonly total?: number; readonly message?: string };

/** A request from a server to the user, during its work. */
export type ElicitRequest =
  /** Requests values that match a JSON Schema of an object with plain fields. */
  | { readonly type: "form"; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  /** Requests that the user opens a URL. What the user does there does not pass through Holdfast. */
  | { readonly type: "url"; readonly message: string; readonly url: string };

export type ElicitResult =
  | {
      readonly type: "accept";
      readonly values?: Readonly<Record<string, string | number | boolean | string[]>>;
    }
  | { readonly type: "decline" }
  | { readonly type: "cancel" };

export type Elicit = (question: ElicitRequest, signal: AbortSignal) => Promise<ElicitResult>;

/** Answers a server's request to a model: `params` and the answer are the protocol's `sampling/createMessage`. */
export type Sample = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

export type RequestOptions = {
  /** Its abort cancels the request and notifies the server. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
};

type ListKind = "tools" | "resources" | "prompts";

/** Events that a server triggers by itself. */
export type ConnectionEvents = {
  readonly onListChanged: (kind: ListKind) => void;
  /** Not called after `close`. All pending requests have failed before. */
  readonly onClosed: () => void;
  /** The server has logged a message for its users. */
  readonly onLogMessage: (text: string) => void;
  /** The server sent something invalid that did no harm. */
  readonly onProtocolError: (what: string) => void;
  readonly elicit: Elicit;
  readonly sample: Sample;
};

/** An MCP connection. Its methods reject with an `McpError`, and with nothing else. */
export interface McpConnection {
  readonly serverInfo: ServerInfo;
  listTools(options: RequestOptions): Promise<readonly RemoteTool[]>;
  listResources(options: RequestOptions): Promise<readonly RemoteResource[]>;
  listResourceTemplates(options: RequestOptions): Promise<readonly RemoteResourceTemplate[]>;
  listPrompts(options: RequestOptions): Promise<readonly RemotePrompt[]>;
  /** Returns the unprocessed result; see `tool-result.ts`. */
  callTool(
    name: string,
    parameters: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
  /** Returns the unprocessed contents. */
  readResource(uri: string, options: RequestOptions): Promise<unknown>;
  close(): Promise<void>;
}
