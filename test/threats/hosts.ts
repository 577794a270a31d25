import { once } from 'node:events'
import { type AddressInfo, createServer, type LookupFunction, type Socket } from 'node:net'

/** A listener on every address of this machine, to which no request may connect. */
export interface Trap extends AsyncDisposable {
  readonly port: number
  /** Connections accepted and bytes read so far. */
  readonly seen: { connections: number; bytes: number }
}

export async function startTrap(): Promise<Trap> {
  const seen = { connections: 0, bytes: 0 }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    seen.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      seen.bytes += bytes.length
    })
  }).listen(0, '::')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // a TCP server that listens has one
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Hosts whose text alone shows that they are not public, by the row of the threat table. */
export const PRIVATE_HOSTS: Readonly<Record<'14a' | '14b' | '14d', readonly string[]>> = {
  '14a': [
    '127.0.0.1',
    '127.1',
    '127.255.255.254',
    '0x7f.1',
    '0x7f000001',
    '0x7F.0X0.0x0.0x1',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '0177.0x0.1',
    '①②⑦.0.0.1',
    '１２７.０.０.１',
    '127。0。0。1',
    '127.0.0.%31',
    '0.0.0.0',
    '0',
    '0x0',
    '10.0.0.1',
    '10.255.255.255',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.0.1',
    '3232235521',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ],
  '14b': [
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:169.254.169.254]',
    '[::ffff:0:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::7f00:1]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:53aa:64c:0:0:80ff:fffe]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '[2001:db8::1]',
  ],
  '14d': [
    'localhost',
    'localhost.',
    'localhost..',
    'LOCALHOST',
    'LocalHost',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'ｌｏｃａｌｈｏｓｔ',
    'loc\u00adalhost',
    'api.localhost',
    'api.localhost.',
    '127.0.0.1.',
    '127.0.0.1..',
    '127.1..',
    '0x7f.1..',
    '2130706433...',
    '①②⑦.1..',
    '%30x7f.1..',
    '0..',
    '.',
    '..',
    'good@127.0.0.1',
    'good.example@127.0.0.1',
    'user:word@public.example',
    'user@public.example',
    ':word@public.example',
    'public.example@localhost',
    'public.example%2F@127.0.0.1',
    'public.example\\@127.0.0.1',
  ],
}

/** Hosts that are no URL at all. */
export const UNREADABLE_HOSTS: readonly string[] = [
  '[fe80::1%25lo]',
  '[fe80::1%lo]',
  '[::ffff:127.0.0.1',
  '127.0.0.256',
  '1.2.3.4.5',
  '0x7f.0x0.0x0.0x0.1',
  '256.256.256.256',
  '4294967296',
  '[::1]]',
  'a b',
  '127.0.0.1%00.example',
  '',
]

/** Names that look public, and the addresses to which they resolve. */
export const PRIVATE_NAMES: Readonly<Record<string, readonly string[]>> = {
  'loopback.example': ['127.0.0.1'],
  'loopback.example.': ['127.0.0.1'],
  'any.example': ['0.0.0.0'],
  'intranet.example': ['10.0.0.5'],
  'carrier.example': ['100.64.0.1'],
  'ipv6.example': ['::1'],
  'unspecified.example': ['::'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'sixtofour.example': ['2002:7f00:1::'],
  'unique-local.example': ['fd00:ec2::254'],
  'scoped.example': ['fe80::1%lo'],
  'public-and-private.example': ['93.184.216.34', '127.0.0.1'],
  'private-and-public.example': ['::1', '2606:4700:4700::1111'],
  'no-address.example': [],
  'metadata.google.internal': ['169.254.169.254'],
  metadata: ['169.254.169.254'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  '7f000001.nip.io': ['127.0.0.1'],
  'localtest.me': ['127.0.0.1', '::1'],
  'localhost.example': ['127.0.0.1'],
  'localhost.localdomain': ['127.0.0.1'],
  // a Cyrillic о makes another name, which is not trusted
  'l\u043ecalhost': ['127.0.0.1'],
}

/** A DNS resolver for the names of the table, and no others; `asked` has every name that was looked up. */
export function resolverOf(
  table: Readonly<Record<string, readonly string[]>>,
): LookupFunction & { readonly asked: string[] } {
  const asked: string[] = []
  const ascii = (name: string) => new URL(`https://${name.replace(/\.$/, '')}`).hostname
  const known = new Map(Object.entries(table).map(([name, addresses]) => [ascii(name), addresses]))
  const lookup: LookupFunction = (hostname, options, callback) => {
    asked.push(hostname)
    const answers = (known.get(hostname) ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
    if (options.all) callback(null, answers)
    else callback(null, answers[0]?.address ?? '', answers[0]?.family)
  }
  return Object.assign(lookup, { asked })
}
