import { z } from "zod";
import { parseNetworkRule } from "../platform/text/network-rule.ts";

// The sandbox in which the processes of tools, hooks and servers run.

/** How much of the host a process sees. */
export const SandboxMode = z.enum(["off", "workspace", "strict"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

/** A destination of connections: `name:port`, `*.name:port` for all names below it, `10.0.0.1:port` or `[::1]:port`. */
const NetworkRuleText = z
  .string()
  .max(300)
  .refine((text) => parseNetworkRule(text) !== undefined, {
    error: "must be name:port, *.name:port, or an address and a port, such as 10.0.0.1:443 or [::1]:443",
  });

/** A folder or file of the host. Without `..`, so that the text shows where it leads. */
const SandboxPath = z
  .string()
  .min(2)
  .max(4096)
  .refine((path) => /^~?\/./.test(path) && !path.includes("\0") && !path.split("/").includes(".."), {
    error: 'must be an absolute path, or begin with "~/", and not contain ".."',
  });

/** What processes in a sandbox may connect to. */
export const SandboxNetwork = z.strictObject({
  allow: z
    .array(NetworkRuleText)
    .max(200)
    .default([])
    .describe(
      "Where processes may connect to, through an HTTP proxy: `name:port`, `*.name:port`, or an address and a port. A name that leads to a private address is refused, unless the address is listed too.",
    ),
  ask: z
    .array(NetworkRuleText)
    .max(200)
    .optional()
    .describe(
      "Where the tool `allow_host` may let commands of tools connect to, for the rest of the session. The user must approve each of its calls that no permission rule allows. It must be in `tools`.",
    ),
});
export type SandboxNetwork = z.infer<typeof SandboxNetwork>;

const bound = z.number().int().positive();

/** How much the processes of one sandbox may use together, or each of them where it says so. */
export const SandboxBoundSettings = z.strictObject({
  processes: bound.min(8).optional().describe("Processes alive at the same time; 512 by default."),
  memoryBytes: bound
    .min(1024 * 1024)
    .optional()
    .describe("Resident memory in bytes, each shared page counted once; no bound by default."),
  workspaceBytes: bound
    .optional()
    .describe("What one command may add to the folders that it may write, in bytes; 10 GiB by default."),
  temporaryBytes: bound
    .min(65_536)
    .optional()
    .describe("The size of each temporary folder, which is in memory, in bytes; 512 MiB by default."),
  fileBytes: bound.min(4096).optional().describe("The size of each file, in bytes; 8 GiB by default."),
  openFiles: bound.min(32).optional().describe("Open files of each process; 4,096 by default."),
});
export type SandboxBoundSettings = z.infer<typeof SandboxBoundSettings>;

/** In which sandbox processes run. `off` has no other fields, because it would ignore them. */
export const SandboxSettings = z
  .strictObject({
    mode: SandboxMode.describe(
      "`off`: no sandbox. `workspace`: processes read the system and write the workspace. `strict`: they see only the workspace and a minimal system.",
    ),
    network: SandboxNetwork.default({ allow: [] }).describe(
      "What processes may connect to; nothing by default.",
    ),
    readable: z
      .array(SandboxPath)
      .max(200)
      .default([])
      .describe("Other folders and files that processes may read."),
    writable: z
      .array(SandboxPath)
      .max(200)
      .default([])
      .describe("Other folders and files that processes may read and write."),
    env: z
      .array(
        z
          .string()
          .max(200)
          .regex(/^(?!HOLDFAST_)[A-Za-z_][A-Za-z0-9_]*$/, {
            error: "must be the name of a variable, and not one of Holdfast's own",
          }),
      )
      .max(200)
      .default([])
      .describe(
        "Names of the worker's environment variables that processes receive besides PATH, HOME and the like.",
      ),
    bounds: SandboxBoundSettings.optional().describe("How much processes may use; the defaults if absent."),
  })
  .refine(
    ({ mode, network, readable, writable, bounds }) =>
      mode !== "off" ||
      (network.allow.length + (network.ask ?? []).length + readable.length + writable.length === 0 &&
        bounds === undefined),
    {
      path: ["mode"],
      error: "`off` allows everything; remove `network`, `readable`, `writable` and `bounds`",
    },
  );
export type SandboxSettings = z.infer<typeof SandboxSettings>;
/** Sandbox settings as they are written, with defaults left out. */
export type SandboxSettingsInput = z.input<typeof SandboxSettings>;

/** A connection that a process in a sandbox has made, or was refused. */
export const SandboxConnection = z.object({
  host: z.string().optional().describe("The name or address; absent if the request named none."),
  port: z.number().optional().describe("The port; absent if the request named none."),
  decision: z.enum(["allowed", "refused"]).describe("Whether it was made."),
  reason: z.string().optional().describe("Why it was refused or failed."),
  address: z.string().optional().describe("The address that it led to."),
  bytesUp: z.number().describe("Bytes from the sandbox."),
  bytesDown: z.number().describe("Bytes to the sandbox."),
});
export type SandboxConnection = z.infer<typeof SandboxConnection>;

/** In which sandbox the processes of a call have run, and what happened there. */
export const SandboxReport = z.object({
  mode: SandboxMode.describe("The mode of the sandbox."),
  isReadOnly: z.literal(true).optional().describe("Processes could not write the workspace."),
  selfTest: z
    .object({
      prevented: z.number().describe("How many did not succeed."),
      of: z.number().describe("How many were tried."),
    })
    .optional()
    .describe("The forbidden acts that the worker tried in the sandbox before its first call in it."),
  connections: z.array(SandboxConnection).optional().describe("The first hundred; absent for none."),
  moreConnections: z.number().optional().describe("How many connections are not listed."),
  moved: z
    .array(
      z.object({
        path: z.string().describe("What was created."),
        movedTo: z.string().describe("Where it is now."),
      }),
    )
    .optional()
    .describe("Files that programs outside obey: processes had created them, and they were renamed."),
});
export type SandboxReport = z.infer<typeof SandboxReport>;
