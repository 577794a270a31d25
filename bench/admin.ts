import { API_KEY } from './people.ts'

/** Calls the API of a Gatepass that runs, as its administrator. Throws what it refuses. */
export function adminOf(port: number): (method: string, path: string, body?: unknown) => Promise<unknown> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const url = `http://127.0.0.1:${port}${path}`
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}
