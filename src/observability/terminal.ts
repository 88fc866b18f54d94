type Handle = { setBlocking?(isBlocking: boolean): void }

/**
 * Lets what is written to a terminal queue up. Node has each write wait for the reader, so a terminal that is not read
 * would stop the event loop. Node has no public way to change that; anything but a terminal stays as it is.
 */
export function neverWait(stream: NodeJS.WriteStream): void {
  if (stream.isTTY) (stream as unknown as { _handle?: Handle })._handle?.setBlocking?.(false)
}
