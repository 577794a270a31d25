// What a handler asks of the client while it runs: a form, a completion of the client's model, the client's roots.
// Clients of 2025 answer on the open stream (`askedOnStream`). Clients of 2026-07-28 answer by sending the call again
// (`replayedQuestions`): the handler then runs again from its beginning, with the answers that the client has given.

export type Question = ElicitationQuestion | SamplingQuestion | RootsQuestion

interface Keyed {
  /** Names the answer. Default: the kind and the question's number within the run, such as `elicitation-1`. */
  readonly key?: string | undefined
}

export interface ElicitationQuestion extends Keyed {
  readonly kind: 'elicitation'
  readonly message: string
  /** The form, a flat JSON Schema. */
  readonly requestedSchema: Readonly<Record<string, unknown>>
  /**
   * Whether the content of an accepted form fits the schema. If it does not, a client of 2026-07-28 is asked again, and
   * the question to a client of 2025 fails.
   */
  accepts(content: unknown): boolean | Promise<boolean>
  /** For clients of 2025, which answer while the handler waits. */
  readonly timeoutMs?: number | undefined
}

export interface SamplingQuestion extends Keyed {
  readonly kind: 'sampling'
  readonly request: Readonly<Record<string, unknown>>
}

export interface RootsQuestion extends Keyed {
  readonly kind: 'roots'
}

export interface Questions {
  /** Returns the client's answer. */
  ask(question: Question): Promise<Readonly<Record<string, unknown>>>
  /** Runs `fn` once, however often the handler runs for this call; its value must be JSON. */
  step<Value>(key: string, fn: () => Value | Promise<Value>): Promise<Value>
}

