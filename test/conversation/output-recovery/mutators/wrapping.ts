import { type Mutate, type Mutator, nameLossless, pick, type Random } from "../mutator.ts";

// The value is whole; other text stands around it.

const PREFACES = [
  "Here's the JSON you asked for:",
  "Sure! I looked at the staged changes and this is the result.",
  "I used {name} and [optional] placeholders from the template. The answer:",
  'The schema wants an object with "title", so:',
  "Based on git_diff() and git_log(count=5):",
];
const AFTERWORDS = [
  "Let me know if you want any changes!",
  "Note: {the second hunk} was skipped [generated].",
  'I left "emoji" out on purpose.',
];
const FENCE = "```";

const wrapped =
  (build: (text: string, random: Random) => string): Mutate =>
  (text, random) =>
    build(text, random);

export const WRAPPING: readonly Mutator[] = nameLossless({
  "fence-json": wrapped((text) => `${FENCE}json\n${text}\n${FENCE}`),
  "fence-plain": wrapped((text) => `${FENCE}\n${text}\n${FENCE}\n`),
  "fence-upper-case": wrapped((text) => `${FENCE}JSON\n${text}\n${FENCE}`),
  "fence-unclosed": wrapped((text, random) => `${pick(random, PREFACES)}\n${FENCE}json\n${text}\n`),
  "fence-one-line": wrapped((text) => `${FENCE}json ${text} ${FENCE}`),
  preface: wrapped((text, random) => `${pick(random, PREFACES)}\n\n${text}`),
  "preface-same-line": wrapped((text, random) => `${pick(random, PREFACES)} ${text}`),
  afterword: wrapped((text, random) => `${text}\n\n${pick(random, AFTERWORDS)}`),
  "preface-fence-afterword": wrapped(
    (text, random) =>
      `${pick(random, PREFACES)}\n\n${FENCE}json\n${text}\n${FENCE}\n\n${pick(random, AFTERWORDS)}`,
  ),
  "language-word": wrapped((text) => `json\n${text}`),
  "byte-order-mark": wrapped((text) => `\ufeff${text}`),
  tags: wrapped((text, random) => {
    const tag = pick(random, ["output", "json", "answer"]);
    return `<${tag}>\n${text}\n</${tag}>`;
  }),
  thinking: wrapped(
    (text) =>
      `<think>\nThe object needs {"title": ...} and maybe [notes]. Let me write it.\n</think>\n${text}`,
  ),
  "earlier-example": wrapped(
    (text) => `The config {"retries": 3} is unchanged, so it is not a finding.\n\n${text}`,
  ),
  assignment: wrapped((text) => `const result = ${text};`),
  call: wrapped((text) => `respond(${text})`),
  "encoded-twice": wrapped((text) => JSON.stringify(text)),
  "in-list": wrapped((text) => `[${text}]`),
  "in-object": wrapped((text, random) => `{"${pick(random, ["result", "output", "response"])}": ${text}}`),
  "html-entities": wrapped((text) =>
    text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  ),
});
