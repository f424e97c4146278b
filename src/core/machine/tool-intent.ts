// A model that says "Let me search for that file" and stops there has announced a tool call without making it. It is
// reminded, a few times (IRON-10, IRON-11). The rules below are ours (GAP-04) and know English only.

/** The user-side message that follows such a text. */
export const TOOL_INTENT_NUDGE =
  "You said what you would do next, but you did not include any tool calls. " +
  "Make the call now if it is still needed; otherwise give your final answer.";

/** How a text begins to announce an action. */
const ANNOUNCES =
  /\b(?:let me|let's|i'll|i will|i shall|i'm going to|i am going to|i'm about to|i need to)\s+/g;

/** Words between the beginning and the action. */
const FILLER =
  /^(?:(?:now|next|first|then|also|just|quickly|start by|begin by|go ahead and|try to|take a moment to|have to)\s+)+/;

/** Actions that need a tool, in both forms: "read" and "start by reading". */
const ACTION = new RegExp(
  `^(?:${[
    "search(?:ing)?",
    "look(?:ing)? (?:at|for|into|in|inside|through|up)",
    "tak(?:e|ing) a (?:\\w+ )?look",
    "check(?:ing)?(?! (?:in with|back))",
    "read(?:ing)?",
    "open(?:ing)?",
    "find(?:ing)?",
    "list(?:ing)?",
    "fetch(?:ing)?",
    "retriev(?:e|ing)",
    "quer(?:y|ying)",
    "brows(?:e|ing)",
    "grep(?:ping)?",
    "scan(?:ning)?",
    "inspect(?:ing)?",
    "examin(?:e|ing)",
    "explor(?:e|ing)",
    "investigat(?:e|ing)",
    "run(?:ning)?(?! (?:through|you))",
    "execut(?:e|ing)",
    "writ(?:e|ing)",
    "creat(?:e|ing)",
    "edit(?:ing)?",
    "updat(?:e|ing)(?! you)",
    "modify(?:ing)?",
    "delet(?:e|ing)",
    "install(?:ing)?",
    "download(?:ing)?",
    "verify(?:ing)?",
    "test(?:ing)?",
    "(?:call|us(?:e|ing)|calling|invok(?:e|ing)) (?:the|a|my|that|this) (?:\\S+ )?(?:tool|command|function|script|shell)",
  ].join("|")})(?![\\w-])`,
);

/** Turns an announcement into an offer, a condition or a plan for another day. */
const NOT_NOW =
  /\b(?:if you|if that|once you|when you|after you|before i|unless|until you|would you|should i|shall i|let me know|later|tomorrow|next time|in the future)\b|\?\s*$/;

/**
 * Reports whether a text announces a tool call as the next action.
 *
 * Only the last paragraph counts, because an announcement that is followed by an answer was carried out. Code and
 * quotations are not the model's own statements.
 */
export function announcesToolCall(text: string): boolean {
  return getLastParagraph(text)
    .split(/(?<=[.!?:…])\s+|\n/)
    .some((sentence) => !NOT_NOW.test(sentence) && announcesAction(sentence));
}

function announcesAction(sentence: string): boolean {
  return [...sentence.matchAll(ANNOUNCES)].some((match) => {
    const rest = sentence.slice(match.index + match[0].length);
    return ACTION.test(rest.replace(FILLER, ""));
  });
}

/** The maximum length of an announcement in characters: announcements are short. */
const MAX_LAST_PARAGRAPH_CHARS = 2000;

/** Returns the last paragraph in lower case, with plain apostrophes, without what it quotes. */
function getLastParagraph(text: string): string {
  const paragraphs = removeCode(text)
    .trimEnd()
    .split(/\n[ \t]*\n/);
  return (paragraphs.at(-1) ?? "")
    .slice(-MAX_LAST_PARAGRAPH_CHARS)
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/`[^`\n]*`/g, "it")
    .replace(/"[^"\n]*"|“[^”\n]*”/g, "it")
    .replace(/^\s*>.*$/gm, "");
}

/** Removes code. A block that is never closed runs to the end. */
function removeCode(text: string): string {
  let inside = false;
  const kept = text.split("\n").filter((line) => {
    const fence = /^\s*(?:```|~~~)/.test(line);
    if (fence) inside = !inside;
    return !fence && !inside;
  });
  return kept.join("\n");
}

export type NudgeConfig = { readonly enabled: boolean; readonly maxNudges: number };

/**
 * Decides what an answer without calls means for the count of nudges in a row.
 *
 * A text without intent resets the count; an announcement beyond the limit leaves it and is an answer like any other
 * (IRON-11). Tool calls also reset it, which is the caller's task.
 *
 * @param mayCall - Tools were offered, and no text was required instead.
 */
export function decideNudge(
  config: NudgeConfig,
  { intent, mayCall, nudges }: { intent: boolean; mayCall: boolean; nudges: number },
): { readonly nudge: boolean; readonly nudges: number } {
  if (!intent) return { nudge: false, nudges: 0 };
  const nudge = config.enabled && mayCall && nudges < config.maxNudges;
  return { nudge, nudges: nudge ? nudges + 1 : nudges };
}
