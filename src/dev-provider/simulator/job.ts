import type { SigningClient } from './client-key.ts'
import type { SimulatedOAuth2 } from './definition.ts'
import { JobFailure } from './job-failure.ts'
import type { SimulatedGatepass } from './simulated-gatepass.ts'

/** One step of the job, as it went. */
export interface Step {
  readonly step: string
  readonly ok: boolean
  /** What was wrong, or what was seen. */
  readonly detail: string
}

export interface JobResult {
  readonly id: string
  readonly ok: boolean
  readonly steps: readonly Step[]
}

export interface SimulatedEntry {
  /** The body of `POST /v1/admin/auth_providers`, without a client. */
  readonly body: {
    readonly id: string
    readonly type?: string
    readonly oauth2?: Readonly<Record<string, unknown>>
  } & Readonly<Record<string, unknown>>
  /** The grant of a definition of the catalogue, where it is not that of a code. */
  readonly grant?: string
  /** Whether users choose a tenant, in a definition of the catalogue. */
  readonly hasChoice?: boolean
  /** What is asked for; left out: the definition's default scopes. */
  readonly scopes?: readonly string[]
  /** How the client signs, where its secret is a key; left out: as the body says. */
  readonly client?: SigningClient
  /** What the server does otherwise than the definition says. */
  readonly plays?: Partial<SimulatedOAuth2>
}

/** Runs the steps of a job, and removes its entry again. Every step is reported; the first one that fails ends the job. */
export async function runSteps(
  gatepass: SimulatedGatepass,
  id: string,
  all: readonly (readonly [step: string, run: () => Promise<string>])[],
): Promise<JobResult> {
  const steps: Step[] = []
  try {
    for (const [step, run] of all) {
      const outcome = await outcomeOf(run)
      steps.push({ step, ...outcome })
      if (!outcome.ok) break
    }
  } finally {
    await gatepass.call('DELETE', `/v1/admin/auth_providers/${id}`)
    gatepass.outgoing.playing = undefined
  }
  return { id, ok: steps.every(({ ok }) => ok), steps }
}

async function outcomeOf(run: () => Promise<string>): Promise<Omit<Step, 'step'>> {
  try {
    return { ok: true, detail: await run() }
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error
    return { ok: false, detail: error.message }
  }
}
