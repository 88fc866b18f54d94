import { register } from 'node:module'
import processOnSpawn from 'process-on-spawn'

register('./strip-types.js', import.meta.url)

// tap's coverage hooks cost 0.3 s of CPU in each child process. Only a process with this loader can cover src, so every
// other one starts without the hooks.
processOnSpawn.addListener((child) => {
  if (child.args.some((argument) => argument.includes('register-strip-types.js'))) return
  const { NODE_OPTIONS = '', ...environment } = child.env
  const options = NODE_OPTIONS.replace(/"?--import=\S+processinfo\S+/, '').trim()
  child.env = { ...environment, ...(options !== '' && { NODE_OPTIONS: options }) }
})
