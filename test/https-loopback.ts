import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Handler, Loopback } from './loopback.ts'

/** An HTTPS server on a free port of 127.0.0.1, whose certificate this process trusts from now on. */
export async function listenHttps(
  handler: Handler,
  /** Asks clients for a certificate; the handler checks it. */
  { requestCert = false } = {},
): Promise<Loopback & { readonly cert: string }> {
  const { key, cert } = selfSigned()
  setDefaultCACertificates([...getCACertificates('default'), cert])
  const server = createServer({ key, cert, requestCert, rejectUnauthorized: false }, handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `https://127.0.0.1:${port}`, cert, close, [Symbol.asyncDispose]: close }
}

/** A self-signed certificate for 127.0.0.1 (RFC 5280 section 4.1), and its key. */
export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(oid('2a8648ce3d040302')) // ecdsa-with-SHA256
  const name = sequence(
    der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(`loopback ${randomBytes(4).toString('hex')}`)))),
  )
  const isAuthority = sequence(der(0x01, Buffer.of(0xff)))
  const address = sequence(der(0x87, Buffer.of(127, 0, 0, 1)))
  const toSign = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])), // serial number
    algorithm,
    name,
    sequence(der(0x18, Buffer.from('20200101000000Z')), der(0x18, Buffer.from('20991231235959Z'))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      0xa3,
      sequence(
        sequence(oid('551d13'), der(0x01, Buffer.of(0xff)), der(0x04, isAuthority)), // basicConstraints
        sequence(oid('551d11'), der(0x04, address)), // subjectAltName
      ),
    ),
  )
  const signature = der(0x03, Buffer.of(0), sign('sha256', toSign, privateKey))
  const base64 = sequence(toSign, algorithm, signature).toString('base64').replaceAll(/.{64}/g, '$&\n')
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  }
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

/** A value of ASN.1 by its tag (X.690 section 8.1). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), content])
}
