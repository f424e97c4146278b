import { z } from "zod";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { HOOK_POINTS, type HookPoint } from "../../../schema/hooks.ts";
import {
  allowNone,
  defineField,
  describeKey,
  describeRequiredKey,
  type Field,
  integerFrom,
  NONE_AS_NULL,
  withExpected,
} from "../define-field.ts";

// [callbacks] and [hooks] (CFG-25, CB-08, CB-09).

/** Names of hook points in the formats that this format builds on. */
const ALIASES: { readonly [P in HookPoint]?: string } = {
  "before-tool": "before_tool_execution",
  "after-tool": "after_tool_execution",
  "before-tool-update": "before_tool_execution_update",
  "after-tool-update": "after_tool_execution_update",
  "before-compaction": "before_compaction_start",
  "after-compaction": "after_compaction_end",
};

const policy = {
  timeout_ms: describeKey(integerFrom(1, 600_000), "The limit of one call, in milliseconds.", 10_000),
  on_failure: describeKey(
    z.enum(["stop", "continue"]),
    "What a failure means: by default `stop` before an event and `continue` after it.",
  ),
};

const HookName = describeRequiredKey(
  z.string().min(1),
  "The name under which the worker has registered the hook.",
);

const Use = withExpected(
  z.union([
    z.string().min(1),
    z.strictObject({ name: HookName, ...policy }),
    z.strictObject({
      command: describeRequiredKey(
        z.union([z.string().min(1), z.array(z.string()).min(1)]),
        "The command, as one line or as words. No shell runs it.",
      ),
      ...policy,
    }),
    // For a registered name that would be read as a command because it has a space or a slash.
    z.strictObject({ hook: HookName }),
  ]),
  'a registered name ("audit", "plug::audit"), a command ("./check.sh", "python3 check.py"), {name = …} or {command = …}, both optionally with timeout_ms and on_failure ("stop" or "continue")',
);

const Uses = withExpected(z.union([Use, z.array(Use)]), "a hook, or a list of hooks");

const Names = withExpected(
  z.union([z.string().min(1), z.array(z.string().min(1))]),
  "the name of a function that the worker has registered, or a list of names",
);

const toList = (value: unknown): unknown => (Array.isArray(value) ? value : [value]);
const unwrapSingle = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 ? value[0] : value;

const defineHookField = (name: HookPoint): Field => {
  const key = name.replaceAll("-", "_");
  const aliases = ALIASES[name];
  return defineField(
    `callbacks.${key}`,
    `hooks.${name}`,
    describeKey(Uses, `Hooks of the point ${name}; see docs/hooks.md.`),
    {
      ...(aliases === undefined ? {} : { aliases: [`callbacks.${aliases}`] }),
      read: (value) => (toList(value) as unknown[]).map(parseHookUse),
      write: (value) => unwrapSingle((value as unknown[]).map(formatHookUse)),
    },
  );
};

export const HOOK_FIELDS: readonly Field[] = [
  ...HOOK_POINTS.map(defineHookField),
  defineField(
    "hooks.input_filters",
    "inputFilters",
    describeKey(Names, "Filters of all user messages, applied in this order.", []),
    { read: toList },
  ),
  defineField(
    "hooks.transform_context",
    "transformContext",
    describeKey(Names, "Transform the messages of the context before each request, in this order.", []),
    { read: toList },
  ),
  defineField(
    "hooks.convert_to_llm",
    "convertToLlm",
    describeKey(
      allowNone(z.string()),
      "Converts an application's own messages to messages that a model can read; by default they are dropped.",
      "none",
    ),
    NONE_AS_NULL,
  ),
  defineField(
    "hooks.context_translation",
    "contextTranslation",
    describeKey(
      allowNone(z.string()),
      'Translates answers of other vendors for the vendor that is called: by default the adapters do; with "none" nothing does.',
      "default",
    ),
    NONE_AS_NULL,
  ),
];

/** Parses one hook. A text with a space or a slash is a command; other texts are names. */
function parseHookUse(value: unknown): unknown {
  if (typeof value === "string") return looksLikeCommand(value) ? { command: value } : value;
  if (typeof value !== "object" || value === null) return value;
  const { hook, timeout_ms, on_failure, ...rest } = value as Record<string, unknown>;
  if (hook !== undefined) return hook;
  return {
    ...rest,
    ...omitUndefined({ timeoutMs: timeout_ms, onFailure: on_failure }),
  };
}

function formatHookUse(use: unknown): unknown {
  if (typeof use === "string") return looksLikeCommand(use) ? { hook: use } : use;
  const { timeoutMs, onFailure, ...rest } = use as Record<string, unknown>;
  return {
    ...rest,
    ...omitUndefined({ timeout_ms: timeoutMs, on_failure: onFailure }),
  };
}

function looksLikeCommand(text: string): boolean {
  return /[\s/]/.test(text);
}
