// A scripted vendor in its own process. The beginning of an answer contains the time of its request. The agent's system
// prompt specifies the number of chunks, their interval, and the gate at which the answer waits before its end.
import { startModelServer } from "../dist/testing/model-server/server.js";

export const CHUNK_TEXT = "four plain words here ";

const model = await startModelServer({
  keepBodies: 0,
  respond: ({ system }) => {
    const { pieces, chunkDelayMs, firstByteDelayMs, gate } = JSON.parse(system);
    const asked = (performance.timeOrigin + performance.now()).toFixed(2);
    return {
      text: `${asked.padEnd(CHUNK_TEXT.length)}${CHUNK_TEXT.repeat(pieces - 1)}`,
      chunkSize: CHUNK_TEXT.length,
      chunkDelayMs,
      firstByteDelayMs,
      ...(gate === undefined ? {} : { holdUntil: gate, holdAt: "end" }),
    };
  },
});
process.stdout.write(`${JSON.stringify({ type: "ready", url: model.url })}\n`);
