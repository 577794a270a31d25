import { createReadStream, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join, normalize, resolve } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** A server of the files of a folder, for looking at the site on this machine. */
export function serveFolder(folder: string): Server {
  const root = resolve(folder) // the joined paths below are compared with it
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const wanted = join(root, normalize(pathname))
    const file = pathname.endsWith('/') ? join(wanted, 'index.html') : wanted
    const isFile = file.startsWith(root) && statSync(file, { throwIfNoEntry: false })?.isFile() === true
    if (!isFile) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('There is no such page.\n')
      return
    }
    response.writeHead(200, {
      'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': "default-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    })
    createReadStream(file).pipe(response)
  })
}