/** An embedded request of an `input_required` result. */
export interface InputRequest {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** What `requestState` carries from one round to the next. */
export interface RoundState {
  /** The answers so far, by key. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** The fingerprint of each question that was asked, by key. */
  readonly asked: Readonly<Record<string, number>>
  /** The value of each `step`, by key, in a list: an empty list is a value that was `undefined`. */
  readonly steps: Readonly<Record<string, readonly unknown[]>>
}

export const FIRST_ROUND: RoundState = { answers: {}, asked: {}, steps: {} }

/** Ends the handler of a round. What the handler returns or throws afterwards is ignored. */
export class AnswerPending extends Error {
  constructor() {
    super(
      'The client was asked and sends the call again with its answer. This error ends the handler until then; do not catch it.',
    )
    this.name = 'AnswerPending'
  }
}

export interface ReplayedQuestions extends Questions {
  /** What the next round needs to know. */
  readonly state: RoundState
  /** To be called when the handler has ended: later questions are ignored. */
  end(): void
  /** Resolves with the questions for the client when the handler waits for answers that this request does not carry. */
  readonly waiting: Promise<Readonly<Record<string, InputRequest>>>
}

/**
 * For the clients of 2026-07-28: answers the questions of one round from `before`, the state of the earlier rounds, and
 * from `responses`, what the client sent with the call (`inputResponses`, unchecked). A question without an answer ends
 * the round.
 */
export function replayedQuestions(
  before: RoundState,
  responses: Readonly<Record<string, unknown>>,
): ReplayedQuestions {
  const { answers, asked, steps } = copyOf(before)
  const seen = new Set<string>()
  const running = new Map<string, Promise<unknown>>()
  const pending: { readonly key: string; readonly request: InputRequest; reject(error: Error): void }[] = []
  const waiting = Promise.withResolvers<Readonly<Record<string, InputRequest>>>()
  let hasEnded = false

  /**
   * Sends the questions that the handler asked at one time (`Promise.all`) to the client together. Waits for running
   * steps first, because their values would be lost.
   */
  async function endRound(): Promise<void> {
    await Promise.allSettled(running.values())
    if (hasEnded) return
    waiting.resolve(Object.fromEntries(pending.map(({ key, request }) => [key, request])))
    for (const { reject } of pending) reject(new AnswerPending())
  }

  return {
    state: { answers, asked, steps },
    waiting: waiting.promise,
    end() {
      hasEnded = true
    },

    async ask(question) {
      const key = question.key ?? `${question.kind}-${seen.size + 1}`
      if (seen.has(key)) throw new Error(`Two questions of one run have the key ${JSON.stringify(key)}.`)
      seen.add(key)
      const request = inputRequestOf(question)
      const fingerprint = fingerprintOf(JSON.stringify(request))
      const isSame = asked[key] === undefined || asked[key] === fingerprint
      if (!isSame && answers[key] !== undefined)
        throw new Error(
          `The handler asked a different question under the key ${JSON.stringify(key)} when it ran again. Compute what varies in step().`,
        )
      asked[key] = fingerprint
      const answer =
        answers[key] ??
        (isSame
          ? await answerTo(question, Object.hasOwn(responses, key) ? responses[key] : undefined)
          : undefined)
      if (answer !== undefined) {
        answers[key] = answer
        return answer
      }
      return new Promise((_, reject) => {
        if (pending.push({ key, request, reject }) === 1) setTimeout(endRound, 0)
      })
    },

    step(key, fn) {
      const kept = steps[key]
      // the value was returned by `fn` in an earlier round
      if (kept !== undefined) return Promise.resolve(kept[0] as Awaited<ReturnType<typeof fn>>)
      const known = running.get(key) as ReturnType<typeof once> | undefined
      const once = async () => {
        const value = await fn()
        const [json] = value === undefined ? [] : [JSON.stringify(value)]
        if (value !== undefined && json === undefined)
          throw new TypeError(`The value of step(${JSON.stringify(key)}) is not JSON.`)
        const plain: typeof value = json === undefined ? value : JSON.parse(json)
        steps[key] = value === undefined ? [] : [plain]
        return plain
      }
      if (known !== undefined) return known
      const result = once().finally(() => running.delete(key))
      running.set(key, result)
      return result
    },
  }
}

/** Copies the state into objects without a prototype: an author's key may be any text, such as `constructor`. */
function copyOf({ answers, asked, steps }: RoundState) {
  return {
    answers: Object.assign<Record<string, Readonly<Record<string, unknown>>>, object>(empty(), answers),
    asked: Object.assign<Record<string, number>, object>(empty(), asked),
    steps: Object.assign<Record<string, readonly unknown[]>, object>(empty(), steps),
  }
}

function empty() {
  return Object.create(null)
}

/** For the clients of 2025: the handler waits for each answer, so the values of steps are kept for this run only. */
export function askedOnStream(
  send: (request: InputRequest, timeoutMs?: number) => Promise<Readonly<Record<string, unknown>>>,
): Questions {
  const steps = new Map<string, Promise<unknown>>()
  return {
    async ask(question) {
      const timeoutMs = question.kind === 'elicitation' ? question.timeoutMs : undefined
      const answer = await answerTo(question, await send(inputRequestOf(question), timeoutMs))
      if (answer !== undefined) return answer
      throw new Error("The client's answer does not fit the question.")
    },
    step<Value>(key: string, fn: () => Value | Promise<Value>) {
      const known = steps.get(key) ?? Promise.resolve().then(fn)
      steps.set(key, known)
      known.catch(() => steps.delete(key))
      return known as Promise<Value> // one key belongs to one function
    },
  }
}

function inputRequestOf(question: Question): InputRequest {
  switch (question.kind) {
    case 'elicitation': {
      const { message, requestedSchema } = question
      return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } }
    }
    case 'sampling':
      return { method: 'sampling/createMessage', params: question.request }
    case 'roots':
      return { method: 'roots/list', params: {} }
  }
}

/** Returns the response if it answers the question, else `undefined`. */
async function answerTo(
  question: Question,
  response: unknown,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (typeof response !== 'object' || response === null) return undefined
  const answer = response as Readonly<Record<string, unknown>> // an object has members
  switch (question.kind) {
    case 'elicitation':
      if (answer.action === 'accept') return (await question.accepts(answer.content)) ? answer : undefined
      return answer.action === 'decline' || answer.action === 'cancel' ? answer : undefined
    case 'sampling':
      return typeof answer.role === 'string' && typeof answer.content === 'object' ? answer : undefined
    case 'roots':
      return Array.isArray(answer.roots) ? answer : undefined
  }
}

/**
 * Returns the FNV-1a hash (32 bits) of a question, which shows whether the question has changed. It need not resist
 * deliberate collisions: a client gains nothing by them, because it chooses the answer anyway.
 */
function fingerprintOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
