import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { apiTarget } from '../../src/providers/api-target.ts'

const BASE = 'https://api.example.com/v1/base'
const provider = { api: { baseUrl: BASE, hosts: ['api.example.com'] } }
const allowsHttp = () => false

/** As a server that decodes a path so often before it walks it would read it. */
function walked(path: string, decodings: number): string | undefined {
  let decoded = path
  for (let times = 0; times < decodings; times++)
    try {
      decoded = decodeURIComponent(decoded)
    } catch {
      return undefined // no server reads that
    }
  const [folders = ''] = decoded.replaceAll('\\', '/').split('?', 1)
  return new URL(`https://api.example.com/${folders.replace(/^\/+/, '')}`).pathname
}

describe('threat 14: where a proxied request goes', () => {
  const piece = fc.constantFrom(
    ...[
      '.',
      '..',
      '/',
      '//',
      '\\',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '%252e',
      '%252f',
      '%25',
      '%',
      ';x',
      '@',
      ':',
      '#',
      '?',
    ],
    ...['evil.example', 'https:', 'x', '~', '\u00fc', '\n', ' ', '\0'],
  )
  const path = fc.array(piece, { maxLength: 10 }).map((pieces) => `/${pieces.join('')}`)

  test('is the base URL and below it, however it is written and decoded', () => {
    let found = 0
    fc.assert(
      fc.property(path, (asked) => {
        const outcome = apiTarget(provider, asked, { allowsHttp })
        if (!('target' in outcome)) return
        found++
        const { url, path: sent } = outcome.target
        expect(sent).toBe(`/v1/base${asked}`)
        expect(new URL(url.origin + sent).host).toBe('api.example.com')
        for (const decodings of [0, 1, 2, 3]) {
          const walkedTo = walked(sent, decodings)
          if (walkedTo !== undefined)
            expect(walkedTo.startsWith('/v1/base'), `${sent}: ${walkedTo}`).toBe(true)
        }
      }),
    )
    expect(found).toBeGreaterThan(20)
  })

  test('is never a host that the entry does not name, whatever base URL is given', () => {
    const host = fc.constantFrom(
      ...[
        'evil.example',
        'api.example.com.evil.example',
        'evil.example#api.example.com',
        'api.example.com@evil.example',
      ],
      ...[
        'evil.example\\@api.example.com',
        'API.example.com',
        'api.example.com.',
        'api.example.com:443',
        'api.example.com:8443',
      ],
      ...[
        'evil.example%2f.api.example.com',
        'evil.example?.api.example.com',
        'xn--api.example.com',
        'api\u3002example.com',
      ],
    )
    const scheme = fc.constantFrom(
      'https://',
      'https:',
      'https:\\\\',
      '//',
      'http://',
      'HTTPS://',
      ' https://',
    )
    fc.assert(
      fc.property(scheme, host, path, (before, name, behind) => {
        const outcome = apiTarget(provider, '/x', { baseUrl: `${before}${name}${behind}`, allowsHttp })
        if ('target' in outcome)
          expect([outcome.target.url.hostname.replace(/\.$/, ''), outcome.target.url.port]).toEqual([
            'api.example.com',
            '',
          ])
      }),
    )
  })
})
