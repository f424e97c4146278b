import { FILLER, hasTextToLastEnd, type LooseSource, type OpenContainer } from "./loose-source.ts";
import { findKnownField, hasKnownFields } from "./object-shape.ts";
import { matchAt, readKey } from "./read-key.ts";

const SEPARATORS = /[\s,;\uff0c]+/y;
const BRACKETS = /[}\]\s,;\uff0c]+/y;
const BEGINS_ITEM = /["'{[\d-]|true\b|false\b|null\b/y;

/** Reports whether what follows a quote can follow a text, so that the quote ends it. */
export function closesText(source: LooseSource, next: number): boolean {
  const { text, open } = source;
  const container = open.at(-1);
  const filler = matchAt(FILLER, text, next)?.[0] ?? "";
  // What looks like a comment may be a part of the text.
  if (/^(?:#|\/\/)/.test(filler)) return false;
  const at = next + filler.length;
  if (at >= text.length) return filler.trim() === "";
  if (text.startsWith("```", at) || text.startsWith("</", at)) return true;
  const char = text[at]!;
  if (char === "}" || char === "]") return closesContainer(source, at);
  if (char === "+") return /^\+\s*["'`]/.test(text.slice(at, at + 20));
  const hasSeparator = ",;\uff0c".includes(char);
  const after = hasSeparator ? skipSeparators(text, at) : at;
  if (after >= text.length) return true;
  if (hasSeparator && (text[after] === "}" || text[after] === "]")) return closesContainer(source, after);
  if (beginsField(text, after, container, open, hasSeparator)) return true;
  const isNewLine = hasSeparator || text.slice(next, at).includes("\n");
  return container?.type === "list" && isNewLine && matchAt(BEGINS_ITEM, text, after) !== undefined;
}

function skipSeparators(text: string, from: number): number {
  let at = from;
  for (;;) {
    const step = (matchAt(SEPARATORS, text, at) ?? matchAt(FILLER, text, at))?.[0].length ?? 0;
    if (step === 0) return at;
    at += step;
  }
}

/** Reports whether brackets close containers here, and do not belong to the text. */
function closesContainer(source: LooseSource, at: number): boolean {
  const { text, open } = source;
  const found = matchAt(BRACKETS, text, at)?.[0] ?? "";
  const after = at + found.length;
  const closed = found.replace(/[^}\]]/g, "").length;
  if (after >= text.length || text.startsWith("```", after) || text.startsWith("</", after)) return true;
  const outer = open[open.length - 1 - closed];
  if (closed >= open.length) {
    if (hasTextToLastEnd(source, after)) return false;
    return found.slice(found.trimEnd().length).includes("\n") || /[);]/.test(text[after]!);
  }
  if (beginsField(text, after, outer, open, true)) return true;
  return outer?.type === "list" && matchAt(BEGINS_ITEM, text, after) !== undefined;
}

/** Reports whether a field of this container begins here, or one of an enclosing object. */
function beginsField(
  text: string,
  at: number,
  container: OpenContainer | undefined,
  open: readonly OpenContainer[],
  isAfterSeparator: boolean,
): boolean {
  const key = readKey(text, at);
  if (key === undefined || (!isAfterSeparator && key.isQuoteMissing === true)) return false;
  const objects =
    container?.type === "object" ? [container] : [open.findLast(({ type }) => type === "object")];
  return objects.some(
    (object) =>
      object !== undefined &&
      (hasKnownFields(object.shape)
        ? findKnownField(key.name, object.shape) !== undefined || key.name === "$schema"
        : key.repair === undefined),
  );
}

/** Finds where a text ends that lacks its closing quote: before the next field, which is known and not yet there. */
export function findUnclosedEnd(source: LooseSource, from: number, quote: number): number | undefined {
  const container = source.open.at(-1);
  if (container?.type !== "object" || !hasKnownFields(container.shape)) return undefined;
  const gap = /(?:,\s*|\n\s*)$/.exec(source.text.slice(Math.max(from, quote - 200), quote))?.[0];
  if (gap === undefined) return undefined;
  const key = readKey(source.text, quote);
  if (key === undefined || key.repair !== undefined) return undefined;
  const known = findKnownField(key.name, container.shape);
  return known === undefined || container.names.has(known) ? undefined : quote - gap.length;
}
