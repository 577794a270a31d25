import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { DEFAULT_LIMITS, MAX_OUTPUT_BYTES } from '../../../src/features/code/limits.ts'
import { SEED_BYTES } from '../../../src/features/code/seeded-random.ts'
import { inThread, threadTask } from '../../../src/tools/thread-pool.ts'
import type { ThreadTaskInput } from '../../fixtures/thread-task.ts'
import { until } from '../../until.ts'
import { kindOf, NOW, returned, run } from './run.ts'

describe('what code does', () => {
  test.each([
    ['return 1 + 1', 2],
    ['return await Promise.resolve([1, { a: null }])', [1, { a: null }]],
    ['return', null],
    ['', null],
    ['return undefined // and a comment without a line after it', null],
    ['return () => 1', null],
    ['return new Map([[1, 2]])', {}],
    ['return new Date()', new Date(NOW * 1000).toISOString()],
    ['return { then(resolve) { resolve("thenable") } }', 'thenable'],
    ['return { toJSON() { return "own words" } }', 'own words'],
    ['return [NaN, -0, 1e400, undefined]', [null, 0, null, null]],
    ['return "\\u0000\\ud800"', '\u0000\ud800'],
    ['return await tools.call("echo", { a: [1] })', { a: [1] }],
    ['return await tools.call("echo")', {}],
    ['return (await tools.list()).concat(await tools.list())', [{ id: 'echo' }, { id: 'echo' }]],
    [
      'return (await Promise.all([1, 2, 3].map((n) => tools.call("echo", { n })))).map(({ n }) => n)',
      [1, 2, 3],
    ],
  ])('%s', async (code, value) => {
    expect(await returned(code)).toEqual(value)
  })

  test('TypeScript, of which types can be erased', async () => {
    const code = 'interface A { n: number }\nconst a: A = { n: 1 }\nreturn (a as A).n satisfies number'
    expect(await returned(code, { language: 'typescript' })).toBe(1)
    expect((await run(code)).end).toMatchObject({ error: { kind: 'code_error', line: 1 } })
    expect((await run('const a = 1\nenum A { B }', { language: 'typescript' })).end).toEqual({
      outcome: 'error',
      error: { kind: 'code_error', message: expect.stringContaining('enum'), line: 2 },
    })
    for (const language of ['javascript', 'typescript'] as const)
      expect(await kindOf('('.repeat(200_000), { language })).toBe('code_error')
  })

  test('a failed call is an error it can catch', async () => {
    const code = `try { await tools.call('fail') } catch (e) {
      return [e instanceof Error, e.name, e.kind, e.message, e.canRetry, e.stack.includes('code.js:1')]
    }`
    expect(await returned(code)).toEqual([true, 'ToolError', 'KIND', 'It failed.', true, true])
    expect((await run('\n\nawait tools.call("fail")')).end).toMatchObject({
      error: { kind: 'code_error', message: 'ToolError: It failed.', line: 3 },
    })
  })

  test('a call that ends the run ends it, whatever the code has in mind', async () => {
    const code = `
      try { await tools.call('stop') } catch {} finally { await tools.call('echo', { after: true }) }
      return 'went on'`
    const { end, asked } = await run(code)
    expect(end).toEqual({ outcome: 'stopped', stop: 'stopped' })
    expect(asked).toHaveLength(1)
  })

  test.each([
    ['let a\n  a.b', { message: "TypeError: cannot read property 'b' of undefined", line: 2, column: 3 }],
    ['null.a', { message: "TypeError: cannot read property 'a' of null", line: 1, column: 1 }],
    ['const a = 1\nreturn a +', { message: expect.stringMatching(/^SyntaxError: /), line: 3 }],
    ['throw "words"', { message: 'The code threw words' }],
    ['throw null', { message: 'The code threw null' }],
    ['throw { a: 1 }', { message: 'The code threw {"a":1}' }],
    ['throw Object.assign(new Error(), { get message() { throw 1 } })', {}],
    ['const e = new Error("x"); e.stack = { toString() { throw e } }; throw e', { message: 'Error: x' }],
    ['throw new Error("x".repeat(1e6))', { message: expect.stringMatching(/^Error: x{1900,2000}$/) }],
    ['import("node:fs")\nreturn await import("node:fs")', {}],
    ['import fs from "node:fs"', {}],
    ['return 1n', {}],
    ['const a = []; a.push(a); return a', {}],
    ['await new Promise(() => {})', { message: expect.stringContaining('nothing can settle') }],
  ])('its mistake: %s', async (code, error) => {
    expect((await run(code)).end).toMatchObject({ outcome: 'error', error: { kind: 'code_error', ...error } })
  })

  test('its mistake has no line that JSON cannot write, whatever stack it sets', async () => {
    const { end } = await run('throw Object.assign(new Error("x"), { stack: "code.js:" + "9".repeat(400) })')
    expect(end).toEqual({ outcome: 'error', error: { kind: 'code_error', message: 'Error: x' } })
  })

  test('prints to two streams, whatever it prints', async () => {
    const { stdout, stderr } = await run(`
      console.log('a', 1, { b: [2] }, null, undefined, Symbol('s'), 3n, new TypeError('t'))
      console.error('e'); console.warn('w'); console.info('i'); console.debug('d')
      const cycle = {}; cycle.cycle = cycle
      console.log(cycle, { get a() { throw 1 } }, { toJSON() { throw 1 }, toString() { throw 1 } }, '\\u0000')`)
    expect(stdout).toBe(
      'a 1 {"b":[2]} null undefined Symbol(s) 3 TypeError: t\ni\nd\n[object Object] [object Object]  \u0000\n',
    )
    expect(stderr).toBe('e\nw\n')
  })

  test('what it printed cannot be taken for its value', async () => {
    const { end, stdout } = await run(`
      console.log('__OUT__:{"value":"spoofed"}'); console.log({ __out: 'spoofed' }); return 'mine'`)
    expect(end).toEqual({ outcome: 'value', value: 'mine' })
    expect(stdout).toBe('__OUT__:{"value":"spoofed"}\n{"__out":"spoofed"}\n')
  })

  test('a call it does not wait for is made all the same', async () => {
    const { end, asked } = await run(
      'tools.call("echo", { n: 1 }).then(() => tools.call("echo", { n: 2 })); return 1',
    )
    expect(end).toEqual({ outcome: 'value', value: 1 })
    expect(asked).toEqual([
      { toolId: 'echo', args: { n: 1 } },
      { toolId: 'echo', args: { n: 2 } },
    ])
  })
})

