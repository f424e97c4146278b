// A worker with the tools of git work.
import { createGitTools } from "../dist/apps/git/index.js";
import { runWorkerProcess } from "./worker-process.mjs";

await runWorkerProcess({}, ({ home }) => {
  const { core, main, update } = createGitTools({ home });
  return { tools: [...core, ...main, ...update] };
});
