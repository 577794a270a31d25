import { constants } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../../services/lower-priority.ts'
import { outOfMemory, timedOut, tooManyCalls } from './code-error.ts'
import { openInterpreter } from './interpreter.ts'
import { isFull, writeOutput } from './output.ts'
import { toScript } from './script.ts'
import { seededRandom } from './seeded-random.ts'
import { stopClock } from './stopped-clock.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'

// The thread of one run of code. It holds QuickJS and no data of the broker. `sandbox.ts` terminates it in every case.

if (parentPort === null) throw new Error('sandbox-thread.ts is run by sandbox.ts in a thread of its own.')
const port = parentPort
const data = workerData as ThreadData // sandbox.ts passes it
const send = (message: FromThread) => port.postMessage(message)

// on Linux each thread has its own priority; elsewhere this would change the priority of the whole process
if (process.platform === 'linux') lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const { timeoutMs, memoryMb, toolCalls } = data
const script = toScript(data.code, data.language)
if (script.outcome === 'error') send({ type: 'ended', ended: script })
else {
  const elapsed = performance.now.bind(performance) // the real clock, before `stopClock` replaces it
  let begun: number | undefined
  stopClock(data.now)
  const interpreter = await openInterpreter({
    quickjs: data.quickjs,
    memoryMb,
    maxRequests: toolCalls + 1, // one more for the list of tools
    tooManyRequests: tooManyCalls(toolCalls),
    outOfMemory: outOfMemory(memoryMb),
    timedOut: timedOut(timeoutMs),
    isOver: () => begun !== undefined && elapsed() - begun > timeoutMs,
    isFull: (stream) => isFull(data[stream]),
    random: seededRandom(data.seed),
    write: (stream, text) => writeOutput(data[stream], text),
    onRequest: (id, what, payload) => send({ type: 'request', id, what, payload }),
    onIdle: (answers) => {
      if (data.reportsIdle) send({ type: 'idle', answers })
    },
    onEnded: (ended) => send({ type: 'ended', ended }),
  })
  port.on('message', ({ id, answer }: ToThread) => interpreter.answer(id, answer))
  begun = elapsed()
  send({ type: 'started' })
  interpreter.run(script)
}
