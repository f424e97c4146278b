import { listReferences } from "./reference.ts";

/** Removes the references that the evidence check has used: a reader of the text does not need them. */
export function removeReferences(content: string): string {
  return listReferences(content).reduce((text, reference) => {
    for (const written of [`[\`${reference}\`]`, `[${reference}]`, `\`${reference}\``, reference]) {
      const at = text.indexOf(written);
      if (at !== -1) return text.slice(0, at).replace(/[ \t]+$/, "") + text.slice(at + written.length);
    }
    return text;
  }, content);
}
