/** A scenario that cannot be read or cannot happen; each problem names its field. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
