import type { CompactionConfig } from "../../schema/context.ts";
import type { Entry } from "../../schema/record.ts";
import { estimateMessage, estimateText } from "../estimate.ts";
import { UNANSWERED_CALL } from "../orphans.ts";
import { COMPACTION_KIND } from "../seen-messages.ts";
import type { Shown, Span } from "../view.ts";
import { charsOfLines, type EntryForm, isWordsOfPeople, messageText, shownMessage } from "./clip.ts";
import { cutToolResult } from "./cut-text.ts";
import { removedText, standIn } from "./stand-in.ts";
import { summarise } from "./summary.ts";
import type { TokenCounter } from "./token-counter.ts";
import { positionsOfTurns, type Turn } from "./turns.ts";

// What every strategy makes its plans of: sections, counted as a model sees them.

/** Entries from `from` up to, not including, `to`, and what a model sees of them. */
export type Section = {
  readonly from: number;
  readonly to: number;
  readonly turns: number;
  /** The estimate of what is seen. */
  readonly tokens: number;
  readonly as: SectionForm;
};

export type SectionForm = ShownForm | TextForm;

/** Each entry is shown, as it is or with long texts cut. */
export type ShownForm = "whole" | EntryForm;

/** One message of these words stands in for all entries. */
export type TextForm = {
  readonly summary: string;
  /** Words of people from this position on follow the message. */
  readonly wordsFrom?: number;
  readonly wordChars?: number;
  /** What the message repeats is cut to about so many characters a text. */
  readonly chars?: number;
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
   * Words for turns that are not shown, in at most `maxTokens`; one line a turn when absent. Where it gives no words, a
   * marker stands for the turns.
   *
   * A strategy that asks a model plans twice: once to learn which turns need words, and again with the words at hand.
   */
  readonly summarise?: (turns: readonly Turn[], maxTokens: number) => string;
};

/** What an earlier compaction has written is seen by no model, and is in no section. */
export function withoutCompactions(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ message }) => message.role !== "extension" || message.kind !== COMPACTION_KIND);
}

export function isText(as: SectionForm): as is TextForm {
  return typeof as === "object" && "summary" in as;
}

export function tokensOf(sections: readonly Section[]): number {
  return sections.reduce((total, { tokens }) => total + tokens, 0);
}

/** Sections side by side that show their entries in the same form are one. */
export function joined(sections: readonly Section[]): readonly Section[] {
  const all: Section[] = [];
  for (const section of sections) {
    const last = all.at(-1);
    const isOne = last !== undefined && last.to === section.from && isSameForm(last.as, section.as);
    if (isOne) {
      const turns = last.turns + section.turns;
      all[all.length - 1] = { ...last, to: section.to, turns, tokens: last.tokens + section.tokens };
    } else all.push(section);
  }
  return all;
}

/** Makes sections, and counts them; an entry that is shown again in the same way is counted once. */
export class Sections {
  readonly #count: TokenCounter;
  readonly #summarise: (turns: readonly Turn[], maxTokens: number) => string;
  readonly #counted = new Map<string, number>();

  constructor({ count = estimateMessage, summarise: given }: Partial<PlanOptions> = {}) {
    this.#count = count;
    this.#summarise = given ?? ((turns, maxTokens) => summarise(turns, maxTokens, count));
  }

