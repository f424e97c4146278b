// Text as it is displayed for approval: control and invisible characters are escaped, so that nothing is hidden.

export function splitLines(text: string): readonly string[] {
  return escapeInvisible(text).split("\n");
}

export function joinLines(text: string): string {
  return escapeInvisible(text).replaceAll("\n", "\\n");
}

/** Escapes control and invisible characters, which could hide or reorder the text of what runs. */
export function escapeInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character === "\n" || character === "\t" ? character : escapeCharacter(character),
  );
}

export function formatJson(value: unknown): string {
  return (JSON.stringify(value) ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => escapeCodeUnit(character.charCodeAt(at))).join(""),
  );
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : escapeCodeUnit(code);
}

function escapeCodeUnit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
