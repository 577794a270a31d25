import { randomBytes } from 'node:crypto'
import { answerJson, bearerOf, listen, record } from './loopback.ts'

/** How the server answers a token request: with tokens, an error code, or in another way. */
export type DeviceAnswer = 'approved' | 'hang up' | { readonly error: string; readonly status?: number }

export interface DeviceServerState {
  /** Replaces members of the answer with the code; `undefined` removes one. */
  code: Record<string, unknown>
  /** The answers to the next token requests; after them the last one is repeated. */
  answers: DeviceAnswer[]
  /** Who approves; without one the user info fails. */
  account: { readonly sub: string; readonly email: string } | undefined
}

const PENDING: DeviceAnswer = { error: 'authorization_pending' }

/** An authorization server with the device grant (RFC 8628), whose answers a test decides. */
export async function startFakeDeviceServer(state: Partial<DeviceServerState> = {}) {
  const settings: DeviceServerState = {
    code: {},
    answers: [PENDING],
    account: { sub: 'd-1', email: 'ada@p.example' },
    ...state,
  }
  /** The device codes and user codes that were given out. */
  const codes: { readonly deviceCode: string; readonly userCode: string }[] = []
  const codeRequests: Readonly<Record<string, string>>[] = []
  const polls: Readonly<Record<string, string>>[] = []
  const live = new Set<string>()
  const revoked: string[] = []
  const loopback = await listen(async (req, res) => {
    const { path, params, headers } = await record(req)
    switch (path) {
      case '/device_authorization': {
        codeRequests.push(params)
        const code = {
          deviceCode: `device-${randomBytes(20).toString('hex')}`,
          userCode: `WDJB-${randomBytes(2).toString('hex').toUpperCase()}`,
        }
        codes.push(code)
        const answer = {
          device_code: code.deviceCode,
          user_code: code.userCode,
          verification_uri: `${loopback.url}/enter`,
          verification_uri_complete: `${loopback.url}/enter?user_code=${code.userCode}`,
          expires_in: 600,
          ...settings.code,
        }
        return answerJson(res, 200, answer)
      }
      case '/token': {
        polls.push(params)
        const [answer = PENDING] =
          settings.answers.length > 1 ? settings.answers.splice(0, 1) : settings.answers
        if (answer === 'hang up') return req.socket.destroy()
        if (answer !== 'approved') return answerJson(res, answer.status ?? 400, { error: answer.error })
        const token = `at-${randomBytes(12).toString('hex')}`
        live.add(token)
        const refresh = `rt-${randomBytes(12).toString('hex')}`
        live.add(refresh)
        return answerJson(res, 200, {
          access_token: token,
          refresh_token: refresh,
          token_type: 'Bearer',
          expires_in: 3600,
        })
      }
      case '/me': {
        const isLive = live.has(bearerOf(headers) ?? '')
        return settings.account !== undefined && isLive
          ? answerJson(res, 200, settings.account)
          : answerJson(res, 401, {})
      }
      case '/revoke':
        revoked.push(params.token ?? '')
        live.delete(params.token ?? '')
        return answerJson(res, 200, {})
      default:
        return answerJson(res, 404, {})
    }
  })
  return {
    ...loopback,
    settings,
    codes,
    codeRequests,
    polls,
    live,
    revoked,
    /** The `oauth2` of an entry, as an administrator writes it. */
    oauth2: (overrides: Readonly<Record<string, unknown>> = {}) => ({
      client_id: 'tv',
      grant: { type: 'device_code' },
      device_authorization_request: { endpoint: `${loopback.url}/device_authorization` },
      token_request: { endpoint: `${loopback.url}/token` },
      refresh_request: { endpoint: `${loopback.url}/token` },
      user_info_request: { endpoint: `${loopback.url}/me`, triggers: { on_token_grant: true } },
      revocation_request: { endpoint: `${loopback.url}/revoke` },
      ...overrides,
    }),
  }
}

export type FakeDeviceServer = Awaited<ReturnType<typeof startFakeDeviceServer>>
