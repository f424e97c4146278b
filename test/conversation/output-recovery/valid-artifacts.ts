import type { ArtifactType } from "../../../src/apps/git/artifacts/artifact-types.ts";
import { pick, pickNumber, type Random } from "./mutator.ts";

/** Texts as models write them about code: quotes, escapes, brackets, fences and all. */
const SENTENCES = [
  "The parser stops at the first error.",
  'It prints "not found" and exits, which callers read as success.',
  "Don't retry: the vendor's limit counts retries too.",
  "`items[0]` is undefined when the list is empty, so `.id` throws.",
  "The pattern \\d+\\.\\d+ misses versions such as v1.2.",
  "On Windows the path is C:\\temp\\new, not /tmp/new.",
  "See https://example.com/a?b=1&c=2 // the old link is dead.",
  'A config of {"retries": 3, "mode": "fast"} loses its second field.',
  "Größe, naïve, 東京 and ✨ must survive: they did not.",
  "Use 50 % of the budget, then 25 %; never all.",
  "# Not a heading, a shell comment",
  'The key "name": is written twice, [1, 2, 3] once.',
  "Rename `a` to `b`, `b` to `c`; keep `d`.",
  "Tabs\tseparate the columns.",
  "true, false and null are words here.",
  "Ends with a backslash: \\",
  "It's the caller's job, isn't it?",
  "Escape codes such as \u001b[31m colour the log.",
  'Says "yes", then "no".',
  "Comma, colon: semicolon; done.",
] as const;

const CODE_BLOCKS = [
  '```ts\nconst a = { b: [1, 2] };\nif (a.b.length > 1) {\n\treturn "ok";\n}\n```',
  "```sh\ngit rebase --onto main 'topic~3'\n```",
  '```json\n{ "retries": 3 }\n```',
];

const PATHS = ["src/main.ts", "src/parse/lexer.ts", "README.md", "test/a b.test.ts", "lib/Größe.py"];
const SYMBOLS = ["parse", "readOutput", "Lexer.next", "MAX_SIZE"];

function writeParagraph(random: Random): string {
  return Array.from({ length: pickNumber(random, 1, 4) }, () => pick(random, SENTENCES)).join(" ");
}

function writeMarkdown(random: Random): string {
  const parts = Array.from({ length: pickNumber(random, 2, 6) }, () => {
    const kind = random();
    if (kind < 0.2) return pick(random, CODE_BLOCKS);
    if (kind < 0.4) return `## ${pick(random, ["Added", "Fixed", "What changed", "Why"])}`;
    if (kind < 0.7) return `- ${pick(random, SENTENCES)}\n- ${pick(random, SENTENCES)}`;
    return writeParagraph(random);
  });
  return parts.join("\n\n");
}

function maybe<Value>(random: Random, value: Value): Value | null {
  return random() < 0.5 ? value : null;
}

function writeReference(random: Random): string {
  const commit = Math.floor(random() * 2 ** 28)
    .toString(16)
    .padStart(7, "0");
  const from = pickNumber(random, 1, 400);
  return `${commit}:${pick(random, PATHS)}:${from}-${from + 3}#${pick(random, SYMBOLS)}`;
}

const SEVERITIES = ["critical", "high", "medium", "low", "info"];
const CATEGORIES = ["security", "correctness", "error_handling", "data_loss", "api_contract", "style"];

function writeFinding(random: Random, index: number) {
  const start = pickNumber(random, 1, 900);
  return {
    id: `F${index + 1}`,
    severity: pick(random, SEVERITIES),
    confidence: pickNumber(random, 0, 100),
    file: pick(random, PATHS),
    start_line: start,
    end_line: start + pickNumber(random, 0, 20),
    category: pick(random, CATEGORIES),
    body: writeParagraph(random),
    suggested_fix: maybe(random, pick(random, [...SENTENCES, ...CODE_BLOCKS])),
    evidence: Array.from({ length: pickNumber(random, 0, 2) }, () => writeReference(random)),
  };
}

const WRITERS: Record<ArtifactType, (random: Random) => object> = {
  GeneratedMessage: (random) => ({
    emoji: maybe(random, pick(random, ["✨", "🐛", "♻️"])),
    title: pick(random, ["Read the last line too", "Fix the lexer's end of file", 'Quote "names" in errors']),
    message: random() < 0.3 ? "" : writeParagraph(random),
    completion_message: maybe(random, pick(random, SENTENCES)),
  }),
  Review: (random) => ({
    summary: writeParagraph(random),
    metadata: {
      base: maybe(random, "main"),
      head: maybe(random, "1a2b3c4"),
      risk: pick(random, ["low", "medium", "high"]),
    },
    findings: Array.from({ length: pickNumber(random, 0, 3) }, (_, index) => writeFinding(random, index)),
    stats: {
      files_reviewed: pickNumber(random, 1, 40),
      hunks_reviewed: pickNumber(random, 1, 400),
      is_complete: random() < 0.5,
    },
  }),
  MarkdownPullRequest: (random) => ({ content: `# ${pick(random, SENTENCES)}\n\n${writeMarkdown(random)}` }),
  MarkdownChangelog: (random) => ({ content: `## [1.2.0]\n\n${writeMarkdown(random)}` }),
  MarkdownReleaseNotes: (random) => ({ content: writeMarkdown(random) }),
  PlainText: (random) => ({ text: writeMarkdown(random) }),
  SemanticBlame: (random) => ({ text: writeParagraph(random) }),
  Critique: (random) => ({
    requires_revision: random() < 0.5,
    issues: Array.from({ length: pickNumber(random, 0, 3) }, () => ({
      title: pick(random, SENTENCES),
      body: writeParagraph(random),
      severity: pick(random, SEVERITIES),
    })),
    revision_prompt: random() < 0.5 ? "" : writeParagraph(random),
    confidence: pickNumber(random, 0, 100),
  }),
};

export function writeArtifact(type: ArtifactType, random: Random): object {
  return WRITERS[type](random);
}
