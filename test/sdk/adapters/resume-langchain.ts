import { text } from 'node:stream/consumers'
import { Command } from '@langchain/langgraph'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { TOOLS } from './agent-world.ts'
import { buildGraph, StoredSaver } from './langchain-graph.ts'

// Resumes a graph that another process stored at an interrupt. Its argument is the user, its standard input the
// checkpoints.
const [user = ''] = process.argv.slice(2)
const checkpointer = StoredSaver.fromText(await text(process.stdin))
const graph = await buildGraph(new Gatepass(), { user, tools: TOOLS }, checkpointer)
const { messages } = await graph.invoke(new Command({ resume: true }), { configurable: { thread_id: user } })
process.stdout.write(messages.at(-1)?.text ?? '')
