import type { BranchInTree, BranchOrigin, BranchTree, SessionOrigin } from "../../client/index.ts";
import { type Palette, stripControls } from "./palette.ts";
import { formatCount } from "./text.ts";

const ORIGIN_LABELS = {
  first: "",
  requested: "created by request",
  rewind: "a rewind",
  loop: "a loop that begins here",
  revert: "a revert by the model",
  reset: "a reset: the work of the previous run stays on the branch above",
} as const satisfies Record<BranchOrigin, string>;

/** Formats the branches of a session as a tree, each with its loops; the head is marked. */
export function formatBranchTree(tree: BranchTree, paint: Palette): readonly string[] {
  const { session, agentId, origin, branches } = tree;
  const roots = branches.filter(({ from }) => from === undefined || from.session !== undefined);
  const agent = agentId === undefined ? "" : ` · agent ${agentId}`;
  return [
    paint.bold(`session ${stripControls(session)}`) + paint.dim(`${agent} · ${formatSessionOrigin(origin)}`),
    ...roots.flatMap((root) => formatBranch(root, branches, paint, "")),
  ];
}

function formatBranch(
  branch: BranchInTree,
  all: readonly BranchInTree[],
  paint: Palette,
  indent: string,
): readonly string[] {
  const children = all.filter(({ from }) => from?.session === undefined && from?.branch === branch.id);
  const head = branch.isHead ? ` ${paint.green("← head")}` : "";
  const loops = branch.loops.map(
    ({ loopId, kind, from, status, model }) =>
      `${indent}    ${paint.dim(stripControls(`#${from}  ${loopId} · ${kind} · ${status} · ${model}`))}`,
  );
  return [
    `${indent}● ${paint.bold(stripControls(branch.id))} ${formatBranchFacts(branch)}${head}`,
    ...loops,
    ...children.flatMap((child) => formatBranch(child, all, paint, `${indent}  `)),
  ];
}

function formatBranchFacts({ from, length, origin }: BranchInTree): string {
  const start =
    from === undefined
      ? []
      : [
          from.session === undefined
            ? `from #${from.position}`
            : `from session ${from.session}, ${from.branch} #${from.position}`,
        ];
  const label = ORIGIN_LABELS[origin];
  return stripControls(
    [...start, formatCount(length, "message"), ...(label === "" ? [] : [label])].join(" · "),
  );
}

function formatSessionOrigin(formation: SessionOrigin): string {
  switch (formation.type) {
    case "first_loop":
      return "created by its first loop";
    case "explicit":
      return `a new session${formation.previousSession === undefined ? "" : ` after ${formation.previousSession}`}`;
    case "inactivity_timeout":
      return `created because ${formation.previousSession} was idle for more than ${formation.thresholdSecs} s`;
    case "fork":
      return `a fork of ${formation.session}, ${formation.branch} #${formation.position}`;
  }
}
