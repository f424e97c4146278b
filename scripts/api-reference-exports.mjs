// Which types public signatures name, and whether the entry point that has the signature exports them.
import { makeRecursiveVisitor, ReflectionKind } from "typedoc";

/**
 * The inputs of workflows that Holdfast's own client and `startAgent` write. The functions are exported so that a bundle of
 * workflows has them, and nobody else calls them.
 */
const WORKFLOW_INPUTS = [
  "src/workflows/autonomous.ts:AutonomousInput",
  "src/workflows/job-input.ts:FanOutRequest",
  "src/workflows/job-input.ts:PipelineRequest",
  "src/workflows/job-input.ts:SupervisorRequest",
  "src/workflows/retention.ts:RetentionRequest",
  "src/workflows/run-input.ts:RunInput",
  "src/workflows/suite-input.ts:ShardRequest",
  "src/workflows/suite-input.ts:SuiteRequest",
  "src/workflows/suite-input.ts:SuiteResult",
  "src/core/suite/suite-parts.ts:AnsweredCells",
];

/** Types that public signatures name and no entry point exports, as `file:name`. Each group above says why. */
export const INTERNAL_TYPES = [...WORKFLOW_INPUTS];

/**
 * Lists the types that an entry point's own signatures name and only another entry point exports. What a re-exported type
 * names, the entry point that describes it exports. TypeDoc finds the types that no entry point exports.
 */
export function findMissingExports(project) {
  return (project.children ?? []).flatMap((entryPoint) => {
    const { children = [] } = entryPoint;
    const known = new Set(children.map((each) => getId(resolveExport(each))));
    const problems = [];
    for (const own of children.filter((each) => !each.isReference())) {
      for (const type of listNamedTypes(own)) {
        if (known.has(getId(type))) continue;
        known.add(getId(type));
        problems.push(
          `holdfast/${entryPoint.name} does not export ${type.name}, which ${own.name} names. What to do: export it from ` +
            `there, as holdfast/${type.parent.name} does.`,
        );
      }
    }
    return problems;
  });
}

function resolveExport(reflection) {
  return reflection.isReference() ? reflection.getTargetReflectionDeep() : reflection;
}

/** A schema and the type that is inferred from it are one export. */
function getId({ parent, name }) {
  return `${parent.name}.${name}`;
}

/** The exports of entry points that the signatures of one export name. */
function listNamedTypes(reflection) {
  const found = new Set();
  const visitor = makeRecursiveVisitor({
    reference: (type) => {
      const named = findExport(type.reflection);
      if (named !== undefined) found.add(named);
    },
    reflection: ({ declaration }) => visit(declaration),
  });
  const visit = (each) => {
    each.type?.visit(visitor);
    each.default?.visit?.(visitor);
    for (const type of [...(each.extendedTypes ?? []), ...(each.implementedTypes ?? [])]) type.visit(visitor);
    each.traverse((child) => visit(child));
  };
  visit(reflection);
  return found;
}

/** The export that a reference leads to; a reference to a member leads to what it is a member of. */
function findExport(reflection) {
  let each = reflection;
  while (each !== undefined && !each.parent?.kindOf(ReflectionKind.Module)) each = each.parent;
  return each;
}
