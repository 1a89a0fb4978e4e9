// What browsers are told with every answer.

/** Scripts, styles and workers of our own; nothing inline, no other origin. The zstd decoder is inside a `data:` address. */
const policyWith = (connect: string): string =>
  [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The page is isolated from other origins, so that its threads may share memory. */
export const commonHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policyWith("'self' data:"),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
}

/** A worker has the policy of its script, and one of them opens the addresses that the user types. */
export const scriptHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policyWith("'self' data: https: http:"),
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
}

/** For files of the page. Models are always plain bytes, whatever they are called. */
export const typeOf = (extension: string): string => types[extension] ?? plainBytes

export const plainBytes = 'application/octet-stream'
