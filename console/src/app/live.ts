// Live values of a company over the data stream: whenever it changes, what is shown of it is read again.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { base, readSession } from './api.js'
import { useHere } from './place.js'

/** Two reads are at least this far apart, ms. */
const everyMs = 1_000

/** How long a connection that ended waits until it is opened again, ms. */
const againMs = 5_000

/** Whether the company is watched. */
export function useLive(
  companyId: string,
  keys: readonly { readonly key: string; readonly value: string }[] | undefined,
): boolean {
  const { environment } = useHere()
  const queries = useQueryClient()
  const [live, setLive] = useState(false)
  const first = keys?.[0]
  const name = first?.key
  const value = first?.value
  useEffect(() => {
    if (name === undefined || value === undefined) return
    const url = new URL('datastream', base)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    let socket: WebSocket | null = null
    let waiting: ReturnType<typeof setTimeout> | undefined
    let noting: ReturnType<typeof setTimeout> | undefined
    let again: ReturnType<typeof setTimeout> | undefined
    let closed = false
    // the page has just read the company: what the stream sends first waits, and a later change is read at once
    let readAtMs = performance.now()
    const open = () => {
      socket = new WebSocket(url, ['tollgate', `environment.${environment.id}`])
      socket.onopen = () => {
        setLive(true)
        socket?.send(
          JSON.stringify({
            data: { entity_type: 'rulesengine.Company', keys: { [name]: value }, action: 'start' },
          }),
        )
      }
      socket.onmessage = () => {
        waiting ??= setTimeout(
          () => {
            waiting = undefined
            readAtMs = performance.now()
            void queries.invalidateQueries({ queryKey: [environment.id, 'company', companyId] })
            // an override's note is written after it
            noting ??= setTimeout(() => {
              noting = undefined
              void queries.invalidateQueries({ queryKey: [environment.id, 'overrides', companyId] })
            }, everyMs)
          },
          Math.max(0, readAtMs + everyMs - performance.now()),
        )
      }
      socket.onclose = () => {
        setLive(false)
        if (!closed) again = setTimeout(reopen, againMs)
      }
    }
    // asked first, as a refused connection is an error of the page
    const reopen = async () => {
      const session = await readSession().catch(() => null)
      if (closed) return
      if (session?.signed_in) open()
      else again = setTimeout(reopen, againMs)
    }
    open()
    return () => {
      closed = true
      clearTimeout(waiting)
      clearTimeout(noting)
      clearTimeout(again)
      // one that is closed before it is open is an error to the browser
      if (socket?.readyState === WebSocket.CONNECTING)
        socket.onopen = ({ target }) => (target as WebSocket).close()
      else socket?.close()
    }
  }, [companyId, environment.id, name, value, queries])
  return live
}
