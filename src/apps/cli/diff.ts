// The comparison of lists. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { diffArrays } from "diff";