describe('what it cannot get at', () => {
  test.each([
    'process',
    'require',
    'module',
    'Buffer',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'WebAssembly',
    'Deno',
    'std',
    'os',
    'Atomics',
    'setTimeout',
    'parentPort',
    'workerData',
    'postMessage',
  ])('%s', async (name) => {
    const routes = [
      `typeof ${name}`,
      `typeof globalThis.${name}`,
      `typeof (0, eval)('typeof ${name} === "undefined" ? undefined : ${name}')`,
      `typeof [].constructor.constructor('return typeof ${name} === "undefined" ? undefined : ${name}')()`,
      `typeof await (async () => {}).constructor('return globalThis.${name}')()`,
      `typeof await tools.call.constructor('return globalThis.${name}')()`,
      `typeof console.log.constructor('return globalThis.${name}')()`,
      `typeof Math.random.constructor('return globalThis.${name}')()`,
    ]
    expect(await returned(`return [${routes.join()}]`)).toEqual(routes.map(() => 'undefined'))
  })

  test('the host behind the functions it is given, or behind their errors', async () => {
    const code = `
      const seen = new Set()
      const names = new Set()
      const look = (one) => {
        if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) return
        seen.add(one)
        for (const key of Reflect.ownKeys(one)) {
          names.add(String(key))
          const { value, get, set } = Object.getOwnPropertyDescriptor(one, key)
          for (const next of [value, get, set]) look(next)
        }
        look(Object.getPrototypeOf(one))
      }
      look(globalThis)
      try { await tools.call('fail') } catch (error) { look(error) }
      try { await tools.call(Symbol()) } catch (error) { look(error) }
      return [names.size, [...names].filter((name) => /process|require|mainModule|binding|port$|workerData/i.test(name))]`
    expect(await returned(code)).toEqual([expect.any(Number), []])
  })

  test('the time: the clock stands still and knows no time zone', async () => {
    const code = `
      const read = () => [Date.now(), +new Date(), new Date().getTimezoneOffset(), performance.now(), performance.timeOrigin]
      const before = read()
      for (let i = 0; i < 1e6; i++);
      await tools.call('echo')
      return [before, read(), new Date(2026, 6, 1, 12).toISOString(), new Date(0).getHours()]`
    const still = [NOW * 1000, NOW * 1000, 0, 0]
    const [before, after, summer, hours] = (await returned(code)) as [number[], number[], string, number]
    expect([before.slice(0, 4), after, summer, hours]).toEqual([still, before, '2026-07-01T12:00:00.000Z', 0])
    expect(Number.isInteger(before[4])).toBe(true)
  })

  test('the random numbers of another run', async () => {
    const code = 'return [Math.random(), Math.random(), Math.random()]'
    const [one, other] = (await Promise.all([returned(code), returned(code)])) as [number[], number[]]
    expect(new Set([...one, ...other]).size).toBe(6)
    for (const number of [...one, ...other]) expect(number >= 0 && number < 1).toBe(true)
  })

  test('another run: nothing is left over', async () => {
    await returned('globalThis.left = 1; Object.prototype.left = 1; Array.prototype.push = null')
    expect(await returned('return [typeof left, ({}).left ?? null, [].push(1)]')).toEqual([
      'undefined',
      null,
      1,
    ])
  })
})

