// Asks the published dsh packages what they make of format 0 logs. One JSON line a log, in the order given.
// usage: node judge.mjs [--retain N] [--messages] [--closers] LOG... | -
//
// The logs are only read: each is copied into a folder of its own first, and dsh works on the copy.
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import BasicCompactionEngine from '@deepseek-ai/dsh-compaction-basic'
import { toolPairingBalancedAfter, toolPairingBalancedBefore } from '@deepseek-ai/dsh-compaction'
import * as compactionRules from '@deepseek-ai/dsh-compaction/invariant'
import InvariantRegistry from '@deepseek-ai/dsh-invariants'
import LlmRuntime from '@deepseek-ai/dsh-llm'
import SessionStore, { Session } from '@deepseek-ai/dsh-session'
import * as sessionRules from '@deepseek-ai/dsh-session/invariant'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'
import SessionProjectionRegistry from '@deepseek-ai/dsh-session-projection'
import TokenMeter from '@deepseek-ai/dsh-token-meter'
import { emit, headerLine, isZstd, messageOf, parseArguments } from './lib.mjs'

const { paths, given } = parseArguments(process.argv.slice(2), { switches: ['messages', 'closers'], options: ['retain'] })
const retain = given.retain === undefined ? undefined : Number(given.retain)
if (retain !== undefined && !(Number.isSafeInteger(retain) && retain >= 0)) throw new Error('--retain wants a whole number')

// One engine serves every log. It is told that pressure begins one token above the retained budget, so that any surface from
// which something could be taken is under pressure, and its compaction step is replaced by one that only notes the region.
const lab = new Context()
await lab.plugin(SessionStore)
await lab.plugin(LlmRuntime)
await lab.plugin(SessionProjectionRegistry)
await lab.plugin(TokenMeter)
await lab.plugin(BasicCompactionEngine, { auto: false, thresholdRatio: 0.5, retainTokens: retain ?? 0 })
const meter = lab.get('tokenMeter')
const projections = lab.get('sessionProjections')
const engine = lab.get('compaction')
lab.get('llm').resolveModelInfo = async () => ({ context: { contextWindow: 2 * ((retain ?? 0) + 1) } })
class RegionChosen extends Error {
  constructor(start, end) { super('region chosen'); this.region = { start, end } }
}
engine.compactRegion = async (start, end) => { throw new RegionChosen(start, end) }

for (const path of paths) await emit(await judge(path))
process.exit(0)

async function judge(path) {
  const verdict = { path, loads: false }
  const room = await mkdtemp(join(tmpdir(), 'dshc-judge-'))
  try {
    const bytes = await readFile(path)
    if (bytes.length === 0) throw new Error('the file is empty')
    const header = JSON.parse(headerLine(bytes).replace(/^\uFEFF/, ''))
    if (typeof header?.id !== 'string' || header.id === '') throw new Error('the header names no session id')
    const logs = { room, header, path, compression: isZstd(bytes) ? 'zstd' : 'none' }

    const { events: stored, resumed } = await withLog(logs, 'look', async (persistence, file) => {
      const inspection = await persistence.inspect(header.id)
      const { events } = await persistence.readFrom(header.id, 0)
      if (!(await readFile(file)).equals(bytes)) throw new Error('inspection changed the copy of the log')
      return { events, resumed: inspection.events }
    })
    verdict.loads = true
    verdict.stored = await view(header.id, stored)
    verdict.resumed = resumed.length === stored.length ? 'as stored' : await view(header.id, resumed)
    if (given.closers) verdict.closers = resumed.slice(stored.length)
    verdict.invariants = await invariants(header, resumed)
    verdict.opened = await withLog(logs, 'open', async (persistence, file) => {
      await persistence.load(header.id)
      const after = await readFile(file)
      return { bytes: after.length, keepsBytes: after.subarray(0, bytes.length).equals(bytes) }
    }).catch(error => ({ error: messageOf(error) }))
  } catch (error) {
    verdict.error = messageOf(error)
  } finally {
    await rm(room, { recursive: true, force: true })
  }
  return verdict
}

