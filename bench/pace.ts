/** `--quick`: few and short rounds, to try something out; what they say is rough. */
export const isQuick = process.argv.includes('--quick')

export function rounds(count: number): number {
  return isQuick ? Math.min(3, count) : count
}

/** Of a round or a warm-up. */
export function lasting(ms: number): number {
  return isQuick ? Math.min(ms, Math.max(400, ms / 8)) : ms
}
