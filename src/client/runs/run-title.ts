import { cleanTitle, deriveTitle, MAX_TITLE_CHARS } from "../../platform/text/title.ts";
import { StoreError } from "../../store/transcript/store-error.ts";
import type { RunSettings } from "../../workflows/run-input.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { HoldfastError } from "../holdfast-error.ts";
import { getPromptText, type Prompt } from "../prompts/prompt-part.ts";

// The title under which Temporal and lists display a session.

/** What a run's title follows from. */
export type TitleSource = {
  /** The title that the user has requested. */
  readonly title?: string | undefined;
  readonly prompt?: Prompt | undefined;
  /** The session that the run continues; absent for a new one. */
  readonly session?: string | undefined;
};

/** Returns a user's title on one line. @throws HoldfastError If it is empty or too long. */
export function checkTitle(title: string): string {
  const text = cleanTitle(title);
  const { length } = [...text];
  const problem =
    text === ""
      ? "it has no text"
      : length > MAX_TITLE_CHARS
        ? `it has ${length} characters; the maximum is ${MAX_TITLE_CHARS}`
        : undefined;
  if (problem === undefined) return text;
  throw new HoldfastError("input-invalid", `The title is not valid: ${problem}.`, { problems: [problem] });
}

/** Returns the title of a run: the requested one, that of its session, or the first words of its prompt. */
export async function resolveTitle(
  link: ClientLink,
  { title, prompt, session }: TitleSource,
): Promise<string | undefined> {
  if (link.settings.redactContent === true) return undefined;
  if (title !== undefined) return checkTitle(title);
  const stored = session === undefined ? undefined : await readTitle(link, session);
  return stored ?? (prompt === undefined ? undefined : deriveTitle(getPromptText(prompt)));
}

/** Reads a session's title from the transcript. An unavailable store has none: nothing waits for a title. */
export async function readTitle(link: ClientLink, session: string): Promise<string | undefined> {
  try {
    return (await (await link.storage.openExistingTranscript())?.readSession(session))?.title?.text;
  } catch (error) {
    if (error instanceof StoreError || (error instanceof HoldfastError && error.code === "store-failed"))
      return undefined;
    throw error;
  }
}

/** Returns where Temporal displays titles. Search attributes are never encrypted. */
export function getTitleSetting({
  settings,
  searchAttributes,
  isEncrypted,
}: Pick<ClientLink, "settings" | "searchAttributes" | "isEncrypted">): Pick<RunSettings, "title"> {
  if (settings.redactContent === true) return {};
  return { title: searchAttributes && isEncrypted !== true ? "attribute" : "details" };
}
