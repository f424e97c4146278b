import type { NumberedCase, SuiteStore } from "../../store/transcript/suites.ts";
import { HoldfastError } from "../holdfast-error.ts";

const PAGE_CASES = 500;

/** Yields the cases of a run in their order. No more than a page of them is in memory. */
async function* readCases(
  suites: Pick<SuiteStore, "readCases">,
  run: string,
): AsyncGenerator<NumberedCase, void, void> {
  for (let from = 0; ; from += PAGE_CASES) {
    const page = await suites.readCases(run, from, PAGE_CASES);
    yield* page;
    if (page.length < PAGE_CASES) return;
  }
}

/** @throws HoldfastError With the code `input-invalid` for a case that the run does not have. */
export async function findCase(
  suites: Pick<SuiteStore, "readCases">,
  run: string,
  id: string,
): Promise<NumberedCase> {
  for await (const one of readCases(suites, run)) if (one.value.id === id) return one;
  throw new HoldfastError(
    "input-invalid",
    `Run ${run} has no case ${id}. \`holdfast eval show ${run}\` lists its cells with their cases.`,
    { session: run },
  );
}

/** Reads the ids of cases that are needed in order. It keeps one page. */
export class CaseReader {
  readonly #run: string;
  readonly #suites: Pick<SuiteStore, "readCases">;
  #page: ReadonlyMap<number, string> = new Map();

  constructor(run: string, suites: Pick<SuiteStore, "readCases">) {
    this.#run = run;
    this.#suites = suites;
  }

  async readId(number: number): Promise<string> {
    if (!this.#page.has(number)) {
      const page = await this.#suites.readCases(this.#run, number, PAGE_CASES);
      this.#page = new Map(page.map((one) => [one.number, one.value.id]));
    }
    return this.#page.get(number) ?? String(number);
  }
}