/** Lays a copy of the log where dsh looks for it, and lets `use` have the official persistence over it. */
async function withLog({ room, header, path, compression }, name, use) {
  const root = join(room, name)
  const folder = join(root, projectFolder(header.cwd), sessionFolder(header.id))
  const file = join(folder, compression === 'zstd' ? 'session.jsonl.zstd' : 'session.jsonl')
  await mkdir(folder, { recursive: true })
  await copyFile(path, file)
  const ctx = new Context()
  try {
    await ctx.plugin(SessionStore)
    await ctx.plugin(JsonlSessionPersistence, { root, compression })
    return await use(ctx.get('sessionPersistence'), file)
  } catch (error) {
    throw new Error(messageOf(error).replaceAll(root, '<root>'), { cause: error })
  } finally {
    await ctx.fiber.dispose()
  }
}

/** What dsh sees in a list of events. */
async function view(id, events) {
  const session = Session.create(id, structuredClone(events))
  const nodes = [...session.surface.nodes]
  const types = {}
  for (const { type } of events) types[type] = (types[type] ?? 0) + 1
  const seen = {
    events: events.length,
    types,
    surface: nodes,
    replaceGeneration: session.surface.replaceGeneration,
  }
  try {
    const measured = meter.measure(session)
    Object.assign(seen, { surfaceTokens: measured.surfaceTokens, totalTokens: measured.totalTokens, nodeTokens: measured.nodes.map(node => node.tokens) })
  } catch (error) {
    seen.meterError = messageOf(error)
  }
  try {
    seen.balancedBefore = nodes.map(seq => toolPairingBalancedBefore(session, seq))
    seen.balancedAfter = nodes.length === 0 || toolPairingBalancedAfter(session, nodes.at(-1))
  } catch (error) {
    seen.pairingError = messageOf(error)
  }
  seen.lock = lockOf(events)
  try {
    seen.estimate = projections.snapshot(session).values.contextBreakdown.messageTokens
  } catch (error) {
    seen.estimateError = messageOf(error)
  }
  if (retain !== undefined) Object.assign(seen, await regionOf(id, events))
  if (given.messages) seen.messages = session.deriveMessages()
  return seen
}

/** The region that dsh's own policy would take with `--retain`, or null; `rangeRefused` where it takes none at all. */
async function regionOf(id, events) {
  const session = Session.create(id, structuredClone(events))
  const route = { config: { provider: 'judge', model: 'judge' } }
  session.requestHeader = () => route // a log without a request has no route, but still a region
  try {
    await engine.compactIfNeeded({ session, options: {} }, 'pressure')
    return { range: null }
  } catch (error) {
    if (error instanceof RegionChosen) return { range: error.region }
    return { range: null, rangeRefused: messageOf(error) }
  }
}

/** The newest bracket decides: an open start is a lock, unless a seed boundary behind it shows that its owner is gone. */
function lockOf(events) {
  const last = test => events.findLastIndex(event => test(event.type))
  const bracket = last(type => type === 'compaction/start' || type === 'compaction/end')
  if (bracket === -1 || events[bracket].type === 'compaction/end') return { held: false }
  const startSeq = events[bracket].seq
  return last(type => type === 'session/end-seed') > bracket ? { held: false, stale: true, startSeq } : { held: true, startSeq }
}

/** `ok`, or the first relation between events that dsh's invariant companions find broken. */
async function invariants(header, events) {
  const ctx = new Context()
  try {
    await ctx.plugin(SessionStore)
    await ctx.plugin(InvariantRegistry)
    await ctx.plugin(sessionRules)
    await ctx.plugin(compactionRules)
    ctx.get('sessions').create(header.id, { seed: structuredClone(events), meta: header.cwd === undefined ? {} : { cwd: header.cwd } })
    return 'ok'
  } catch (error) {
    return messageOf(error)
  } finally {
    await ctx.fiber.dispose()
  }
}

// Where dsh keeps a log: UTF-16 units outside a small alphabet become ~XXXX; in a working directory, separators become dashes.
function escapeUnits(text) {
  const escape = unit => /[\w.-]/.test(unit) ? unit : `~${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
  return text.split('').map(escape).join('')
}
function sessionFolder(id) {
  return /^\.{1,2}$/.test(id) ? id.replaceAll('.', '~002E') : escapeUnits(id)
}
function projectFolder(cwd) {
  if (cwd === undefined) return '_no-cwd'
  const slug = String(cwd).split(/[\\/:]+/).map(escapeUnits).join('-').replace(/^-+/, '')
  return `--${(slug || 'root').slice(0, 251)}--`
}
