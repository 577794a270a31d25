import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'

const RECORD = 'r'.repeat(400)

/**
 * Returns a function that appends a record to the file and resolves when it is on the disk. Records of one turn of the
 * event loop, and those that arrive while the disk flushes, share a write and a flush, as in a group commit.
 */
export function durableAppends(path: string): (userId: string) => Promise<void> {
  const opened = open(path, 'a')
  let lines: string[] = []
  let next: Promise<void> | undefined
  let flushing: Promise<void> = Promise.resolve()
  const flush = async () => {
    const file = await opened
    await setImmediate()
    next = undefined
    const batch = lines.join('')
    lines = []
    await file.write(batch)
    await file.datasync()
  }
  return (userId) => {
    lines.push(`${userId} ${RECORD}\n`)
    if (next === undefined) {
      next = flushing.then(flush)
      flushing = next
    }
    return next
  }
}
