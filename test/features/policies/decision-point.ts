import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  answerJson,
  bearerOf,
  type Handler,
  type Loopback,
  listen,
  type RecordedRequest,
  record,
} from '../../loopback.ts'

export const PDP_SECRET = 'secret-of-the-decision-point'

interface Evaluation {
  readonly subject: { readonly type: string; readonly id: string }
  readonly action: { readonly name: string }
  readonly resource: { readonly type: string; readonly id: string }
  readonly context?: Readonly<Record<string, unknown>>
}

interface Task {
  readonly id: string
  readonly of: Evaluation
  status: string
  result?: object
  approval?: string
}

/**
 * A policy decision point of AuthZEN 1.0 with the Access Request and Approval Profile: it permits what `permits` says,
 * and keeps approvals for the exact subject, action, resource and context that was denied.
 */
export interface DecisionPoint extends Loopback {
  readonly asked: RecordedRequest[]
  readonly tasks: Task[]
  /** `requestable`: denied, but an access request may change that. */
  decides: (evaluation: Evaluation) => 'permit' | 'deny' | 'requestable'
  /** Members of the requestable denial besides its binding token, or in their place. */
  denial: Readonly<Record<string, unknown>>
  /** Answers in its place where it returns something else than `undefined`. */
  instead: ((asked: RecordedRequest, ...on: Parameters<Handler>) => unknown) | undefined
  /** Ends the task; what it approves is permitted from then on, when its approval is presented. */
  approve(task: Task, more?: object): void
  end(task: Task, status: string, result?: object): void
  reset(): void
  readonly evaluations: () => readonly Evaluation[]
}

const minutes = (count: number, from = Date.now()) => new Date(from + count * 60_000).toISOString()

export async function startDecisionPoint(now: () => number = Date.now): Promise<DecisionPoint> {
  const asked: RecordedRequest[] = []
  const tasks: Task[] = []
  const keys = new Map<string, Task>()
  const denied = new Map<string, Evaluation>()

  function evaluate(evaluation: Evaluation): object {
    const { approval, ...context } = evaluation.context ?? {}
    const plain = { ...evaluation, context }
    const decided = point.decides(plain)
    const presented = tasks.find(
      (task) =>
        task.approval !== undefined && task.approval === (approval as { id?: string } | undefined)?.id,
    )
    if (decided === 'permit') return { decision: true }
    if (presented !== undefined && isDeepStrictEqual(plain, presented.of)) return { decision: true }
    if (decided === 'deny')
      return {
        decision: false,
        context: { reason_user: { en: 'Insufficient privileges.' }, reason_admin: { en: 'Rule 7' } },
      }
    const token = `binding-${randomUUID()}`
    denied.set(token, plain)
    return {
      decision: false,
      context: {
        reason: 'approval_required',
        evaluation_id: `eval-${randomUUID()}`,
        access_request: {
          endpoint: `${server.url}/access/v1/requests`,
          expires_at: minutes(10, now()),
          binding_token: token,
          ...point.denial,
        },
      },
    }
  }

  function submit({ json, headers }: RecordedRequest): [number, object] {
    const { denial, ...of } = json as Evaluation & { denial: { binding_token?: string; expires_at?: string } }
    const bound = denied.get(denial.binding_token ?? '')
    const known = keys.get(String(headers['idempotency-key']))
    if (known !== undefined) return [202, shown(known)]
    if (!isDeepStrictEqual(bound, of) || denial.expires_at === undefined)
      return [400, { type: 'urn:openid:authzen:access-request:error:invalid_denial_binding' }]
    const task: Task = { id: `arq_${randomUUID()}`, of, status: 'pending' }
    tasks.push(task)
    keys.set(String(headers['idempotency-key']), task)
    return [202, shown(task)]
  }

  function shown({ id, status, result }: Task): object {
    const status_endpoint = `${server.url}/access/v1/requests/${id}`
    return { task: { id, status, status_endpoint }, ...(result && { result }) }
  }

  const server = await listen(async (req, res) => {
    const request = await record(req)
    asked.push(request)
    if ((await point.instead?.(request, req, res)) !== undefined) return undefined
    if (bearerOf(request.headers) !== PDP_SECRET) return answerJson(res, 401, 'who are you?')
    const { method, path } = request
    if (method === 'POST' && path === '/access/v1/evaluation')
      return answerJson(res, 200, evaluate(request.json as Evaluation))
    if (method === 'POST' && path === '/access/v1/requests') return answerJson(res, ...submit(request))
    const task = tasks.find(({ id }) => path === `/access/v1/requests/${id}`)
    if (method === 'GET' && task !== undefined) return answerJson(res, 200, shown(task))
    return answerJson(res, 404, { type: 'urn:openid:authzen:access-request:error:unknown_task' })
  })

  const point: DecisionPoint = Object.assign(server, {
    asked,
    tasks,
    decides: (): 'permit' => 'permit',
    denial: {},
    instead: undefined,
    approve(task: Task, more: object = {}) {
      task.approval = `apr_${randomUUID()}`
      const approval = { id: task.approval, approved_until: minutes(240, now()), state: { opaque: [1] } }
      point.end(task, 'approved', { mode: 'reevaluate', approval: { ...approval, ...more } })
    },
    end(task: Task, status: string, result?: object) {
      task.status = status
      if (result !== undefined) task.result = result
    },
    reset() {
      asked.length = 0
      tasks.length = 0
      Object.assign(point, { decides: () => 'permit', denial: {}, instead: undefined })
    },
    evaluations: () =>
      asked.filter(({ path }) => path.endsWith('/evaluation')).map(({ json }) => json as Evaluation),
  })
  return point
}
