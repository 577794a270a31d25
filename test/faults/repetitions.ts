/**
 * How often a fault is repeated: often in `npm run test:all` (`vitest.config.ts` sets FAULTS), a few times by
 * `npm test -- test/nodes.test.ts`. What a fault must not break is checked after each repetition in both.
 */
export function repetitions<T>({ few, many }: { readonly few: T; readonly many: T }): T {
  return process.env.FAULTS === 'many' ? many : few
}
