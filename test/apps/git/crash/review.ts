import { scriptReview } from "../review-script.ts";
import { createReviewedRepository, type ReviewedRepository } from "../reviewed-repository.ts";
import { startCommand } from "./command.ts";
import type { Stage } from "./stage.ts";

export type ReviewTrace = { readonly artifact: unknown; readonly problems: readonly string[] };

/** Plays `holdfast git review` of a change in four parts, each of which a sub-agent examines, with a critic. */
export class ReviewPlayer {
  readonly #stage: Stage;
  readonly #repository: ReviewedRepository = createReviewedRepository();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async play(session: string): Promise<ReviewTrace> {
    const { connection, vendor } = this.#stage;
    const { folder, head } = this.#repository;
    vendor.model.script(scriptReview(this.#repository));
    vendor.begin();
    const model = ["--model", "local/test-model", "--base-url", vendor.model.openaiBaseUrl];
    const place = ["--repo", folder, "--commit", head, "--session", session];
    const args = ["git", "review", "--json", ...place, ...model, ...connection];
    const { code, lines, stderr } = await startCommand(args, {}).ended;
    const result = lines.find(({ type }) => type === "result");
    const problems = code === 0 ? [] : [`exit code ${code}: ${stderr}`];
    return { artifact: result === undefined ? undefined : describe(result), problems };
  }

  remove(): void {
    this.#repository.remove();
  }
}

/** Takes from a result all that must be the same: everything but the ids of sessions. */
function describe(result: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(result, (name, value) => (name === "session" ? undefined : value)));
}
