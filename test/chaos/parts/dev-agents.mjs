// Agents on `holdfast dev`, which is to survive what happens to it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFinding } from "../findings.mjs";
import { createBashReply, DONE, openAgents, readConversation, VENDOR_KEY, waitForEnd } from "./agents.mjs";
import { startDev } from "./holdfast-process.mjs";

const AGENTS = 4;
const TURNS = 6;
/** The agents are in the middle of their work by then. */
const AT_WORK_MS = 1_500;
/** What waits for a store or a server tries again within this time. */
const LIMIT_MS = 75_000;

/** Starts agents that run a command a turn, lets something happen to dev, and waits for the answers. */
export async function playOnDev(stage, home, happens) {
  const dev = await startDev(stage, home, { env: { [VENDOR_KEY.name]: VENDOR_KEY.value } });
  const agents = await openAgents(stage, { home, at: dev, worker: false, taskQueue: "holdfast" });
  const sessions = [];
  for (let nth = 0; nth < AGENTS; nth += 1) {
    const commands = Array.from({ length: TURNS }, (_, turn) =>
      createBashReply(`echo ${turn} >> done; sleep 0.3`),
    );
    const session = await agents.start(`${stage.name}-${nth}`, { replies: [...commands, DONE] });
    sessions.push(session);
  }
  await sleep(AT_WORK_MS);
  await happens({ dev, agents });
  const ends = await Promise.all(sessions.map((session) => waitForEnd(session, LIMIT_MS)));
  return {
    devHasEnded: dev.hasEnded(),
    said: dev.said.stderr.slice(-4_000),
    runs: await Promise.all(
      sessions.map(async (session, nth) => ({
        session: session.id,
        end: ends[nth],
        turns: TURNS,
        commands: readLines(join(agents.workspaceOf(session.id), "done")),
        errors: (await readConversation(session).catch(() => [])).filter(({ isError }) => isError),
      })),
    ),
  };
}

function readLines(path) {
  try {
    return readFileSync(path, "utf8").trim().split("\n");
  } catch {
    return [];
  }
}

export function judgeDevAgents({ devHasEnded, said, runs }) {
  return [
    ...(devHasEnded ? [createFinding("stuck", `holdfast dev has ended: ${said.slice(-500)}`)] : []),
    ...runs.flatMap(({ session, end, turns, commands, errors }) => {
      const expected = Array.from({ length: turns }, (_, turn) => String(turn));
      const twice = expected.filter((turn) => commands.filter((one) => one === turn).length > 1);
      const missing = expected.filter((turn) => !commands.includes(turn));
      return [
        ...(end.status === "ended" && end.outcome.type === "answered"
          ? []
          : [createFinding("stuck", `it did not answer: ${JSON.stringify(end)}`, session)]),
        ...(end.gaveUp > 0
          ? [
              createFinding(
                "broken",
                `result() gave up ${end.gaveUp} times while the server was away`,
                session,
              ),
            ]
          : []),
        ...twice.map((turn) => createFinding("unsafeTwice", `command ${turn} ran more than once`, session)),
        ...(end.status === "ended"
          ? missing.map((turn) => createFinding("lost", `command ${turn} never ran`, session))
          : []),
        ...errors.map(({ text }) =>
          createFinding("lost", `a call did not run: ${text.slice(0, 200)}`, session),
        ),
      ];
    }),
  ];
}
