import fc, { type IProperty, integer, array as listOf, nat, oneof, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { computeJudgeBudget, fitMaterial } from "../../src/conversation/evaluation/fit-material.ts";
import {
  buildJudgeMaterial,
  getLastAnswerText,
  type JudgeMaterial,
} from "../../src/conversation/evaluation/judge-material.ts";
import {
  buildFittedJudgePrompt,
  buildJudgePrompt,
  buildJudgeSystemPrompt,
  JUDGE_SYSTEM_PROMPT,
} from "../../src/conversation/evaluation/judge-prompt.ts";
import { computeHardLimit, shortenText } from "../../src/conversation/evaluation/text-tiers.ts";
import { countUtf8Bytes } from "../../src/core/view/estimate.ts";
import type { AgentMessage } from "../../src/schema/message.ts";
import { getRunCount } from "../support/test-depth.ts";
import { answer, extension, lines, result, user } from "./compaction-messages.ts";

const RUNS = getRunCount(500);
const check = <T>(checked: IProperty<T>) => fc.assert(checked, { numRuns: RUNS });

const IMAGE = { type: "image", data: "AAAA", mimeType: "image/png" } as const;
const said = (...content: readonly object[]) => ({ ...answer(""), content }) as unknown as AgentMessage;
const text = (words: string) => ({ type: "text", text: words });

describe("the prompt of a judge", () => {
  test("contains prior context, query and final answers, in the published layout [PAR-07.1-3, PAR-08.1]", () => {
    const context = [
      user("What is quantum mechanics?"),
      said({ type: "thinking", thinking: "hm" }, text("Let me look.")),
      said({ type: "toolCall", id: "a", name: "read", arguments: { path: "secret" } }),
      result("a", "tool output"),
      extension({ note: 1 }),
      said(text("The branch of physics that..."), IMAGE),
    ];
    const prompts = [user("Can you explain quantum entanglement in simple terms?")];
    const one = [
      answer("I will read.", ["b"]),
      result("b", "more output"),
      answer("Two particles share a state..."),
    ];
    const two = [answer("Think of two magic dice...")];
    const material = buildJudgeMaterial(context, prompts, [one, two].map(getLastAnswerText));
    expect(buildJudgePrompt(material)).toBe(`Prior conversation context:
User: What is quantum mechanics?
Assistant: Let me look.
Assistant: The branch of physics that...

Original query:
Can you explain quantum entanglement in simple terms?

Response 1:
Two particles share a state...

Response 2:
Think of two magic dice...

Which response is best? Reply with ONLY the response number (e.g., "1" or "2").`);
  });

  test("has no section for prior context if there is none [PAR-07.1]", () => {
    const material = buildJudgeMaterial([result("a", "x")], [user("one"), extension(1), user("two")], ["r"]);
    expect(buildJudgePrompt(material)).toBe(
      'Original query:\none\ntwo\n\nResponse 1:\nr\n\nWhich response is best? Reply with ONLY the response number (e.g., "1" or "2").',
    );
  });

  test("in a continuation without prompts, uses the last user message as the query and earlier messages as prior context [PAR-09]", () => {
    const context = [
      user("first"),
      answer("done"),
      user("second"),
      answer("looking", ["a"]),
      result("a", "out"),
    ];
    expect(buildJudgeMaterial(context, [], [])).toEqual({
      prior: "User: first\nAssistant: done",
      query: "second",
      responses: [],
    });
    expect(buildJudgeMaterial([user("only")], [], [])).toEqual({ prior: "", query: "only", responses: [] });
    expect(buildJudgeMaterial([], [user(""), user("a"), user("b")], []).query).toBe("a\nb");
    expect(buildJudgeMaterial([answer("nobody asked")], [], [])).toEqual({
      prior: "Assistant: nobody asked",
      query: "",
      responses: [],
    });
  });

  test("contains as a response only the last answer's complete text, or an empty text [PAR-07.3]", () => {
    expect(
      getLastAnswerText([
        answer("early"),
        said(text("a"), { type: "thinking", thinking: "t" }, text("b")),
        user("stopped"),
      ]),
    ).toBe("ab");
    expect(getLastAnswerText([answer("early"), answer("", ["c"])])).toBe("");
    expect(getLastAnswerText([user("q")])).toBe("");
  });

  test("uses the built-in system prompt if the judge has none [PAR-06.2, GAP-16.2]", () => {
    expect(buildJudgeSystemPrompt(undefined)).toBe(JUDGE_SYSTEM_PROMPT);
    expect(buildJudgeSystemPrompt(" \n")).toBe(JUDGE_SYSTEM_PROMPT);
    expect(buildJudgeSystemPrompt("Prefer short ones.")).toBe("Prefer short ones.");
    expect(JUDGE_SYSTEM_PROMPT).toContain("ONLY the number");
  });
});

describe("the shortening tiers", () => {
  test("the first keeps the last 80 lines [PAR-11.1]", () => {
    expect(shortenText(lines(80), 1, 0)).toBe(lines(80));
    expect(shortenText(lines(81), 1, 0)).toBe(lines(81).split("\n").slice(1).join("\n"));
    expect(shortenText(`${lines(81)}\n`, 1, 0)).toBe(`${lines(81).split("\n").slice(1).join("\n")}\n`);
    expect(shortenText(`${lines(80)}\n`, 1, 0)).toBe(`${lines(80)}\n`);
  });

  test("the second keeps the first and the last paragraph [PAR-11.2]", () => {
    expect(shortenText("a\na\n\nb\n \t\nc\n\n\n\nd\nd", 2, 0)).toBe("a\na\n\n...\n\nd\nd");
    expect(shortenText("a\r\n\r\nbbbb\r\n\r\nc", 2, 0)).toMatch(/^a\r?\n\n\.\.\.\n\nc$/);
    expect(shortenText("\n\na\n\nb\n\n", 2, 0)).toBe("\n\na\n\nb\n\n");
    expect(shortenText(" \n\na\n\nb\n\n\t", 2, 0)).toBe(" \n\na\n\nb\n\n\t");
    expect(shortenText(lines(500), 2, 0)).toBe(lines(500));
  });

  test("the third cuts to four characters per token, divided among the texts, but to at least 200 [PAR-11.3, X-21]", () => {
    expect(computeHardLimit(1000, 3)).toBe(1333);
    expect(computeHardLimit(100, 3)).toBe(200);
    expect(computeHardLimit(-5, 1)).toBe(200);
    expect(computeHardLimit(60, 0)).toBe(240);
    expect(shortenText("x".repeat(300), 3, 250)).toBe("x".repeat(250));
    expect(shortenText("x".repeat(250), 3, 250)).toBe("x".repeat(250));
  });

  test("the third counts bytes beyond 200 characters, and splits no character [PAR-11.3]", () => {
    expect(shortenText("語".repeat(500), 3, 900)).toBe("語".repeat(300));
    expect(shortenText("語".repeat(500), 3, 899)).toBe("語".repeat(299));
    expect(shortenText("😀".repeat(500), 3, 200)).toBe("😀".repeat(200));
    expect(shortenText("é".repeat(500), 3, 451)).toBe("é".repeat(225));
    expect(shortenText("😀".repeat(500), 3, 1003)).toBe("😀".repeat(250));
  });
});

describe("fitting the material to a judge's window", () => {
  const fit = (prior: string, responses: readonly string[], budget: number | undefined) =>
    fitMaterial({ prior, query: "q".repeat(9999), responses }, budget);
  const paragraphs = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => `${index}`.padEnd(size, ".")).join("\n\n");

  test("allots four fifths of the window to prior context and responses; without a window there is no limit [PAR-10.1-2]", () => {
    expect(computeJudgeBudget({ maxContextTokens: 100_000 })).toBe(80_000);
    expect(computeJudgeBudget({ maxContextTokens: 9 })).toBe(7);
    expect(computeJudgeBudget(null)).toBeUndefined();
    const huge = fit("p".repeat(900_000), ["r".repeat(900_000)], undefined);
    expect(huge.tiers).toEqual({ prior: 0, responses: 0 });
    expect(huge.material.prior).toHaveLength(900_000);
  });

  test("leaves material that exactly fits unchanged; the query does not count [PAR-10.1, PAR-11.4]", () => {
    expect(fit("p".repeat(200), ["r".repeat(100), "r".repeat(100)], 100).tiers).toEqual({
      prior: 0,
      responses: 0,
    });
    expect(fit("p".repeat(201), ["r".repeat(100), "r".repeat(100)], 100).tiers.prior).not.toBe(0);
  });

  test("first shortens prior context, by as few tiers as needed, with the responses whole [PAR-11.4]", () => {
    const responses = [paragraphs(9, 90), lines(100)];
    const first = fit(lines(900), responses, 700);
    expect(first.tiers).toEqual({ prior: 1, responses: 0 });
    expect(first.material.prior).toBe(lines(900).split("\n").slice(-80).join("\n"));
    const second = fit(paragraphs(30, 200), responses, 700);
    expect(second.tiers).toEqual({ prior: 2, responses: 0 });
    expect(second.material.prior).toBe(`${"0".padEnd(200, ".")}\n\n...\n\n${"29".padEnd(200, ".")}`);
    const third = fit("p".repeat(9000), ["r".repeat(1000)], 700);
    expect(third.tiers).toEqual({ prior: 3, responses: 0 });
    expect(third.material.prior).toBe("p".repeat(1800));
    for (const { material, warning } of [first, second]) {
      expect(material.responses).toEqual(responses);
      expect(warning).toBeUndefined();
    }
  });

  test("applies a later tier to the output of the previous one [PAR-11.4]", () => {
    const early = Array.from({ length: 100 }, (_, index) => `early ${index}\n`).join("\n");
    const prior = `${early}\n\n${lines(60)}`;
    const { tiers, material } = fit(prior, [], 140);
    expect(tiers.prior).toBe(2);
    expect(material.prior).toMatch(/^\nearly 91\n\n\.\.\.\n\nline 1\n/);
  });

  test("then shortens the responses, all by the same tier, with prior context at its third tier [PAR-11.5]", () => {
    const prior = "p".repeat(9000);
    const long = fit(prior, [lines(200), lines(100)], 400);
    expect(long.tiers).toEqual({ prior: 3, responses: 1 });
    expect(long.material).toMatchObject({
      prior: "p".repeat(200),
      responses: [200, 100].map((count) => lines(count).split("\n").slice(-80).join("\n")),
    });
    const middling = fit(prior, [paragraphs(20, 100), "short"], 200);
    expect(middling.tiers).toEqual({ prior: 3, responses: 2 });
    expect(middling.material.responses[1]).toBe("short");
    const wide = fit(prior, ["r".repeat(5000), "s".repeat(4000), "short"], 1000);
    expect(wide.tiers).toEqual({ prior: 3, responses: 3 });
    expect(wide.material.responses).toEqual(["r".repeat(1266), "s".repeat(1266), "short"]);
    expect(wide.warning).toBeUndefined();
  });

  test("still builds a prompt if the material cannot fit, with a warning [PAR-12.1-2]", () => {
    const responses = Array.from({ length: 5 }, () => "r".repeat(999));
    const { prompt, warning, tiers } = buildFittedJudgePrompt({ prior: "", query: "q", responses }, 240);
    expect(tiers).toEqual({ prior: 3, responses: 3 });
    expect(warning).toContain("about 250 tokens, but only 240 fit");
    expect(prompt.match(/Response \d:\nr{200}\n/g)).toHaveLength(5);
    expect(buildFittedJudgePrompt({ prior: "", query: "q", responses }, 250).warning).toBeUndefined();
  });

  test("fits any texts, or applies the last tier and warns [PAR-11.5, PAR-12.1]", () => {
    const words = oneof(
      nat(300).map((count) => lines(count)),
      nat(9000).map((length) => "x".repeat(length)),
      nat(3000).map((length) => "語".repeat(length)),
      listOf(string({ maxLength: 30 }), { maxLength: 30 }).map((parts) => parts.join("\n\n")),
    );
    check(
      property(
        words,
        listOf(words, { minLength: 1, maxLength: 6 }),
        integer({ min: 1, max: 4000 }),
        (prior, responses, budget) => {
          const material: JudgeMaterial = { prior, query: "q", responses };
          const fitted = fitMaterial(material, budget);
          const bytes = [fitted.material.prior, ...fitted.material.responses].reduce(
            (sum, part) => sum + countUtf8Bytes(part),
            0,
          );
          expect(Math.ceil(bytes / 4) <= budget).toBe(fitted.warning === undefined);
          if (fitted.tiers.responses === 0) expect(fitted.material.responses).toEqual(responses);
          if (fitted.warning === undefined) return;
          expect([...fitted.material.prior].length).toBeLessThanOrEqual(200);
          const longest = Math.max(...fitted.material.responses.map((part) => [...part].length));
          expect(longest).toBeLessThanOrEqual(computeHardLimit(budget, responses.length));
        },
      ),
    );
  });
});
