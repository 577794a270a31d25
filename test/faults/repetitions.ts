/**
 * How often a fault is repeated: a few times in `npm test`, often in `npm run test:faults`, which runs the same tests
 * (`vitest.config.ts` sets FAULTS). What a fault must not break is checked after each repetition in both.
 */
export function repetitions<T>({ few, many }: { readonly few: T; readonly many: T }): T {
  return process.env.FAULTS === 'many' ? many : few
}
