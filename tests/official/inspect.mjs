// Has the published reader of format 0 look at logs, and says nothing: for the benchmark, which takes the time.
// usage: node inspect.mjs [LOG...]
//
// A log must stand where dsh looks for it (root/project/session/file). Without one, all is loaded and nothing read.
import { basename, dirname } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@deepseek-ai/dsh-session'
import JsonlSessionPersistence from '@deepseek-ai/dsh-session-persistence-jsonl'

for (const log of process.argv.slice(2)) {
  const folder = dirname(log)
  const ctx = new Context()
  await ctx.plugin(SessionStore)
  await ctx.plugin(JsonlSessionPersistence, { root: dirname(dirname(folder)), compression: log.endsWith('.zstd') ? 'zstd' : 'none' })
  await ctx.get('sessionPersistence').inspect(basename(folder))
  await ctx.fiber.dispose()
}
process.exit(0)
