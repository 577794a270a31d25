import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { AdapterPayload } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { openCarried } from '../../flows/carried-seal.ts'
import { carriedContext } from '../../store/protection.ts'
import { CONSENT_PATH, PATHS } from './paths.ts'
import { servedRequest } from './served-request.ts'

// An authorization request that waits for its user is kept in a sealed cookie of the browser, for the two paths on which
// the request goes on. So a stranger who sends any number of requests leaves nothing here, and every process can go on
// with a request that another one received.

/** Browsers keep cookies of up to 4,096 bytes, name and value together. */
const MAX_COOKIE_LENGTH = 4_000

interface Kept {
  readonly payload: AdapterPayload
  readonly expiresAt: EpochSeconds
}

/** The waiting requests of the browser that sent the request which is served. */
export interface WaitingRequests {
  /** Throws the error of `tooLong` for a request that no cookie can hold. */
  put(uid: string, payload: AdapterPayload, seconds: number): void
  find(uid: string): AdapterPayload | undefined
  delete(uid: string): void
}

export function waitingRequests(
  { sealer, now, settings }: Pick<Broker, 'sealer' | 'now' | 'settings'>,
  { tooLong }: { readonly tooLong: () => Error },
): WaitingRequests {
  const secure = settings.publicUrl.protocol === 'https:'
  const name = `${secure ? '__Secure-' : ''}gatepass-mcp-request`
  const attributesAt = (path: string) => ({ path, httpOnly: true, sameSite: 'Lax', secure }) as const

  function context(): Context {
    const request = servedRequest()
    if (request === undefined) throw new Error('oidc-provider runs outside of a request')
    return request.c
  }

  return {
    put(uid, payload, seconds) {
      const kept: Kept = { payload, expiresAt: now() + seconds }
      const value = sealer.seal(
        JSON.stringify(kept),
        carriedContext('mcp request', { rowId: uid, projectId: '' }),
      )
      if (value.length > MAX_COOKIE_LENGTH) throw tooLong()
      for (const path of pathsOf(uid))
        setCookie(context(), name, value, { ...attributesAt(path), maxAge: seconds })
    },
    find(uid) {
      const kept = openCarried<Kept>(
        sealer,
        getCookie(context(), name),
        carriedContext('mcp request', { rowId: uid, projectId: '' }),
      )
      return kept !== undefined && now() < kept.expiresAt ? kept.payload : undefined
    },
    delete(uid) {
      for (const path of pathsOf(uid)) deleteCookie(context(), name, attributesAt(path))
    },
  }
}

function pathsOf(uid: string): readonly string[] {
  return [CONSENT_PATH, PATHS.authorization].map((path) => `${path}/${uid}`)
}
