// Runs one Shinkai tool, in Node or Deno. Reads its input from standard input and writes the result to a file.
import { writeFileSync } from 'node:fs'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const { tool, result, config, parameters, environment } = JSON.parse(Buffer.concat(chunks).toString())
Object.assign(process.env, environment)

if (globalThis.Deno === undefined) {
  const { deno } = await import('./deno.mjs')
  globalThis.Deno = deno
  const { registerHooks } = await import('node:module')
  const modules = process.argv[2]
  registerHooks({
    resolve(specifier, context, next) {
      // `npm:axios@1.7.7/lib` resolves to the package installed where the worker was started
      const [, name, path = ''] = /^npm:((?:@[^/]+\/)?[^@/]+)(?:@[^/]*)?(\/.*)?$/.exec(specifier) ?? []
      if (name === undefined) return next(specifier, context)
      return next(`${name}${path}`, { ...context, parentURL: pathToFileURL(`${modules}/../tool.js`).href })
    },
  })
}

let answer
try {
  const { run } = await import(pathToFileURL(tool).href)
  if (typeof run !== 'function') throw new Error('The tool exports no function `run`.')
  answer = { value: (await run(config, parameters)) ?? null }
  JSON.stringify(answer)
} catch (error) {
  answer = { error: error instanceof Error ? error.message : String(error) }
}
writeFileSync(result, JSON.stringify(answer))
process.exit(0)
