import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Critique } from "../../../src/apps/git/artifacts/critique.ts";
import { Finding, Review } from "../../../src/apps/git/artifacts/review.ts";
import { formatReviewText } from "../../../src/apps/git/output/format-review.ts";
import { formatReviewMarkdown } from "../../../src/apps/git/output/format-review-markdown.ts";
import { listFailing, type ReviewReport } from "../../../src/apps/git/output/review-report.ts";

const finding = (fields: Partial<Finding> = {}) =>
  Finding.parse({
    id: "F1",
    severity: "low",
    confidence: 70,
    file: "src/a.ts",
    start_line: 3,
    end_line: 3,
    category: "style",
    body: "A name says nothing.",
    ...fields,
  });

const REPORT: ReviewReport = {
  review: Review.parse({
    summary: "Two things.\nSee below.",
    metadata: { base: "main", head: "1a2b3c4", risk: "high" },
    findings: [
      finding(),
      finding({
        id: "F2",
        severity: "critical",
        end_line: 5,
        category: "data_loss",
        body: "It deletes\n  the file.",
        suggested_fix: "keep(file);\n",
        evidence: ["1a2b3c4:src/a.ts:3-5"],
      }),
    ],
  }),
  coverage: "4 of 4 hunks examined",
  dropped: [{ claim: finding({ id: "F3" }), problems: ["It has no evidence."] }],
  critic: {
    type: "critique",
    critique: Critique.parse({
      requires_revision: false,
      confidence: 80,
      issues: [{ title: "Too short", body: "", severity: "info" }],
    }),
    wasRegenerated: true,
  },
  costUsd: 0.01234,
};

describe("as text", () => {
  test("the most severe finding comes first, and what was dropped, judged and spent at the end", () => {
    expect(formatReviewText(REPORT)).toBe(`Review of main..1a2b3c4, risk high

Two things.
See below.

critical  src/a.ts:3-5  data_loss  70 %  F2
  It deletes
    the file.
  Fix:
    keep(file);
  Evidence: 1a2b3c4:src/a.ts:3-5

low  src/a.ts:3  style  70 %  F1
  A name says nothing.

2 findings: 1 critical, 1 low
4 of 4 hunks examined
1 finding dropped, because the evidence fails:
  F3: It has no evidence.
The critic accepts the review (80 % sure), and names 1 issue; it was written anew once.
  info: Too short
Cost: $0.0123
`);
  });

  test("what is unknown is left out", () => {
    const review = Review.parse({ summary: "Fine.", findings: [] });
    expect(formatReviewText({ review })).toBe("Review, risk low\n\nFine.\n\nNo findings\n");
    const failed = { type: "failed", reason: "timed out" } as const;
    expect(formatReviewText({ review, critic: failed })).toContain("The critic has failed");
  });

  test("colours appear only where they are wanted, and change nothing else", () => {
    const coloured = formatReviewText(REPORT, (style, text) => `<${style}>${text}</>`);
    expect(coloured).toContain("<critical>critical</>");
    expect(coloured).toMatch(/^<heading>Review of /);
    expect(coloured.replace(/<[a-z]*>|<\/>/g, "")).toBe(formatReviewText(REPORT));
  });
});

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom("\x1b[2J", "\u202e", "\x9b", "\r", "\0", "\n", "`", "~~~", "<img>"),
      fc.string(),
    ),
  )
  .map((parts) => `x${parts.join("")}`);

test("no text of a model or a repository brings an escape sequence or a hidden character", () => {
  fc.assert(
    fc.property(hostile, hostile, (text, name) => {
      const claim = finding({ id: name, file: name, body: text, suggested_fix: text, evidence: [name] });
      const report: ReviewReport = {
        review: Review.parse({ summary: text, metadata: { base: name, head: name }, findings: [claim] }),
        coverage: text,
        dropped: [{ claim, problems: [text] }],
        critic: { type: "failed", reason: text },
      };
      for (const output of [formatReviewText(report), formatReviewMarkdown(report)]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these may come through
        expect(output).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }
    }),
  );
});

describe("as Markdown", () => {
  test("findings are headings, and a fix is a block of code", () => {
    const text = formatReviewMarkdown(REPORT);
    expect(text).toMatch(/^## Review of `main`\.\.`1a2b3c4`\n\nRisk: high\n\nTwo things\.\nSee below\.\n/);
    expect(text).toContain(
      "### critical: `src/a.ts:3-5`\n\ndata\\_loss, 70 % sure, `F2`\n\nIt deletes\n&nbsp;&nbsp;the file.\n\nSuggested fix:\n\n```\nkeep(file);\n```\n\nEvidence: `1a2b3c4:src/a.ts:3-5`\n",
    );
    expect(text).toContain("- `F3`: It has no evidence.\n");
    expect(text.endsWith("- Cost: \\$0.0123\n")).toBe(true);
  });

  test.each([
    ["# no heading", "\\# no heading"],
    ["- no item", "\\- no item"],
    ["12. no item", "12\\. no item"],
    ["===", "\\==="],
    ["> no quote", "\\> no quote"],
    ["[no link](x)", "\\[no link\\](x)"],
    ["![no image](https://x)", "\\!\\[no image\\](https\\://x)"],
    ["<script>&amp;", "\\<script\\>\\&amp;"],
    ["    no code", "&nbsp;&nbsp;&nbsp;&nbsp;no code"],
    ["*no* _emphasis_ `code` ~~no~~", "\\*no\\* \\_emphasis\\_ \\`code\\` \\~\\~no\\~\\~"],
    ["see www.x.y", "see www\\.x.y"],
    ["ask @team", "ask @&#8203;team"],
    ["a | b", "a \\| b"],
  ])("%s is shown as it is", (body, escaped) => {
    const review = Review.parse({ summary: "s", findings: [finding({ body: `x\n${body}` })] });
    expect(formatReviewMarkdown({ review })).toContain(`\nx\n${escaped}\n`);
  });

  test("names and fixes with backticks stay code", () => {
    const claim = finding({ file: "a`b", suggested_fix: "```\n# x\n````\n" });
    const text = formatReviewMarkdown({ review: Review.parse({ summary: "s", findings: [claim] }) });
    expect(text).toContain("### low: ``a`b:3``\n");
    expect(text).toContain("`````\n```\n# x\n````\n`````\n");
  });
});

test.each([
  ["critical", ["critical"]],
  ["medium", ["critical", "medium"]],
  ["info", ["critical", "medium", "low"]],
] as const)("a check that fails on %s fails for %s", (failOn, expected) => {
  const findings = (["low", "critical", "medium"] as const).map((severity) => finding({ severity }));
  expect(
    listFailing(findings, failOn)
      .map(({ severity }) => severity)
      .toSorted(),
  ).toEqual([...expected].toSorted());
  expect(listFailing([], failOn)).toEqual([]);
});
