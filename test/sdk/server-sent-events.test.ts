import { expect, test } from 'vitest'
import { readEvents, type ServerSentEvent } from '../../src/sdk/client/server-sent-events.ts'

/** A body in pieces that end at these places. */
function bodyOf(bytes: Uint8Array, ends: readonly number[]): ReadableStream<Uint8Array> {
  const pieces = [0, ...ends].map((start, i) => bytes.slice(start, ends[i] ?? bytes.length))
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
  })
}

async function read(text: string, ends: (length: number) => readonly number[] = () => []) {
  const bytes = new TextEncoder().encode(text)
  const events: ServerSentEvent[] = []
  for await (const event of readEvents(bodyOf(bytes, ends(bytes.length)))) events.push(event)
  return events
}

test.each<[string, string, readonly ServerSentEvent[]]>([
  ['an event with a name', 'event: status\ndata: {"a":1}\n\n', [{ event: 'status', data: '{"a":1}' }]],
  ['an event without a name', 'data: x\n\n', [{ event: 'message', data: 'x' }]],
  [
    'several lines of data',
    'data: one\ndata:two\ndata:  three\ndata\n\n',
    [{ event: 'message', data: 'one\ntwo\n three\n' }],
  ],
  ['comments between', ': hello\n\ndata: x\n: still there\n\n:\n\n', [{ event: 'message', data: 'x' }]],
  [
    'CRLF',
    'event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n',
    [
      { event: 'a', data: 'x' },
      { event: 'message', data: 'y' },
    ],
  ],
  [
    'CR',
    'data: x\r\rdata: y\r\r',
    [
      { event: 'message', data: 'x' },
      { event: 'message', data: 'y' },
    ],
  ],
  [
    'all line ends mixed',
    'data: x\r\n\ndata: y\r\r\ndata: z\n\r',
    [
      { event: 'message', data: 'x' },
      { event: 'message', data: 'y' },
      { event: 'message', data: 'z' },
    ],
  ],
  ['a byte order mark', '\uFEFFdata: x\n\n', [{ event: 'message', data: 'x' }]],
  ['members of no use here', 'id: 1\nretry: 5\nother: y\ndata: x\n\n', [{ event: 'message', data: 'x' }]],
  ['a name without data', 'event: a\n\ndata: x\n\n', [{ event: 'message', data: 'x' }]],
  ['an event that the end cut off', 'data: x\n\ndata: y\n', [{ event: 'message', data: 'x' }]],
  ['letters of several bytes', 'data: ä€😀\n\n', [{ event: 'message', data: 'ä€😀' }]],
  ['nothing', '', []],
])('reads %s, wherever the chunks end', async (_, text, events) => {
  expect(await read(text)).toEqual(events)
  expect(await read(text, (length) => Array.from({ length }, (_, i) => i))).toEqual(events)
  for (let end = 1; end < new TextEncoder().encode(text).length; end++)
    expect(await read(text, () => [end])).toEqual(events)
})

test('hands out an event before the next chunk is there, and cancels the body when the reader leaves', async () => {
  let isCancelled = false
  const bytes = new TextEncoder().encode('data: x\r\n\r\n')
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes),
    cancel() {
      isCancelled = true
    },
  })
  for await (const { data } of readEvents(body)) {
    expect(data).toBe('x')
    break
  }
  expect(isCancelled).toBe(true)
})
