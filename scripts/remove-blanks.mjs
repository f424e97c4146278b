import ts from "typescript";

/** Comments that stay: licences and the source map. */
const KEPT = /^\/\*!|^\/\/# source|@license|@preserve|copyright/i;

/** Removes comments and indentation from the workflow bundle. Its lines stay, because its source map counts them. */
export function removeBlanks(code) {
  const file = ts.createSourceFile(
    "workflow-bundle.js",
    code,
    ts.ScriptTarget.ES2022,
    false,
    ts.ScriptKind.JS,
  );
  const blanks = new Map();
  const kept = [];
  const isText = (node) => ts.isTemplateLiteralToken(node) || ts.isStringLiteral(node);
  const visit = (node) => {
    const comments = [
      ...(ts.getLeadingCommentRanges(code, node.pos) ?? []),
      ...(ts.getTrailingCommentRanges(code, node.end) ?? []),
    ];
    for (const { pos, end } of comments) if (!KEPT.test(code.slice(pos, end))) blanks.set(pos, end);
    if (isText(node) && code.slice(node.pos, node.end).includes("\n")) kept.push([node.pos, node.end]);
    ts.forEachChild(node, visit);
  };
  visit(file);
  const isKept = (at) => kept.some(([pos, end]) => pos < at && at < end);
  for (const { index, 0: text } of code.matchAll(/^[ \t]+/gm))
    if (!blanks.has(index) && !isKept(index)) blanks.set(index, index + text.length);
  let short = "";
  let at = 0;
  for (const [pos, end] of [...blanks].sort(([one], [other]) => one - other)) {
    if (pos < at) continue;
    const blank = code.slice(pos, end);
    // A comment may separate two words.
    short += code.slice(at, pos) + (/^\/\*.*$/.test(blank) ? " " : blank.replace(/[^\n]+/g, ""));
    at = end;
  }
  return short + code.slice(at);
}
