// Decodes logs with the frozen codec of their own format, strictly, and takes each through every later upgrade up to format 3.
// One JSON line a log, in the order given. It judges records only: a last line without LF passes, and frames need not be dsh's.
// usage: node strict/judge-strict.mjs LOG... | -
import { readFileSync } from 'node:fs'
import { RELEASED_V0_EVENT_TYPES, releasedV0SessionFormatCodec, releasedV1SessionFormatCodec, restoreReleasedV1Artifact, sessionFormatV0ToV1 } from '@deepseek-ai/dsh-session-format-v0-to-v1'
import { RELEASED_V2_EVENT_TYPES, releasedV2SessionFormatCodec, restoreReleasedV2Artifact, sessionFormatV1ToV2 } from '@deepseek-ai/dsh-session-format-v1-to-v2'
import { releasedV3SessionFormatCodec, restoreReleasedV3Artifact, sessionFormatV2ToV3 } from '@deepseek-ai/dsh-session-format-v2-to-v3'
import { emit, messageOf, parseArguments, wholeText } from '../lib.mjs'

// Format 3 renamed the nested tool events and grew some of its own; its package keeps no list of them.
const v3Types = new Set(RELEASED_V2_EVENT_TYPES)
for (const gone of ['tool/code-dispatch', 'tool/code-dispatch-start']) v3Types.delete(gone)
for (const grown of ['system/message', 'tool/ptc-dispatch', 'tool/ptc-dispatch-start', 'image/offload', 'subagent/catalog', 'workspace/changes',
  'deliverables/presented', 'feedback/message-put', 'feedback/message-delete']) v3Types.add(grown)

/** Per format: how its rows are read, what is checked over the whole log, and the step to the next format. */
const FORMATS = [
  { codec: releasedV0SessionFormatCodec, check: () => {}, edge: sessionFormatV0ToV1 },
  { codec: releasedV1SessionFormatCodec, check: log => restoreReleasedV1Artifact(log, new Set(RELEASED_V0_EVENT_TYPES)), edge: sessionFormatV1ToV2 },
  { codec: releasedV2SessionFormatCodec, check: log => restoreReleasedV2Artifact(log, new Set(RELEASED_V2_EVENT_TYPES)), edge: sessionFormatV2ToV3 },
  { codec: releasedV3SessionFormatCodec, check: log => restoreReleasedV3Artifact(log, v3Types) },
]
const LAST = FORMATS.length - 1

/** Collects what a codec or an upgrade hands over, single events and runs alike. */
function collector() {
  const events = []
  return { events, context: { emitEvent: event => { events.push(event) }, emitRun: run => { for (const event of run.expand()) events.push(event) } } }
}

function decode(version, rows) {
  const { events, context } = collector()
  const decoder = FORMATS[version].codec.createDecoder(rows[0], 'strict')
  rows.slice(1).forEach(row => decoder.decodeRow(row, context))
  const inheritedEventCount = decoder.finish(context)
  return { header: decoder.header, inheritedEventCount, events }
}

function step(version, log) {
  const { edge } = FORMATS[version]
  const { events, context } = collector()
  const header = edge.migrateHeader(log.header)
  edge.validateTargetHeader(header)
  const known = log.inheritedEventCount ?? (log.header.isSeeded ? undefined : 0)
  const stage = edge.createStage({ sourceHeader: log.header, targetHeader: header, sourceInheritedEventCount: known, sourceKind: 'decoded' })
  log.events.forEach(event => stage.transformEvent(event, context))
  return { header, inheritedEventCount: stage.finish(context), events }
}

function judge(path) {
  const verdict = { path }
  try {
    const rows = wholeText(readFileSync(path)).split('\n').filter(line => line !== '').map(line => JSON.parse(line))
    if (rows.length === 0) throw new Error('the log holds no line')
    verdict.version = rows[0]?.version
    if (FORMATS[verdict.version] === undefined) throw new Error(`no codec for format ${JSON.stringify(verdict.version)}`)
    let log = decode(verdict.version, rows)
    FORMATS[verdict.version].check(structuredClone(log))
    Object.assign(verdict, { ok: true, events: log.events.length, upgrades: {} })
    for (let version = verdict.version; version < LAST; version++) {
      const target = `v${version + 1}`
      try {
        log = step(version, log)
        FORMATS[version + 1].check(structuredClone(log))
        verdict.upgrades[target] = 'ok'
      } catch (error) {
        verdict.upgrades[target] = messageOf(error)
        break
      }
    }
  } catch (error) {
    Object.assign(verdict, { ok: false, error: messageOf(error) })
  }
  return verdict
}

const { paths } = parseArguments(process.argv.slice(2))
for (const path of paths) await emit(judge(path))
