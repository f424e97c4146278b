import { setTimeout as sleep } from "node:timers/promises";
import { readEffects } from "./effects.mjs";

const POLL_INTERVAL_MS = 40;

/** gRPC: the run is over, so that nobody has taken the message. */
const NOT_FOUND = 5;

/**
 * Those who write to an agent while it works. What the server has accepted stands in `run.sent`; a message of which nobody
 * knows is sent again under its id.
 */
export function createUserActions(run, { client, vendorLog, transcript, branchOff }, ended) {
  const handle = () => client.workflow.getHandle(run.session);
  async function until(probe) {
    while (!ended.aborted) {
      if (await probe()) return;
      await sleep(POLL_INTERVAL_MS);
    }
    throw new RunEndedError();
  }
  async function accepted(send) {
    for (;;) {
      if (ended.aborted) throw new RunEndedError();
      try {
        return await send();
      } catch (error) {
        if (error?.code === NOT_FOUND || error?.name === "WorkflowNotFoundError") throw new RunEndedError();
        await sleep(POLL_INTERVAL_MS);
      }
    }
  }
  return {
    /** Until the vendor was asked for this step. */
    seen: (step) => until(() => vendorLog.step(run.session) >= step),
    /** Until a tool of this step has started. */
    worked: (step) =>
      until(async () => (await readEffects(run.workspace)).some(({ label }) => label.startsWith(`${step}.`))),
    signal: (name, word) => accepted(() => handle().signal(name, word)),
    async send(name) {
      const id = `${run.session}-m${run.sent.length}`;
      const message = { id, text: `<message ${id}> and this` };
      await accepted(() => handle().signal(name, message));
      run.sent.push({ id, kind: name });
    },
    /** Begins another session behind so many entries of this one, and plays it. */
    async fork(position) {
      const into = run.session.replace(`_${run.scenario}_`, "_forked_");
      const forked = await transcript.fork({
        session: run.session,
        atMs: Date.now(),
        at: { branch: "main", position },
        into,
      });
      if (forked.type !== "forked")
        throw new Error(`the session could not be forked: ${JSON.stringify(forked)}`);
      await branchOff();
    },
    /** Says yes to what waits, once something does. */
    approve: () =>
      until(async () => {
        const word = { answer: "approve", by: "campaign" };
        const answer = handle().executeUpdate("approve", { args: [word] });
        return await Promise.race([answer.then(() => true), sendOnce(ended)]).catch(() => sleep(200));
      }),
  };
}

/** The run was over before there was anything to say. */
export class RunEndedError extends Error {}

function sendOnce(signal) {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(false), { once: true }));
}
