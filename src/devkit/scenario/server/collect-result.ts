import type { EventBody } from "../../../schema/loop-event.ts";
import type { Outcome } from "../../../schema/record.ts";
import { findLeftBranches } from "../../../store/transcript/find-left-branches.ts";
import type { Transcript } from "../../../store/transcript/transcript.ts";
import { eventually } from "../../../testing/eventually.ts";
import type { RecordedRequest } from "../../../testing/model-server/ledger.ts";
import { buildScenarioEvents, type LoopTrace, maskVariableValue } from "../events.ts";
import type { ContinuedFrom, PlayResult, RanCall, SentRequest, SubAgentPlayResult } from "../play-result.ts";
import { listToolNames, parseSentMessages, type SentMessage } from "../sent-message.ts";
import type { Follower } from "./follower.ts";
import { STEP_TIMEOUT_MS } from "./step-timeout.ts";

/** Collects the result of a scenario on the real stack. */
export async function collectResult(
  session: string,
  follower: Follower,
  requests: readonly RecordedRequest[],
  transcript: Transcript,
  plain: PlayResult,
): Promise<PlayResult> {
  const loops = await readTraces(session, transcript);
  const own = requests.filter(({ conversation }) => conversation === session);
  const { result: end, ran, refused, continuedAsNew } = follower;
  return {
    events: buildScenarioEvents(loops),
    hooks: follower.hooks.listCalls(loops.map(({ loopId }) => loopId)),
    sent: own.map((request, at) => toSentRequest(request, plain.sent[at])),
    ran: sortLike(plain.ran, ran),
    outcome: maskVariableValue(end.outcome),
    text: end.text,
    inbox: (await transcript.readInbox(session)).map(({ text }) => text),
    refused,
    continuedAsNew,
    subAgents: await collectSubAgents(session, session, requests, transcript, plain.subAgents),
  };
}

async function readTraces(session: string, transcript: Transcript): Promise<readonly LoopTrace[]> {
  const loops: LoopTrace[] = [];
  const branches = await transcript.readBranches(session);
  for (const { loopId, branch } of await transcript.readLoops(session)) {
    const events: EventBody[] = (await transcript.readEvents(loopId, 0)).map(({ body }) => body);
    const parts = [...findLeftBranches(branches, branch, events), branch].map((part) =>
      transcript.readEntries(session, part, 0, 100_000),
    );
    loops.push({ loopId, events, parts: await Promise.all(parts) });
  }
  return loops;
}

/** @param conversation - The conversation name of the caller's requests. */
async function collectSubAgents(
  caller: string,
  conversation: string,
  requests: readonly RecordedRequest[],
  transcript: Transcript,
  plain: readonly SubAgentPlayResult[],
): Promise<readonly SubAgentPlayResult[]> {
  return await Promise.all(
    plain.map(async ({ name, call, sent, subAgents }) => {
      const session = await findSession(transcript, caller, call);
      const loops = await readTraces(session, transcript);
      const asker = `${conversation}/${name}`;
      const firstTexts = new Set(sent.map(({ messages }) => findFirstUserText(messages)));
      const own = requests.filter(
        (one) =>
          one.conversation === asker && firstTexts.has(findFirstUserText(parseSentMessages(one.body ?? {}))),
      );
      const ends = (await transcript.readLoops(session)).map(({ outcome }) => outcome);
      const outcome: Outcome = ends.at(-1) ?? { type: "delivered", messages: 0 };
      return {
        name,
        call,
        events: buildScenarioEvents(loops),
        sent: own.map((request, at) => toSentRequest(request, sent[at])),
        outcome: maskVariableValue(outcome),
        subAgents: await collectSubAgents(session, asker, requests, transcript, subAgents),
      };
    }),
  );
}

/** Returns the text that distinguishes runs of one sub-agent, as for their vendor: a task may be truncated in the request. */
function findFirstUserText(messages: readonly SentMessage[]): string | undefined {
  return messages.flatMap((one) => ("text" in one && one.role === "user" ? [one.text] : []))[0];
}

/** Finds the session of the sub-agent that a call started; waits for its first loop. */
export async function findSession(transcript: Transcript, caller: string, call: string): Promise<string> {
  const child = await eventually(
    async () => {
      const children = await transcript.findSessions({ limit: 1000, spawnedBy: caller });
      return children.find(({ spawn }) => spawn?.toolCallId === call);
    },
    { timeoutMs: STEP_TIMEOUT_MS, everyMs: 5, what: `the sub-agent of ${call}` },
  );
  return child.id;
}

/** Concurrent calls begin in any order; repeated executions are distinguished by their time. */
function sortLike(plain: readonly RanCall[], ran: readonly RanCall[]): readonly RanCall[] {
  const remaining = [...plain.keys()];
  const placed = ran.map((call) => {
    const found = remaining.findIndex((place) => plain[place]?.call === call.call);
    return { call, place: found === -1 ? plain.length : (remaining.splice(found, 1)[0] as number) };
  });
  return placed.sort((one, other) => one.place - other.place).map(({ call }) => call);
}

export async function findPosition(transcript: Transcript, session: string, { at, loop }: ContinuedFrom) {
  if (at === undefined && loop === undefined) return undefined;
  const loops = await transcript.readLoops(session);
  const branch = loops.at(loop ?? -1)?.branch ?? "";
  return { branch, position: at ?? (await transcript.countEntries(session, branch)) };
}

/** A request does not contain its loop and turn; the plain driver provides them. */
function toSentRequest({ body }: RecordedRequest, expected: SentRequest | undefined): SentRequest {
  const { loop = -1, turn = -1, for: purpose = "answer" } = expected ?? {};
  return {
    loop,
    turn,
    for: purpose,
    messages: parseSentMessages(body ?? {}),
    tools: listToolNames(body ?? {}),
  };
}
