// A loader of webpack: shortens local names of a module of a package. Each statement has a line, which the source map names.
const { minify } = require("terser");

module.exports = function shortenPackage(code) {
  const done = this.async();
  const names = { keep_fnames: true, keep_classnames: true };
  minify(code, {
    compress: false,
    mangle: { ...names },
    format: { beautify: true, indent_level: 0, comments: false },
  }).then(({ code: short }) => done(null, short), done);
};
