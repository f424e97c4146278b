import ts from "typescript";

/** Comments that stay: licences, and the names that the bundler writes before each module. */
const KEPT = /^\/\*!|@license|@preserve|copyright/i;

/** Removes the comments of a program. Every line keeps its number, so that a source map of lines stays true. */
export function blankComments(code) {
  const source = ts.createSourceFile("bundle.js", code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const comments = new Map();
  const visit = (node) => {
    const children = node.getChildren(source);
    if (children.length > 0) return children.forEach(visit);
    const ranges = [
      ...(ts.getLeadingCommentRanges(code, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(code, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges) comments.set(pos, end);
  };
  visit(source);
  let rest = "";
  let at = 0;
  for (const [pos, end] of [...comments].sort(([a], [b]) => a - b)) {
    const comment = code.slice(pos, end);
    if (KEPT.test(comment)) continue;
    rest += code.slice(at, pos) + comment.replace(/[^\n]+/g, "");
    at = end;
  }
  return rest + code.slice(at);
}
