import type { RunPlan } from "../../git/index.ts";
import { UsageError } from "../usage-error.ts";

export type ChangeFlags = {
  readonly staged?: boolean | undefined;
  readonly commit?: string | undefined;
  readonly range?: string | undefined;
  readonly base?: string | undefined;
};

type Change = NonNullable<RunPlan["change"]>;

/** Reads which change is meant; `undefined` if no option says so. */
export function readChangeFlags(flags: ChangeFlags): Change | undefined {
  const given = (["staged", "commit", "range", "base"] as const).filter((name) => flags[name] !== undefined);
  if (given.length > 1) {
    const names = given.map((name) => `--${name}`).join(" and ");
    throw new UsageError(`${names} name different changes. Use one of them.`);
  }
  const { staged, commit, range, base } = flags;
  if (staged === true) return { type: "staged" };
  if (commit !== undefined) return { type: "commit", commit };
  if (base !== undefined) return { type: "range", from: base, to: "HEAD", fromMergeBase: true };
  return range === undefined ? undefined : parseRange(range);
}

function parseRange(text: string): Change {
  const [, from = "", dots, to = ""] = /^(.*?)(\.{2,3})(.*)$/s.exec(text) ?? [];
  if (dots === undefined || from === "" || from.startsWith("."))
    throw new UsageError(`--range "${text}" must have the form A..B or A...B, such as v1.0..HEAD.`);
  return {
    type: "range",
    from,
    to: to === "" ? "HEAD" : to,
    ...(dots === "..." ? { fromMergeBase: true } : {}),
  };
}
