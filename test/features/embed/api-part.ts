import type { ApiPart } from '../../http/api-part.ts'

export const embed: ApiPart = {
  roles: {
    'POST /v1/connect_sessions': 'caller',
    'GET /v1/connect_sessions/current': 'session',
    'GET /v1/connect_sessions/current/events': 'session',
    'POST /v1/connect_sessions/current/cancel': 'session',
    'POST /v1/connect_sessions/current/restart': 'session',
  },
}
