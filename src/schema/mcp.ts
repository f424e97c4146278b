import { z } from "zod";
import { BY_REFERENCE, Headers, holdsSecret, isLiteralSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";
import { SecretReference } from "./model.ts";
import { SandboxSettings } from "./sandbox.ts";
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
  command: z
    .string()
    .min(1)
    .max(4096)
    .describe("The program that the worker starts, found as a shell would find it; no shell runs it."),
  args: Arguments.default([]).describe(
    "The arguments of the program. Other processes can read them: put secrets in `env`.",
  ),
  env: Variables.default({}).describe(
    "Variables that are added to PATH, HOME, LANG and the like; the server receives nothing else of the worker's own environment.",
  ),
  cwd: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      "The folder in which the program starts, within what its sandbox contains; the workspace by default, or the worker's current folder without a sandbox.",
    ),
  sandbox: SandboxSettings.optional().describe(
    "The sandbox in which the program runs, such as one with network; by default the agent's, or else the worker's.",
  ),
});

const Bearer = z.strictObject({
  type: z.literal("bearer"),
  token: SecretReference.describe("The token that is sent with each request."),
});

/** Where tokens are issued: the endpoint itself, or the issuer, whose published metadata names it. */
const tokenEndpoint = {
  tokenUrl: Address.optional().describe("The endpoint that issues tokens."),
  issuer: Address.optional().describe("The issuer, whose published metadata names the endpoint."),
};

const NO_ENDPOINT_ERROR = {
  error: "specify `tokenUrl` or `issuer`: a server must not decide where its client's secret is sent",
};

const ClientCredentials = z
  .strictObject({
    type: z.literal("oauth"),
    clientId: z.string().min(1).max(1024).describe("The id of the client at the issuer."),
    clientSecret: SecretReference.describe("The secret of the client."),
    scope: z.string().max(1024).optional().describe("The scopes to request, separated by spaces."),
    clientAuth: z
      .enum(["basic", "post"])
      .default("basic")
      .describe("How the secret is sent with the token request."),
    ...tokenEndpoint,
  })
  .refine(({ tokenUrl, issuer }) => tokenUrl !== undefined || issuer !== undefined, NO_ENDPOINT_ERROR);

const ObtainedToken = z
  .strictObject({
    type: z.literal("oauth-token"),
    accessToken: SecretReference.describe("The token that is sent with each request until it expires."),
    refreshToken: SecretReference.optional().describe("The token that obtains the next access token."),
    clientId: z
      .string()
      .min(1)
      .max(1024)
      .optional()
      .describe("The id of the client at the issuer, for a refresh."),
    clientSecret: SecretReference.optional().describe("The secret of the client, for a refresh."),
    clientAuth: z
      .enum(["basic", "post"])
      .default("basic")
      .describe("How the secret is sent with the token request."),
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
  url: Address.describe("The address of the server."),
  headers: Headers.default({}).describe(
    "Headers that are sent with every request. A secret in a value is a reference: `Bearer ${TOKEN}`.",
  ),
  auth: McpAuth.optional().describe("How requests are authenticated; not at all if absent."),
});

const McpTransport = z.discriminatedUnion("type", [Stdio, Http]);

/** Names as the server defines them; `*` stands for any characters, `?` for one. */
const NamePatterns = z.array(z.string().min(1).max(256)).max(MAX_LIST);

const DAY_MS = 24 * 60 * 60 * 1000;

/** A server of the Model Context Protocol whose tools an agent has. */
export const McpServer = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" and "-"')
    .describe("The display name, and the default prefix of its tools."),
  transport: McpTransport.describe("How the server is reached."),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}$/, 'use at most 32 letters, digits, "_" and "-"')
    .optional()
    .describe(
      "The prefix of its tools, `{prefix}__{name}`; by default the server's name. Empty: the names as the server defines them.",
    ),
  include: NamePatterns.optional().describe("Tools that are offered; all of them by default."),
  exclude: NamePatterns.default([]).describe("Tools that are not offered, even if `include` lists them."),
  replay: z
    .record(z.string().min(1).max(256), ReplayClass)
    .default({})
    .describe(
      "What a second execution means, by the server's name for the tool, or by a pattern; the longest match applies.",
    ),
  confirm: NamePatterns.default([]).describe(
    "Tools whose calls need approval, unless a rule of the policy allows them.",
  ),
  trusted: z
    .boolean()
    .default(false)
    .describe(
      "Trusts the server's annotations of its tools (`readOnlyHint`, `idempotentHint`, `destructiveHint`). Otherwise each tool is `unsafe`, unless `replay` says otherwise.",
    ),
  timeoutMs: z
    .number()
    .int()
    .positive()
    .max(DAY_MS)
    .default(30_000)
    .describe(
      "The time limit of one request, in milliseconds. Progress of a call restarts it, up to `maxTimeoutMs`.",
    ),
  maxTimeoutMs: z
    .number()
    .int()
    .positive()
    .max(DAY_MS)
    .optional()
    .describe(
      "The time limit of one request whatever its progress, in milliseconds; by default ten minutes, or `timeoutMs` if that is longer.",
    ),
  startTimeoutMs: z
    .number()
    .int()
    .positive()
    .max(DAY_MS)
    .optional()
    .describe("The time limit of the first answer after a start, in milliseconds; `timeoutMs` by default."),
  idleMs: z
    .number()
    .int()
    .positive()
    .max(DAY_MS)
    .default(300_000)
    .describe(
      "The server is stopped after this time without a request, in milliseconds; the next request starts it again.",
    ),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe("The number of concurrent requests; others wait."),
  required: z
    .boolean()
    .default(true)
    .describe(
      "Whether a loop requires it to open; otherwise the agent works without its tools, with a warning.",
    ),
  resources: z.boolean().default(false).describe("Offers two tools that list and read its resources."),
  sampling: z
    .boolean()
    .default(false)
    .describe("Whether the server may request answers from the agent's model."),
  elicitation: z
    .boolean()
    .default(true)
    .describe("Whether the server may ask the user a question while a tool runs."),
});
export type McpServer = z.infer<typeof McpServer>;
