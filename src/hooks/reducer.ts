/** The result of one part of a fan-out. */
export type ReducerPart = {
  /** `part-3`. */
  readonly name: string;
  /** The agent's name. */
  readonly agent: string;
  readonly session: string;
  /** `answered`, `failed`, `limit-reached`, … */
  readonly outcome: string;
  /** The text of its last answer, or its structured output as JSON; absent where there is none. */
  readonly text?: string;
};

/** Combines the outputs of a fan-out's parts, in their order, into one text. */
export type Reducer = (
  parts: readonly ReducerPart[],
  context: {
    /** Aborts when nothing waits for the result any more. */
    readonly signal: AbortSignal;
  },
) => string | Promise<string>;

/** The reducers that need no registration. */
export const BUILT_IN_REDUCERS: Readonly<Record<string, Reducer>> = {
  list: (parts) => parts.map(formatItem).join("\n\n"),
  first: (parts) => listAnswers(parts)[0] ?? "",
  longest: (parts) =>
    listAnswers(parts).reduce((longest, text) => (text.length > longest.length ? text : longest), ""),
  vote: (parts) => findMostCommon(listAnswers(parts)),
};

function formatItem({ agent, outcome, text }: ReducerPart, index: number): string {
  return `${index + 1}. ${agent}: ${outcome === "answered" ? (text ?? "") : `[${outcome}] ${text ?? ""}`.trim()}`;
}

function listAnswers(parts: readonly ReducerPart[]): readonly string[] {
  return parts.flatMap(({ outcome, text }) => (outcome === "answered" && text !== undefined ? [text] : []));
}

/**
 * Returns the most common text, as the first part with this text wrote it. If several texts are equally common, the
 * first one wins.
 */
function findMostCommon(texts: readonly string[]): string {
  const votes = new Map<string, { readonly text: string; count: number }>();
  for (const text of texts) {
    const key = normalise(text);
    const vote = votes.get(key);
    if (vote === undefined) votes.set(key, { text, count: 1 });
    else vote.count += 1;
  }
  const [first, ...others] = votes.values();
  return (
    others.reduce((best, vote) => (best !== undefined && best.count >= vote.count ? best : vote), first)
      ?.text ?? ""
  );
}

/** Reduces a text to letters and digits, in one case, with single blanks: "Yes." votes with "yes". */
function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
