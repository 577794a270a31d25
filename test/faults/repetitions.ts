/**
 * How often a fault is repeated: as often as each of its kinds takes, or by `FAULTS=many npm run test:all` as often as the
 * figures in docs/evidence/reliability.md say. What a fault must not break is checked after each repetition in both.
 */
export function repetitions<T>({ few, many }: { readonly few: T; readonly many: T }): T {
  return process.env.FAULTS === 'many' ? many : few
}
