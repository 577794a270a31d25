import { get } from 'node:http'
import { text } from 'node:stream/consumers'

/**
 * `postgres`: one PostgreSQL for the whole run, its URL. Starting it takes half a second.
 * `program`: the program as a bundle (`program-bundle.ts`), its path.
 * `sdk`: the build of `@gatepass/sdk`, which examples import by its name; its folder.
 */
export type OnDemand = 'postgres' | 'program' | 'sdk'

const asked = new Map<OnDemand, Promise<string>>()

/** Waits until vitest's process (`setup.ts`) has made it. Outside of vitest the answer is `undefined`. */
export async function onDemand(what: OnDemand): Promise<string | undefined> {
  const base = process.env.TEST_ON_DEMAND
  if (base === undefined) return undefined
  const answer = asked.get(what) ?? ask(new URL(what, base))
  asked.set(what, answer)
  return answer
}

/** By `node:http`, because tests replace `fetch`. */
function ask(url: URL): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, async (response) => {
      const body = await text(response)
      if (response.statusCode === 200) resolve(body)
      else reject(new Error(`${url.pathname.split('/').at(-1)} could not be made for the tests: ${body}`))
    }).on('error', reject)
  })
}
