import { GatepassError } from './errors.ts'
import type { Fetch, Logger, TransportOptions } from './transport.ts'

/** The options of `new Gatepass()`. */
export interface ClientOptions {
  /** The URL of Gatepass; `GATEPASS_URL` of the environment by default. */
  readonly baseUrl?: string | URL | undefined
  /** An API key with the role `caller` or above; `GATEPASS_API_KEY` of the environment by default. */
  readonly apiKey?: string | undefined
  /** How long one attempt of a request may take, in milliseconds; 60,000 by default. Long polls may take longer. */
  readonly timeoutMs?: number | undefined
  /** How often a failed request is repeated; 2 by default. */
  readonly maxRetries?: number | undefined
  /** In place of the global `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Sent with each request, those to providers' APIs included. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Is called for each request and each repetition, never with keys or bodies. */
  readonly logger?: Logger | undefined
  /** Allows the client in a browser, where every visitor can read the API key. */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

const TIMEOUT_MS = 60_000
const MAX_RETRIES = 2

/** Checks the options and fills in the defaults. Throws `invalid_options`. */
export function readOptions(options: ClientOptions): TransportOptions {
  if (isBrowser() && options.dangerouslyAllowBrowser !== true)
    throw invalid(
      'This is a browser: every visitor could read the API key. Call Gatepass from your server, and let @gatepass/sdk/browser open links and wait. To use it here nevertheless, set dangerouslyAllowBrowser.',
    )
  const {
    apiKey = environment('GATEPASS_API_KEY'),
    timeoutMs = TIMEOUT_MS,
    maxRetries = MAX_RETRIES,
  } = options
  const url = options.baseUrl ?? environment('GATEPASS_URL')
  if (url === undefined || url === '')
    throw invalid('Pass baseUrl, or set GATEPASS_URL, to the URL of Gatepass.')
  if (apiKey === undefined || apiKey === '') throw invalid('Pass apiKey, or set GATEPASS_API_KEY.')
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw invalid('apiKey has characters that no API key has.')
  const baseUrl = URL.parse(url)
  if (baseUrl === null || !/^https?:$/.test(baseUrl.protocol))
    throw invalid(`baseUrl is not an http(s) URL: ${url}`)
  if (!(timeoutMs > 0)) throw invalid('timeoutMs must be more than 0.')
  if (!Number.isInteger(maxRetries) || maxRetries < 0)
    throw invalid('maxRetries must be 0 or a positive integer.')
  return {
    baseUrl: `${baseUrl.origin}${baseUrl.pathname.replace(/\/+$/, '')}`,
    apiKey,
    timeoutMs,
    maxRetries,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)), // the global `fetch` may be replaced later
    headers: options.headers ?? {},
    logger: options.logger,
  }
}

function invalid(message: string): GatepassError {
  return new GatepassError('invalid_options', message)
}

function isBrowser(): boolean {
  const { window, document } = globalThis as { readonly window?: unknown; readonly document?: unknown }
  return window !== undefined && document !== undefined
}

/** Returns `undefined` where there is no environment, and in Deno without the permission to read it. */
function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }
    return process?.env?.[name]
  } catch {
    return undefined
  }
}
