// What we want of a library that speaks MCP. Everything in `src/tools/sources/mcp` but `sdk/` is written against this.

export type RemoteTool = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of type object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** What the server says of it; nothing vouches for it. */
  readonly hints: ToolHints;
  /** It can only be called as a task, which is not spoken here. */
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
  /** As agreed on. */
  readonly protocolVersion: string;
  readonly instructions?: string;
  readonly offers: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
};

export type Progress = { readonly progress: number; readonly total?: number; readonly message?: string };

/** A server asks a person, through us, while it works. */
export type ElicitRequest =
  /** For values that fit a JSON Schema of an object with plain fields. */
  | { readonly type: "form"; readonly message: string; readonly schema: Readonly<Record<string, unknown>> }
  /** To open an address and do something there; what is done there does not pass through us. */
  | { readonly type: "url"; readonly message: string; readonly url: string };

export type ElicitResult =
  | {
      readonly type: "accept";
      readonly values?: Readonly<Record<string, string | number | boolean | string[]>>;
    }
  | { readonly type: "decline" }
  | { readonly type: "cancel" };

export type Elicit = (question: ElicitRequest, signal: AbortSignal) => Promise<ElicitResult>;

/** A server asks a model, through us: `params` and the answer are `sampling/createMessage` of the protocol. */
export type Sample = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

export type RequestOptions = {
  /** Its end cancels the request, and the server is told. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
};

type ListKind = "tools" | "resources" | "prompts";

/** What a server may do of its own accord. */
export type ConnectionEvents = {
  readonly onListChanged: (kind: ListKind) => void;
  /** Not after `close`. Everything under way has been failed. */
  readonly onClosed: () => void;
  /** What it has to say to people. */
  readonly onLogMessage: (text: string) => void;
  /** Something that does not belong here, and did no harm. */
  readonly onProtocolError: (what: string) => void;
  readonly ask: Elicit;
  readonly sample: Sample;
};

/** Everything rejects with an `McpError`, and with nothing else. */
export interface McpConnection {
  readonly facts: ServerInfo;
  listTools(options: RequestOptions): Promise<readonly RemoteTool[]>;
  listResources(options: RequestOptions): Promise<readonly RemoteResource[]>;
  listResourceTemplates(options: RequestOptions): Promise<readonly RemoteResourceTemplate[]>;
  listPrompts(options: RequestOptions): Promise<readonly RemotePrompt[]>;
  /** The result as it came: see `result.ts`. */
  callTool(
    name: string,
    parameters: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
  /** The contents as they came. */
  readResource(uri: string, options: RequestOptions): Promise<unknown>;
  close(): Promise<void>;
}
