import { closeSync, openSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createFinding } from "../findings.mjs";
import { createBashReply, DONE, openAgents, waitForEnd } from "../parts/agents.mjs";
import { runHoldfast } from "../parts/holdfast-process.mjs";

const FLIPPED_BYTES = 400;
/** The first page holds the header: without it SQLite itself says that the file is no database. */
const FIRST_PAGES = 8_192;

/** Not the word of a folder or a session. */
const NAMES_DAMAGE = /\b(damaged|malformed|corrupt)/i;

export default {
  name: "flipped-bytes",
  plays:
    "400 bytes of the transcript are flipped while nothing runs; then the doctor looks, and people read and prompt.",
  promise:
    "The damage is recognised: doctor fails and says what to do. Errors name the store, not the Temporal server, and ask nobody to report a bug. No run is tried for ever.",
  play: async (stage) => {
    const agents = await openAgents(stage);
    const { common } = agents;
    for (let nth = 0; nth < 6; nth += 1) {
      const replies = [createBashReply(`echo ${nth}; head -c 20000 /dev/zero | tr '\\0' x`), DONE];
      await waitForEnd(
        await agents.start(`flipped-${nth}`, { replies, prompt: `Go. ${"word ".repeat(400)}` }),
        60_000,
      );
    }
    await agents.worker.end();
    flipBytes(join(agents.home, "transcript.db"));
    const doctor = await runHoldfast(stage, [...common, "doctor"]);
    const commands = { doctor };
    for (let nth = 0; nth < 3; nth += 1)
      commands[`show flipped-${nth}`] = await runHoldfast(stage, [...common, "show", `flipped-${nth}`]);
    const refused = await agents.startWorker({ label: "next-worker" }).then(
      () => "",
      (error) => error.message,
    );
    const prompted = await agents.start("flipped-new", { replies: [DONE] }).catch((error) => error.message);
    const end = typeof prompted === "string" ? { status: "refused" } : await waitForEnd(prompted, 15_000);
    const status = await runHoldfast(stage, [...common, "status", "flipped-new"]);
    return { commands, refused, end, status };
  },
  judge: ({ commands, refused, end, status }) => [
    ...(NAMES_DAMAGE.test(commands.doctor.stdout + commands.doctor.stderr) && commands.doctor.code === 1
      ? []
      : [
          createFinding(
            "lost",
            `doctor does not see the damage: ${commands.doctor.stdout.slice(0, 500)}`,
            "doctor",
          ),
        ]),
    ...[...Object.entries(commands), ["status flipped-new", status]].flatMap(([name, { stdout, stderr }]) =>
      /report this|is not valid JSON|at .*\.js:\d+/.test(stdout + stderr)
        ? [createFinding("broken", `speaks of a bug of its own: ${(stdout + stderr).slice(0, 300)}`, name)]
        : [],
    ),
    // Waiting for a person is right; the run, or the worker that refuses to start, has to say so.
    ...(end.status === "open" && !NAMES_DAMAGE.test(refused + status.stdout + status.stderr)
      ? [
          createFinding(
            "stuck",
            `a new run hangs and does not say why: ${status.stdout.slice(0, 400)}`,
            "flipped-new",
          ),
        ]
      : []),
  ],
};

/** In four places, a hundred bytes each. */
function flipBytes(path) {
  const file = openSync(path, "r+");
  const { size } = statSync(path);
  const piece = Buffer.alloc(FLIPPED_BYTES / 4);
  for (const share of [0.2, 0.4, 0.6, 0.8]) {
    const at = FIRST_PAGES + Math.floor((size - FIRST_PAGES) * share);
    readSync(file, piece, 0, piece.length, at);
    writeSync(
      file,
      piece.map((byte) => byte ^ 0xff),
      0,
      piece.length,
      at,
    );
  }
  closeSync(file);
}
