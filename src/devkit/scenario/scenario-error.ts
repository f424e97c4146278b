/** Thrown for a scenario that is invalid or impossible; each problem contains its field. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}
