import { checkFile, createIdMap, importFile } from "../../../dist/store/transcript/export/import-file.js";
import { writeExportText } from "../../../dist/store/transcript/export/write-export.js";

/** Takes a session out to a file and brings it in under another name; gives what it has brought. */
export async function moveSession(transcript, session, into) {
  const parts = [];
  for await (const text of writeExportText(transcript.archive, [session], new Date()))
    parts.push(Buffer.from(text));
  const open = async function* () {
    yield* parts;
  };
  await importFile(transcript.archive, open, await checkFile(open), createIdMap([session], into));
  const { headBranch } = await transcript.readSession(into);
  return {
    entries: await transcript.countEntries(into, headBranch),
    loops: (await transcript.readLoops(into)).length,
  };
}
