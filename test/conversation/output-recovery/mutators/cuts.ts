import { type Mutator, pickNumber, type Random } from "../mutator.ts";

// Streams that end early: the output limit, or a connection that broke.

export const CUTS: readonly Mutator[] = [
  { name: "cut-anywhere", loss: "part", mutate: (text, random) => cut(text, random, 0.02) },
  { name: "cut-late", loss: "part", mutate: (text, random) => cut(text, random, 0.8) },
  { name: "cut-last-tenth", loss: "part", mutate: (text, random) => cut(text, random, 0.9) },
  {
    name: "cut-in-fence",
    loss: "part",
    mutate: (text, random) => `Here is the result:\n\`\`\`json\n${cut(text, random, 0.5)}`,
  },
  {
    name: "cut-with-raw-newlines",
    loss: "part",
    mutate: (text, random) => cut(text.replace(/(?<!\\)((?:\\\\)*)\\n/g, "$1\n"), random, 0.5),
  },
];

/** @param earliest - The first position to cut at, as a share of the text. */
function cut(text: string, random: Random, earliest: number): string {
  return text.slice(0, pickNumber(random, Math.ceil(text.length * earliest), text.length - 2));
}
