/** What one part of a fan-out has come to. */
export type ReducerPart = {
  /** `part-3`. */
  readonly name: string;
  /** The agent's name. */
  readonly agent: string;
  readonly session: string;
  /** `answered`, `failed`, `limit-reached`, … */
  readonly outcome: string;
  /** Its last words, or its structured output as JSON; absent where there are none. */
  readonly text?: string;
};

/** Makes one text of what the parts of a fan-out have said, given in their order. */
export type Reducer = (
  parts: readonly ReducerPart[],
  context: { readonly signal: AbortSignal },
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

/** As the first of those who said it has put it; of texts that are said equally often, the first. */
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

/** Letters and digits, in one case, with single blanks: "Yes." votes with "yes". */
function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
