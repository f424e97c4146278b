import { statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UNSAFE_LOG } from "./job.mjs";

const POLL_INTERVAL_MS = 20;

/** After this many output chunks since the unsafe command's mark, the command is in its middle. */
const CHUNKS_BEFORE_KILL = 2;

/**
 * Kills the worker at the two worst moments, and measures the time until another worker continues.
 *
 * The moments are the middle of a model's stream, and the middle of the command that must not run twice.
 */
export class WorkerKiller {
  #parts;
  #pieces = 0;
  #killed = new Set();
  #busy = false;
  #fail;
  recoveries = [];
  /** Rejects when a kill fails. */
  failed = new Promise((_, reject) => {
    this.#fail = reject;
  });

  /** @param parts - `{ session, transcript, keeper, strike, workspace, onKill, onRecovery }` */
  constructor(parts) {
    this.#parts = parts;
    this.failed.catch(() => {});
  }

  take(event) {
    if (this.#busy) return;
    if (!this.#killed.has("model") && this.#isMidAnswer(event)) this.#killOnce("model");
    else if (!this.#killed.has("tool") && this.#isMidCommand(event)) this.#killOnce("tool");
  }

  #isMidAnswer({ type, message }) {
    const { strike } = this.#parts;
    if (type !== "MessageUpdate" || message.turnId.turnIndex < strike.turn) return false;
    const characters = message.content.reduce((sum, part) => sum + countCharacters(part), 0);
    return characters >= strike.characters;
  }

  #isMidCommand({ type, toolName }) {
    if (type !== "ToolExecutionUpdate" || toolName !== "bash") return false;
    const marked = statSync(join(this.#parts.workspace, UNSAFE_LOG), { throwIfNoEntry: false });
    if (marked === undefined || marked.size === 0) return false;
    this.#pieces += 1;
    return this.#pieces >= CHUNKS_BEFORE_KILL;
  }

  #killOnce(where) {
    this.#killed.add(where);
    this.#busy = true;
    this.#killAndMeasure(where).then(
      () => {
        this.#busy = false;
      },
      (error) => this.#fail(error),
    );
  }

  async #killAndMeasure(where) {
    const { keeper, onKill, onRecovery } = this.#parts;
    const kill = await keeper.kill();
    const recovery = { where, worker: kill.number, killedAtMs: kill.atMs, ms: null };
    this.recoveries.push(recovery);
    const [claim] = await Promise.all([this.#waitForNextClaim(kill), onKill(where, kill)]);
    recovery.ms = claim.startedAtMs - kill.atMs;
    onRecovery(recovery, claim);
  }

  /** Finds the first step that another process took after the kill. */
  async #waitForNextClaim(kill) {
    const { transcript, session } = this.#parts;
    for (;;) {
      const claims = (await transcript.readSteps(session))
        .filter(({ process, startedAtMs }) => process !== kill.id && startedAtMs >= kill.atMs)
        .sort((a, b) => a.startedAtMs - b.startedAtMs);
      if (claims.length > 0) return claims[0];
      await delay(POLL_INTERVAL_MS);
    }
  }
}

function countCharacters({ type, text, thinking, arguments: args }) {
  if (type === "toolCall") return args.length;
  return (type === "text" ? text : thinking).length;
}
