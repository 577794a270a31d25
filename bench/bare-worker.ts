import { createHmac, randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { releasedAnswer } from './people.ts'

export function workerAt(port: string): Pool {
  return new Pool(`http://127.0.0.1:${port}`)
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const JWT_HEAD = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))

function signedToken(): string {
  const exp = Math.floor(Date.now() / 1000) + 60
  const claims = base64url(JSON.stringify({ ver: '1', iss: 'bare', aud: 'worker', jti: randomUUID(), exp }))
  const mac = createHmac('sha256', 'bench-worker-secret').update(`${JWT_HEAD}.${claims}`).digest('base64url')
  return `${JWT_HEAD}.${claims}.${mac}`
}

/** What a call of a tool takes at least: sign a token, post the input and the user's token, read the answer. */
export async function callWorker(worker: Pool, userId: string, input: unknown): Promise<WorkerAnswer> {
  const { context } = releasedAnswer(userId)
  const { body } = await worker.request({
    path: '/worker/tools/invoke',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${signedToken()}` },
    body: JSON.stringify({
      execution_id: 'exec_1',
      tool: { name: 'Greet', toolkit: 'Bench', version: '1.0.0' },
      inputs: input,
      context: { authorization: context, user_id: userId },
    }),
  })
  return (await body.json()) as WorkerAnswer
}

interface WorkerAnswer {
  readonly output: { readonly value: string }
}
