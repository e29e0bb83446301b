// A long list, read a page at a time where somebody asks for more.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Button } from '../ui/basics.js'
import type { ListPage } from './api.js'

/** Rows of a page. */
const pageSize = 50

interface PagesOf<T> {
  readonly key: readonly unknown[]
  /** Reads one page: its query members, and the signal that ends it. */
  readonly load: (
    page: { readonly limit: number; readonly cursor?: string },
    signal: AbortSignal,
  ) => Promise<ListPage<readonly T[]>>
  readonly enabled?: boolean
  readonly refetchInterval?: number | false
}

/** The rows that were read so far, as `Loaded` takes them, and a button for more of them where there are more. */
export function usePagesOf<T>({ key, load, enabled = true, refetchInterval = false }: PagesOf<T>) {
  const list = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      load({ limit: pageSize, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: '',
    getNextPageParam: last => last.next ?? undefined,
    enabled,
    refetchInterval,
  })
  const rows = list.data?.pages.flatMap(page => page.data)
  const more = list.hasNextPage && (
    <Button className="mt-3" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
      Show more
    </Button>
  )
  return { list: { ...list, data: rows }, more }
}
