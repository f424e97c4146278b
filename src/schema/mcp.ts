import { z } from "zod";
import { BY_REFERENCE, Headers, holdsSecret, isLiteralSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";
import { SecretReference } from "./model.ts";
import { ReplayClass } from "./tool.ts";

// Model Context Protocol servers whose tools an agent has. docs/mcp.md describes the fields.

const MAX_TEXT = 8192;
const MAX_LIST = 256;

/** May contain references such as `${TOKEN}`, which the worker resolves when it starts the server. */
const WithReferences = z.string().max(MAX_TEXT);

/** Names of variables that only contain secrets. */
const SECRET_VARIABLE = /(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** A flag of a command whose value, in the next argument, is a secret. */
const SECRET_ARGUMENT =
  /^--?(?:[a-z]+-)*(?:api[-_]?key|token|secret|password|passwd|passphrase|credentials?)$/i;

const Variables = z.record(z.string().min(1).max(256), WithReferences).superRefine((values, context) => {
  for (const [name, value] of Object.entries(values)) {
    const isSecret = (SECRET_VARIABLE.test(name) && isLiteralSecret(value)) || holdsSecret(value);
    if (!isSecret) continue;
    context.addIssue({
      code: "custom",
      path: [name],
      message: `"${name}" looks like a secret; ${BY_REFERENCE}`,
    });
  }
});

const Arguments = z
  .array(WithReferences)
  .max(MAX_LIST)
  .superRefine((values, context) => {
    for (const [index, word] of values.entries()) {
      const followsFlag = SECRET_ARGUMENT.test(values[index - 1] ?? "") && !word.startsWith("-");
      if (!holdsSecret(word) && !(followsFlag && isLiteralSecret(word))) continue;
      context.addIssue({ code: "custom", path: [index], message: `looks like a secret; ${BY_REFERENCE}` });
    }
  });

/** Without user name and password, which would be secrets in the definition. */
const Address = z
  .url({ protocol: /^https?$/, error: "an address that begins with http:// or https://" })
  .max(2048)
  .refine((text) => !/^https?:\/\/[^/?#]*@/i.test(text), {
    error: `remove the user name and password from the address; put a header in \`headers\` and ${BY_REFERENCE}`,
  })
  .refine((text) => !holdsSecret(text), NO_SECRET_IN_ADDRESS);

const Stdio = z.strictObject({
  type: z.literal("stdio"),
  /** A program, found as a shell would find it; no shell runs it. */
  command: z.string().min(1).max(4096),
  /** Other processes can read them: put secrets in `env`. */
  args: Arguments.default([]),
  /** Added to PATH, HOME, LANG and the like; the server receives nothing else of the worker's own environment. */
  env: Variables.default({}),
  /** The worker's current folder by default. */
  cwd: z.string().min(1).max(4096).optional(),
});

const Bearer = z.strictObject({
  type: z.literal("bearer"),
  /** The token that is sent with each request. */
  token: SecretReference,
});

/** Where tokens are issued: the endpoint itself, or the issuer, whose published metadata names it. */
const tokenEndpoint = {
  /** The endpoint that issues tokens. */
  tokenUrl: Address.optional(),
  /** The issuer, whose published metadata names the endpoint. */
  issuer: Address.optional(),
};

const NO_ENDPOINT_ERROR = {
  error: "specify `tokenUrl` or `issuer`: a server must not decide where its client's secret is sent",
};

const ClientCredentials = z
  .strictObject({
    type: z.literal("oauth"),
    /** The id of the client at the issuer. */
    clientId: z.string().min(1).max(1024),
    /** The secret of the client. */
    clientSecret: SecretReference,
    /** The scopes to request, separated by spaces. */
    scope: z.string().max(1024).optional(),
    /** How the secret is sent with the token request. */
    clientAuth: z.enum(["basic", "post"]).default("basic"),
    ...tokenEndpoint,
  })
  .refine(({ tokenUrl, issuer }) => tokenUrl !== undefined || issuer !== undefined, NO_ENDPOINT_ERROR);

const ObtainedToken = z
  .strictObject({
    type: z.literal("oauth-token"),
    /** The token that is sent with each request until it expires. */
    accessToken: SecretReference,
    /** The token that obtains the next access token. */
    refreshToken: SecretReference.optional(),
    /** The id of the client at the issuer, for a refresh. */
    clientId: z.string().min(1).max(1024).optional(),
    /** The secret of the client, for a refresh. */
    clientSecret: SecretReference.optional(),
    /** How the secret is sent with the token request. */
    clientAuth: z.enum(["basic", "post"]).default("basic"),
    ...tokenEndpoint,
  })
  .refine(
    ({ refreshToken, tokenUrl, issuer }) =>
      refreshToken === undefined || tokenUrl !== undefined || issuer !== undefined,
    NO_ENDPOINT_ERROR,
  );

/** How requests to an MCP server are authenticated. */
export const McpAuth = z.discriminatedUnion("type", [Bearer, ClientCredentials, ObtainedToken]);
export type McpAuth = z.infer<typeof McpAuth>;

const Http = z.strictObject({
  type: z.literal("http"),
  /** The address of the server. */
  url: Address,
  /** Headers that are sent with every request. A secret in a value is a reference: `Bearer ${TOKEN}`. */
  headers: Headers.default({}),
  /** How requests are authenticated; not at all if absent. */
  auth: McpAuth.optional(),
});

const McpTransport = z.discriminatedUnion("type", [Stdio, Http]);

/** Names as the server defines them; `*` stands for any characters, `?` for one. */
const NamePatterns = z.array(z.string().min(1).max(256)).max(MAX_LIST);

const DAY_MS = 24 * 60 * 60 * 1000;

/** A server of the Model Context Protocol whose tools an agent has. */
export const McpServer = z.strictObject({
  /** The display name, and the default prefix of its tools. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" and "-"'),
  /** How the server is reached. */
  transport: McpTransport,
  /** A tool is `{prefix}__{name}`; by default the server's name. Empty: the names as the server defines them. */
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}$/, 'use at most 32 letters, digits, "_" and "-"')
    .optional(),
  /** Tools that are offered; all of them by default. */
  include: NamePatterns.optional(),
  /** Tools that are not offered, even if `include` lists them. */
  exclude: NamePatterns.default([]),
  /** What a second execution means, by the server's name for the tool, or by a pattern; the longest match applies. */
  replay: z.record(z.string().min(1).max(256), ReplayClass).default({}),
  /** Tools whose calls need approval, unless a rule of the policy allows them. */
  confirm: NamePatterns.default([]),
  /**
   * Trusts the server's annotations of its tools (`readOnlyHint`, `idempotentHint`, `destructiveHint`). Otherwise each tool
   * is `unsafe`, unless `replay` says otherwise.
   */
  trusted: z.boolean().default(false),
  /** For one request (MCP-07). Progress of a call restarts it, up to `maxTimeoutMs`. */
  timeoutMs: z.number().int().positive().max(DAY_MS).default(30_000),
  /** By default ten minutes, or `timeoutMs` if that is longer. */
  maxTimeoutMs: z.number().int().positive().max(DAY_MS).optional(),
  /** For the first answer after a start; `timeoutMs` by default. */
  startTimeoutMs: z.number().int().positive().max(DAY_MS).optional(),
  /** The server is stopped after this time without a request; the next request starts it again. */
  idleMs: z.number().int().positive().max(DAY_MS).default(300_000),
  /** The number of concurrent requests; others wait (MCP-10). */
  concurrency: z.number().int().min(1).max(64).default(1),
  /** Whether a loop requires it to open; otherwise the agent works without its tools, with a warning. */
  required: z.boolean().default(true),
  /** Offers two tools that list and read its resources. */
  resources: z.boolean().default(false),
  /** Whether the server may request answers from the agent's model. */
  sampling: z.boolean().default(false),
  /** Whether the server may ask the user a question while a tool runs. */
  elicitation: z.boolean().default(true),
});
export type McpServer = z.infer<typeof McpServer>;
