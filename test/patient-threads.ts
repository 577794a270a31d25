import { join } from 'node:path'
import type { Plugin } from 'vite'
import { ROOT } from '../build/bundle.ts'

/**
 * Gives threads that read large answers and documents five minutes instead of 30 s: beside other processes a thread gets
 * little processor time, and no test is about that limit.
 */
export const patientThreads: Plugin = {
  name: 'gatepass:patient-threads',
  enforce: 'pre',
  transform(code, id) {
    if (id !== join(ROOT, 'src/tools/thread-pool.ts')) return null
    const changed = code.replace(/^const TIMEOUT_MS = .*$/m, 'const TIMEOUT_MS = 300_000')
    if (changed === code)
      throw new Error('thread-pool.ts no longer names its limit in one line "const TIMEOUT_MS = …".')
    return changed
  },
}
