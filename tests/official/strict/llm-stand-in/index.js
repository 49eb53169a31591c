// Gathers timed stream chunks into the records of format 2: neighbouring deltas of the same stream share one record,
// everything else stands alone. Written for the tests from the format description.

/** Which record a delta may join; undefined for chunks that stand alone. */
function streamOf(chunk) {
  switch (chunk.type) {
    case 'text-delta': return { type: 'text-chunks', index: chunk.index }
    case 'reasoning-delta': return { type: 'reasoning-chunks', index: chunk.index }
    case 'tool-call-delta':
      if (!chunk.id || chunk.name === '') return undefined
      return { type: 'tool-call-chunks', index: chunk.index, id: chunk.id, ...('name' in chunk && chunk.name !== undefined ? { name: chunk.name } : {}) }
    default: return undefined
  }
}

export class AssistantStreamAccumulator {
  #records = []
  #open // { key, record, lastTime } of the record that the next delta may join

  push({ time, chunk }) {
    const stream = streamOf(chunk)
    if (stream === undefined) {
      this.#open = undefined
      this.#records.push({ type: 'chunk', time, chunk })
      return
    }
    const key = JSON.stringify(stream)
    const list = stream.type === 'tool-call-chunks' ? 'args' : 'texts'
    const piece = list === 'args' ? chunk.argumentsDelta : chunk.text
    if (this.#open?.key === key) {
      this.#open.record.dt.push(time - this.#open.lastTime)
      this.#open.record[list].push(piece)
      this.#open.lastTime = time
      return
    }
    const { type, index, ...call } = stream
    const record = { type, time0: time, index, dt: [], ...call, [list]: [piece] }
    this.#records.push(record)
    this.#open = { key, record, lastTime: time }
  }

  snapshot() { return structuredClone(this.#records) }
}

export function assertNever(value) { throw new TypeError(`unexpected value ${String(value)}`) }
