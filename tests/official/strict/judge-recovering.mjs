// Decodes logs with the frozen codec of their own format as dsh does when it opens a session: what it cannot read, and all behind it, is
// dropped or makes it refuse the log. One JSON line a log, in the order given: { path, version, opens, events } or { …, opens: false, error }.
// It judges records only, like judge-strict.mjs, and knows nothing of surfaces.
// usage: node strict/judge-recovering.mjs LOG... | -
import { readFileSync } from 'node:fs'
import { releasedV0SessionFormatCodec, releasedV1SessionFormatCodec } from '@deepseek-ai/dsh-session-format-v0-to-v1'
import { releasedV2SessionFormatCodec } from '@deepseek-ai/dsh-session-format-v1-to-v2'
import { releasedV3SessionFormatCodec } from '@deepseek-ai/dsh-session-format-v2-to-v3'
import { emit, messageOf, parseArguments, wholeText } from '../lib.mjs'

const CODECS = [releasedV0SessionFormatCodec, releasedV1SessionFormatCodec, releasedV2SessionFormatCodec, releasedV3SessionFormatCodec]

/** A line that is no JSON is handed on as what no codec takes for a record. */
function rowOf(line) {
  try {
    return JSON.parse(line)
  } catch {
    return 'unparsable'
  }
}

function judge(path) {
  const verdict = { path }
  try {
    const [header, ...rows] = wholeText(readFileSync(path)).split('\n').filter(line => line !== '').map(rowOf)
    verdict.version = header?.version
    let events = 0
    const context = { emitEvent: () => { events += 1 }, emitRun: run => { events += run.expand().length } }
    const decoder = CODECS[verdict.version].createDecoder(header, 'recoverable')
    rows.forEach(row => decoder.decodeRow(row, context))
    decoder.finish(context)
    Object.assign(verdict, { opens: true, events })
  } catch (error) {
    Object.assign(verdict, { opens: false, error: messageOf(error) })
  }
  return verdict
}

const { paths } = parseArguments(process.argv.slice(2))
for (const path of paths) await emit(judge(path))
