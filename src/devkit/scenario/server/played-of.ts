import type { EventBody, Outcome } from "../../../schema/record.ts";
import { leftBranches } from "../../../store/transcript/left-branches.ts";
import type { Transcript } from "../../../store/transcript/transcript.ts";
import { eventually } from "../../../testing/eventually.ts";
import type { RecordedRequest } from "../../../testing/model-server/ledger.ts";
import { type LoopTrace, scenarioEvents, timelessValue } from "../events.ts";
import type { ContinuedFrom, Played, RanCall, SentRequest, SubPlayed } from "../played.ts";
import { offeredTools, type SentMessage, sentMessages } from "../sent.ts";
import type { Follower } from "./follower.ts";
import { STEP_TIMEOUT_MS } from "./within.ts";

/** What the real stack has made of a scenario. */
export async function playedOf(
  session: string,
  follower: Follower,
  requests: readonly RecordedRequest[],
  transcript: Transcript,
  plain: Played,
): Promise<Played> {
  const loops = await tracesOf(session, transcript);
  const own = requests.filter(({ conversation }) => conversation === session);
  const { end, ran, refused, continuedAsNew } = follower;
  return {
    events: scenarioEvents(loops),
    hooks: follower.hooks.calls(loops.map(({ loopId }) => loopId)),
    sent: own.map((request, at) => sentOf(request, plain.sent[at])),
    ran: inOrderOf(plain.ran, ran),
    outcome: timelessValue(end.outcome),
    text: end.text,
    inbox: (await transcript.inbox(session)).map(({ text }) => text),
    refused,
    continuedAsNew,
    subAgents: await subPlayed(session, session, requests, transcript, plain.subAgents),
  };
}

async function tracesOf(session: string, transcript: Transcript): Promise<readonly LoopTrace[]> {
  const loops: LoopTrace[] = [];
  const branches = await transcript.branches(session);
  for (const { loopId, branch } of await transcript.loops(session)) {
    const events: EventBody[] = (await transcript.events(loopId, 0)).map(({ body }) => body);
    const parts = [...leftBranches(branches, branch, events), branch].map((part) =>
      transcript.entries(session, part, 0, 100_000),
    );
    loops.push({ loopId, events, parts: await Promise.all(parts) });
  }
  return loops;
}

/** @param conversation - What the caller's requests are called. */
async function subPlayed(
  caller: string,
  conversation: string,
  requests: readonly RecordedRequest[],
  transcript: Transcript,
  plain: readonly SubPlayed[],
): Promise<readonly SubPlayed[]> {
  return await Promise.all(
    plain.map(async ({ name, call, sent, subAgents }) => {
      const session = await sessionOf(transcript, caller, call);
      const loops = await tracesOf(session, transcript);
      const asker = `${conversation}/${name}`;
      const shown = new Set(sent.map(({ messages }) => firstUserText(messages)));
      const own = requests.filter(
        (one) => one.conversation === asker && shown.has(firstUserText(sentMessages(one.body ?? {}))),
      );
      const ends = (await transcript.loops(session)).map(({ outcome }) => outcome);
      const outcome: Outcome = ends.at(-1) ?? { type: "delivered", messages: 0 };
      return {
        name,
        call,
        events: scenarioEvents(loops),
        sent: own.map((request, at) => sentOf(request, sent[at])),
        outcome: timelessValue(outcome),
        subAgents: await subPlayed(session, asker, requests, transcript, subAgents),
      };
    }),
  );
}

/** Runs of one sub-agent are told apart by this, as their vendor does: a task may have been cut before it was sent. */
function firstUserText(messages: readonly SentMessage[]): string | undefined {
  return messages.flatMap((one) => ("text" in one && one.role === "user" ? [one.text] : []))[0];
}

/** The session of the sub-agent that a call has started; waits for its first loop. */
export async function sessionOf(transcript: Transcript, caller: string, call: string): Promise<string> {
  const child = await eventually(
    async () => {
      const below = await transcript.sessions({ limit: 1000, spawnedBy: caller });
      return below.find(({ spawn }) => spawn?.toolCallId === call);
    },
    { timeoutMs: STEP_TIMEOUT_MS, everyMs: 5, what: `the sub-agent of ${call}` },
  );
  return child.id;
}

/** Calls that run side by side begin in any order; one that is run again is told apart by the time. */
function inOrderOf(plain: readonly RanCall[], ran: readonly RanCall[]): readonly RanCall[] {
  const left = [...plain.keys()];
  const placed = ran.map((call) => {
    const found = left.findIndex((place) => plain[place]?.call === call.call);
    return { call, place: found === -1 ? plain.length : (left.splice(found, 1)[0] as number) };
  });
  return placed.sort((one, other) => one.place - other.place).map(({ call }) => call);
}

export async function placeOf(transcript: Transcript, session: string, { at, loop }: ContinuedFrom) {
  if (at === undefined && loop === undefined) return undefined;
  const loops = await transcript.loops(session);
  const branch = loops.at(loop ?? -1)?.branch ?? "";
  return { branch, position: at ?? (await transcript.length(session, branch)) };
}

/** A request does not say to which loop and turn it belongs; the plain driver knows. */
function sentOf({ body }: RecordedRequest, place: SentRequest | undefined): SentRequest {
  const { loop = -1, turn = -1, for: purpose = "answer" } = place ?? {};
  return { loop, turn, for: purpose, messages: sentMessages(body ?? {}), tools: offeredTools(body ?? {}) };
}
