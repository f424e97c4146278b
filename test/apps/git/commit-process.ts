// Makes a commit in a process of its own, which kills itself before a step: FOLDER REQUEST [STEP].
import { writeCommit } from "../../../src/apps/git/commit/write-commit.ts";
import { withRepository } from "../../../src/apps/git/repository/repository.ts";

const [folder = "", request = "", killBefore] = process.argv.slice(2);
process.stdout.write("ready\n");
const result = await withRepository(folder, {}, (repository) =>
  writeCommit(repository, JSON.parse(request), (step) => {
    if (step === killBefore) process.kill(process.pid, "SIGKILL");
  }),
);
process.stdout.write(JSON.stringify(result));
