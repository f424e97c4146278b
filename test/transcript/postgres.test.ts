import { describe } from "vitest";
import { PostgresTranscript } from "../../src/transcript/postgres/postgres-transcript.ts";
import { transcriptContract } from "./contract.ts";
import { missingPostgres, PostgresBench } from "./postgres-bench.ts";

describe.skipIf(missingPostgres() !== undefined)("a transcript in PostgreSQL", () => {
  const bench = PostgresBench.forEachTest();

  transcriptContract("PostgresTranscript", async () => ({
    transcript: await bench.opened(),
    second: () => PostgresTranscript.open({ url: bench.url }),
    dispose: async () => undefined,
  }));
});
