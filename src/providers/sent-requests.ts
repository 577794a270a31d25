import { AsyncLocalStorage } from 'node:async_hooks'
import type { EpochSeconds } from '../domain/clock.ts'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingPurpose,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../egress/outgoing.ts'
import { formOfResponse } from './response-form.ts'

/** A request to a provider as it was sent: addresses, names and the status, never a value. */
export interface SentRequest {
  readonly purpose: OutgoingPurpose | undefined
  /** Origin and path. */
  readonly endpoint: string
  readonly method: string
  /** The names of its parameters, in the query and in the body. */
  readonly parameters: readonly string[]
  /** The scheme of its `Authorization` header, in lower case. */
  readonly scheme?: string
  readonly tookMs: number
  /** Absent when there was no answer; `failure` says why. */
  readonly status?: number
  readonly failure?: OutgoingError['kind']
  /** When the provider says that it answered (its `Date` header). */
  readonly answeredAt?: EpochSeconds | undefined
  /** Names and forms of the members of the answer (`formOfResponse`). */
  readonly received?: readonly string[] | undefined
}

const lists = new AsyncLocalStorage<readonly SentRequest[][]>()

/**
 * Runs the function, and adds every request that it sends through `recordedOutgoing` to the list, and to those of the calls
 * around this one.
 */
export function recordingRequests<T>(sent: SentRequest[], run: () => Promise<T>): Promise<T> {
  return lists.run([...(lists.getStore() ?? []), sent], run)
}

/** Wraps the client: `send` adds each request to the lists of `recordingRequests` around it. Streams are left out. */
export function recordedOutgoing(outgoing: Outgoing): Outgoing {
  return {
    ...outgoing,
    async send(request) {
      const open = lists.getStore()
      if (open === undefined) return outgoing.send(request)
      const begun = performance.now()
      const add = (answer: Pick<SentRequest, 'status' | 'failure' | 'answeredAt' | 'received'>) => {
        const record = { ...describe(request), tookMs: Math.ceil(performance.now() - begun), ...answer }
        for (const sent of open) sent.push(record)
      }
      try {
        const response = await outgoing.send(request)
        const answeredAt = dateOf(response)
        const received = formOfResponse(response)
        add({ status: response.status, answeredAt, received })
        return response
      } catch (error) {
        if (error instanceof OutgoingError) add({ failure: error.kind })
        throw error
      }
    },
  }
}

function describe({ url, path, method = 'GET', headers = {}, body, purpose }: OutgoingRequest) {
  const target = new URL(url)
  const query = new URL(path ?? url, url).searchParams
  const scheme = /^(\w+) /.exec(headers.authorization ?? '')?.[1]?.toLowerCase()
  return {
    purpose,
    endpoint: target.origin + target.pathname,
    method,
    parameters: [...new Set([...query.keys(), ...namesIn(body)])],
    ...(scheme !== undefined && { scheme }),
  }
}

function namesIn(body: OutgoingRequest['body']): readonly string[] {
  if (typeof body !== 'string') return []
  if (!body.startsWith('{')) return [...new URLSearchParams(body).keys()]
  try {
    return Object.keys(JSON.parse(body) as object)
  } catch {
    return []
  }
}

function dateOf({ headers }: OutgoingResponse): EpochSeconds | undefined {
  const ms = Date.parse(headers.date ?? '')
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}
