import type { SuiteReport, SuiteRunStatus } from "../../../client/index.ts";
import { describeCost, formatDuration } from "../text.ts";
import { formatEstimate } from "./score-text.ts";

/** How far a run has come, for a line of a terminal or a line of JSON. */
export type SuiteProgress = Pick<
  SuiteRunStatus,
  "status" | "cells" | "reused" | "finished" | "failed" | "pending" | "paidUsd"
> & {
  readonly maxCostUsd: number | null;
  /** Absent until some cells have ended while the command watched. */
  readonly cellsPerSecond?: number;
  readonly leftMs?: number;
  /** The main score of each configuration, as of the last reading of all cells. */
  readonly scores: readonly MainScore[];
};

export type MainScore = Pick<
  SuiteReport["configurations"][number]["scores"][number],
  "name" | "type" | "mean" | "interval"
> & { readonly configuration: string };

/** The rate is that of the last minute: a rate limit or a faster model changes it. */
const WINDOW_MS = 60_000;

/** Measures the rate at which cells end. */
export class ProgressMeter {
  #samples: readonly { readonly atMs: number; readonly ended: number }[] = [];

  measure(status: SuiteRunStatus, nowMs: number, scores: readonly MainScore[] = []): SuiteProgress {
    const { cells, reused, finished, failed, pending, paidUsd, control } = status;
    const ended = finished + failed;
    this.#samples = [...this.#samples, { atMs: nowMs, ended }].filter(
      ({ atMs }) => atMs >= nowMs - WINDOW_MS,
    );
    const first = this.#samples[0]!;
    const seconds = (nowMs - first.atMs) / 1000;
    const cellsPerSecond = seconds > 0 ? (ended - first.ended) / seconds : 0;
    return {
      status: status.status,
      cells,
      reused,
      finished,
      failed,
      pending,
      paidUsd,
      maxCostUsd: control.maxCostUsd,
      scores,
      ...(cellsPerSecond > 0
        ? { cellsPerSecond, leftMs: Math.round((pending / cellsPerSecond) * 1000) }
        : {}),
    };
  }
}

/** Reads the main score of each configuration: that of the suite's first scorer. */
export function listMainScores({ configurations }: SuiteReport): readonly MainScore[] {
  return configurations.flatMap(({ name: configuration, scores: [first] }) =>
    first === undefined || first.mean === null
      ? []
      : [{ configuration, name: first.name, type: first.type, mean: first.mean, interval: first.interval }],
  );
}

/** Formats the progress on one line, the most important first, because a narrow terminal truncates it. */
export function formatProgress(progress: SuiteProgress): string {
  const { status, cells, reused, finished, failed, pending, paidUsd, maxCostUsd, scores } = progress;
  const { cellsPerSecond, leftMs } = progress;
  return [
    ...(status === "running" ? [] : [status]),
    `${finished}/${cells} cells${reused > 0 ? ` (${reused} reused)` : ""}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    `${pending} pending`,
    ...(cellsPerSecond === undefined ? [] : [formatRate(cellsPerSecond)]),
    `${describeCost(paidUsd)}${maxCostUsd === null ? "" : ` of ${describeCost(maxCostUsd)}`}`,
    ...(leftMs === undefined || pending === 0 ? [] : [`${formatDuration(leftMs)} left`]),
    ...formatMainScores(scores),
  ].join(" · ");
}

function formatRate(cellsPerSecond: number): string {
  return cellsPerSecond >= 1 ? `${cellsPerSecond.toFixed(1)}/s` : `${(cellsPerSecond * 60).toFixed(1)}/min`;
}

function formatMainScores(scores: readonly MainScore[]): readonly string[] {
  return scores.map(({ configuration, name, type, mean, interval }) => {
    const label = scores.length === 1 ? name : `${configuration} ${name}`;
    return `${label} ${formatEstimate(type, mean, interval)}`;
  });
}
