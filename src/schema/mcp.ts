import { z } from "zod";
import { BY_REFERENCE, Headers, holdsSecret, isLiteralSecret, NO_SECRET_IN_ADDRESS } from "./headers.ts";
import { SecretReference } from "./model.ts";
import { ReplayClass } from "./tool.ts";

// Servers of the Model Context Protocol that an agent has tools of. What the fields do is written in docs/mcp.md.

const MAX_TEXT = 8192;
const MAX_LIST = 256;

/** It may hold references such as `${TOKEN}`; their values are put in by the worker, when the server is started. */
const WithReferences = z.string().max(MAX_TEXT);

/** Names under which nobody puts anything but a secret. */
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
      const behindFlag = SECRET_ARGUMENT.test(values[index - 1] ?? "") && !word.startsWith("-");
      if (!holdsSecret(word) && !(behindFlag && isLiteralSecret(word))) continue;
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
  /** A program, found as a shell would find it; no shell reads it. */
  command: z.string().min(1).max(4096),
  /** Other processes can read them: put secrets in `env`. */
  args: Arguments.default([]),
  /** Beside PATH, HOME, LANG and the like; nothing else of the worker's own environment is passed on. */
  env: Variables.default({}),
  /** The worker's current folder unless said. */
  cwd: z.string().min(1).max(4096).optional(),
});

const Bearer = z.strictObject({ type: z.literal("bearer"), token: SecretReference });

/** Where tokens are given out: the end point itself, or the issuer, whose published description names it. */
const tokenEndpoint = { tokenUrl: Address.optional(), issuer: Address.optional() };

const NO_ENDPOINT_ERROR = {
  error:
    "specify `tokenUrl` or `issuer`: a server must not decide where its client's secret is sent",
};

const ClientCredentials = z
  .strictObject({
    type: z.literal("oauth"),
    clientId: z.string().min(1).max(1024),
    clientSecret: SecretReference,
    scope: z.string().max(1024).optional(),
    /** How the secret is sent with the question for a token. */
    clientAuth: z.enum(["basic", "post"]).default("basic"),
    ...tokenEndpoint,
  })
  .refine(({ tokenUrl, issuer }) => tokenUrl !== undefined || issuer !== undefined, NO_ENDPOINT_ERROR);

const ObtainedToken = z
  .strictObject({
    type: z.literal("oauth-token"),
    accessToken: SecretReference,
    refreshToken: SecretReference.optional(),
    clientId: z.string().min(1).max(1024).optional(),
    clientSecret: SecretReference.optional(),
    clientAuth: z.enum(["basic", "post"]).default("basic"),
    ...tokenEndpoint,
  })
  .refine(
    ({ refreshToken, tokenUrl, issuer }) =>
      refreshToken === undefined || tokenUrl !== undefined || issuer !== undefined,
    NO_ENDPOINT_ERROR,
  );

export const McpAuth = z.discriminatedUnion("type", [Bearer, ClientCredentials, ObtainedToken]);
export type McpAuth = z.infer<typeof McpAuth>;

const Http = z.strictObject({
  type: z.literal("http"),
  url: Address,
  headers: Headers.default({}),
  auth: McpAuth.optional(),
});

const McpTransport = z.discriminatedUnion("type", [Stdio, Http]);

/** Names as the server gives them; `*` stands for any letters, `?` for one. */
const NamePatterns = z.array(z.string().min(1).max(256)).max(MAX_LIST);

const DAY_MS = 24 * 60 * 60 * 1000;

export const McpServer = z.strictObject({
  /** What people call it, and what the names of its tools begin with. */
  name: z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'use 1 to 32 letters, digits, "_" and "-"'),
  transport: McpTransport,
  /** A tool is `{prefix}__{name}`; the server's name unless said. Empty: names as the server gives them. */
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{0,32}$/, 'use at most 32 letters, digits, "_" and "-"')
    .optional(),
  /** Tools that are offered; all of them unless said. */
  include: NamePatterns.optional(),
  exclude: NamePatterns.default([]),
  /** What a second execution means, by the name that the server gives, or by a pattern; the longest that fits. */
  replay: z.record(z.string().min(1).max(256), ReplayClass).default({}),
  /** Tools before whose calls a person is asked, unless a rule of the policy allows them. */
  confirm: NamePatterns.default([]),
  /**
   * What the server says of its tools (`readOnlyHint`, `idempotentHint`, `destructiveHint`) is believed. Otherwise
   * each tool is `unsafe`, unless `replay` says more.
   */
  trusted: z.boolean().default(false),
  /** For one request (MCP-07). What a call reports on its way begins it anew, up to `maxTimeoutMs`. */
  timeoutMs: z.number().int().positive().max(DAY_MS).default(30_000),
  /** Ten minutes unless said, or `timeoutMs` where that is longer. */
  maxTimeoutMs: z.number().int().positive().max(DAY_MS).optional(),
  /** For the first answer after a start; `timeoutMs` unless said. */
  startTimeoutMs: z.number().int().positive().max(DAY_MS).optional(),
  /** Without a request for so long it is ended; the next request starts it again. */
  idleMs: z.number().int().positive().max(DAY_MS).default(300_000),
  /** Requests that it is given at the same time; the others wait for their turn (MCP-10). */
  concurrency: z.number().int().min(1).max(64).default(1),
  /** A loop does not open without it; otherwise the agent works without its tools, and is warned. */
  required: z.boolean().default(true),
  /** Offers two tools that list and read its resources. */
  resources: z.boolean().default(false),
  /** It may have a model of ours asked. */
  sampling: z.boolean().default(false),
  /** It may ask a person something while a tool runs. */
  elicitation: z.boolean().default(true),
});
export type McpServer = z.infer<typeof McpServer>;
