import { z } from "zod";
import { HOOK_POINTS, type HookPoint } from "../../../schema/hooks.ts";
import { expecting, type Field, field, NULLABLE, orNone, said, wholeFrom } from "../field.ts";

// [callbacks] and [hooks] (CFG-25, CB-08, CB-09).

/** Names of points as the sources of the format have them. */
const ALSO: { readonly [P in HookPoint]?: string } = {
  "before-tool": "before_tool_execution",
  "after-tool": "after_tool_execution",
  "before-tool-update": "before_tool_execution_update",
  "after-tool-update": "after_tool_execution_update",
  "before-compaction": "before_compaction_start",
  "after-compaction": "after_compaction_end",
};

const policy = {
  timeout_ms: wholeFrom(1, 600_000).optional(),
  on_failure: z.enum(["stop", "go-on"]).optional(),
};

const Use = expecting(
  z.union([
    z.string().min(1),
    z.strictObject({ name: z.string().min(1), ...policy }),
    z.strictObject({ command: z.union([z.string().min(1), z.array(z.string()).min(1)]), ...policy }),
    // A registered name that would be read as a command, because it has a space or a slash.
    z.strictObject({ hook: z.string().min(1) }),
  ]),
  'a registered name ("audit", "plug::audit"), a command ("./check.sh", "python3 check.py"), {name = …} or {command = …}, both perhaps with timeout_ms and on_failure ("stop" or "go-on")',
);

const Uses = expecting(z.union([Use, z.array(Use)]), "a hook, or a list of hooks");

const Names = expecting(
  z.union([z.string().min(1), z.array(z.string().min(1))]),
  "the name of a function that the worker has, or a list of names",
);

const list = (value: unknown): unknown => (Array.isArray(value) ? value : [value]);
const single = (value: unknown): unknown => (Array.isArray(value) && value.length === 1 ? value[0] : value);

const point = (name: HookPoint): Field => {
  const key = name.replaceAll("-", "_");
  const also = ALSO[name];
  return field(
    `callbacks.${key}`,
    `hooks.${name}`,
    said(Uses, `Hooks of the point ${name}; see docs/hooks.md.`),
    {
      ...(also === undefined ? {} : { also: [`callbacks.${also}`] }),
      read: (value) => (list(value) as unknown[]).map(hookUse),
      write: (value) => single((value as unknown[]).map(written)),
    },
  );
};

export const HOOK_FIELDS: readonly Field[] = [
  ...HOOK_POINTS.map(point),
  field(
    "hooks.input_filters",
    "inputFilters",
    said(Names, "Asked in this order about all that people say.", []),
    { read: list },
  ),
  field(
    "hooks.transform_context",
    "transformContext",
    said(Names, "Make other messages of the context before each request, in this order.", []),
    { read: list },
  ),
  field(
    "hooks.convert_to_llm",
    "convertToLlm",
    said(
      orNone(z.string()),
      "Makes messages that a model can read of an application's own; those are dropped unless said.",
      "none",
    ),
    NULLABLE,
  ),
];

/** A text with a space or a slash is a command; other texts are names. */
function hookUse(value: unknown): unknown {
  if (typeof value === "string") return looksLikeCommand(value) ? { command: value } : value;
  if (typeof value !== "object" || value === null) return value;
  const { hook, timeout_ms, on_failure, ...rest } = value as Record<string, unknown>;
  if (hook !== undefined) return hook;
  return {
    ...rest,
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(on_failure === undefined ? {} : { onFailure: on_failure }),
  };
}

function written(use: unknown): unknown {
  if (typeof use === "string") return looksLikeCommand(use) ? { hook: use } : use;
  const { timeoutMs, onFailure, ...rest } = use as Record<string, unknown>;
  return {
    ...rest,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(onFailure === undefined ? {} : { on_failure: onFailure }),
  };
}

function looksLikeCommand(text: string): boolean {
  return /[\s/]/.test(text);
}
