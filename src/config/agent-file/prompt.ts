import { isAbsolute, resolve } from "node:path";
import { nearestName } from "../../platform/text/nearest-name.ts";
import type { Path } from "../source/node.ts";
import type { Origin } from "./draft.ts";
import { isReference } from "./references.ts";
import { at, isTable, listAt, type Table, textAt } from "./table.ts";
import type { Workbench } from "./workbench.ts";

// System prompts: a text, a file, or put together of blocks (CFG-08 to CFG-11).

/** Something that may hold a prompt. */
export type PromptPlace = { readonly path: Path; readonly value: unknown; readonly via?: string };

/** Puts the texts of blocks together. */
type PromptStrategy = { compose(contents: ReadonlyMap<string, string>): string };

type Block = { readonly name: string; readonly order: number; readonly maxLength?: number };

/** The strategies that need no declaration. */
const BUILT_IN = {
  /** The blocks as they stand in the prompt. */
  custom: undefined,
  agent: ["identity", "instructions", "constraints"],
  minimal: ["identity"],
} as const satisfies Record<string, readonly string[] | undefined>;

const FILE = "file:";
const RESERVED = ["id", "description", "type"];

/** The first of these places that says something. */
export function systemPrompt(
  bench: Workbench,
  places: readonly PromptPlace[],
  folder: string | undefined,
): { readonly text: string; readonly origin: Origin } | undefined {
  for (const { path, value, via } of places) {
    const said = at(value, ["system_prompt"]);
    if (said === undefined || said === "") continue;
    const place = [...path, "system_prompt"];
    const made = promptText(bench, said, place, folder);
    const origin: Origin = { type: "file", path: place, ...(via === undefined ? {} : { via }), ...made.from };
    return { text: made.text, origin };
  }
  return undefined;
}

type Made = { readonly text: string; readonly from?: { readonly read?: string; readonly via?: string } };

function promptText(bench: Workbench, said: unknown, path: Path, folder: string | undefined): Made {
  if (typeof said !== "string") return { text: textAt(said, ["text"]) ?? "" };
  if (isReference(said)) {
    const entity = bench.references.resolve(said, "system_prompt", path);
    if (entity === undefined) return { text: "" };
    const text = composed(bench, entity.table, entity.path, folder);
    return { text, from: { via: `system_prompt ${entity.name}` } };
  }
  return fileText(bench, said, path, folder);
}

/** A text, or the text of the file that it names. */
export function fileText(bench: Workbench, said: string, path: Path, folder: string | undefined): Made {
  if (!said.startsWith(FILE)) return { text: said };
  if (bench.surroundings.untrusted === true) {
    bench.wrong(
      path,
      `${said} names a file to read, which an untrusted file may not`,
      "the text itself",
      said,
    );
    return { text: "" };
  }
  const name = said.slice(FILE.length).trim();
  if (!isAbsolute(name) && folder === undefined) {
    bench.wrong(path, `${said} is relative, and this agent has no workspace`, "an absolute path", said);
    return { text: "" };
  }
  const file = resolve(folder ?? "/", name);
  try {
    return { text: bench.surroundings.readFile(file), from: { read: file } };
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    bench.tell(path, {
      kind: "io",
      severity: "error",
      found: said,
      expected: "a file that can be read",
      message: `${file} cannot be read: ${why}. A relative path is meant from the agent's workspace`,
    });
    return { text: "" };
  }
}

function composed(bench: Workbench, prompt: Table, path: Path, folder: string | undefined): string {
  const keys = Object.keys(prompt).filter((key) => !RESERVED.includes(key) && prompt[key] !== undefined);
  const contents = new Map<string, string>();
  for (const key of keys) {
    const content = prompt[key];
    const text =
      typeof content === "string"
        ? fileText(bench, content, [...path, key], folder).text
        : textAt(content, ["text"]);
    contents.set(key, text ?? "");
  }
  const blocks = blocksOf(bench, prompt, path) ?? keys.map((name, order) => ({ name, order }));
  const names = blocks.map(({ name }) => name);
  for (const key of keys.filter((name) => !names.includes(name))) {
    const near = nearestName(key, names);
    const hint = near === undefined ? `its blocks are ${names.join(", ")}` : `did you mean "${near}"?`;
    bench.doubt([...path, key], `its strategy has no block "${key}", so this text is not used; ${hint}`, {
      at: "key",
    });
  }
  return strategy(blocks).compose(contents);
}

function blocksOf(bench: Workbench, prompt: Table, path: Path): readonly Block[] | undefined {
  const type = textAt(prompt, ["type"]);
  if (type === undefined) return undefined;
  if (Object.hasOwn(BUILT_IN, type)) {
    return BUILT_IN[type as keyof typeof BUILT_IN]?.map((name, order) => ({ name, order }));
  }
  const entity = bench.references.resolve(type, "system_prompt_strategy", [...path, "type"]);
  return listAt(entity?.table, ["blocks"])
    .filter(isTable)
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
 * Sorted by order, each cut to its length, with an empty line between; blocks without a text leave none.
 *
 * @testonly
 */
export function strategy(blocks: readonly Block[]): PromptStrategy {
  const sorted = [...blocks].sort((a, b) => a.order - b.order);
  return {
    compose: (contents) =>
      sorted
        .map(({ name, maxLength }) => cut(contents.get(name) ?? "", maxLength))
        .filter((text) => text !== "")
        .join("\n\n"),
  };
}

/** By characters as people count them, never through the middle of one. */
function cut(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  if (text.length <= maxLength) return text;
  return [...text].slice(0, maxLength).join("");
}
