import { readFileSync } from "node:fs";
import { join } from "node:path";
import { judgeDevAgents, playOnDev } from "../parts/dev-agents.mjs";

export default {
  name: "dev-server-killed",
  plays: "The Temporal server below `holdfast dev` gets SIGKILL while agents work.",
  promise: "dev restarts it on the same file and port, and says so; the agents answer.",
  isQuick: true,
  play: async (stage) => {
    const home = stage.subfolder("home");
    return await playOnDev(stage, home, async () => process.kill(findServer(home), "SIGKILL"));
  },
  judge: judgeDevAgents,
};

/** The server itself, below the shell that keeps it. */
function findServer(home) {
  const { pid } = JSON.parse(readFileSync(join(home, "server", "server.json"), "utf8"));
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  const server = children.find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("start-dev"),
  );
  if (server === undefined) throw new Error(`process ${pid} keeps no Temporal server`);
  return Number(server);
}
