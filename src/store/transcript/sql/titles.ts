import { addAgentName, deriveTitle } from "../../../platform/text/title.ts";
import { getMessageText } from "../../../schema/message-text.ts";
import type { SessionTitle } from "../../../schema/record.ts";
import type { LoopOpening } from "../loop.ts";
import { StoreError } from "../store-error.ts";
import type { NewEntry } from "../store-write.ts";
import { decryptColumn } from "./column-encryption.ts";
import { buildAssociatedData, markForEncryption, type ValueToEncrypt } from "./encrypted-columns.ts";
import { exec, get, json, type Work } from "./statement.ts";

// The titles of sessions. What a user has given stays until a user gives another; a model's replaces a derived one.

type TitleRow = { readonly id: string; readonly title: string | null };

/** What decides about the first title of a session. */
type TitledOpening = Pick<LoopOpening, "title" | "agentName" | "isPart" | "rejected" | "part"> & {
  readonly step: Pick<LoopOpening["step"], "session">;
};

const RANK = { prompt: 0, model: 1, user: 2 } as const satisfies Record<SessionTitle["by"], number>;

export function toSessionTitle(row: TitleRow): SessionTitle | undefined {
  const title = decryptColumn(row, "title", buildAssociatedData("sessions.title", [row.id]));
  return title === null ? undefined : (JSON.parse(title) as SessionTitle);
}

export function encodeTitle(session: string, title: SessionTitle): ValueToEncrypt | null {
  return markForEncryption(json(title), "sessions.title", session);
}

function* readTitle(session: string): Work<{ readonly title: SessionTitle | undefined } | undefined> {
  const row = yield* get<TitleRow>("SELECT id, title FROM sessions WHERE id = ? AND hidden IS NULL", session);
  return row === undefined ? undefined : { title: toSessionTitle(row) };
}

function* writeTitle(session: string, title: SessionTitle): Work<void> {
  yield* exec("UPDATE sessions SET title = ? WHERE id = ?", encodeTitle(session, title), session);
}

/** A derived title replaces none: the first words of a session stay its first words. */
function replaces(title: SessionTitle, earlier: SessionTitle): boolean {
  return title.by !== "prompt" && RANK[title.by] >= RANK[earlier.by];
}

/** Gives a session a title, unless it has one that stays. Returns the title that it has then. */
export function* setTitle(session: string, title: SessionTitle): Work<SessionTitle> {
  const found = yield* readTitle(session);
  if (found === undefined)
    throw new StoreError("other", `Session ${session} does not exist, so it cannot have a title.`);
  if (found.title !== undefined && !replaces(title, found.title)) return found.title;
  yield* writeTitle(session, title);
  return title;
}

/**
 * Gives a session its first title when a loop is opened: the requested one, or the first words of the first message.
 * Loops of an evaluation are in its session, which has a title already. Returns the title that the session has then.
 */
export function* initialiseTitle(
  { step, title, agentName, isPart, rejected, part }: TitledOpening,
  entries: readonly NewEntry[],
): Work<SessionTitle | undefined> {
  if (title !== undefined) return yield* setTitle(step.session, title);
  const found = yield* readTitle(step.session);
  if (found?.title !== undefined) return found.title;
  if (part !== undefined || rejected !== undefined) return undefined;
  const text = deriveFirstTitle(entries, isPart === true ? agentName : undefined);
  if (text === undefined) return undefined;
  const derived: SessionTitle = { text, by: "prompt" };
  yield* writeTitle(step.session, derived);
  return derived;
}

/** @param agentName - The agent that works for another run; its name precedes the title. */
function deriveFirstTitle(
  entries: readonly Pick<NewEntry, "message">[],
  agentName: string | undefined,
): string | undefined {
  const first = entries.find(({ message }) => message.role === "user");
  const derived = first === undefined ? undefined : deriveTitle(getMessageText(first.message));
  return agentName === undefined ? derived : addAgentName(agentName, derived);
}

/** Gives a fork the title of the session that it begins in. */
export function* copyTitle(from: string, to: string): Work<void> {
  const found = yield* readTitle(from);
  if (found?.title !== undefined) yield* writeTitle(to, found.title);
}
