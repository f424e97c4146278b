import { fileURLToPath } from "node:url";
import { createFinding } from "../findings.mjs";
import { createBashReply, DONE, openAgents, readConversation, waitForEnd } from "../parts/agents.mjs";

const TOOL = fileURLToPath(new URL("../parts/memory-tool.mjs", import.meta.url));
const SMALL_HEAP = "--max-old-space-size=160";

export default {
  name: "out-of-memory",
  plays:
    "A tool of the application takes all memory of its worker, which dies of it; the next worker starts.",
  promise:
    "The run goes on with the next worker, the idempotent call runs again, and a neighbour on the worker loses nothing.",
  isQuick: true,
  play: async (stage) => {
    const agents = await openAgents(stage, { worker: false });
    const options = { args: ["--tools", TOOL], env: { NODE_OPTIONS: SMALL_HEAP } };
    const first = await agents.startWorker(options);
    const hungry = await agents.start("memory-hungry", {
      agent: { tools: ["bash", "hungry"] },
      replies: [
        { toolCalls: [{ name: "hungry", arguments: {} }] },
        createBashReply("echo after >> done"),
        DONE,
      ],
    });
    const neighbour = await agents.start("memory-neighbour", {
      replies: [createBashReply("echo before >> done"), { text: "Done.", chunkSize: 1, chunkDelayMs: 300 }],
    });
    const death = await first.ended;
    await agents.startWorker({ ...options, label: "next-worker" });
    const ends = await Promise.all([hungry, neighbour].map((session) => waitForEnd(session, 60_000)));
    return {
      death,
      runs: await Promise.all(
        [hungry, neighbour].map(async (session, nth) => ({
          session: session.id,
          end: ends[nth],
          errors: (await readConversation(session)).filter(({ isError }) => isError),
        })),
      ),
    };
  },
  judge: ({ death, runs }) => [
    ...(death.code === 0 ? [createFinding("broken", "the worker has not died: nothing was played")] : []),
    ...runs.flatMap(({ session, end, errors }) => [
      ...(end.status === "ended" && end.outcome.type === "answered"
        ? []
        : [createFinding("stuck", `it did not answer: ${JSON.stringify(end)}`, session)]),
      ...errors
        // The neighbour's command may have been at work when its worker died.
        .filter(({ text }) => !/^The outcome of this call is unknown/.test(text))
        .map(({ text }) => createFinding("lost", `a call did not run: ${text.slice(0, 200)}`, session)),
    ]),
  ],
};
