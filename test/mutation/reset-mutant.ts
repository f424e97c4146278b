import { configureGlobal } from "fast-check";
import { inject } from "vitest";

// A mutant that lives must live again in the next run: properties are tried with the same values each time.
configureGlobal({ seed: 20_261_122 });

// Files share their modules, so the mutant that the file before was run with must not be on while this one is read.
const stryker = (globalThis as { __stryker__?: { activeMutant: string | undefined } }).__stryker__;
const activation = (inject as (key: string) => unknown)("mutantActivation");
if (stryker !== undefined && activation === "runtime") stryker.activeMutant = undefined;
