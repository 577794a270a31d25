import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Authorization,
  authorizationAt,
  type Exchanging,
  isSettled,
} from '../../src/domain/authorization.ts'
import type { ConnectionOwner } from '../../src/store/changes.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { propertyRuns } from '../property-runs.ts'
import { attempt, connection, inProject, pending, sealed, until } from '../store/fixtures.ts'

// Any order of what browsers, callers, exchanges and time can do to authorizations, on a real file that two
// processes have open. The invariants are checked after every step.

const LIFE = 100
const DEADLINE = 30
const HELD = 40

type Command =
  | { readonly do: 'begin'; readonly need: number; readonly steps: number }
  | { readonly do: 'attempt' | 'fail'; readonly which: number; readonly stale: boolean }
  | { readonly do: 'confirm' | 'vouch' | 'claim' | 'finish'; readonly which: number }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'sweep' }

/** Counted from the latest. */
const which = fc.constantFrom(0, 0, 0, 0, 1, 2)
const stale = fc.constantFrom(false, false, false, false, false, true)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      need: fc.nat(1),
      steps: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('attempt' as const), which, stale }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('confirm' as const), which }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('vouch' as const), which }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('claim' as const), which }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), which, stale }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(1, DEADLINE - 1, DEADLINE, LIFE),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'sweep' as const }) },
)

let folder: string
let store: Store
let other: Store
let [projects, accounts] = [0, 0]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatepass-model-'))
  store = openSqliteStore(join(folder, 'gatepass.db'))
  other = openSqliteStore(join(folder, 'gatepass.db'))
})
afterAll(async () => {
  await store?.close()
  await other?.close()
  rmSync(folder, { recursive: true, force: true })
})

class Model {
  readonly owner: ConnectionOwner
  now = 1
  /** As they were begun, in order. */
  readonly ids: string[] = []
  readonly states: { readonly id: string; readonly state: string; claims: number }[] = []
  readonly claims: Exchanging[] = []
  readonly settled = new Map<string, string>()
  readonly connections = new Map<string, string[]>()

  constructor(owner: ConnectionOwner) {
    this.owner = owner
  }

