import type { ServerResponse } from "node:http";
import type { Gates } from "./gates.ts";
import type { ResponseStep } from "./response-plan.ts";

export type ResponseTarget = {
  readonly gates: Gates;
  readonly head: Readonly<Record<string, string>>;
  readonly status?: number;
  onBytes(count: number): void;
  /** Called before the connection is destroyed as scripted. */
  onCut(): void;
  /** Called when the answer begins to wait at a gate, and with undefined when it stops waiting. */
  onHold(gate: string | undefined): void;
};

/** Sends an answer; resolves when it is sent, or as soon as the client leaves. */
export async function writeSteps(
  response: ServerResponse,
  steps: readonly ResponseStep[],
  target: ResponseTarget,
): Promise<void> {
  for (const [index, step] of steps.entries()) {
    if (response.destroyed) return;
    switch (step.type) {
      case "head":
        response.writeHead(target.status ?? 200, target.head);
        // Without this, the head is sent with the first write.
        if (steps[index + 1]?.type !== "write") response.flushHeaders();
        break;
      case "write":
        target.onBytes(Buffer.byteLength(step.data));
        if (steps[index + 1]?.type === "end") {
          response.end(step.data);
          return;
        }
        await writeData(response, step.data);
        break;
      case "wait":
        await waitOrLeave(response, (go) => {
          const timer = setTimeout(go, step.ms);
          return () => clearTimeout(timer);
        });
        break;
      case "hold":
        if (target.gates.isOpen(step.gate)) break;
        target.onHold(step.gate);
        await waitOrLeave(response, (go) => target.gates.enter(step.gate, go));
        target.onHold(undefined);
        break;
      case "end":
        response.end();
        return;
      case "destroy":
        target.onCut();
        response.destroy();
        return;
      case "forever":
        await waitOrLeave(response, () => () => {});
        return;
    }
  }
}

/** Waits until `start` calls back, or until the client leaves. */
function waitOrLeave(response: ServerResponse, start: (go: () => void) => () => void): Promise<void> {
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

/** Writes data. The `close` event reports a client that left, so the error of the write is ignored. */
function writeData(response: ServerResponse, data: string | Buffer): Promise<void> {
  return new Promise((resolve) => response.write(data, () => resolve()));
}
