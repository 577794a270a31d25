import { watchOthers } from './machine.ts'
import { isQuick, rounds } from './pace.ts'
import type { Started } from './process.ts'
import { median, whole } from './report.ts'

/** Cores that others may use during a round that counts as quiet. */
export const QUIET_CORES = 0.15
/** A round beside others is repeated, but no figure takes more than this many times as long for it. */
const MOST_TRIES = isQuick ? 1 : 2

/** What the load process measured in one round. */
export interface Driven {
  readonly answered: number
  readonly seconds: number
  /** Milliseconds that requests took. */
  readonly p50: number
  readonly p99: number
  readonly worst: number
}

export interface Round extends Driven {
  /** Requests per second. */
  readonly rate: number
  /** The server's processor time for one request. */
  readonly cpuMicros: number
  /** Cores that programs other than the bench's used meanwhile. */
  readonly others: number
}

export async function roundOf(server: Pick<Started, 'cpuMs'>, drive: () => Promise<Driven>): Promise<Round> {
  const othersSince = watchOthers()
  const cpuBefore = server.cpuMs()
  const driven = await drive()
  const cpuMicros = ((server.cpuMs() - cpuBefore) * 1000) / driven.answered
  return { ...driven, rate: driven.answered / driven.seconds, cpuMicros, others: othersSince() }
}

/** Repeated measurements, and how other programs disturbed them. */
export interface Repeated<T> {
  /** Only the quiet ones, where there are enough. */
  readonly values: readonly T[]
  readonly isQuiet: boolean
  /** How many of `tried` other programs disturbed. */
  readonly disturbed: number
  readonly tried: number
  /** Cores that others used, in the median of `values`. */
  readonly others: number
}

/** Measures until `usual` measurements were quiet, at most `MOST_TRIES` times as often. */
export async function repeat<T>(
  usual: number,
  measure: (number: number) => Promise<T>,
  othersIn: (value: T) => number,
): Promise<Repeated<T>> {
  const count = rounds(usual)
  const all: T[] = []
  const quiet = () => all.filter((one) => othersIn(one) <= QUIET_CORES)
  while (all.length < count * MOST_TRIES && quiet().length < count) all.push(await measure(all.length))
  const isQuiet = quiet().length >= Math.ceil(count / 2)
  const values = isQuiet ? quiet() : all
  const disturbed = all.length - quiet().length
  return { values, isQuiet, disturbed, tried: all.length, others: median(values.map(othersIn)) }
}

/** Rounds of servers that were measured in turn, by their names; those with the same index belong together. */
export type Alternated<Side extends string> = Omit<Repeated<never>, 'values'> &
  Readonly<Record<Side, readonly Round[]>>

export type Pairs = Alternated<'gatepass' | 'bare'>

export async function alternate<Side extends string>(
  count: number,
  sides: Readonly<Record<Side, () => Promise<Round>>>,
): Promise<Alternated<Side>> {
  const names = Object.keys(sides) as Side[]
  const { values, ...rest } = await repeat(
    count,
    async (number) => {
      const rounds = {} as Record<Side, Round>
      // each goes first as often as the others
      const first = number % names.length
      for (const name of [...names.slice(first), ...names.slice(0, first)]) rounds[name] = await sides[name]()
      return rounds
    },
    (rounds) => Math.max(...names.map((name) => rounds[name].others)),
  )
  const byName = names.map((name) => [name, values.map((rounds) => rounds[name])])
  return { ...rest, ...Object.fromEntries(byName) }
}

/** The value `of` each round as a ratio to that of the round with the same index in `to`. */
export function ratios(
  rounds: readonly Round[],
  to: readonly Round[],
  of: (round: Round) => number = ({ rate }) => rate,
): number[] {
  return rounds.map((round, i) => of(round) / (to[i] === undefined ? Number.NaN : of(to[i])))
}

export function medianOf(rounds: readonly Round[], of: (round: Round) => number): number {
  return median(rounds.map(of))
}

/** Requests per second. */
export function rateOf(rounds: readonly Round[]): string {
  return whole(medianOf(rounds, ({ rate }) => rate))
}

/** In microseconds. */
export function cpuOf(rounds: readonly Round[]): string {
  return whole(medianOf(rounds, ({ cpuMicros }) => cpuMicros))
}
