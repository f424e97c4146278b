import { estimateMessage, estimateText } from "../../core/view/estimate.ts";
import type { Span, SpanFormat } from "../../core/view/view.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import type { CompactionConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { COMPACTION_KIND } from "../message-visibility.ts";
import { UNANSWERED_CALL } from "../orphans.ts";
import { type EntryForm, formatEntry, getMessageText, isUserText, toMaxChars } from "./clip.ts";
import { cutToolResult } from "./cut-text.ts";
import { buildPlaceholder, formatRemoved } from "./placeholder.ts";
import type { TokenCounter } from "./token-counter.ts";
import { summarise } from "./turn-summary.ts";
import { getPositionRange, type Turn } from "./turns.ts";

// What every strategy builds its plans from: sections, counted as a model sees them.

/** The entries from `from` (inclusive) to `to` (exclusive), and what a model sees of them. */
export type Section = {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** The estimate of what is visible. */
  readonly tokens: number;
  readonly form: SectionForm;
};

export type SectionForm = EntriesForm | TextForm;

/** Each entry is visible, unchanged or with long texts cut. */
export type EntriesForm = "whole" | EntryForm;

/** One message with this text replaces all entries. */
export type TextForm = {
  readonly summary: string;
  /** User messages from this position on follow the text. */
  readonly userTextFrom?: number;
  readonly maxUserChars?: number;
  /** Each text that the message repeats is cut to about this many characters. */
  readonly maxChars?: number;
};

export type Plan =
  | { readonly ok: true; readonly sections: readonly Section[] }
  /** Why nothing is small enough, as a sentence. */
  | { readonly ok: false; readonly problem: string };

export type PlanOptions = {
  /** For a scope by tokens (CMP-05). */
  readonly maxContextTokens: number;
  readonly count?: TokenCounter;
  /**
   * Returns a text for turns that are not visible, in at most `maxTokens`; by default one line a turn. Without a text, a
   * marker stands for the turns.
   *
   * A strategy that calls a model plans twice: once to learn which turns need a text, and again with the texts.
   */
  readonly summarise?: (turns: readonly Turn[], maxTokens: number) => string;
};

/** Removes what an earlier compaction has written: no model sees it, and it is in no section. */
export function removeCompactions(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ message }) => message.role !== "extension" || message.kind !== COMPACTION_KIND);
}

export function isText(as: SectionForm): as is TextForm {
  return typeof as === "object" && "summary" in as;
}

export function sumSectionTokens(sections: readonly Section[]): number {
  return sections.reduce((total, { tokens }) => total + tokens, 0);
}

/** Joins adjacent sections that have the same form. */
export function joinSections(sections: readonly Section[]): readonly Section[] {
  const all: Section[] = [];
  for (const section of sections) {
    const last = all.at(-1);
    const isOne = last !== undefined && last.to === section.from && isSameForm(last.form, section.form);
    if (isOne) {
      const turns = last.turns + section.turns;
      all[all.length - 1] = { ...last, to: section.to, turns, tokens: last.tokens + section.tokens };
    } else all.push(section);
  }
  return all;
}

/** Builds and counts sections. An entry that appears again in the same form is counted once. */
export class SectionBuilder {
  readonly #count: TokenCounter;
  readonly #summarise: (turns: readonly Turn[], maxTokens: number) => string;
  readonly #counted = new Map<string, number>();

  constructor({ count = estimateMessage, summarise: given }: Partial<PlanOptions> = {}) {
    this.#count = count;
    this.#summarise = given ?? ((turns, maxTokens) => summarise(turns, maxTokens, count));
  }

  /** Puts adjacent turns with the same form in one section; a gap between two positions begins another section. */
  buildEntrySections(
    turns: readonly Turn[],
    formOf: EntriesForm | ((turn: Turn) => EntriesForm),
  ): readonly Section[] {
    const sections: { from: number; to: number; turns: number; tokens: number; form: EntriesForm }[] = [];
    for (const turn of turns) {
      const form = typeof formOf === "function" ? formOf(turn) : formOf;
      for (const [index, entry] of turn.entries.entries()) {
        const tokens =
          this.countEntryTokens(entry, form) + (index === 0 ? estimateUnansweredTokens(turn) : 0);
        const begun = index === 0 ? 1 : 0;
        const last = sections.at(-1);
        if (last === undefined || last.to !== entry.position || !isSameForm(last.form, form)) {
          sections.push({ from: entry.position, to: entry.position + 1, turns: begun, tokens, form });
        } else {
          last.to++;
          last.turns += begun;
          last.tokens += tokens;
        }
      }
    }
    return sections;
  }

