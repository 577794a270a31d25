// Runs a tool for a user with nothing but `fetch`: shows the link, waits for the consent, goes on.
//   GATEPASS_URL=http://localhost:8400 GATEPASS_API_KEY=... node examples/agents/fetch.ts ada Sandbox_Profile
const { GATEPASS_URL = 'http://localhost:8400', GATEPASS_API_KEY } = process.env
const [user = 'ada', tool = 'Sandbox_Profile'] = process.argv.slice(2)

interface Output {
  readonly value?: unknown
  readonly error?: { readonly message: string }
  readonly requires_authorization?: { readonly id: string; readonly url: string }
}

async function call<T>(path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, GATEPASS_URL), {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${GATEPASS_API_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return response.json()
}

const execute = async () =>
  (await call<{ output: Output }>('/v1/tools/execute', { tool_name: tool, user_id: user, input: {} })).output

let output = await execute()
while (output.requires_authorization) {
  const { id, url } = output.requires_authorization
  console.log(`Please approve: ${url}`)
  let status = 'pending'
  // Gatepass holds each answer until the status changes, for 45 seconds at most
  while (status === 'pending')
    status = (await call<{ status: string }>(`/v1/auth/status?id=${id}&wait=45`)).status
  if (status === 'failed') throw new Error('The user did not approve.')
  output = await execute()
}
if (output.error) throw new Error(output.error.message)
console.log(JSON.stringify(output.value))
