import { omitUndefined } from "../platform/text/omit-undefined.ts";
import type { HookPoint } from "../schema/hooks.ts";
import { buildFailure, type HookVerdict } from "./verdict.ts";

/** `true` or nothing means yes, `false` means no; a no may have a reason. */
export type PlainHookAnswer =
  | boolean
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is a hook too.
  | void
  | { readonly type: "yes" }
  | {
      readonly type: "no";
      /** Why, for the model or the user. */
      readonly reason: string;
    };

/** Answers that only one point allows (IRON-03, IRON-04, IRON-05, IRON-07). */
export type HookAnswersByPoint = {
  /** Adds a message to the turn, has the model answer without tools, or ends the loop with a text of the hook. */
  "before-turn":
    | {
        readonly type: "inject";
        /** The message that the model reads. */
        readonly text: string;
      }
    | {
        readonly type: "force-text";
        /** A message that the model reads. */
        readonly text?: string;
      }
    | {
        readonly type: "end";
        /** The last text of the loop. */
        readonly text: string;
      };
  /** Lets the model continue in place of ending the loop. */
  "on-text": {
    readonly type: "continue";
    /** A message that the model reads. */
    readonly text?: string;
  };
};

/** What a hook answers. `no` stops what is about to happen; some points allow more answers. */
export type HookAnswer<P extends HookPoint = HookPoint> =
  | PlainHookAnswer
  | (P extends keyof HookAnswersByPoint ? HookAnswersByPoint[P] : never);

/** The most bytes of a text for the model. */
const MAX_TEXT_BYTES = 2048;

/** The reason of a hook that gives none. It follows the hook's name in the result of a call that the hook denies. */
const NO_REASON = "no reason given";

/** Converts a function's answer to a verdict, or to a failure when the answer is invalid. */
export function toVerdict(name: string, point: HookPoint, answer: unknown): HookVerdict {
  if (answer === undefined || answer === true) return { type: "yes" };
  if (answer === false) return { type: "no", reason: NO_REASON };
  if (typeof answer === "object" && answer !== null && "type" in answer) {
    const { type, reason, text } = answer as { type: unknown; reason?: unknown; text?: unknown };
    if (type === "yes") return { type };
    if (type === "no" && typeof reason === "string") {
      return { type, reason: reason.trim() === "" ? NO_REASON : reason };
    }
    if (point === "before-turn" && (type === "inject" || type === "end") && typeof text === "string") {
      return type === "end" ? { type, text } : checkLength(name, { type, text });
    }
    const takesText = text === undefined || typeof text === "string";
    if (takesText && (point === "on-text" ? type === "continue" : isForceText(point, type))) {
      return checkLength(name, { type, ...omitUndefined({ text }) } as HookTextVerdict);
    }
    if (typeof type === "string") {
      return buildFailure(
        "wrong-answer",
        `Hook "${name}" answered "${type}", which is not allowed at ${point}`,
      );
    }
  }
  return buildFailure(
    "wrong-answer",
    `Hook "${name}" answered ${typeof answer}, which is neither yes nor no`,
  );
}

function isForceText(point: HookPoint, type: unknown): boolean {
  return point === "before-turn" && type === "force-text";
}

type HookTextVerdict = Extract<HookVerdict, { type: "inject" | "force-text" | "continue" }>;

function checkLength(name: string, verdict: HookTextVerdict): HookVerdict {
  const bytes = Buffer.byteLength(verdict.text ?? "");
  if (bytes <= MAX_TEXT_BYTES) return verdict;
  return buildFailure(
    "wrong-answer",
    `Hook "${name}" returned a text of ${bytes} bytes; use at most ${MAX_TEXT_BYTES}`,
  );
}
