/** Truncates a text to `maxChars` at a character boundary. If something was removed, the last character is an ellipsis. */
export function truncateText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
