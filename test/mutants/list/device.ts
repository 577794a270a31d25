import type { Mutation } from '../mutation.ts'

// The grant by a code that users enter at the provider (RFC 8628).

const POLL = 'src/flows/device/poll-devices.ts'
const STORE = 'src/store/device-polls.ts'
const CODE = 'src/providers/device-authorization.ts'
const TEST = 'flows/device.test.ts'

export const device: readonly Mutation[] = [
  {
    rows: ['78'],
    fault: 'another browser is shown the code and the account',
    file: 'src/flows/device/shown-device.ts',
    from: 'return browserId !== undefined && sha256(browserId) === attempt.browserHash',
    to: 'return sha256(browserId ?? "") !== ""',
    test: TEST,
    name: 'is shown no code and no account, and cannot answer',
  },
  {
    rows: ['78'],
    fault: 'the page of the code may be anywhere',
    file: CODE,
    from: 'if (!isVerificationHost(provider, new URL(address)))',
    to: 'if (address === "")',
    test: TEST,
    name: 'gives %s: the authorization fails, and nothing is shown',
  },
  {
    rows: ['78'],
    fault: 'the page of the code may be without TLS',
    file: CODE,
    from: 'verification_uri.length > 2_000 || endpointFault(address, allowsHttp) !== undefined',
    to: 'verification_uri.length > 2_000 || !URL.canParse(address)',
    test: TEST,
    name: 'gives %s: the authorization fails, and nothing is shown',
  },
  {
    rows: ['79'],
    fault: 'the answer of a page about an earlier account counts for another one',
    file: 'src/flows/device/confirm-account.ts',
    from: 'if (shown !== sha256(granted))',
    to: 'if (shown === "")',
    test: TEST,
    name: 'the answer of a page about an earlier account stores no other account',
  },
  {
    rows: ['79'],
    fault: 'another browser answers whose account it is',
    file: 'src/flows/device/confirm-account.ts',
    from: 'if (browserId === undefined || sha256(browserId) !== attempt.browserHash) {',
    to: 'if (browserId === "") {',
    test: TEST,
    name: 'is shown no code and no account, and cannot answer',
  },
  {
    rows: ['79'],
    fault: 'tokens of an account that is not the user’s stay alive',
    file: 'src/flows/device/confirm-account.ts',
    from: '  await revokeHeldGrant(broker, authorization)\n',
    to: '',
    test: TEST,
    name: 'says that the account is not theirs: nothing is stored, and the tokens are revoked',
  },
  {
    rows: ['79'],
    fault: 'an account that the provider did not name is offered to the user',
    file: POLL,
    from: "account.id === '' && account.name === '' && entry.provider.unnamedAccounts !== true",
    to: 'false as boolean',
    test: TEST,
    name: 'does not name the account: nothing is stored, unless the entry says that it need not',
  },
  {
    rows: [],
    fault: 'slow_down changes nothing',
    file: POLL,
    from: 'return pollSeconds + SLOW_DOWN_SECONDS',
    to: 'return pollSeconds',
    test: TEST,
    name: 'is asked every 5 seconds where it names no interval, and 5 seconds less often after each slow_down',
  },
  {
    rows: [],
    fault: 'an outage does not lengthen the interval',
    file: POLL,
    from: 'return pollSeconds * 2',
    to: 'return pollSeconds',
    test: TEST,
    name: 'is asked half as often after %s',
  },
  {
    rows: [],
    fault: 'two processes ask at a time',
    file: STORE,
    from: 'and(hasId(p), isPending, isDue(p.now), isUnleased(dialect, authorizations.leaseUntil, p.now))',
    to: 'and(hasId(p), isPending)',
    test: TEST,
    name: 'on %s ask once at a time, and one goes on after the other was killed',
  },
  {
    rows: [],
    fault: 'a code is asked for when the link is opened',
    file: 'src/http/connect/connect.ts',
    from: 'if (skipsPage && isStartable(authorization) && !(await isOfDevice(broker, authorization)))',
    to: 'if (skipsPage && isStartable(authorization))',
    test: TEST,
    name: 'is asked for at the click, although the connect page is passed',
  },
]
