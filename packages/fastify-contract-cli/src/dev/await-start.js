import { once } from 'node:events'

/*
 * Runs before the module of a service, in a process that starts ahead of a change: imports the module that the variable
 * names, which imports the packages of the service, and waits for a message with environment variables. The threads and
 * child processes of the service inherit the option to run this, but not the variable.
 */

const packages = process.env.DEV_PACKAGES
delete process.env.DEV_PACKAGES
if (packages !== undefined) {
  const exit = () => process.exit()
  process.once('disconnect', exit)
  const start = once(process, 'message')
  await import(packages)
  const [environment] = await start
  Object.assign(process.env, environment)
  process.off('disconnect', exit)
  process.disconnect()
  // The service must not take itself for a child process that reports to another one.
  delete process.send
  process.execArgv = process.execArgv.filter((option) => !option.includes(import.meta.url))
}
