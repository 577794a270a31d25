import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { outOfMemory, timedOut, tooManyCalls } from './code-error.ts'
import { openInterpreter } from './interpreter.ts'
import { isFull, writeOutput } from './output.ts'
import { toScript } from './script.ts'
import { stopClock } from './stopped-clock.ts'
import type { FromThread, ThreadData, ToThread } from './thread-messages.ts'

// The thread of one run of code: it holds QuickJS and nothing of the broker's. Whatever happens to it, `sandbox.ts` ends
// it from outside.

if (parentPort === null) throw new Error('sandbox-thread.ts is run by sandbox.ts in a thread of its own.')
const port = parentPort
const data = workerData as ThreadData // sandbox.ts starts it with this
const tell = (message: FromThread) => port.postMessage(message)

// on Linux a thread has a priority of its own; elsewhere this would be the whole broker's
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

const { timeoutMs, memoryMb, toolCalls } = data
const script = toScript(data.code, data.language)
if (script.outcome === 'error') tell({ tell: 'ended', ended: script })
else {
  const elapsed = performance.now.bind(performance)
  let begun: number | undefined
  stopClock(data.now)
  const interpreter = await openInterpreter({
    quickjs: data.quickjs,
    memoryMb,
    maxAsks: toolCalls + 1, // the list of tools may be asked for besides
    tooManyAsks: tooManyCalls(toolCalls),
    outOfMemory: outOfMemory(memoryMb),
    timedOut: timedOut(timeoutMs),
    isOver: () => begun !== undefined && elapsed() - begun > timeoutMs,
    isFull: (stream) => isFull(data[stream]),
    write: (stream, text) => writeOutput(data[stream], text),
    onAsk: (id, what, payload) => tell({ tell: 'asks', id, what, payload }),
    onEnded: (ended) => tell({ tell: 'ended', ended }),
  })
  port.on('message', ({ id, answer }: ToThread) => interpreter.answer(id, answer))
  begun = elapsed()
  tell({ tell: 'started' })
  interpreter.run(script)
}
