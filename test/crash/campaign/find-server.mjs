import { readFileSync } from "node:fs";

/** Finds the Temporal server below the shell that keeps it. */
export function findServerProcess(keeper) {
  const children = readFileSync(`/proc/${keeper}/task/${keeper}/children`, "utf8").trim().split(" ");
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("start-dev"));
  if (found === undefined) throw new Error(`process ${keeper} keeps no Temporal server`);
  return Number(found);
}
