// `npm run film -- <folder>`: twelve pictures of the first minute, by a new installation and Chromium. With `--docs` those
// that the documentation shows are written to docs/images, too.

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../../build/bundle.ts'
import { newPerson, openBrowser } from '../../browser.ts'
import { type Printed, readPrinted, SHOTS, take } from './shots.ts'
import { smallPng } from './small-png.ts'

const { values, positionals } = parseArgs({
  options: { docs: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [folder] = positionals
if (folder === undefined) throw new Error('Name the folder of the pictures: npm run film -- <folder>')
mkdirSync(folder, { recursive: true })

const place = mkdtempSync(join(tmpdir(), 'gatepass-film-'))
const server = spawn(process.execPath, [join(ROOT, 'bin/gatepass.js'), 'dev'], {
  cwd: place,
  env: { ...process.env, GATEPASS_DATABASE_URL: `file:${join(place, 'gatepass.db')}` },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  await using browser = await openBrowser()
  await using person = await newPerson(browser)
  await person.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  person.context.setDefaultTimeout(60_000)
  const printed = await started()
  for (const shot of SHOTS) {
    await take(person.page, shot, printed)
    const picture = async (options = {}) =>
      smallPng(await person.page.screenshot({ animations: 'disabled', ...options }))
    const png = await picture()
    writeFileSync(join(folder, `${shot.name}.png`), png)
    if (values.docs && shot.inDocs)
      writeFileSync(join(ROOT, 'docs/images', shot.inDocs.name), await picture({ clip: shot.inDocs.clip }))
    console.log(`${shot.name}.png`, `${Math.ceil(png.length / 1000)} kB`)
  }
} finally {
  server.kill()
  rmSync(place, { recursive: true, force: true })
}

/** What the server prints until it runs. */
async function started(): Promise<Printed> {
  let text = ''
  for await (const chunk of server.stdout.setEncoding('utf8')) {
    text += chunk
    const printed = readPrinted(text)
    if (printed !== undefined) return printed
  }
  throw new Error(`Gatepass has not started:\n${text}`)
}
