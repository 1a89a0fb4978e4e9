import { expect, it } from 'vitest'
import { type Handlers, type Port, serveCalls } from '../../../viewer/src/engine/serve.js'
import type { Answer, Request } from '../../../viewer/src/engine/wire.js'

/** A port whose other end is the test. */
function openPort(handlers: Handlers, atOnce: number) {
  const answers: Answer[] = []
  let listener: (event: { readonly data: Request }) => void = () => {}
  const port: Port = {
    postMessage: (answer) => answers.push(answer),
    addEventListener: (_, added) => {
      listener = added
    },
  }
  serveCalls(port, handlers, atOnce)
  return { answers, send: (data: Request) => listener({ data }) }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve))

it('serves views first, and of equals the newest', async () => {
  const order: string[] = []
  const { send, answers } = openPort({ do: async (ask: string) => order.push(ask) }, 1)
  send({ id: 1, name: 'do', ask: 'running', priority: 0 })
  send({ id: 2, name: 'do', ask: 'background', priority: 0 })
  send({ id: 3, name: 'do', ask: 'older view', priority: 2 })
  send({ id: 4, name: 'do', ask: 'question', priority: 1 })
  send({ id: 5, name: 'do', ask: 'newer view', priority: 2 })
  await settled()
  expect(order).toEqual(['running', 'newer view', 'older view', 'question', 'background'])
  expect(answers).toHaveLength(5)
})

it('cancels what waits and what runs', async () => {
  const handlers: Handlers = {
    wait: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  }
  const { send, answers } = openPort(handlers, 1)
  send({ id: 1, name: 'wait', ask: null, priority: 1 })
  send({ id: 2, name: 'wait', ask: null, priority: 1 })
  send({ id: 2, abort: true })
  send({ id: 1, abort: true })
  await settled()
  expect(answers).toEqual([
    { id: 2, failure: { message: 'cancelled', isAborted: true } },
    { id: 1, failure: { message: 'stopped', isAborted: true } },
  ])
})

it('answers a failure, with the finding where there is one, and goes on', async () => {
  const { TareError } = await import('tare')
  const finding = { code: 'io/failed', severity: 'error', message: 'no', file: 'a', offset: 3 } as const
  const handlers: Handlers = {
    fail: () => {
      throw new TareError(finding)
    },
    ok: (_, { progress }) => {
      progress({ done: 1, total: 2 })
      return 7
    },
  }
  const { send, answers } = openPort(handlers, 2)
  send({ id: 1, name: 'fail', ask: null, priority: 1 })
  send({ id: 2, name: 'toString', ask: null, priority: 1 })
  send({ id: 3, name: 'ok', ask: null, priority: 1 })
  await settled()
  expect(answers).toContainEqual({ id: 1, failure: { message: 'a @ 0x3: no', finding, isAborted: false } })
  expect(answers).toContainEqual({ id: 2, failure: { message: 'no worker answers "toString"', isAborted: false } })
  expect(answers.filter(({ id }) => id === 3)).toEqual([
    { id: 3, progress: { done: 1, total: 2 } },
    { id: 3, answer: 7 },
  ])
})

it('lets what is in view go first where something long asks for its turn', async () => {
  const order: string[] = []
  const handlers: Handlers = {
    async long(_, { turn }) {
      for (const step of ['one', 'two', 'three']) {
        order.push(step)
        await settled()
        await turn()
      }
    },
    async view(ask: string) {
      await settled()
      order.push(ask)
    },
  }
  const { send, answers } = openPort(handlers, 1)
  send({ id: 1, name: 'long', ask: null, priority: 0 })
  send({ id: 2, name: 'view', ask: 'a view', priority: 2 })
  send({ id: 3, name: 'view', ask: 'another', priority: 2 })
  while (answers.length < 3) await settled()
  expect(order).toEqual(['one', 'another', 'a view', 'two', 'three'])
})

it('ends what waits for its turn when it is cancelled', async () => {
  let end = () => {}
  const handlers: Handlers = {
    async long(_, { turn, signal }) {
      await settled()
      await turn()
      signal.throwIfAborted()
    },
    view: () =>
      new Promise<void>((resolve) => {
        end = resolve
      }),
  }
  const { send, answers } = openPort(handlers, 1)
  send({ id: 1, name: 'long', ask: null, priority: 0 })
  send({ id: 2, name: 'view', ask: null, priority: 2 })
  await settled()
  await settled()
  send({ id: 1, abort: true })
  await settled()
  expect(answers).toMatchObject([{ id: 1, failure: { isAborted: true } }])
  end()
  await settled()
  expect(answers).toHaveLength(2)
})
