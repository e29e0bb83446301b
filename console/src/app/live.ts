// Live values of a company over the data stream: whenever it changes, what is shown of it is read again.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { base } from './api.js'
import { useHere } from './place.js'

/** Reads at most this often. */
const everyMs = 1_000

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
    let again: ReturnType<typeof setTimeout> | undefined
    let closed = false
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
        waiting ??= setTimeout(() => {
          waiting = undefined
          void queries.invalidateQueries({ queryKey: [environment.id, 'company', companyId] })
        }, everyMs)
      }
      socket.onclose = () => {
        setLive(false)
        if (!closed) again = setTimeout(open, 5_000)
      }
    }
    open()
    return () => {
      closed = true
      clearTimeout(waiting)
      clearTimeout(again)
      // one that is closed before it is open is an error to the browser
      if (socket?.readyState === WebSocket.CONNECTING)
        socket.onopen = ({ target }) => (target as WebSocket).close()
      else socket?.close()
    }
  }, [companyId, environment.id, name, value, queries])
  return live
}
