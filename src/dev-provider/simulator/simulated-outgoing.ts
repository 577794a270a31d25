import type { AllowsHttp } from '../../egress/endpoint.ts'
import { type Outgoing, OutgoingError, type OutgoingRequest } from '../../egress/outgoing.ts'
import type { SimulatedRequest, SimulatedResponse } from './definition.ts'

/** What answers in place of the hosts that it knows. */
export interface Playing {
  knows(url: URL): boolean
  answer(request: SimulatedRequest): SimulatedResponse
}

/** An outgoing client that opens no connections: the simulator answers, and hosts unknown to it are refused. */
export interface SimulatedOutgoing extends Outgoing {
  /** The simulator that answers from now on. */
  playing: Playing | undefined
}

/** `allows`: which URLs the real client would reach, for definitions that are checked before a simulator plays them. */
export function simulatedOutgoing(allows: AllowsHttp = () => false): SimulatedOutgoing {
  async function answer(request: OutgoingRequest): Promise<SimulatedResponse> {
    const { path } = request
    const url = new URL(request.url)
    const target = path === undefined ? url : new URL(path, url.origin)
    const { playing } = outgoing
    if (playing === undefined || !playing.knows(target))
      throw new OutgoingError('host_not_allowed', url.host, { requestSent: false })
    if ((await request.isStillWanted?.()) === false)
      throw new OutgoingError('given_up', url.host, { requestSent: false })
    return playing.answer({
      method: request.method ?? 'GET',
      url: target,
      headers: Object.fromEntries(
        Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
      ),
      body: request.body === undefined ? '' : Buffer.from(request.body).toString('utf8'),
    })
  }

  const outgoing: SimulatedOutgoing = {
    playing: undefined,
    async send(request) {
      const { status, headers, body } = await answer(request)
      return { status, headers, body: Buffer.from(body) }
    },
    async stream({ body, ...request }) {
      const text = typeof body === 'string' || body instanceof Uint8Array ? { body } : {}
      const answered = await answer({ ...request, ...text })
      return { status: answered.status, headers: answered.headers, body: new Blob([answered.body]).stream() }
    },
    lookUpTxt: async () => ({ outcome: 'no answer', why: 'ECONNREFUSED' }),
    allows: (url) => allows(url) || (url.protocol === 'https:' && outgoing.playing?.knows(url) === true),
    async close() {},
  }
  return outgoing
}

/** The client `real`, with the hosts that `playing` knows answered in this process. */
export function partlySimulated(real: Outgoing, playing: Playing): Outgoing {
  const simulated = simulatedOutgoing()
  simulated.playing = playing
  const answering = ({ url }: Pick<OutgoingRequest, 'url'>) =>
    playing.knows(new URL(url)) ? simulated : real
  return {
    ...real,
    send: (request) => answering(request).send(request),
    stream: (request) => answering(request).stream(request),
    allows: (url) => playing.knows(url) || real.allows(url),
  }
}
