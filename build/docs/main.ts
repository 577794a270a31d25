// `npm run docs`: docs/ as a static site in docs-site/. `-- --serve` also serves it on this machine; `-- <folder>` names
// another folder.
import { join } from 'node:path'
import { ROOT } from '../bundle.ts'
import { serveFolder } from './serve.ts'
import { buildSite } from './site.ts'

const PORT = 8420

const args = process.argv.slice(2)
const folder = args.find((one) => !one.startsWith('--')) ?? join(ROOT, 'docs-site')
const { pages, broken } = await buildSite(folder)
for (const one of broken) console.error(`Leads nowhere: ${one}`)
console.log(`${pages.length} pages in ${folder}`)
if (broken.length > 0) process.exitCode = 1
if (args.includes('--serve')) {
  serveFolder(folder).listen(PORT, '127.0.0.1')
  console.log(`http://localhost:${PORT}`)
}
