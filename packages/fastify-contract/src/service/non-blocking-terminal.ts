type Handle = { setBlocking(isBlocking: boolean): void }

/**
 * Makes writes to a terminal asynchronous. By default Node.js blocks until the terminal has read them, so a paused
 * terminal would stop the event loop. Node.js has no public API to change that,
 * so this function uses the private `_handle`. Without it in a release of Node.js, the service fails at its start on a
 * terminal. Other streams are left unchanged.
 */
export function makeNonBlocking(stream: NodeJS.WriteStream): void {
  if (stream.isTTY) (stream as unknown as { _handle: Handle })._handle.setBlocking(false)
}

/** Prevents a blocked or closed stderr from stopping the process. */
export function prepareStderr(): void {
  process.stderr.on('error', () => {})
  makeNonBlocking(process.stderr)
}
