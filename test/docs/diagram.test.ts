import { expect, test } from 'vitest'
import { diagram } from '../../build/docs/diagram/diagram.ts'

test('a sequence has its participants in order, and every arrow between them', () => {
  const drawn = diagram(
    'sequenceDiagram\n  actor A as Ada\n  participant B\n  A->>B: ask <it>\n  B-->>A: answer\n  Note over A,B: done',
  )
  expect(drawn).toContain('aria-label="Sequence. Ada to B: ask &lt;it&gt;. B to Ada: answer. Note: done."')
  expect(drawn.match(/class="line/g)).toHaveLength(2)
  const [ada = 0, b = 0] = [...drawn.matchAll(/class="life" d="M(\d+)/g)].map(([, x]) => Number(x))
  expect(ada).toBeLessThan(b)
})

test('a flowchart puts a box right of every box that leads to it', () => {
  const drawn = diagram('flowchart LR\n  A[First] --> B[Second]\n  B --> C[(Third)]\n  A --> C')
  expect(drawn).toContain('aria-label="Flowchart. First to Second. Second to Third. First to Third."')
  const x = [...drawn.matchAll(/<rect class="(?:box|store)" x="(\d+)/g)].map(([, at]) => Number(at))
  expect(x).toEqual([...x].sort((a, b) => a - b))
  expect(x).toHaveLength(3)
})

test.each([
  'pie\n  "a": 1',
  'sequenceDiagram\n  A->>B: not declared',
  'sequenceDiagram\n  participant A\n  loop forever',
  'flowchart LR\n  A --- B',
])('what is not drawn stops the build: %j', (source) => {
  expect(() => diagram(source)).toThrow(/not drawn|not declared/)
})
