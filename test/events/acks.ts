// The answer to a batch, in either way of writing it.
import type { Answer } from '../../src/kit/call.js'

/** The acknowledgements of an answer, each as JSON. */
export function acksIn({ json, bytes }: Answer): readonly string[] {
  // bytes are the whole body, text is what lies in its envelope
  const data = bytes === undefined ? json! : JSON.stringify(wholeOf(bytes).data)
  const { events } = JSON.parse(data) as { readonly events: readonly object[] }
  return events.map(ack => JSON.stringify(ack))
}

function wholeOf(bytes: Uint8Array): { readonly data: object } {
  const whole = JSON.parse(Buffer.from(bytes).toString()) as { readonly data: object }
  const members = Object.keys(whole).join()
  if (members !== 'data,params') throw new Error(`The answer has ${members} instead of data and params`)
  return whole
}