  /**
   * Builds one text that replaces these turns. It covers gaps too: of what it replaces, only user messages stay visible.
   *
   * @param wordsFrom - User messages from this position on follow it; absent: none.
   */
  buildTextSection(
    turns: readonly Turn[],
    summary: string,
    { userTextFrom, maxUserChars, maxChars }: Omit<TextForm, "summary"> = {},
  ): readonly Section[] {
    const place = getPositionRange(turns, { start: 0, end: turns.length - 1 });
    if (place === undefined) return [];
    const userEntries =
      userTextFrom === undefined
        ? []
        : turns.flatMap(({ entries }) =>
            entries.filter((entry) => entry.position >= userTextFrom && isUserText(entry)),
          );
    const userTextFields =
      userEntries.length === 0
        ? {}
        : { userTextFrom: userEntries[0]?.position ?? 0, ...buildUserTextLimit(maxUserChars) };
    const as: TextForm = { summary, ...userTextFields, ...omitUndefined({ maxChars }) };
    const userTokens = userEntries.reduce(
      (sum, entry) => sum + this.countEntryTokens(entry, buildUserTextLimit(maxUserChars)),
      0,
    );
    return [
      {
        ...place,
        turns: turns.length,
        tokens: this.#count(buildPlaceholder(summary, 0)) + userTokens,
        form: as,
      },
    ];
  }

  /** Builds a line a turn, or the text of the strategy; a marker when there is none. */
  buildSummarySection(turns: readonly Turn[], maxTokens: number, wordsFrom?: number): readonly Section[] {
    if (turns.length === 0) return [];
    const summaryText = this.#summarise(turns, maxTokens);
    const text = summaryText.trim() === "" ? formatRemoved(countEntries(turns)) : summaryText;
    return this.buildTextSection(turns, text, omitUndefined({ userTextFrom: wordsFrom }));
  }

  countEntryTokens(entry: Entry, as: EntriesForm): number {
    const form = as === "whole" ? {} : as;
    const key = `${entry.position} ${form.maxLines} ${form.maxChars} ${form.maxUserChars}`;
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    const message = formatEntry(entry, form);
    const isWhole = message === entry.message && as !== "whole";
    const tokens = isWhole ? this.countEntryTokens(entry, "whole") : this.#count(message);
    this.#counted.set(key, tokens);
    return tokens;
  }
}

function buildUserTextLimit(maxUserChars: number | undefined): { readonly maxUserChars?: number } {
  return omitUndefined({ maxUserChars });
}

export function countEntries(turns: readonly Turn[]): number {
  return turns.reduce((sum, { entries }) => sum + entries.length, 0);
}

function isSameForm(one: SectionForm, other: SectionForm): boolean {
  if (one === "whole" || other === "whole") return one === other;
  if (isText(one) || isText(other)) return false;
  return (
    one.maxLines === other.maxLines &&
    one.maxChars === other.maxChars &&
    one.maxUserChars === other.maxUserChars
  );
}

/** Limits results to so many lines, and to the characters of so many lines when a turn has an endless line. */
export function limitLines(lines: number): (turn: Turn) => EntryForm {
  const chars = toMaxChars(lines);
  return ({ entries }) => {
    const isLong = entries.some(
      ({ message }) =>
        message.role === "toolResult" && getMessageText(cutToolResult(message, lines)).length > chars,
    );
    return isLong ? { maxLines: lines, maxChars: chars } : { maxLines: lines };
  };
}

/** Estimates the results that a view adds for calls without one. */
export function estimateUnansweredTokens(turn: Turn): number {
  const messages = turn.entries.map(({ message }) => message);
  const answered = new Set(
    messages.map((message) => (message.role === "toolResult" ? message.toolCallId : undefined)),
  );
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  return calls.reduce(
    (sum, part) =>
      part.type === "toolCall" && !answered.has(part.id)
        ? sum + estimateText(part.name) + UNANSWERED_TOKENS
        : sum,
    0,
  );
}

const UNANSWERED_TOKENS = estimateText(UNANSWERED_CALL) + 8;

/** @param config - Provides `toolOutputMaxLines`. */
export function* generateLineLimits({ toolOutputMaxLines }: Pick<CompactionConfig, "toolOutputMaxLines">) {
  for (let lines = toolOutputMaxLines; ; lines = Math.floor(lines / 2)) {
    yield lines;
    if (lines === 0) return;
  }
}

/** Converts sections to spans of a view. Their texts are in the entry at `position`, in this order. */
export function toSpans(sections: readonly Section[], position: number): readonly Span[] {
  let section = 0;
  return sections.map(({ form, ...place }) => ({
    ...place,
    ...toSpanFormat(form),
    ...(isText(form) ? { replacement: { position, section: section++ } } : {}),
  }));
}

function toSpanFormat(as: SectionForm): Omit<SpanFormat, "replacement"> {
  if (as === "whole") return {};
  if (!isText(as)) return as;
  const { summary: _, ...form } = as;
  return form;
}