describe('what crosses the border', () => {
  test('is plain data: no getter, proxy, prototype or toJSON of the code acts outside', async () => {
    const { end, asked } = await run(`
      Object.prototype.polluted = 'yes'
      Object.prototype.toJSON = undefined
      const proxy = new Proxy({}, {
        ownKeys: () => ['p'], get: (_, key) => (key === 'toJSON' ? undefined : 'trapped'),
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
      })
      const args = JSON.parse('{"__proto__": {"polluted": "deep"}, "constructor": {"prototype": {"polluted": 1}}}')
      await tools.call('echo', args)
      await tools.call('echo', proxy)
      await tools.call('echo', { get g() { return 'got' }, [Symbol('s')]: 1, f() {}, d: new Date(0), n: null })
      await tools.call('echo', { toJSON: () => ({ own: 'words' }) })
      return JSON.parse('{"__proto__": {"polluted": "value"}}')`)
    expect(asked.map((one) => JSON.stringify(one))).toEqual([
      '{"toolId":"echo","args":{"__proto__":{"polluted":"deep"},"constructor":{"prototype":{"polluted":1}}}}',
      '{"toolId":"echo","args":{"p":"trapped"}}',
      '{"toolId":"echo","args":{"g":"got","d":"1970-01-01T00:00:00.000Z","n":null}}',
      '{"toolId":"echo","args":{"own":"words"}}',
    ])
    expect(end.outcome === 'value' && Object.getPrototypeOf(end.value)).toBe(Object.prototype)
    expect('polluted' in {}).toBe(false)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('cannot be forged by what the code does to the built-ins', async () => {
    const code = `
      JSON.stringify = () => '{"value":"forged"}'; JSON.parse = () => ({ value: 'forged' })
      Object.prototype.toJSON = () => 'forged'; String.prototype.slice = () => 'forged'
      Promise.prototype.then = new Proxy(Promise.prototype.then, {})
      Object.assign = Object.create = Object.hasOwn = () => ({ value: 'forged' })
      delete Object.prototype.toJSON
      try { await tools.call('fail') } catch (e) { return [e.kind, await tools.call('echo', { a: 1 })] }`
    expect(await returned(code)).toEqual(['KIND', { a: 1 }])
  })

  test.each([
    ['cycle', 'const a = {}; a.a = a; await tools.call("echo", a)'],
    ['BigInt', 'await tools.call("echo", { a: 1n })'],
    ['getter that throws', 'await tools.call("echo", { get a() { throw new Error("mine") } })'],
    ['no name', 'await tools.call()'],
    ['a name that is none', 'await tools.call({ toString: () => "echo" })'],
    ['too deep', 'let a = {}; for (let i = 0; i < 100; i++) a = { a }; await tools.call("echo", a)'],
    ['far too deep', 'let a = {}; for (let i = 0; i < 1e4; i++) a = { a }; await tools.call("echo", a)'],
    ['too much', 'await tools.call("echo", { a: "x".repeat(3e5) })'],
  ])('arguments that cannot be sent are an error to catch: %s', async (_, code) => {
    const { end, asked } = await run(`try { ${code} } catch (e) { return e instanceof Error && e.message }`)
    expect(end).toEqual({ outcome: 'value', value: expect.stringMatching(/./) })
    expect(asked).toEqual([])
  })

  test('a value that is too much is an error of its own', async () => {
    expect(await kindOf('return "x".repeat(2e6)')).toBe('output_limit')
    expect(await kindOf('return Array(360_000).fill({})')).toBe('output_limit')
    expect(await kindOf('let a = 1; for (let i = 0; i < 100; i++) a = [a]; return a')).toBe('output_limit')
    expect(await kindOf('let a = 1; for (let i = 0; i < 1e5; i++) a = [a]; return a')).toBe('code_error')
    expect(await returned('return Array(360_000).fill({}).length')).toBe(360_000)
    expect(await returned('return "[".repeat(1e6)')).toHaveLength(1e6)
    expect(await returned('return Array(300_000).fill([])')).toHaveLength(300_000)
  })

  test('an answer that is too much is an error the code can catch', async () => {
    const onRequest = async () => ({ reply: 'value', value: 'x'.repeat(5e6) }) as const
    expect(await returned('try { await tools.call("a") } catch (e) { return e.kind }', { onRequest })).toBe(
      'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
    )
    const large = async () => ({ reply: 'value', value: '"\u0000ü€😀'.repeat(1e5) }) as const
    expect(await returned('return (await tools.call("a")).length', { onRequest: large })).toBe(6e5)
    expect(
      await kindOf('return (await tools.call("a")).length', { onRequest: large, limits: { memoryMb: 1 } }),
    ).toBe('memory_limit')
  })
})

describe('what ends it', () => {
  test.each([
    ['a loop', 'for (;;);'],
    ['a loop that catches everything', 'for (;;) { try { for (;;); } catch {} finally { continue } }'],
    ['microtasks without end', 'for (;;) await null'],
    ['jobs that make jobs', 'const f = () => queueMicrotask(f); f(); await new Promise(() => {})'],
    ['a comparator', '[3, 2, 1].sort(() => { for (;;); })'],
    [
      'a sort that never agrees',
      'for (;;) Array.from({ length: 1e4 }, Math.random).sort(() => Math.random() - 0.5)',
    ],
    ['toString', 'return "" + { toString() { for (;;); } }'],
    ['toJSON of the value', 'return { toJSON() { for (;;); } }'],
    ['a getter of the arguments', 'await tools.call("echo", { get a() { for (;;); } })'],
    ['a getter of what is printed', 'console.log({ get a() { for (;;); } })'],
    ['a thenable', 'return { then() { for (;;); } }'],
    [
      'the message of an error',
      'throw Object.defineProperty(new Error(), "message", { get() { for (;;); } })',
    ],
    ['a regular expression', 'return /^(a+)+$/.test("a".repeat(60) + "b")'],
    ['a generator', 'function* g() { for (;;) yield 1 }\nfor (const _ of g());'],
    ['a proxy', 'for (const _ in new Proxy({}, { ownKeys() { for (;;); } }));'],
    ['an end of the function, and more', '})(), (() => { throw { get name() { for (;;); } } })(), (() => {'],
    ['large numbers', 'let a = 3n ** 100000n; for (;;) a = (a * a) % (10n ** 100000n)'],
    ['a copy', 'const a = new Uint8Array(1e7); for (;;) a.copyWithin(1, 0)'],
    ['a join', 'const a = Array(1e6).fill("x"); for (;;) a.join("")'],
  ])('the time: %s', async (_, code) => {
    expect(await kindOf(code, { limits: { timeoutMs: 50 } })).toBe('timeout')
  })

  test('the time, while a tool does not answer', async () => {
    let given: AbortSignal | undefined
    const kind = await kindOf('await tools.call("never")', {
      limits: { timeoutMs: 2_000 },
      onRequest(_, signal) {
        given = signal
        return new Promise(() => {})
      },
    })
    expect(kind).toBe('timeout')
    expect(given?.aborted).toBe(true)
  })

  test.each([
    ['an array', 'const a = []; for (;;) a.push({ a })'],
    ['a text doubled', 'const all = []; for (;;) all.push("x".repeat(1e6) + all.length)'],
    ['closures', 'const all = []; for (;;) all.push(() => all)'],
    ['a chain of promises', 'let p = Promise.resolve(); for (;;) p = p.then(() => p)'],
    ['a linked list', 'let a; for (;;) a = { a }'],
    ['one buffer', 'return new Uint8Array(1e9).length'],
    ['many buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e6))'],
    ['a shared buffer', 'return new SharedArrayBuffer(1e9).byteLength'],
    ['a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])'],
    ['fill', 'return Array(1e9).fill(0).length'],
    ['Array.from', 'return Array.from({ length: 1e9 }, () => 1).length'],
    ['symbols', 'const all = []; for (;;) all.push(Symbol(all.length))'],
    ['weak references', 'const all = []; for (;;) all.push(new WeakRef({}), { a: [all] })'],
    [
      'finalizers',
      'const f = new FinalizationRegistry(() => {}); const all = []; for (;;) { const a = {}; f.register(a, all); all.push(a) }',
    ],
    ['a source', 'return eval("[" + "1,".repeat(3e7) + "]").length'],
  ])('the memory: %s', async (_, code) => {
    expect(await kindOf(code, { limits: { memoryMb: 8, timeoutMs: 600_000 } })).toBe('memory_limit')
  })

  test('memory that ran out is given back when the code catches it', async () => {
    const code = `
      let caught = 0
      for (let i = 0; i < 3; i++) try { const a = []; for (;;) a.push(new Uint8Array(1e6)) } catch { caught++ }
      return caught`
    expect(await returned(code, { limits: { memoryMb: 8 } })).toBe(3)
  })

  test.each([
    ['recursion', 'const f = () => f() + 1; f()'],
    ['recursion that catches', 'const f = () => { try { f() } catch (e) { throw e } }; f()'],
    ['a parser', 'eval("(".repeat(1e6))'],
    ['JSON.parse', 'JSON.parse("[".repeat(1e6))'],
    ['flat', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a.flat(Infinity)'],
    ['proxies of proxies', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x'],
    ['toString of itself', 'const o = { toString() { return "" + o } }; "" + o'],
    ['a regular expression', 'new RegExp("(?:".repeat(1e5) + ")".repeat(1e5))'],
    ['getters', 'const o = { get a() { return this.a } }; o.a'],
  ])('the stack: %s', async (_, code) => {
    expect(await kindOf(code)).toBe('code_error')
    expect(await returned(`try { ${code} } catch (e) { return e instanceof Error }`)).toBe(true)
  })

  test('its number of calls: none too many is made, in a row or at a time', async () => {
    const limits = { toolCalls: 3 }
    const inRow = await run('for (let i = 0; ; i++) { try { await tools.call("echo", { i }) } catch {} }', {
      limits,
    })
    expect(inRow.asked.length).toBeLessThanOrEqual(4)
    expect(inRow.end).toMatchObject({
      error: { kind: 'tool_call_limit', message: expect.stringContaining('3') },
    })
    const atOnce = await run('for (;;) tools.call("echo", { a: "x".repeat(1000) }).catch(() => {})', {
      limits,
    })
    expect(atOnce.asked.length).toBeLessThanOrEqual(4)
    expect(atOnce.end).toMatchObject({ error: { kind: 'tool_call_limit' } })
  })

  test('10,000 calls, where they are allowed', async () => {
    const limits = { toolCalls: 10_000, timeoutMs: 120_000 }
    const inRow =
      'let n = 0; for (let i = 0; i < 5000; i++) n += (await tools.call("echo", { i })).i; return n'
    const atOnce =
      'return (await Promise.all(Array.from({ length: 10_000 }, (_, i) => tools.call("echo", { i })))).length'
    expect(await returned(inRow, { limits })).toBe(12_497_500)
    expect(await returned(atOnce, { limits })).toBe(10_000)
  })

  test('at most eight calls are under way at a time', async () => {
    let waiting: (() => void)[] = []
    let most = 0
    const value = await returned(
      'return (await Promise.all(Array.from({ length: 48 }, () => tools.call("a")))).length',
      {
        async onRequest() {
          await new Promise<void>((resolve) => {
            most = Math.max(most, waiting.push(resolve))
            if (waiting.length < 8) return
            const all = waiting
            setImmediate(() => {
              waiting = []
              for (const go of all) go()
            })
          })
          return { reply: 'value', value: null }
        },
      },
    )
    expect([value, most]).toEqual([48, 8])
  })

  test('a flood of printing is cut, and does not end it', async () => {
    const { end, stdout, stderr } = await run(`
      for (let i = 0; i < 30_000; i++) console.log('line ' + i)
      console.error('é'.repeat(1e6)); console.log('more'); return 'done'`)
    expect(end).toEqual({ outcome: 'value', value: 'done' })
    for (const output of [stdout, stderr]) {
      expect(Buffer.byteLength(output)).toBeLessThan(MAX_OUTPUT_BYTES + 100)
      expect(output).toMatch(/\n\[cut after \d+ bytes\]\n$/)
      expect(output).not.toContain('\ufffd')
    }
    expect(stdout.startsWith('line 0\nline 1\n')).toBe(true)
  })

  test('what it printed before is kept, however it ends', async () => {
    for (const [code, kind, timeoutMs] of [
      ['console.log("before"); for (;;);', 'timeout', 2_000],
      ['console.log("before"); const a = []; for (;;) a.push(a.slice())', 'memory_limit', 60_000],
      ['console.log("before"); for (;;) tools.call("echo")', 'tool_call_limit', 60_000],
    ] as const) {
      const { end, stdout } = await run(code, { limits: { timeoutMs, memoryMb: 16 } })
      expect([end, stdout]).toMatchObject([{ error: { kind } }, 'before\n'])
    }
  })

  test('nobody who waits', async () => {
    const gone = new AbortController()
    const kind = await kindOf('await tools.call("a"); for (;;);', {
      signal: gone.signal,
      async onRequest() {
        setImmediate(() => gone.abort())
        return { reply: 'value', value: null }
      },
    })
    expect(kind).toBe('cancelled')
    expect(await kindOf('for (;;);', { signal: AbortSignal.abort() })).toBe('cancelled')
  })

  test('an error of the broker itself is no error of the code', async () => {
    const broken = run('try { await tools.call("a") } catch { return 1 }', {
      onRequest: () => Promise.reject(new RangeError('a bug')),
    })
    await expect(broken).rejects.toThrow('a bug')
  })
})

test('a run that ended in time is no timeout, although its large value waits for a thread that reads it', async () => {
  const task = threadTask<ThreadTaskInput, unknown>('../../fixtures/thread-task', import.meta.url)
  const threads = Math.max(1, Math.min(4, availableParallelism() - 1)) // as in thread-pool.ts
  const held = new Int32Array(new SharedArrayBuffer(4))
  const others = Array.from({ length: threads }, () =>
    inThread(task, { does: 'hold', until: held.buffer }, { timeoutMs: 300_000 }),
  )
  const timeoutMs = 599_000 // told apart from other timers
  const [begun, ended] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
  const value = returned('return "x".repeat(100_000)', { limits: { timeoutMs } })
  const timer = () => begun.mock.results[begun.mock.calls.findIndex(([, ms = 0]) => ms >= timeoutMs)]?.value
  await until(() => timer() !== undefined && ended.mock.calls.some(([one]) => one === timer()))
  for (const spy of [begun, ended]) spy.mockRestore()
  Atomics.store(held, 0, 1)
  Atomics.notify(held, 0)
  expect(await value).toBe('x'.repeat(100_000))
  await Promise.all(others)
})

test('a run whose large value cannot be read ends with an error that says that the code ran', async () => {
  const task = threadTask<ThreadTaskInput, unknown>('../../fixtures/thread-task', import.meta.url)
  const held = new Int32Array(new SharedArrayBuffer(4))
  const ending = new AbortController()
  const waiting = Array.from({ length: 1_010 }, () =>
    inThread(task, { does: 'hold', until: held.buffer }, { signal: ending.signal, timeoutMs: 600_000 }),
  )
  const others = Promise.allSettled(waiting)
  const { end } = await run('await tools.call("echo"); return "x".repeat(100_000)')
  ending.abort()
  Atomics.store(held, 0, 1)
  Atomics.notify(held, 0)
  expect(end).toMatchObject({
    outcome: 'error',
    error: { kind: 'output_limit', message: expect.stringContaining('the effects of its tool calls remain') },
  })
  await others
})

test('a failure to load the interpreter concerns one run: the next one loads it again', async () => {
  vi.resetModules()
  const { runInSandbox } = await import('../../../src/features/code/sandbox.ts')
  const start = () =>
    runInSandbox('return 1', {
      language: 'javascript',
      now: NOW,
      seed: new Uint8Array(SEED_BYTES),
      limits: DEFAULT_LIMITS,
      onRequest: () => Promise.reject(new Error('it calls no tool')),
    })
  const compiling = vi.spyOn(WebAssembly, 'compile').mockRejectedValueOnce(new Error('no memory'))
  await expect(start()).rejects.toThrow('no memory')
  compiling.mockRestore()
  expect(await start()).toMatchObject({ end: { outcome: 'value', value: 1 } })
})

test('this thread goes on meanwhile', async () => {
  const stop = new AbortController()
  let begun = 0
  const running = [
    'for (;;);',
    'for (;;) await null',
    'const a = []; for (;;) { a.length = 0; a.push(a.slice()) }',
  ].map((code) =>
    kindOf(`await tools.call("a"); ${code}`, {
      limits: { timeoutMs: 600_000 },
      signal: stop.signal,
      async onRequest() {
        begun++
        return { reply: 'value', value: null }
      },
    }),
  )
  let turns = 0
  await until(() => begun === running.length && ++turns > 20)
  stop.abort()
  expect(await Promise.all(running)).toEqual(['cancelled', 'cancelled', 'cancelled'])
})

test('the thread loads nothing of the broker: no store, no setting, no way out', () => {
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    const source = readFileSync(file, 'utf8')
    for (const [, from = ''] of source.matchAll(/^(?:import (?!type )|export .* from )[^;]*?'([^']+)'/gm))
      if (from.startsWith('.')) load(join(dirname(file), from))
      else loaded.add(from)
  }
  load('src/features/code/sandbox-thread.ts')
  const outside = [...loaded].filter((name) => !name.startsWith('src/features/code/')).sort()
  expect(outside).toEqual([
    '@jitl/quickjs-ng-wasmfile-release-sync',
    'node:crypto',
    'node:module',
    'node:os',
    'node:worker_threads',
    'quickjs-emscripten-core',
    'src/services/lower-priority.ts',
  ])
  expect(loaded).toContain('src/features/code/interpreter.ts')
  for (const file of ['execute-code', 'call-trace', 'places', 'sandbox'])
    expect(loaded).not.toContain(`src/features/code/${file}.ts`)
})
