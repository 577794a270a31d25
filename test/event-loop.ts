/** The shortest timer: it fires between two turns of the event loop, which may sleep when it has nothing to do. */
const LOOK_MS = 1

/**
 * Runs `work`, and measures the longest time for which the event loop was blocked: `held`, in milliseconds of processor
 * time of its thread, which other processes do not lengthen.
 */
export async function longestHold<T>(
  work: () => Promise<T>,
): Promise<{ readonly held: number; readonly result: T }> {
  let [isOver, held] = [false, 0]
  const cpu = () => process.threadCpuUsage().user / 1000
  let before = cpu()
  const look = () => {
    const now = cpu()
    held = Math.max(held, now - before)
    before = now
    if (!isOver) setTimeout(look, LOOK_MS)
  }
  setTimeout(look, LOOK_MS)
  const result = await work().finally(() => {
    isOver = true
  })
  return { held, result }
}

/** The processor time of parsing this JSON, in milliseconds. */
export function parsingMs(json: string): number {
  const before = process.threadCpuUsage().user
  JSON.parse(json)
  return (process.threadCpuUsage().user - before) / 1000
}
