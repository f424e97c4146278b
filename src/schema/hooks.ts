import { z } from "zod";
import { findNearestName } from "../platform/text/nearest-name.ts";

// The points at which an application's hooks are called while an agent works, and their settings (CB-01, CB-09).
// docs/hooks.md describes each point.

/** The moments at which hooks are called. */
export type HookPoint =
  | "before-task"
  | "after-task"
  | "before-loop"
  | "after-loop"
  | "on-error"
  | "before-turn"
  | "after-turn"
  | "on-text"
  | "before-tool"
  | "after-tool"
  | "before-tool-update"
  | "after-tool-update"
  | "before-compaction"
  | "after-compaction";

/** `asks`: the answer decides whether the event happens. `tells`: the event has happened. */
const KINDS: Readonly<Record<HookPoint, "asks" | "tells">> = {
  "before-task": "asks",
  "after-task": "tells",
  "before-loop": "asks",
  "after-loop": "tells",
  "on-error": "tells",
  "before-turn": "asks",
  "after-turn": "tells",
  "on-text": "asks",
  "before-tool": "asks",
  "after-tool": "tells",
  "before-tool-update": "asks",
  "after-tool-update": "tells",
  "before-compaction": "asks",
  "after-compaction": "tells",
};

/** Points at which an answer must come without waiting: a stream of output passes there (CB-03). */
export type UpdatePoint = "before-tool-update" | "after-tool-update";

export const HOOK_POINTS = Object.keys(KINDS) as readonly HookPoint[];

export function isQuestion(point: HookPoint): boolean {
  return KINDS[point] === "asks";
}

export function isUpdatePoint(point: HookPoint): point is UpdatePoint {
  return point === "before-tool-update" || point === "after-tool-update";
}

/** The maximum at one point. */
const MAX_HOOKS = 16;

const policy = {
  timeoutMs: z
    .number()
    .int()
    .positive()
    .max(600_000)
    .optional()
    .describe("The limit of one call in milliseconds; 10 seconds if absent."),
  onFailure: z
    .enum(["stop", "continue"])
    .optional()
    .describe("What a failure means: by default `stop` before an event and `continue` after it."),
};

const SETTINGS = '"timeoutMs" (1 to 600000) and "onFailure" ("stop" or "continue")';

const HookName = z.string().min(1).max(128);

/** A hook by its name, with settings. */
export const NamedHook = z.strictObject({
  name: HookName.describe("The name under which the worker has registered the hook."),
  ...policy,
});
export type NamedHook = z.infer<typeof NamedHook>;

/** Runs without a shell: one line that is split into words, or the words. */
export const CommandHook = z.strictObject({
  command: z
    .union([z.string().min(1).max(2048), z.array(z.string()).min(1).max(64)])
    .describe("The command, as one line or as words."),
  ...policy,
});
export type CommandHook = z.infer<typeof CommandHook>;

/** A name that the worker has registered, such as `audit` or `plug::audit`, or a command. */
export const HookUse = z.union([HookName, NamedHook, CommandHook], {
  error: `must be the name of a hook, {"name": …} or {"command": …}; objects may also have ${SETTINGS}`,
});
export type HookUse = z.infer<typeof HookUse>;

const UpdateHookUse = HookUse.refine((use) => typeof use === "string" || "name" in use, {
  error:
    'must be the name of a hook or {"name": …}: this point is called for streamed output, and a command\'s answer takes too long',
});

const buildUses = (point: HookPoint) =>
  z
    .array(isUpdatePoint(point) ? UpdateHookUse : HookUse)
    .max(MAX_HOOKS)
    .optional()
    .describe(`Hooks of the point ${point}, in the order of the calls; see docs/hooks.md.`);

type HookShape = { [P in HookPoint]: z.ZodOptional<z.ZodArray<typeof HookUse>> };

/** Called in the given order. */
export const Hooks = z.strictObject(
  Object.fromEntries(HOOK_POINTS.map((point) => [point, buildUses(point)])) as HookShape,
  {
    error: (currentDispatch) =>
      currentDispatch.code === "unrecognized_keys"
        ? formatUnknownPoints(currentDispatch["keys"] as string[])
        : undefined,
  },
);
export type Hooks = z.infer<typeof Hooks>;

function formatUnknownPoints(names: readonly string[]): string {
  const messages = names.map((name) => {
    const near = findNearestName(name, HOOK_POINTS);
    return `unknown hook point "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
  });
  return `${messages.join(", ")} (the points are ${HOOK_POINTS.join(", ")})`;
}
