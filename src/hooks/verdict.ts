/** Why a hook gave no answer. */
export type HookFault =
  | "timed-out"
  | "cancelled"
  /** No hook, program or file of that name. */
  | "not-found"
  /** It is there, and cannot be run: no interpreter for it, or a command that is not one. */
  | "not-runnable"
  /** A signal ended it that we did not send. */
  | "killed"
  | "threw"
  /** It answered with something that is no answer. */
  | "wrong-answer";

export type HookFailure = { readonly type: "failed"; readonly how: HookFault; readonly message: string };

/** What one hook said. A failure is neither yes nor no: the policy of its point decides. */
export type HookVerdict =
  | { readonly type: "yes" }
  | { readonly type: "no"; readonly reason: string }
  /** Before a turn: yes, with words for the model; or the loop ends here. */
  | { readonly type: "inject"; readonly text: string }
  | { readonly type: "end"; readonly text: string }
  /** Behind an answer that would end the loop: it goes on. */
  | { readonly type: "go-on"; readonly text?: string }
  | HookFailure;

export function buildFailure(fault: HookFault, message: string): HookFailure {
  return { type: "failed", how: fault, message };
}

/** Whatever was thrown: a message need not be a text, and some values cannot be made one. */
export function getErrorMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "It threw something that cannot be shown";
  }
}
