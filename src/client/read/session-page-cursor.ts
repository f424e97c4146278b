import { HoldfastError } from "../holdfast-error.ts";

/** Where the next page of a list of sessions begins, in one of the list's three parts. */
export type PageCursor =
  | { readonly part: "open" | "closed"; readonly skip: number }
  | { readonly part: "transcript"; readonly lastActiveAtMs: number; readonly id: string };

export function formatPageCursor(cursor: PageCursor): string {
  const fields =
    cursor.part === "transcript"
      ? [cursor.part, cursor.lastActiveAtMs, cursor.id]
      : [cursor.part, cursor.skip];
  return Buffer.from(JSON.stringify(fields)).toString("base64url");
}

export function parsePageCursor(text: string): PageCursor {
  const [part, number, id] = parseFields(text);
  if (typeof number === "number") {
    if (part === "transcript" && typeof id === "string") return { part, lastActiveAtMs: number, id };
    if (part === "open" || part === "closed") return { part, skip: number };
  }
  throw new HoldfastError(
    "input-invalid",
    `"${text.slice(0, 80)}" is not the \`after\` value of a page. Pass the value that the preceding page returned.`,
  );
}

function parseFields(text: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}