  async run(command: Command, process: Store): Promise<void> {
    const { authorizations } = process
    switch (command.do) {
      case 'begin': {
        const steps = Array.from({ length: command.steps }, () => ({
          providerUid: this.owner.providerUid,
          scopes: ['read'],
        }))
        const fresh = pending(this.owner, { steps, createdAt: this.now, expiresAt: this.now + LIFE })
        const begun = await authorizations.begin(
          fresh,
          `${this.owner.projectId} ${command.need} ${command.steps}`,
          this.now,
        )
        if (!this.ids.includes(begun.id)) this.ids.push(begun.id)
        expect(isSettled(authorizationAt(begun, this.now))).toBe(false)
        return
      }
      case 'attempt': {
        const id = pick(this.ids, command.which)
        const found = id === undefined ? undefined : await authorizations.find(id)
        if (found === undefined) return
        const state = `${found.id} ${this.states.length}`
        const step = found.step + (command.stale ? 1 : 0)
        const started = await authorizations.attempt(
          found.id,
          step,
          attempt(state, { startedAt: this.now }),
          this.now,
        )
        const seen = authorizationAt(found, this.now)
        expect(started !== undefined).toBe(
          !command.stale && ['pending', 'confirming', 'confirmed'].includes(seen.status),
        )
        if (started !== undefined) this.states.push({ id: found.id, state, claims: 0 })
        return
      }
      case 'confirm': {
        const chosen = pick(this.states, command.which)
        if (chosen === undefined) return
        await authorizations.confirming(
          chosen.state,
          { flowHash: `flow ${chosen.state}`, response: sealed('code'), deadline: this.now + HELD },
          this.now,
        )
        return
      }
      case 'vouch': {
        const chosen = pick(this.states, command.which)
        if (chosen === undefined) return
        const found = await authorizations.findByState(chosen.state)
        const confirmed = await authorizations.confirm(`flow ${chosen.state}`, this.now)
        const seen = found && authorizationAt(found, this.now)
        expect(confirmed !== undefined).toBe(seen?.status === 'confirming')
        return
      }
      case 'claim': {
        const chosen = pick(this.states, command.which)
        if (chosen === undefined) return
        const held = (await authorizations.findByState(chosen.state))?.status === 'confirmed'
        // both processes are called back with the same state at once
        const both = await Promise.all(
          [store, other].map((one) =>
            one.authorizations.claim(chosen.state, this.now, {
              ...until(this.now + DEADLINE),
              from: held ? 'confirmed' : 'pending',
            }),
          ),
        )
        for (const claimed of both) {
          if (claimed === undefined) continue
          chosen.claims++
          this.claims.push(claimed)
          expect(this.now).toBeLessThan(claimed.expiresAt)
        }
        expect(chosen.claims).toBeLessThanOrEqual(1)
        return
      }
      case 'finish': {
        const claimed = pick(this.claims, command.which)
        if (claimed === undefined) return
        const made = connection(this.owner, { account: { id: `account ${accounts++}`, name: '' } })
        const before = await authorizations.find(claimed.id)
        const finished = await authorizations.finishStep(claimed, made, { makeDefault: false }, this.now)
        expect((await process.connections.find(made.id)) !== undefined).toBe(finished !== undefined)
        if (finished === undefined) return
        expect(before?.status).toBe('exchanging')
        this.connections.set(claimed.id, [...(this.connections.get(claimed.id) ?? []), made.id])
        return
      }
      case 'fail': {
        const id = pick(this.ids, command.which)
        if (id === undefined) return
        const stateHash = command.stale ? 'the state of an earlier attempt' : undefined
        const failed = await authorizations.fail(id, 'access_denied', 'No.', this.now, stateHash)
        if (command.stale) expect(failed).toBeUndefined()
        return
      }
      case 'wait':
        this.now += command.seconds
        return
      case 'sweep':
        await authorizations.forgetResponses(this.now)
        await authorizations.sweep(this.now - 3 * LIFE)
        return
    }
  }

  get completions(): number {
    return this.connections.size
  }

  async check(): Promise<void> {
    for (const id of this.ids) {
      const found = await store.authorizations.find(id)
      expect(await other.authorizations.find(id)).toEqual(found)
      if (found === undefined) continue // swept
      this.checkOne(found)
    }
    const list = await store.connections.list(this.owner.projectId, {}, { offset: 0, limit: 100 })
    expect(list.total).toBe([...this.connections.values()].flat().length)
  }

  private checkOne(found: Authorization): void {
    const finished = this.connections.get(found.id) ?? []
    if (found.status === 'completed') {
      // one connection for each step, and never after its time
      expect(finished).toHaveLength(found.steps.length)
      expect(found.steps.map((step) => step.connectionId)).toEqual(finished)
    } else expect(finished.length).toBe(found.step)
    if (!isSettled(found)) return
    // a settled authorization never changes
    const text = JSON.stringify(found)
    expect(this.settled.get(found.id) ?? text).toBe(text)
    this.settled.set(found.id, text)
  }
}

function pick<T>(items: readonly T[], which: number): T | undefined {
  return items.at(-1 - (which % Math.max(items.length, 1)))
}

describe('threat 42 and 43: any order of events', () => {
  test('claims a code at most once, completes with a connection for every step, and lets no settled one change', async () => {
    let completions = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(command, fc.boolean()), { minLength: 25, maxLength: 50 }),
        async (commands) => {
          const { owner } = await inProject(store, `project ${projects++}`)
          const model = new Model(owner)
          for (const [one, elsewhere] of commands) {
            await model.run(one, elsewhere ? other : store)
            await model.check()
          }
          completions += model.completions
        },
      ),
      { numRuns: propertyRuns({ dear: 4 }) },
    )
    expect(completions).toBeGreaterThan(0)
  })
})
