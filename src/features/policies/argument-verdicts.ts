import type { RequestedUse } from '../../domain/requested-use.ts'
import type { ArgumentsToJudge, ArgumentVerdict } from './argument-judge.ts'
import { hasPlace } from './argument-schema.ts'
import type { Policy } from './domain.ts'
import { policiesOnArguments } from './evaluate.ts'
import type { EvaluationContext } from './policy-match.ts'

/** Compares arguments with conditions; no promise if that is quick. `undefined`: it cannot be decided. */
export type JudgeArguments = (
  job: ArgumentsToJudge,
  owner: string,
) => readonly boolean[] | undefined | Promise<readonly boolean[] | undefined>

export type Verdicts = ReadonlyMap<Policy, ArgumentVerdict>

type Asked = readonly [policies: readonly Policy[], use: RequestedUse, context: EvaluationContext]

/** Whether the arguments of uses are as the rules say. */
export interface ArgumentVerdicts {
  /** No promise if no rule about arguments applies, or if that is quick. */
  judge(...asked: Asked): Verdicts | undefined | Promise<Verdicts>
  /** As `judge` has found it for the same input, or judged again: a rule may have changed since. */
  recall(...asked: Asked): Verdicts | undefined | Promise<Verdicts>
  /** The same at once: a rule that has not been judged counts as one that applies. */
  recalled(...asked: Asked): Verdicts
}

export function createArgumentVerdicts(judge: JudgeArguments): ArgumentVerdicts {
  /** By the input. The object may be used again for another call, so `judge` never reads it. */
  const found = new WeakMap<object, Verdicts>()

  function judgeAll(policies: readonly Policy[], use: RequestedUse): Verdicts | Promise<Verdicts> {
    const { tool, input = {}, projectId } = use
    const schema = tool?.inputSchema
    const isAboutTool = ({ match }: Policy) =>
      schema === undefined || match.arguments?.every(({ at }) => hasPlace(schema, at)) === true
    const judged = policies.filter(isAboutTool)
    const conditions = judged.map(({ effect, match }) => ({
      rules: match.arguments ?? [],
      values: effect === 'allow' ? ('all' as const) : ('any' as const),
    }))
    const keep = (holds: readonly boolean[] | undefined): Verdicts => {
      const verdicts = new Map<Policy, ArgumentVerdict>(policies.map((policy) => [policy, 'failed']))
      for (const [i, policy] of judged.entries()) verdicts.set(policy, holds?.[i] ?? 'failed')
      if (typeof input === 'object' && input !== null) found.set(input, verdicts)
      return verdicts
    }
    const holds = judge({ conditions, input }, projectId)
    return holds instanceof Promise ? holds.then(keep) : keep(holds)
  }

  function known({ input }: RequestedUse): Verdicts | undefined {
    return typeof input === 'object' && input !== null ? found.get(input) : undefined
  }

  return {
    judge(...asked) {
      const wanted = policiesOnArguments(...asked)
      return wanted.length === 0 ? undefined : judgeAll(wanted, asked[1])
    },
    recall(...asked) {
      const wanted = policiesOnArguments(...asked)
      if (wanted.length === 0) return undefined
      const verdicts = known(asked[1])
      return verdicts !== undefined && wanted.every((policy) => verdicts.has(policy))
        ? verdicts
        : judgeAll(wanted, asked[1])
    },
    recalled(...asked) {
      const verdicts = known(asked[1])
      return new Map(policiesOnArguments(...asked).map((policy) => [policy, verdicts?.get(policy) !== false]))
    },
  }
}
