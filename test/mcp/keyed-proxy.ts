import { request } from 'node:http'
import { listen } from '../loopback.ts'
import { headersOf } from './clients.ts'

/**
 * Passes requests on with an API key and a user, for a program that can send neither, and changes nothing else: `Host`
 * and `Origin` stay the same.
 */
export function startKeyedProxy(target: string, key: string, user: string) {
  return listen((req, res) => {
    const { method, headers, url = '/' } = req
    const onward = request(new URL(url, target), {
      method,
      headers: { ...headers, ...headersOf(key, user) },
      agent: false,
    })
    onward.once('response', (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onward.on('error', () => res.destroy())
    res.once('close', () => onward.destroy())
    req.pipe(onward)
  })
}
