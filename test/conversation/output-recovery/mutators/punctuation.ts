import { type Mutator, nameLossless, pick } from "../mutator.ts";
import { changeOnce, mapBetween, mapKeys } from "./json-parts.ts";

// Faults between the strings: commas, colons, brackets, comments, literals and keys.

export const PUNCTUATION: readonly Mutator[] = nameLossless({
  "trailing-comma": (text) =>
    mapBetween(text, (between) => between.replace(/(^|[^\s[{])(\s*[}\]])/g, "$1,$2")),
  "trailing-comma-last": (text) => text.replace(/([^\s{[])(\s*[}\]])\s*$/, "$1,$2"),
  "comma-missing": (text, random) => changeOnce(text, /,/, random, () => "\n"),
  "commas-missing": (text) => mapBetween(text, (between) => between.replaceAll(",", "\n")),
  "comma-twice": (text, random) => changeOnce(text, /,/, random, () => ",,"),
  semicolons: (text) => mapBetween(text, (between) => between.replaceAll(",", ";")),
  "equals-signs": (text) => mapBetween(text, (between) => between.replaceAll(":", " =")),
  arrows: (text) => mapBetween(text, (between) => between.replaceAll(":", " =>")),
  "colon-missing": (text, random) => changeOnce(text, /:/, random, () => " "),
  "line-comment": (text, random) => changeOnce(text, /[,{]/, random, (found) => `${found} // as requested\n`),
  "block-comment": (text, random) =>
    changeOnce(text, /[,{:]/, random, (found) => `${found} /* see "title": {above} */ `),
  "hash-comment": (text, random) => changeOnce(text, /[,{]/, random, (found) => `${found} # done\n`),
  "python-literals": (text) =>
    mapBetween(text, (between) =>
      between
        .replace(/\btrue\b/g, "True")
        .replace(/\bfalse\b/g, "False")
        .replace(/\bnull\b/g, "None"),
    ),
  "upper-case-literals": (text) =>
    mapBetween(text, (between) => between.replace(/\b(?:true|false|null)\b/g, (word) => word.toUpperCase())),
  "undefined-for-null": (text) => mapBetween(text, (between) => between.replace(/\bnull\b/g, "undefined")),
  "unquoted-keys": (text) => mapKeys(text, (literal) => literal.slice(1, -1)),
  "key-quote-opening-missing": (text, random) => {
    const chosen = pick(random, listKeys(text));
    return mapKeys(text, (literal) => (literal === chosen ? literal.slice(1) : literal));
  },
  "key-quote-closing-missing": (text, random) => {
    const chosen = pick(random, listKeys(text));
    return mapKeys(text, (literal) => (literal === chosen ? literal.slice(0, -1) : literal));
  },
  "escaped-keys": (text) => mapKeys(text, (literal) => `\\"${literal.slice(1, -1)}\\"`),
  "closing-bracket-missing": (text) => text.replace(/[}\]]\s*$/, ""),
  "closing-brackets-missing": (text) => text.replace(/[}\]\s]+$/, ""),
  "closing-bracket-twice": (text) => `${text}}`,
  "inner-bracket-missing": (text, random) => changeOnce(text, /\]/, random, () => ""),
  "wrong-closing-bracket": (text) => text.replace(/\}\s*$/, "]"),
  "opening-brace-missing": (text) => text.replace(/^\s*\{/, ""),
  "opening-brace-twice": (text) => `{${text}`,
  "braces-missing": (text) => text.replace(/^\s*\{/, "").replace(/\}\s*$/, ""),
  "numbers-with-plus": (text) => mapBetween(text, (between) => between.replace(/\b\d+\b/g, "+$&")),
  "numbers-with-zeros": (text) => mapBetween(text, (between) => between.replace(/\b\d+\b/g, "0$&")),
  "numbers-as-decimals": (text) => mapBetween(text, (between) => between.replace(/\b\d+\b/g, "$&.0")),
  "non-breaking-spaces": (text) => mapBetween(text, (between) => between.replaceAll(" ", "\u00a0")),
  "key-twice": (text) => {
    const [, member = ""] = /^\s*\{\s*("\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"|\w+))/.exec(text) ?? [];
    return text.replace(/\}\s*$/, () => `, ${member}}`);
  },
});

function listKeys(text: string): readonly string[] {
  const keys: string[] = [];
  mapKeys(text, (literal) => {
    keys.push(literal);
    return literal;
  });
  return keys;
}
