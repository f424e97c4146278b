import { boundFacts, type CallFacts, type PathFact } from "../core/call-facts.ts";
import { pathFact, stepsBack } from "./path-facts.ts";
import { readScript } from "./shell/script.ts";

// The facts of a shell command: which simple commands it holds, which files its redirects name, and whether that can
// be relied on. The grammar is the parser's (unbash); what programs do with their words is in shell/programs.ts.
//
// Opaque, because the words do not say what will run: what does not parse; variables ($HOME too), substitutions,
// braces and ~; eval, source, exec and the like; functions, loops, assignments that may matter; programs that run
// commands made of their input or words; interpreters that get their program as text; redirects and cd out of the
// workspace. Patterns of file names are not: the words before them stand.

/** @param from - Where the command is started; the workspace unless said. */
export async function commandFacts(command: string, workspace: string, from = workspace): Promise<CallFacts> {
  const { commands, targets, folder, opaque } = readScript(command);
  const objections = opaque === undefined ? [] : [opaque];
  const folders = [from];
  if (folder !== undefined) {
    const fact = await pathFact(folder, workspace, from);
    if (!fact.inside || stepsBack(folder)) objections.push("changes to a folder outside the workspace");
    folders.push(fact.path);
  }
  const paths: PathFact[] = [];
  for (const target of targets) {
    // Before or after the change of folder: both are looked at.
    for (const base of folders) {
      const fact = await pathFact(target, workspace, base);
      if (!fact.inside || stepsBack(target)) objections.push("redirects to a file outside the workspace");
      if (!paths.some(({ path }) => path === fact.path)) paths.push(fact);
    }
  }
  return boundFacts({
    commands,
    ...(paths.length > 0 && { paths }),
    ...(objections[0] !== undefined && { opaque: objections[0] }),
  });
}
