import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { answer, answerJson } from './loopback.ts'

/** A correct token response (RFC 6749 section 5.1) before a format spoils it. */
export type TokenMembers = Record<string, unknown>

/** How a token endpoint writes its success. Each format but `json` was seen at a real provider or is an attack. */
export const TOKEN_FORMATS = [
  'json',
  'form', // GitHub without an Accept header
  'array-scope', // Twitch
  'comma-scope', // GitHub, Linear
  'no-scope',
  'string-expiry',
  'no-expiry', // Salesforce
  'zero-expiry', // Mailchimp: never expires
  'expires-at', // Strava: absolute, in seconds
  'missing-token-type',
  'odd-token-type', // Slack: `bot`
  'nested', // Slack: under `authed_user`
  'html',
  'truncated',
  'cut-off', // the connection dies within the body
  'empty',
  'huge', // valid JSON, 16 MiB
  'gzip-bomb', // the same, under 1 MiB on the wire
  'slow-drip', // a byte every 50 ms
  'redirect', // 307 to /elsewhere, which answers a token
  'never',
] as const
export type TokenFormat = (typeof TOKEN_FORMATS)[number]

const HUGE_BYTES = 16 * 1024 * 1024
const DRIP_MS = 50

export function answerTokens(res: ServerResponse, format: TokenFormat, members: TokenMembers): unknown {
  const { scope, expires_in, token_type, ...rest } = members
  const scopes = String(scope ?? '').split(' ')
  switch (format) {
    case 'json':
      return answerJson(res, 200, members)
    case 'form':
      return answer(res, 200, 'application/x-www-form-urlencoded; charset=utf-8', formOf(members))
    case 'array-scope':
      return answerJson(res, 200, { ...members, scope: scopes })
    case 'comma-scope':
      return answerJson(res, 200, { ...members, scope: scopes.join(',') })
    case 'no-scope':
      return answerJson(res, 200, { ...rest, expires_in, token_type })
    case 'string-expiry':
      return answerJson(res, 200, { ...members, expires_in: String(expires_in) })
    case 'no-expiry':
      return answerJson(res, 200, { ...rest, scope, token_type })
    case 'zero-expiry':
      return answerJson(res, 200, { ...members, expires_in: 0 })
    case 'expires-at': {
      const expires_at = Math.floor(Date.now() / 1000) + Number(expires_in)
      return answerJson(res, 200, { ...rest, scope, token_type, expires_at })
    }
    case 'missing-token-type':
      return answerJson(res, 200, { ...rest, scope, expires_in })
    case 'odd-token-type':
      return answerJson(res, 200, { ...members, token_type: 'bot' })
    case 'nested':
      return answerJson(res, 200, { ok: true, app_id: 'A1', authed_user: { id: 'U1', ...members } })
    case 'html':
      return answer(res, 200, 'text/html', '<!doctype html><title>Sign in</title><h1>Please sign in</h1>')
    case 'truncated':
      return answer(res, 200, 'application/json', halfOf(JSON.stringify(members)))
    case 'cut-off': {
      const body = JSON.stringify(members)
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': String(body.length) })
      return res.write(halfOf(body), () => res.destroy())
    }
    case 'empty':
      return answer(res, 200, 'application/json', '')
    case 'huge':
      return pour(res, JSON.stringify(members), HUGE_BYTES)
    case 'gzip-bomb':
      return answer(res, 200, 'application/json', bomb(members), { 'content-encoding': 'gzip' })
    case 'slow-drip':
      return drip(res, JSON.stringify(members))
    case 'redirect':
      return res.writeHead(307, { location: '/elsewhere' }).end()
    case 'never':
      return undefined
  }
}

export function formOf(members: TokenMembers): string {
  const present = Object.entries(members).filter(([, value]) => value !== undefined)
  return new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString()
}

function halfOf(text: string): string {
  return text.slice(0, text.length / 2)
}

/** The object with `bytes` of padding in one more member, written as fast as the client reads. */
function pour(res: ServerResponse, object: string, bytes: number): void {
  const chunk = 'x'.repeat(64 * 1024)
  let left = bytes
  const more = () => {
    while (left > 0 && !res.destroyed) {
      left -= chunk.length
      if (!res.write(chunk)) {
        res.once('drain', more)
        return
      }
    }
    res.end('"}')
  }
  res.writeHead(200, { 'content-type': 'application/json' })
  res.write(`${object.slice(0, -1)},"padding":"`)
  more()
}

function bomb(members: TokenMembers): Buffer {
  return gzipSync(JSON.stringify({ ...members, padding: 'x'.repeat(HUGE_BYTES) }), { level: 1 })
}

function drip(res: ServerResponse, body: string): void {
  res.writeHead(200, { 'content-type': 'application/json' })
  let sent = 0
  const timer = setInterval(() => {
    if (sent < body.length) res.write(body[sent++])
    else res.end()
  }, DRIP_MS)
  res.once('close', () => clearInterval(timer))
}
