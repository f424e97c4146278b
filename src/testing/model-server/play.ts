import type { ServerResponse } from "node:http";
import type { Gates } from "./gates.ts";
import type { Step } from "./plan.ts";

export type Stage = {
  readonly gates: Gates;
  readonly head: Readonly<Record<string, string>>;
  readonly status?: number;
  onBytes(count: number): void;
  /** The connection is about to be destroyed, as the script wants it. */
  onCut(): void;
  /** The answer waits at a gate, or (undefined) no longer. */
  onHold(gate: string | undefined): void;
};

/** Sends an answer; ends when it is sent, or as soon as the client has left. */
export async function play(response: ServerResponse, steps: readonly Step[], stage: Stage): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (response.destroyed) return;
    switch (step.type) {
      case "head":
        response.writeHead(stage.status ?? 200, stage.head);
        // Otherwise the head travels with the first write.
        if (steps[index + 1]?.type !== "write") response.flushHeaders();
        break;
      case "write":
        stage.onBytes(Buffer.byteLength(step.data));
        if (steps[index + 1]?.type === "end") {
          response.end(step.data);
          return;
        }
        await written(response, step.data);
        break;
      case "wait":
        await left(response, (go) => {
          const timer = setTimeout(go, step.ms);
          return () => clearTimeout(timer);
        });
        break;
      case "hold":
        if (stage.gates.isOpen(step.gate)) break;
        stage.onHold(step.gate);
        await left(response, (go) => stage.gates.enter(step.gate, go));
        stage.onHold(undefined);
        break;
      case "end":
        response.end();
        return;
      case "destroy":
        stage.onCut();
        response.destroy();
        return;
      case "forever":
        await left(response, () => () => {});
        return;
    }
  }
}

/** Waits for `start`'s go, or for the client to leave. */
function left(response: ServerResponse, start: (go: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      response.off("close", done);
      resolve();
    };
    const cancel = start(done);
    response.once("close", done);
  });
}

/** A client that has left is noticed by its `close`, so an error of the write is none of ours. */
function written(response: ServerResponse, data: string | Buffer): Promise<void> {
  return new Promise((resolve) => response.write(data, () => resolve()));
}
