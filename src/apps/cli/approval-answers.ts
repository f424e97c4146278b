import type { Holdfast, Session } from "../../client/index.ts";
import type { DialogAnswer } from "./approval-dialog.ts";
import { type ApprovalRequest, getComparedPath } from "./approval-view.ts";
import { readCurrentFile } from "./current-file.ts";

/** Reads the calls that wait for approval, with the current content of files that they would write. */
export async function readApprovalRequests(session: Session): Promise<readonly ApprovalRequest[]> {
  const calls = await session.approvals.list();
  return await Promise.all(
    calls.map(async (call) => {
      const path = getComparedPath(call);
      if (path === undefined || call.workspace === undefined) return call;
      return { ...call, currentFile: await readCurrentFile(call.workspace, path) };
    }),
  );
}

/** Sends an answer of the dialog. Throws if the run did not accept it. */
export async function sendAnswer(
  holdfast: Holdfast,
  call: ApprovalRequest,
  answer: DialogAnswer,
): Promise<void> {
  const { approvals } = holdfast.session(call.session);
  if (call.questionRef !== undefined) {
    const values = answer.type === "deny" ? undefined : (answer.arguments ?? {});
    await approvals.answer(call.toolCallId, values === undefined ? { answer: "decline" } : { values });
  } else if (answer.type === "deny") await approvals.deny(call.toolCallId, answer);
  else await approvals.approve(call.toolCallId, answer);
}
