import type { HookContexts } from "../../hooks/hook-point.ts";
import type { HookRun } from "../../hooks/hook-registry.ts";
import { splitCommand } from "../../hooks/split-command.ts";
import { createMask } from "../../models/secret-masks.ts";
import type { SecretSource } from "../../models/secrets.ts";
import { redactPreview } from "../../platform/text/redact.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import { HOOK_POINTS, type HookPoint, type HookUse, type UpdatePoint } from "../../schema/hooks.ts";
import type { LoopRecord } from "../../store/transcript/loop.ts";
import type { StepKey } from "../../store/transcript/step.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type { Dependencies } from "../dependencies.ts";
import { formatSuggestion } from "../step/check-names.ts";
import type { Conversations } from "../step/conversations.ts";
import { DefinitionError } from "../step/failure.ts";
import { listDefinitionSecrets } from "../tool/definition-secrets.ts";

/** The most bytes of a hook's reason in history and in events, including the dots of a cut. */
const REASON_BYTES = 512;
const NAME_BYTES = 128;

/**
 * Returns the points that have hooks, or `undefined` where none has, so that a run without hooks carries no hook data.
 */
export function findHookPoints({ hooks }: AgentDefinition): readonly HookPoint[] | undefined {
  const points = HOOK_POINTS.filter((point) => (hooks[point] ?? []).length > 0);
  return points.length === 0 ? undefined : points;
}

/** Throws when the worker lacks a hook that the definition needs. */
export function checkHooks(
  { hooks }: AgentDefinition,
  { hooks: registry }: Pick<Dependencies, "hooks">,
): void {
  for (const point of HOOK_POINTS) {
    for (const use of hooks[point] ?? []) {
      const wrong = findHookProblem(use, point, registry);
      if (wrong !== undefined) throw new DefinitionError(`hooks.${point}: ${wrong}`);
    }
  }
}

function findHookProblem(
  use: HookUse,
  point: HookPoint,
  registry: Dependencies["hooks"],
): string | undefined {
  if (typeof use !== "string" && "command" in use) {
    if (typeof use.command !== "string") return undefined;
    const parsed = splitCommand(use.command);
    return parsed.type === "invalid" ? parsed.message : undefined;
  }
  const name = typeof use === "string" ? use : use.name;
  const points = registry.getPoints(name);
  if (points?.includes(point) === true) return undefined;
  if (points !== undefined) return `hook "${name}" does not listen there, only at ${points.join(", ")}`;
  const known = registry.names.length === 0 ? "it has none" : `it has ${registry.names.join(", ")}`;
  const command = /[\s/]/.test(name) ? `; for a command write {"command": ${JSON.stringify(name)}}` : "";
  return `this worker has no hook "${name}"; ${known}${command || formatSuggestion(name, registry.names)}`;
}

/** The dependencies of hooks. The scenario player without a server provides no more than these. */
export type HookDependencies = Pick<
  Dependencies,
  "hooks" | "tools" | "sandboxes" | "defaultWorkspace" | "log"
> & {
  readonly transcript: Pick<Transcript, "readInbox" | "readEntries" | "readParts"> & {
    readLoops(session: string): Promise<readonly Pick<LoopRecord, "outcome">[]>;
  };
  readonly conversations: Pick<Conversations, "readMessages" | "readMessage" | "loadData">;
  /** Secrets that are masked in the output of commands. */
  readonly secrets?: SecretSource;
};

export type HookCall = {
  readonly definition: AgentDefinition;
  readonly dependencies: HookDependencies;
  readonly signal: AbortSignal;
};

/** Runs the hooks of one point. Failed hooks are logged; a cancelled hook has decided nothing. */
export async function askHooks<P extends HookPoint>(
  point: P,
  context: HookContexts[P],
  { definition, dependencies, signal }: HookCall,
): Promise<HookRun> {
  const { hooks, sandboxes, defaultWorkspace, secrets, log } = dependencies;
  const workspace = definition.workspace ?? defaultWorkspace;
  const mask = secrets === undefined ? undefined : createMask(listDefinitionSecrets(definition, secrets));
  const settings = sandboxes.getSettings(definition.sandbox);
  const start = sandboxes.createStarter({ settings, workspace }, (report) => {
    if (report.connections === undefined && report.moved === undefined) return;
    log.info({ point, session: context.sessionId, ...report }, "What a hook has done in its sandbox");
  });
  const run = await hooks.run(definition.hooks[point] ?? [], point, context, {
    start,
    signal,
    workspace,
    mask,
  });
  logFailures(point, context.sessionId, run, dependencies);
  return run;
}

/** Runs the hooks for a tool's output synchronously. */
export function askHooksNow<P extends UpdatePoint>(
  point: P,
  context: HookContexts[P],
  {
    definition,
    dependencies,
  }: { definition: AgentDefinition; dependencies: Pick<Dependencies, "hooks" | "log"> },
): HookRun {
  const run = dependencies.hooks.runUpdate(definition.hooks[point] ?? [], point, context);
  logFailures(point, context.sessionId, run, dependencies);
  return run;
}

function logFailures(
  point: HookPoint,
  session: string,
  { reports }: HookRun,
  { log }: Pick<Dependencies, "log">,
): void {
  for (const { hook, verdict } of reports) {
    if (verdict.type !== "failed" || verdict.fault === "cancelled") continue;
    const { fault, message } = verdict;
    log.warn(
      { hook: shortenName(hook), point, session, how: fault, message: shortenReason(message) },
      "A hook failed",
    );
  }
}

/** Builds an id that is the same for every repetition of the same call, so that a hook can recognise a repetition. */
export function buildCallId(
  { run, number }: Pick<StepKey, "run" | "number">,
  ...parts: readonly (string | number)[]
): string {
  return [run, number, ...parts].join("/");
}

export function shortenName(name: string): string {
  return redactPreview(name, NAME_BYTES - "...".length);
}

export function shortenReason(reason: string): string {
  return redactPreview(reason, REASON_BYTES - "...".length);
}
