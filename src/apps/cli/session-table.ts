import type { JobSummary, SessionSummary } from "../../client/index.ts";
import type { StatusCode } from "../../core/machine/status-code.ts";
import type { Context } from "./context.ts";
import type { Palette } from "./palette.ts";
import { shortenIds } from "./short-ids.ts";
import { type Column, formatColumns } from "./table.ts";
import { formatCostCell, shortenText } from "./text.ts";

/** A session or a job in a list. */
export type ListedRow = Partial<Omit<SessionSummary, "session">> &
  Pick<SessionSummary, "status" | "lastActiveAt" | "costUsd"> & {
    readonly id: string;
    /** Absent for a session. */
    readonly mode?: JobSummary["mode"];
  };

export function toJobRow({ job, startedAt, closedAt, ...rest }: JobSummary): ListedRow {
  return { id: job, lastActiveAt: closedAt ?? startedAt, ...rest };
}

const COLOURS: Partial<Record<StatusCode, keyof Palette>> = {
  failed: "red",
  stopped: "red",
  "needs-approval": "yellow",
  running: "green",
};

/**
 * Formats sessions and jobs as a table. At a terminal it fits the width, with the beginnings of ids that commands take and the
 * time since the last activity; elsewhere it has every column in full.
 */
export function formatRows(context: Context, rows: readonly ListedRow[], nowMs: number): readonly string[] {
  const { stdout } = context.streams;
  const isTerminal = stdout.isTTY === true;
  const shorten = isTerminal ? shortenIds(rows.map(({ id }) => id)) : (id: string) => id;
  const paint = (status: StatusCode): string => context.out[COLOURS[status] ?? "dim"](status);
  const columns: readonly Column<ListedRow>[] = [
    { head: "ID", read: ({ id }) => shorten(id) },
    { head: "STATUS", read: ({ status }) => paint(status) },
    isTerminal
      ? { head: "ACTIVE", read: ({ lastActiveAt }) => formatAge(nowMs - lastActiveAt.getTime()), rank: 1 }
      : {
          head: "LAST ACTIVE (UTC)",
          read: ({ lastActiveAt }) => lastActiveAt.toISOString().slice(0, 19).replace("T", " "),
        },
    { head: "AGENT", read: ({ mode, agent }) => mode ?? agent ?? "", rank: 2 },
    { head: "MODEL", read: ({ model }) => model ?? "", rank: 5 },
    { head: "LOOPS", read: ({ loops }) => `${loops ?? ""}`, rank: 6 },
    { head: "TURNS", read: ({ turns }) => `${turns ?? ""}`, rank: 4 },
    { head: "USD", read: ({ costUsd }) => formatCostCell(costUsd), rank: 3 },
    { head: "SCOPE", read: ({ scope }) => (scope === "persistent" ? scope : ""), rank: 7 },
    { head: "ROOT", read: ({ root }) => (root === undefined ? "" : shorten(root)), rank: 8 },
    { head: "TITLE", read: ({ title }) => shortenText(title ?? "", MAX_TITLE_CHARS), isFlexible: true },
  ];
  return formatColumns(
    columns,
    rows,
    isTerminal ? (stdout.columns ?? DEFAULT_WIDTH) : Number.MAX_SAFE_INTEGER,
  );
}

const MAX_TITLE_CHARS = 120;
/** The usual width of a terminal that does not report one. */
const DEFAULT_WIDTH = 80;

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
] as const;

/** Formats the time since an activity in its largest whole unit. */
function formatAge(ms: number): string {
  for (const [name, size] of UNITS) if (ms >= size) return `${Math.floor(ms / size)}${name}`;
  return "now";
}
