import { z } from "zod";
import { parseNetworkRule } from "../platform/text/network-rule.ts";

// The sandbox in which the processes of tools, hooks and servers run.

/** How much of the host a process sees. */
export const SandboxMode = z.enum(["off", "workspace", "strict"]);
export type SandboxMode = z.infer<typeof SandboxMode>;

/** A destination of connections: `name:port`, `*.name:port` for all names below it, `10.0.0.1:port` or `[::1]:port`. */
export const NetworkRuleText = z
  .string()
  .max(300)
  .refine((text) => parseNetworkRule(text) !== undefined, {
    error: "must be name:port, *.name:port, or an address and a port, such as 10.0.0.1:443 or [::1]:443",
  });

/** A folder or file of the host. Without `..`, so that the text shows where it leads. */
export const SandboxPath = z
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
});
export type SandboxNetwork = z.infer<typeof SandboxNetwork>;

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
  })
  .refine(
    ({ mode, network, readable, writable }) =>
      mode !== "off" || network.allow.length + readable.length + writable.length === 0,
    { path: ["mode"], error: "`off` allows everything; remove `network`, `readable` and `writable`" },
  );
export type SandboxSettings = z.infer<typeof SandboxSettings>;
export type SandboxSettingsInput = z.input<typeof SandboxSettings>;
