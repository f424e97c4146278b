import type { BundleOptions } from "@temporalio/worker";
import { WORKFLOW_NAMES } from "../workflows/messages.ts";
import { resolveBuiltFile } from "./built-file.ts";

// Bundles the workflows of an application together with Holdfast's.
//
// Temporal's bundler requires one module with all workflows, and one with the payload converter. A small webpack plugin
// puts a module between, which requires the application's and Holdfast's.

/** A text that every merged bundle contains. */
export const MERGED_MARK = "holdfast: merged workflows";

/** The failure converter of a worker's main thread when payloads are encrypted; a bundle has another one. */
export const ENCRYPTING_FAILURE_CONVERTER = resolveBuiltFile("platform/encryption/failure-converter.js");

const PAYLOAD_CONVERTER_REQUEST = "__temporal_custom_payload_converter";

type BundlerConfig = ReturnType<NonNullable<BundleOptions["webpackConfigHook"]>>;

/** Returns the options of a bundle that also contains Holdfast's workflows and converters. */
export function mergeWorkflows(options: BundleOptions): BundleOptions {
  const { workflowsPath, payloadConverterPath, failureConverterPath, webpackConfigHook } = options;
  const replacements = {
    [workflowsPath]: buildWorkflowsModule(workflowsPath),
    ...(payloadConverterPath === undefined
      ? {}
      : { [PAYLOAD_CONVERTER_REQUEST]: buildConverterModule(payloadConverterPath) }),
  };
  const plugin = createReplacementPlugin(replacements, workflowsPath);
  const hasOwnFailures =
    failureConverterPath !== undefined && failureConverterPath !== ENCRYPTING_FAILURE_CONVERTER;
  return {
    ...options,
    payloadConverterPath: payloadConverterPath ?? resolveBuiltFile("workflows/payload-converter.js"),
    failureConverterPath: hasOwnFailures
      ? failureConverterPath
      : resolveBuiltFile("workflows/failure-converter.js"),
    webpackConfigHook: (config) => {
      const theirs = webpackConfigHook?.(config) ?? config;
      return { ...theirs, plugins: [...(theirs.plugins ?? []), plugin as never] } as BundlerConfig;
    },
  };
}

/** Exports the workflows of both. A workflow of a name that Holdfast uses would replace one that agents need. */
function buildWorkflowsModule(workflowsPath: string): string {
  return buildModule(`
    const mark = ${JSON.stringify(MERGED_MARK)};
    const theirs = require(${JSON.stringify(workflowsPath)});
    const ours = require(${JSON.stringify(resolveBuiltFile("workflows/index.js"))});
    const merged = {};
    for (const name of Object.keys(theirs)) merged[name] = theirs[name];
    for (const name of Object.keys(ours)) {
      if (name in merged && merged[name] !== ours[name]) throw new Error(mark + ": both have a workflow " + name);
      merged[name] = ours[name];
    }
    module.exports = merged;
  `);
}

function buildConverterModule(payloadConverterPath: string): string {
  const ours = JSON.stringify(resolveBuiltFile("workflows/payload-converter.js"));
  return buildModule(`
    const { createLenientConverter } = require(${ours});
    const { payloadConverter } = require(${JSON.stringify(payloadConverterPath)});
    exports.payloadConverter = createLenientConverter(payloadConverter);
  `);
}

/** Webpack loads a module from a data URI, so no file is written. */
function buildModule(code: string): string {
  return `data:application/node,${encodeURIComponent(code.replace(/\n\s+/g, "\n").trim())}`;
}

/** The part of webpack that the plugin uses. Webpack is a dependency of Temporal's, not of Holdfast's. */
type Tap<Args extends readonly unknown[]> = {
  tap(name: string | typeof AFTER_WEBPACK, work: (...args: Args) => void): void;
};
type Module = { readonly userRequest?: string; readonly resource?: string };
type ModuleGraph = {
  getProvidedExports(module: Module): readonly string[] | boolean | null;
  getExportsInfo(module: Module): {
    getReadOnlyExportInfo(name: string): {
      getTarget(graph: ModuleGraph): { readonly module?: Module } | undefined;
    };
  };
  getOutgoingConnections(module: Module): Iterable<{
    readonly module?: Module;
    readonly dependency?: { readonly request?: string };
  }>;
};
type Compiler = {
  readonly hooks: {
    readonly normalModuleFactory: Tap<
      [
        {
          readonly hooks: {
            readonly beforeResolve: Tap<
              [{ request: string; readonly contextInfo?: { readonly issuer?: string } }]
            >;
          };
        },
      ]
    >;
    readonly compilation: Tap<
      [
        {
          readonly moduleGraph: ModuleGraph;
          readonly hooks: { readonly finishModules: Tap<[Iterable<Module>]> };
        },
      ]
    >;
  };
};

const PLUGIN = "holdfast";
/** Webpack itself finds the exports of all modules at stage 0. */
const AFTER_WEBPACK = { name: PLUGIN, stage: 1 };

function createReplacementPlugin(
  replacements: Readonly<Record<string, string>>,
  workflowsPath: string,
): { readonly apply: (compiler: Compiler) => void } {
  return {
    apply: ({ hooks }) => {
      hooks.normalModuleFactory.tap(PLUGIN, (factory) => {
        factory.hooks.beforeResolve.tap(PLUGIN, (data) => {
          // The modules that replace others require them.
          if (data.contextInfo?.issuer?.startsWith("data:") === true) return;
          data.request = replacements[data.request] ?? data.request;
        });
      });
      hooks.compilation.tap(PLUGIN, ({ moduleGraph, hooks: { finishModules } }) => {
        finishModules.tap(AFTER_WEBPACK, (modules) => checkNames(modules, moduleGraph, workflowsPath));
      });
    },
  };
}

/**
 * Fails the bundling when the application exports another workflow under a name of Holdfast's. Exports that webpack does
 * not know, which occur in CommonJS, are checked when the bundle is loaded.
 */
function checkNames(modules: Iterable<Module>, graph: ModuleGraph, workflowsPath: string): void {
  for (const merging of modules) {
    if (merging.resource?.startsWith("data:") !== true) continue;
    for (const { module, dependency } of graph.getOutgoingConnections(merging)) {
      if (module === undefined || dependency?.request !== workflowsPath) continue;
      const provided = graph.getProvidedExports(module);
      const taken = Array.isArray(provided)
        ? WORKFLOW_NAMES.filter((name) => provided.includes(name) && !isOurs(module, name, graph))
        : [];
      if (taken.length > 0) {
        throw new Error(
          `${workflowsPath} exports ${taken.join(", ")}, which ${taken.length === 1 ? "is a workflow" : "are workflows"} of ` +
            `Holdfast. Rename yours: agents need ${WORKFLOW_NAMES.join(", ")}.`,
        );
      }
    }
  }
}

/** An application may export Holdfast's own workflows. */
function isOurs(module: Module, name: string, graph: ModuleGraph): boolean {
  const target = graph.getExportsInfo(module).getReadOnlyExportInfo(name).getTarget(graph);
  return target?.module?.resource?.startsWith(resolveBuiltFile("workflows/")) === true;
}
