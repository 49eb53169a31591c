// What both judges share: their arguments, and the text inside a log.
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'

const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

export const isZstd = bytes => bytes.subarray(0, 4).equals(ZSTD_MAGIC)

/** Splits a command line into paths, `--name` switches and `--name value` options; `-` stands for the paths on stdin. */
export function parseArguments(argv, { switches = [], options = [] } = {}) {
  const paths = [], given = {}
  const rest = [...argv]
  while (rest.length > 0) {
    const word = rest.shift()
    const name = word.replace(/^--/, '')
    if (word === '-') paths.push(...readFileSync(0, 'utf8').split('\n').map(line => line.replace(/\r$/, '')).filter(line => line !== ''))
    else if (word === '--') paths.push(...rest.splice(0))
    else if (!word.startsWith('--')) paths.push(word)
    else if (switches.includes(name)) given[name] = true
    else if (options.includes(name) && rest.length > 0) given[name] = rest.shift()
    else throw new Error(`unknown or incomplete argument ${word}`)
  }
  return { paths, given }
}

/** The header line, even where later bytes are cut or damaged: ever longer beginnings are tried until one holds a whole line. */
export function headerLine(bytes) {
  if (!isZstd(bytes)) return lineOf(bytes)
  for (let take = 16; ; take = take < 4096 ? take + 8 : take * 4) {
    try {
      const line = lineOf(zlib.zstdDecompressSync(bytes.subarray(0, take), { finishFlush: zlib.constants.ZSTD_e_flush }), true)
      if (line !== undefined) return line
    } catch { /* a longer beginning may still do */ }
    if (take >= bytes.length) throw new Error('no header line can be decoded')
  }
}

function lineOf(bytes, needsLf = false) {
  const end = bytes.indexOf(0x0a)
  if (end === -1 && needsLf) return undefined
  return bytes.subarray(0, end === -1 ? bytes.length : end).toString('utf8')
}

/** The whole decoded text; every frame must be complete. */
export const wholeText = bytes => (isZstd(bytes) ? zlib.zstdDecompressSync(bytes) : bytes).toString('utf8')

// Resolves when the line has left the process: one that exits before would cut a long line short.
export const emit = verdict => new Promise(done => process.stdout.write(JSON.stringify(verdict) + '\n', done))

export const messageOf = error => String(error?.message ?? error)
