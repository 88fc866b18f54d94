import { register } from 'node:module'
import processOnSpawn from 'process-on-spawn'

register('./strip-types.js', import.meta.url)

// tap measures the coverage of each child process with hooks that cost 0.3 s of CPU. Only a process that runs src with this
// loader can cover it, so that every other is started without them.
processOnSpawn.addListener((child) => {
  if (child.args.some((argument) => argument.includes('register-strip-types.js'))) return
  const { NODE_OPTIONS = '', ...environment } = child.env
  const options = NODE_OPTIONS.replace(/"?--import=\S+processinfo\S+/, '').trim()
  child.env = { ...environment, ...(options !== '' && { NODE_OPTIONS: options }) }
})
