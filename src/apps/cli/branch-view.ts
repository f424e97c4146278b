import type { BranchInTree, BranchOrigin, BranchTree, Formation } from "../../client/index.ts";
import { type Palette, printable } from "./palette.ts";
import { count } from "./words.ts";

const SAID = {
  first: "",
  asked: "asked for",
  rewind: "a rewind",
  loop: "a loop that began here",
  revert: "the model went back",
  reset: "a reset: what the run before it had done stays on the branch above",
} as const satisfies Record<BranchOrigin, string>;

/** The branches of a session as a tree, each with its loops, the head marked. */
export function branchLines(tree: BranchTree, paint: Palette): readonly string[] {
  const { session, agentId, formation, branches } = tree;
  const roots = branches.filter(({ from }) => from === undefined || from.session !== undefined);
  const agent = agentId === undefined ? "" : ` · agent ${agentId}`;
  return [
    paint.bold(`session ${printable(session)}`) + paint.dim(`${agent} · ${formed(formation)}`),
    ...roots.flatMap((root) => linesOf(root, branches, paint, "")),
  ];
}

function linesOf(
  branch: BranchInTree,
  all: readonly BranchInTree[],
  paint: Palette,
  indent: string,
): readonly string[] {
  const children = all.filter(({ from }) => from?.session === undefined && from?.branch === branch.id);
  const head = branch.isHead ? ` ${paint.green("← head")}` : "";
  const loops = branch.loops.map(
    ({ loopId, kind, from, status, model }) =>
      `${indent}    ${paint.dim(printable(`#${from}  ${loopId} · ${kind} · ${status} · ${model}`))}`,
  );
  return [
    `${indent}● ${paint.bold(printable(branch.id))} ${facts(branch)}${head}`,
    ...loops,
    ...children.flatMap((child) => linesOf(child, all, paint, `${indent}  `)),
  ];
}

function facts({ from, length, origin }: BranchInTree): string {
  const begins =
    from === undefined
      ? []
      : [
          from.session === undefined
            ? `from #${from.position}`
            : `from session ${from.session}, ${from.branch} #${from.position}`,
        ];
  const said = SAID[origin];
  return printable([...begins, count(length, "message"), ...(said === "" ? [] : [said])].join(" · "));
}

function formed(formation: Formation): string {
  switch (formation.type) {
    case "first_loop":
      return "formed by its first loop";
    case "explicit":
      return `a new session${formation.previousSession === undefined ? "" : ` after ${formation.previousSession}`}`;
    case "inactivity_timeout":
      return `after ${formation.previousSession} had been idle for more than ${formation.thresholdSecs} s`;
    case "fork":
      return `a fork of ${formation.session}, ${formation.branch} #${formation.position}`;
  }
}
