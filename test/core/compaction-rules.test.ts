import fc, { array, boolean, constant, constantFrom, integer, nat, oneof, option, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { planBlock } from "../../src/conversation/compaction/block-plan.ts";
import { getMessageText } from "../../src/conversation/compaction/clip.ts";
import { checkPlan, selectPlannableEntries } from "../../src/conversation/compaction/custom-plan.ts";
import { isText, type Plan, type PlanOptions, toSpans } from "../../src/conversation/compaction/plan.ts";
import { planTiered } from "../../src/conversation/compaction/tiered-plan.ts";
import { materialise } from "../../src/conversation/materialise.ts";
import { COMPACTION_KIND } from "../../src/conversation/message-visibility.ts";
import { findOrphan } from "../../src/conversation/orphans.ts";
import { estimateMessage } from "../../src/core/view/estimate.ts";
import { toViewRanges } from "../../src/core/view/view-ranges.ts";
import type { WantedSection } from "../../src/schema/context.ts";
import { CompactionConfig, ContextConfig } from "../../src/schema/context.ts";
import type { AgentMessage, Message } from "../../src/schema/message.ts";
import type { Entry, EntryOrigin } from "../../src/schema/record.ts";
import { must } from "../support/must.ts";
import { getRunCount } from "../support/test-depth.ts";
import { answer, inTurn, result, totalOf, user } from "./compaction-messages.ts";

// The rules of docs/loop.md ("What a compaction keeps"), for every strategy and every setting.

const RUNS = getRunCount(500);
const PATIENCE_MS = 180_000;

const READER = "read_full_message";
const PEOPLE: readonly EntryOrigin[] = ["prompt", "steering", "follow-up", "inbox"];
const image = (bytes: number) => ({
  type: "image" as const,
  data: "A".repeat(bytes),
  mimeType: "image/png" as const,
});

type Talk = {
  readonly entries: readonly Entry[];
  /** Positions of the user messages that the current loop answers. */
  readonly words: readonly number[];
  /** Positions of results that no answer has read. */
  readonly unread: readonly number[];
};

const text = oneof(
  { arbitrary: fc.string({ maxLength: 30 }), weight: 3 },
  {
    arbitrary: nat(90).map((count) => Array.from({ length: count }, (_, at) => `row ${at}`).join("\n")),
    weight: 2,
  },
  { arbitrary: nat(9000).map((length) => `{"${"ab".repeat(length / 2)}"}`), weight: 2 },
  { arbitrary: nat(900).map((length) => "😀".repeat(length)), weight: 1 },
);
const words = record({
  text: text.map((said) => `W${said}`),
  origin: constantFrom(...PEOPLE),
  image: option(constantFrom(100, 40_000), { freq: 5, nil: undefined }),
});
const turn = record({
  said: array(words, { maxLength: 2 }),
  notice: boolean(),
  answer: oneof({ arbitrary: constant(""), weight: 2 }, text),
  outputs: array(text, { minLength: 1, maxLength: 3 }),
  bigCall: option(nat(6000), { freq: 8, nil: undefined }),
});
const loopOfTurns = record({
  /** Without user messages: it continues with those of the previous loop. */
  continues: nat(3).map((drawn) => drawn === 0),
  prompts: array(words, { minLength: 1, maxLength: 2 }),
  turns: array(turn, { maxLength: 9 }),
});
const talks = record({
  loops: array(loopOfTurns, { minLength: 1, maxLength: 3 }),
  end: constantFrom("unread", "steered", "asked", "answered"),
  steering: words,
}).map(({ loops, end, steering }): Talk => {
  const entries: Entry[] = [];
  let asked: number[] = [];
  let unread: number[] = [];
  const put = (origin: EntryOrigin, message: AgentMessage, loopId: string, at: number) => {
    const told = inTurn(message, loopId, at);
    entries.push({ position: entries.length, origin, message: told, tokens: estimateMessage(told) });
    return entries.length - 1;
  };
  const say = (
    said: { text: string; origin: EntryOrigin; image: number | undefined },
    id: string,
    at: number,
  ) => {
    const spoken = user(said.text) as Extract<AgentMessage, { role: "user" }>;
    const content = said.image === undefined ? spoken.content : [...spoken.content, image(said.image)];
    asked.push(put(said.origin, { ...spoken, content }, id, at));
  };
  loops.forEach(({ continues, prompts, turns }, index) => {
    const id = `L.${index}`;
    const isLast = index === loops.length - 1;
    if (index === 0 || !continues) {
      asked = [];
      unread = [];
      prompts.forEach((prompt, at) => {
        say(at === 0 ? { ...prompt, origin: "prompt" } : prompt, id, 0);
      });
    }
    turns.forEach(({ said, notice, answer: spoken, outputs, bigCall }, at) => {
      if (at > 0) for (const one of said) say(one, id, at);
      if (at > 0 && notice) put("machine", user("[A notice]"), id, at);
      const calls = outputs.map((_, call) => `c${index}-${at}-${call}`);
      const made = answer(spoken, calls);
      const content = made.content.map((part) =>
        part.type === "toolCall" && bigCall !== undefined
          ? { ...part, arguments: { body: "y".repeat(bigCall) } }
          : part,
      );
      put("model", { ...made, content }, id, at);
      unread = outputs.map((output, call) =>
        put("tool", result(calls[call] as string, `R${output}`), id, at),
      );
    });
    if (isLast && end === "steered") say({ ...steering, origin: "steering" }, id, turns.length);
    if (isLast && end !== "answered" && end !== "asked") return;
    if (isLast && end === "asked" && turns.length > 0) return;
    if (turns.length === 0 && isLast) return;
    if (loops[index + 1]?.continues === true) return;
    put("model", answer("That is all."), id, turns.length);
    unread = [];
  });
  const lastAnswer = entries.findLast(({ message }) => message.role === "assistant");
  return { entries, words: asked, unread: unread.filter((at) => at > (lastAnswer?.position ?? -1)) };
});

const notes = oneof(
  constant(""),
  constant("   "),
  nat(400).map((length) => "n".repeat(length)),
);
const settings = record({
  keepFirstTurns: nat(4),
  keepRecentTurns: nat(12),
  maxSummaryTokens: oneof(constant(0), nat(200)),
  toolOutputMaxLines: oneof(constant(0), nat(60)),
  scope: constantFrom({ type: "fixed", loops: 0 }, { type: "fixed", loops: 2 }, { type: "token-budget" }),
});
const budgets = oneof(integer({ min: 0, max: 400 }), nat(4000), nat(12_000));

type Asked = { readonly entries: readonly Entry[]; readonly budget: number };

const strategies = {
  block: settings.map(
    (given) =>
      ({ entries, budget }: Asked) =>
        planBlock(entries, CompactionConfig.parse(given), budget, { maxContextTokens: 1000 }),
  ),
  summary: record({ given: settings, notes }).map(
    ({ given, notes: written }) =>
      ({ entries, budget }: Asked) => {
        const options: PlanOptions = { maxContextTokens: 1000, summarise: () => written };
        return planBlock(entries, CompactionConfig.parse(given), budget, options);
      },
  ),
  tiered: record({
    keepFirst: nat(4),
    keepRecent: nat(12),
    toolOutputMaxLines: oneof(constant(0), nat(60)),
  }).map(
    (given) =>
      ({ entries, budget }: Asked) =>
        planTiered(entries, ContextConfig.parse(given), budget),
  ),
  "an application's": record({
    lengths: array(nat(6), { maxLength: 6 }),
    forms: array(constantFrom("whole", { maxLines: 3 }, { summary: "a text" }), {
      minLength: 8,
      maxLength: 8,
    }),
  }).map(({ lengths, forms }) => ({ entries, budget }: Asked) => {
    const given = selectPlannableEntries(entries);
    const wanted: WantedSection[] = [];
    let at = 0;
    for (const [index, length] of [...lengths, given.length].entries()) {
      if (at >= given.length || lengths.length === 0) break;
      const from = at;
      at = Math.min(given.length, at + length + 1);
      while (given[at]?.message.role === "toolResult") at++;
      wanted.push({ from, to: at, form: forms[index] as WantedSection["form"] });
    }
    return checkPlan(wanted, given, { budget, maxTextTokens: 100 });
  }),
} as const;

/** What the model receives, built by the same code as in a run. */
function seenOf(plan: Extract<Plan, { ok: true }>, entries: readonly Entry[]): readonly Message[] {
  const position = entries.length;
  const sections = plan.sections.flatMap(({ form }) => (isText(form) ? [{ text: form.summary }] : []));
  const kept: Entry = {
    position,
    origin: "machine",
    message: { role: "extension", kind: COMPACTION_KIND, data: { sections }, timestamp: 0 },
    tokens: 0,
  };
  const spans = toSpans(plan.sections, position);
  return materialise(toViewRanges({ branch: "main", spans }), [...entries, kept]);
}

/** Whether the text is complete, or has head and tail around a marker that says how to read the rest. */
function isHeld(shown: string, whole: string, position: number): boolean {
  if (shown.includes(whole)) return true;
  const marker = new RegExp(
    `\\n\\n\\[\\.\\.\\. (\\d+) characters omitted; to read them, call ${READER} with \\{"message": ${position}, "from": (\\d+)\\} \\.\\.\\.\\]\\n\\n`,
  );
  const found = marker.exec(shown);
  if (found === null) return false;
  const [omitted, from] = [Number(found[1]), Number(found[2])];
  const [head, tail] = [whole.slice(0, from), whole.slice(from + omitted)];
  const before = shown.slice(0, found.index);
  const after = shown.slice(found.index + found[0].length);
  return head.length > 0 && tail.length > 0 && before.endsWith(head) && after.startsWith(tail);
}

const partsText = (message: Message) =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

describe.each(Object.keys(strategies) as (keyof typeof strategies)[])("the strategy %s", (name) => {
  test(
    "keeps the required messages in a valid request within the budget, or says why it cannot [CTX-15]",
    async () => {
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(talks, strategies[name], budgets, async (talk, strategy, budget) => {
          const plan: Plan = strategy({ entries: talk.entries, budget });
          if (!plan.ok) {
            must(plan.problem !== "", "says why");
            // Head, tail and marker of each, in characters of at most three bytes, and the answer between them.
            const least = 400 + 260 * (talk.words.length + talk.unread.length);
            must(name === "an application's" || budget < least, `fits in ${budget}, from ${least} on`);
            return;
          }
          taken += 1;
          const seen = seenOf(plan, talk.entries);
          must(totalOf(seen) <= budget, `${totalOf(seen)} tokens fit in ${budget}`);
          must(seen[0]?.role === "user", `the first message is a user's, not of ${seen[0]?.role}`);
          must(findOrphan(seen) === undefined, `no orphan: ${findOrphan(seen)}`);
          const users = seen.filter(({ role }) => role === "user");
          for (const position of talk.words) {
            const { message } = talk.entries[position] as Entry;
            const said = getMessageText(message as Message);
            must(
              users.some((shown) => isHeld(partsText(shown), said, position)),
              `the words at ${position} are held`,
            );
            const images = (message as Message).content.filter(({ type }) => type === "image");
            const isShown = users.some(
              (shown) =>
                images.every((part) => shown.content.includes(part as never)) ||
                partsText(shown).includes(`call ${READER} with {"message": ${position}, "image": 1}`),
            );
            must(isShown, `the images at ${position} are shown, or can be read`);
          }
          if (name === "an application's") return;
          for (const position of talk.unread) {
            const said = getMessageText((talk.entries[position] as Entry).message as Message);
            must(
              seen.some((shown) => isHeld(partsText(shown), said, position)),
              `the result at ${position} is held`,
            );
          }
        }),
        { numRuns: RUNS },
      );
      expect(taken).toBeGreaterThan(RUNS / 10);
    },
    PATIENCE_MS,
  );
});
