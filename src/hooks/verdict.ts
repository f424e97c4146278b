/** Why a hook gave no answer. */
export type HookFault =
  | "timed-out"
  | "cancelled"
  /** There is no hook, program or file of that name. */
  | "not-found"
  /** It exists and cannot run: no interpreter for it, or an invalid command. */
  | "not-runnable"
  /** A signal from another process ended it. */
  | "killed"
  | "threw"
  /** Its answer is invalid. */
  | "wrong-answer";

export type HookFailure = { readonly type: "failed"; readonly fault: HookFault; readonly message: string };

/** The verdict of one hook. A failure is neither yes nor no: the policy of its point decides. */
export type HookVerdict =
  | { readonly type: "yes" }
  | { readonly type: "no"; readonly reason: string }
  /** Before a turn: yes, with a text for the model, or for an answer without calls; or the loop ends here. */
  | { readonly type: "inject"; readonly text: string }
  | { readonly type: "force-text"; readonly text?: string }
  | { readonly type: "end"; readonly text: string }
  /** After an answer that would end the loop: the loop continues. */
  | { readonly type: "continue"; readonly text?: string }
  | HookFailure;

export function buildFailure(fault: HookFault, message: string): HookFailure {
  return { type: "failed", fault, message };
}

/**
 * Returns the message of any thrown value: a message need not be a text, and some values cannot be converted to one.
 */
export function getErrorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "It threw a value that cannot be displayed";
  }
}
