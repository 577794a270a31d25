// `node main.js [services…]` has the vendors' clients send the requests of ../recorded again, to a server of this machine, and
// says which differ from those that are kept there; `--write` keeps the new ones. Run by hand, after `npm ci` in this folder.
// The arguments are those of the recordings: a new one is written there first, with an empty `expected`.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Socket } from 'node:net'
import { SERVICES } from './calls.js'

refuseOtherHosts()

const write = process.argv.includes('--write')
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const received = []
const server = createServer(receive)
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${server.address().port}`

let same = 0
const differing = []
for (const id of chosen.length > 0 ? chosen : Object.keys(SERVICES)) await recordAgain(id)
server.close()
console.log(`${same} the same, ${differing.length} different`)
for (const line of differing) console.log(line)
if (same + differing.length === 0) throw new Error('Nothing was recorded.')
process.exitCode = differing.length > 0 && !write ? 1 : 0

async function recordAgain(id) {
  const service = SERVICES[id]
  if (service === undefined)
    throw new Error(`There is no client of "${id}" here. Known: ${Object.keys(SERVICES).join(', ')}`)
  const file = new URL(`../recorded/${id}.json`, import.meta.url)
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  const client = service.make(await import(service.package), url)
  const again = []
  for (const recording of kept) {
    const call = service.calls[recording.tool]
    if (call === undefined) {
      again.push(recording) // calls.js does not have it, such as an upload, which Google’s clients send to the real host
      continue
    }
    received.length = 0
    const failure = await call(client, recording.args).then(
      () => undefined,
      (error) => error, // the server's answer fits no client
    )
    if (received.length !== 1)
      throw new Error(`${id} ${recording.tool} sent ${received.length} requests: ${failure}`)
    const expected = received[0]
    if (canonical(expected) === canonical(withoutHeaders(recording.expected))) same++
    else
      differing.push(
        `${id} ${recording.tool}: ${JSON.stringify(expected)} instead of ${JSON.stringify(withoutHeaders(recording.expected))}`,
      )
    again.push({ ...recording, client: `${service.package}@${versionOf(service.package)}`, expected })
  }
  if (write) writeFileSync(file, `${JSON.stringify(again, null, 2)}\n`)
}

function receive(request, response) {
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url, url)
    const body = bodyOf(request.headers['content-type'] ?? '', Buffer.concat(chunks).toString())
    received.push({ method: request.method, path: pathname, query: [...searchParams], ...(body && { body }) })
    response.setHeader('content-type', 'application/json')
    response.end('{"ok":true,"results":[],"items":[]}')
  })
}

function bodyOf(type, text) {
  if (text === '') return undefined
  if (type.includes('json')) return { json: JSON.parse(text) }
  if (type.includes('x-www-form-urlencoded')) return { form: [...new URLSearchParams(text)] }
  return { raw: text }
}

function withoutHeaders({ headers: _, ...request }) {
  return request
}

/** As the tests compare: queries and forms as sets, an e-mail by what it decodes to, JSON by value. */
function canonical({ method, path, query, body = {} }) {
  const sorted = (pairs) => pairs.map((pair) => pair.join('=')).sort()
  const isToken = ([name]) => name === 'token'
  const form = body.form && sorted(body.form.filter((pair) => !isToken(pair)))
  const json = JSON.stringify(body.json, (_, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
  return JSON.stringify([method, decodeURIComponent(path), sorted(query), form, json, body.raw])
}

function versionOf(name) {
  return JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), 'utf8'))
    .version
}

/** Some clients ignore the address that they are given: what would leave this machine fails in place of being sent. */
function refuseOtherHosts() {
  const { connect } = Socket.prototype
  Socket.prototype.connect = function (...args) {
    const [options = {}] = Array.isArray(args[0]) ? args[0] : args
    const host = typeof options === 'object' ? (options.host ?? options.path) : args[1]
    if (host !== '127.0.0.1') throw new Error(`A client tried to reach ${host}.`)
    return connect.apply(this, args)
  }
}
