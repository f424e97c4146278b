import { isAbsolute, resolve } from "node:path";
import { isObject, type JsonObject } from "../../platform/text/json.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { describeReadError } from "../read-text.ts";
import type { Path } from "../source/source-node.ts";
import type { AgentFileLoader } from "./agent-file-loader.ts";
import type { Origin } from "./draft.ts";
import { isReference } from "./resolve-references.ts";
import { getAt, getListAt, getTextAt } from "./table-paths.ts";

// System prompts: a text, a file, or composed of blocks (CFG-08 to CFG-11).

/** A table that may contain a prompt. */
export type PromptSource = { readonly path: Path; readonly value: unknown; readonly suppliedBy?: string };

/** Composes a prompt from the texts of blocks. */
type PromptStrategy = { compose(contents: ReadonlyMap<string, string>): string };

type Block = { readonly name: string; readonly order: number; readonly maxLength?: number };

/** Strategies that need no declaration. */
const BUILT_IN = {
  /** All blocks, in the order of the prompt's table. */
  custom: undefined,
  agent: ["identity", "instructions", "constraints"],
  minimal: ["identity"],
} as const satisfies Record<string, readonly string[] | undefined>;

const FILE = "file:";
const RESERVED = ["id", "description", "type"];

/** Resolves the first prompt that is not empty. */
export function resolveSystemPrompt(
  loader: AgentFileLoader,
  sources: readonly PromptSource[],
  folder: string | undefined,
): { readonly text: string; readonly origin: Origin } | undefined {
  for (const { path, value, suppliedBy } of sources) {
    const given = getAt(value, ["system_prompt"]);
    if (given === undefined || given === "") continue;
    const source = [...path, "system_prompt"];
    const resolved = resolvePromptText(loader, given, source, folder);
    const origin: Origin = {
      type: "file",
      path: source,
      ...omitUndefined({ suppliedBy }),
      ...resolved.from,
    };
    return { text: resolved.text, origin };
  }
  return undefined;
}

type ResolvedText = {
  readonly text: string;
  readonly from?: { readonly read?: string; readonly suppliedBy?: string };
};

function resolvePromptText(
  loader: AgentFileLoader,
  value: unknown,
  path: Path,
  folder: string | undefined,
): ResolvedText {
  if (typeof value !== "string") return { text: getTextAt(value, ["text"]) ?? "" };
  if (isReference(value)) {
    const entity = loader.references.resolve(value, "system_prompt", path);
    if (entity === undefined) return { text: "" };
    const text = composeBlocks(loader, entity.table, entity.path, folder);
    return { text, from: { suppliedBy: `system_prompt ${entity.name}` } };
  }
  return readTextOrFile(loader, value, path, folder);
}

/** Returns the text, or the content of the file that it names. */
export function readTextOrFile(
  loader: AgentFileLoader,
  value: string,
  path: Path,
  folder: string | undefined,
): ResolvedText {
  if (!value.startsWith(FILE)) return { text: value };
  if (loader.environment.untrusted === true) {
    loader.reportError(
      path,
      `${value} refers to a file, which an untrusted file must not do`,
      "the text itself",
      value,
    );
    return { text: "" };
  }
  const name = value.slice(FILE.length).trim();
  if (!isAbsolute(name) && folder === undefined) {
    loader.reportError(
      path,
      `${value} is a relative path, and this agent has no workspace`,
      "an absolute path",
      value,
    );
    return { text: "" };
  }
  const file = resolve(folder ?? "/", name);
  try {
    return { text: loader.environment.readFile(file), from: { read: file } };
  } catch (error) {
    loader.report(path, {
      kind: "io",
      severity: "error",
      found: value,
      expected: "a file that can be read",
      message: `${file} cannot be read: ${describeReadError(error)}. A relative path starts at the agent's workspace`,
    });
    return { text: "" };
  }
}

function composeBlocks(
  loader: AgentFileLoader,
  prompt: JsonObject,
  path: Path,
  folder: string | undefined,
): string {
  const keys = Object.keys(prompt).filter((key) => !RESERVED.includes(key) && prompt[key] !== undefined);
  const contents = new Map<string, string>();
  for (const key of keys) {
    const content = prompt[key];
    const text =
      typeof content === "string"
        ? readTextOrFile(loader, content, [...path, key], folder).text
        : getTextAt(content, ["text"]);
    contents.set(key, text ?? "");
  }
  const blocks = parseBlocks(loader, prompt, path) ?? keys.map((name, order) => ({ name, order }));
  const names = blocks.map(({ name }) => name);
  for (const key of keys.filter((name) => !names.includes(name))) {
    const near = findNearestName(key, names);
    const hint = near === undefined ? `its blocks are ${names.join(", ")}` : `did you mean "${near}"?`;
    loader.reportWarning(
      [...path, key],
      `its strategy has no block "${key}", so this text is not used; ${hint}`,
      {
        path: "key",
      },
    );
  }
  return createPromptStrategy(blocks).compose(contents);
}

function parseBlocks(loader: AgentFileLoader, prompt: JsonObject, path: Path): readonly Block[] | undefined {
  const type = getTextAt(prompt, ["type"]);
  if (type === undefined) return undefined;
  if (Object.hasOwn(BUILT_IN, type)) {
    return BUILT_IN[type as keyof typeof BUILT_IN]?.map((name, order) => ({ name, order }));
  }
  const entity = loader.references.resolve(type, "system_prompt_strategy", [...path, "type"]);
  return getListAt(entity?.table, ["blocks"])
    .filter(isObject)
    .flatMap((block) => {
      const { name, order = 0, max_length } = block;
      if (typeof name !== "string") return [];
      return [
        {
          name,
          order: Number(order),
          ...(max_length === undefined ? {} : { maxLength: Number(max_length) }),
        },
      ];
    });
}

/**
 * Creates a strategy that sorts the blocks, truncates each to its length, and joins them with empty lines. Empty blocks
 * are skipped.
 *
 * @testonly
 */
export function createPromptStrategy(blocks: readonly Block[]): PromptStrategy {
  const sorted = [...blocks].sort((a, b) => a.order - b.order);
  return {
    compose: (contents) =>
      sorted
        .map(({ name, maxLength }) => truncateText(contents.get(name) ?? "", maxLength))
        .filter((text) => text !== "")
        .join("\n\n"),
  };
}

/** Truncates a text to whole code points, never in the middle of one. */
function truncateText(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  if (text.length <= maxLength) return text;
  return [...text].slice(0, maxLength).join("");
}
