// Patterns of keys. Each takes linear time: it starts at one position only, looks ahead a bounded distance, or consumes
// what it has inspected. A captured group stays visible; the rest of the match is hidden.

/** Prefixes of vendors' keys, followed by letters, digits, `_` and `-`. */
const PREFIXES = [
  // Models
  "sk-",
  "sk_",
  "gsk_",
  "xai-",
  "pplx-",
  "hf_",
  "r8_",
  "fw_",
  "csk-",
  "tgp_v1_",
  "tvly-",
  "nvapi-",
  "jina_",
  "lsv2_(?:pt|sk)_",
  "pk-lf-",
  // Code and packages
  "gh[opsur]_",
  "github_pat_",
  "gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|imt|ffct)-",
  "gloas-",
  "ATBB",
  "ATATT3x",
  "ATCTT3x",
  "npm_",
  "pypi-",
  "rubygems_",
  "dckr_(?:pat|oat)_",
  "bkua_",
  "CCIPAT_",
  "sntry[su]_",
  "figd_",
  "PMAK-",
  "lin_(?:api|oauth)_",
  "ntn_",
  "secret_",
  // Clouds and data
  "dop_v1_",
  "do[or]_v1_",
  "dapi(?=[0-9a-f]{32})",
  "HRKU-",
  "nf[pc]_",
  "vc[pk]_",
  "sbp_",
  "sb_secret_",
  "pscale_(?:tkn|pw|oauth)_",
  "napi_",
  "glsa_",
  "glc_",
  "NRAK-",
  "NRII-",
  "pul-",
  "dt0[a-z]01",
  "GOCSPX-",
  "1//0",
  "AIza",
  "fo1_",
  // Payments, shops, messages
  "rk_",
  "whsec_",
  "sq0(?:atp|csp)-",
  "shp(?:at|ss|ca|pa|ua)_",
  "xox[a-z]-",
  "xoxe\\.xox[a-z]-",
  "xapp-",
  "key-(?=[0-9a-f]{32})",
];

/** Prefixes of keys that contain dots between their parts. */
const DOTTED = [
  "SG\\.",
  "hv[sbr]\\.",
  "ya29\\.",
  "dp\\.(?:pt|st|ct|sa|scim|audit)\\.",
  "atlasv1\\.",
  "sl\\.",
  "FlyV1 fm2_",
  "v1\\.0-",
];

/** Names after which a secret follows. */
const NAMES =
  "(?:api[_-]?key|token|secret|passw(?:or)?d|pwd|passphrase|private[_-]?key|access[_-]?key|account[_-]?key|" +
  "shared[_-]?access[_-]?key|shared[_-]?secret|signing[_-]?key|encryption[_-]?key|credentials?)";

const QUERY_NAMES =
  "(?:access_token|refresh_token|id_token|auth_token|token|api_?key|key|sig|signature|client_secret|password|" +
  "x-amz-(?:signature|credential|security-token)|x-goog-signature)";

/** Patterns of blocks with several lines. */
export const KEY_BLOCKS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
];

/** Patterns within a line, or within a few words. */
export const SECRET_SHAPES: readonly RegExp[] = [
  new RegExp(`(?<![A-Za-z0-9])(?:${PREFIXES.join("|")})[A-Za-z0-9_-]{16,}`, "g"),
  new RegExp(`(?<![A-Za-z0-9])(?:${DOTTED.join("|")})[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]+)*`, "g"),
  /(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}/g,
  /\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AROA|AIDA|ANPA)[0-9A-Z]{16}\b/g,
  /\bSK[0-9a-f]{32}\b/g,
  /(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,}/g,
  /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,}/g,
  /(?<![\w-])[MNO][\w-]{23,28}\.[\w-]{6}\.[\w-]{27,}/g,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  /(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b/g,
  /\b(hooks\.slack\.com\/(?:services|workflows)\/)[\w/-]{16,}/g,
  /\b(discord(?:app)?\.com\/api\/webhooks\/)[\w/-]{16,}/g,
  // Only at the beginning of a word and before two dots, so that a word full of "eyJ" is inspected once.
  /(?<![\w-])(?=[\w-]{13,}\.[\w-]{10,}\.[\w-]{5})([\w-]*?)\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g,
  // Credentials in URLs, on command lines, and in headers.
  /(:\/\/[^\s/:@"']{0,128}:)[^\s/@"']{1,512}(?=@)/g,
  /(:\/\/)[A-Za-z0-9_-]{20,512}(?=@)/g,
  new RegExp(`([?&]${QUERY_NAMES}=)[^&\\s"'#<>]{6,}`, "gi"),
  new RegExp(`(\\s--?${NAMES}[ =]["']?)[^\\s"'-][^\\s"']{3,}`, "gi"),
  /((?:\s-u|\s--user|\s--proxy-user)[ =][^\s:]{1,64}:)[^\s"']{4,}/g,
  /(\blogin\s{1,8}\S{1,64}\s{1,8}password\s{1,8})\S{3,}/gi,
  // The lookahead comes first: a lookbehind within a run of blanks would scan the run for each blank.
  /(?=[A-Za-z0-9._~+/=-]{12})(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}/gi,
  /(?=[^\s"',;]{8})(?<=\bauthorization["']?\s*[=:]\s*["']?(?:[a-z]+\s+)?)[^\s"',;]{8,}/gi,
  /(\b(?:set-)?cookie["']?\s{0,8}:\s{0,8}["']?)[^\s="']{1,128}=[^\r\n"']{4,}/gi,
  new RegExp(`(?=[^"\\r\\n]{6})(?<=${NAMES}["']?\\s*[=:]\\s*")[^"\\r\\n]{6,512}(?=")`, "gi"),
  new RegExp(`(?=[^'\\r\\n]{6})(?<=${NAMES}["']?\\s*[=:]\\s*')[^'\\r\\n]{6,512}(?=')`, "gi"),
  new RegExp(`(?=[^\\s"',;&|]{6})(?<=${NAMES}["']?\\s*[=:]\\s*["']?)[^\\s"',;&|]{6,}`, "gi"),
];

/** A flag of a command that a secret follows. */
export const SECRET_FLAG = new RegExp(`^--?(?:[a-z]+-)*${NAMES}$`, "i");