  /** Turns side by side in one section where their form is the same; a hole between two positions begins another. */
  shown(turns: readonly Turn[], form: ShownForm | ((turn: Turn) => ShownForm)): readonly Section[] {
    const sections: { from: number; to: number; turns: number; tokens: number; as: ShownForm }[] = [];
    for (const turn of turns) {
      const as = typeof form === "function" ? form(turn) : form;
      for (const [index, entry] of turn.entries.entries()) {
        const tokens = this.entryTokens(entry, as) + (index === 0 ? unansweredTokens(turn) : 0);
        const begun = index === 0 ? 1 : 0;
        const last = sections.at(-1);
        if (last === undefined || last.to !== entry.position || !isSameForm(last.as, as)) {
          sections.push({ from: entry.position, to: entry.position + 1, turns: begun, tokens, as });
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
   * One text in place of these turns. It covers holes too: of what it replaces, nothing is shown but words of people.
   *
   * @param wordsFrom - Words from this position on follow it; absent, none.
   */
  text(
    turns: readonly Turn[],
    summary: string,
    { wordsFrom, wordChars, chars }: Omit<TextForm, "summary"> = {},
  ): readonly Section[] {
    const place = positionsOfTurns(turns, { start: 0, end: turns.length - 1 });
    if (place === undefined) return [];
    const words =
      wordsFrom === undefined
        ? []
        : turns.flatMap(({ entries }) =>
            entries.filter((entry) => entry.position >= wordsFrom && isWordsOfPeople(entry)),
          );
    const kept = words.length === 0 ? {} : { wordsFrom: words[0]?.position ?? 0, ...limit(wordChars) };
    const as: TextForm = { summary, ...kept, ...(chars === undefined ? {} : { chars }) };
    const said = words.reduce((sum, entry) => sum + this.entryTokens(entry, limit(wordChars)), 0);
    return [{ ...place, turns: turns.length, tokens: this.#count(standIn(summary, 0)) + said, as }];
  }

  /** A line a turn, or the words of the strategy; a marker where there are none. */
  summary(turns: readonly Turn[], maxTokens: number, wordsFrom?: number): readonly Section[] {
    if (turns.length === 0) return [];
    const said = this.#summarise(turns, maxTokens);
    const text = said.trim() === "" ? removedText(entriesIn(turns)) : said;
    return this.text(turns, text, wordsFrom === undefined ? {} : { wordsFrom });
  }

  entryTokens(entry: Entry, as: ShownForm): number {
    const form = as === "whole" ? {} : as;
    const key = `${entry.position} ${form.cut} ${form.chars} ${form.wordChars}`;
    const known = this.#counted.get(key);
    if (known !== undefined) return known;
    const message = shownMessage(entry, form);
    const isWhole = message === entry.message && as !== "whole";
    const tokens = isWhole ? this.entryTokens(entry, "whole") : this.#count(message);
    this.#counted.set(key, tokens);
    return tokens;
  }
}

function limit(wordChars: number | undefined): { readonly wordChars?: number } {
  return wordChars === undefined ? {} : { wordChars };
}

export function entriesIn(turns: readonly Turn[]): number {
  return turns.reduce((sum, { entries }) => sum + entries.length, 0);
}

function isSameForm(one: SectionForm, other: SectionForm): boolean {
  if (one === "whole" || other === "whole") return one === other;
  if (isText(one) || isText(other)) return false;
  return one.cut === other.cut && one.chars === other.chars && one.wordChars === other.wordChars;
}

/** Results cut to so many lines; and to the characters of so many, where a turn has a line without an end. */
export function cutTo(lines: number): (turn: Turn) => EntryForm {
  const chars = charsOfLines(lines);
  return ({ entries }) => {
    const isLong = entries.some(
      ({ message }) =>
        message.role === "toolResult" && messageText(cutToolResult(message, lines)).length > chars,
    );
    return isLong ? { cut: lines, chars } : { cut: lines };
  };
}

/** What a view says where a call has no result. */
export function unansweredTokens(turn: Turn): number {
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

/** @param config - `toolOutputMaxLines` of it. */
export function* fewerLines({ toolOutputMaxLines }: Pick<CompactionConfig, "toolOutputMaxLines">) {
  for (let lines = toolOutputMaxLines; ; lines = Math.floor(lines / 2)) {
    yield lines;
    if (lines === 0) return;
  }
}

/** Sections as a view holds them; their texts stand in the entry at `position`, in this order. */
export function spansOf(sections: readonly Section[], position: number): readonly Span[] {
  let section = 0;
  return sections.map(({ as, ...place }) => ({
    ...place,
    ...formOf(as),
    ...(isText(as) ? { instead: { position, section: section++ } } : {}),
  }));
}

function formOf(as: SectionForm): Omit<Shown, "instead"> {
  if (as === "whole") return {};
  if (!isText(as)) return as;
  const { summary: _, ...form } = as;
  return form;
}
